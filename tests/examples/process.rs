//! Runs an example as a process.

use adk::Event;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::LazyLock;

/// The examples that work on a text.
pub(crate) const WRITERS: [&str; 15] = [
    "iterative_writing",
    "quality_loop",
    "parallel_research",
    "triage",
    "topic_research",
    "headline",
    "article_and_post",
    "story_from_message",
    "validation_loop",
    "search_verify",
    "writing_loop",
    "research_loop",
    "shared_state",
    "iteration_tracking",
    "support_desk",
];

/// Returns the folder of the examples, built from the current sources: `cargo test` builds them,
/// `cargo test --test examples` does not. The build takes no time after a test of the whole
/// workspace, because its artifacts are the same.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let test = std::env::current_exe().expect("this test is a file");
    let profile = test.ancestors().nth(2).expect("it is in PROFILE/deps");
    let target = profile.parent().expect("PROFILE is in the target folder");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .args([
            "build",
            "--workspace",
            "--examples",
            "--quiet",
            "--target-dir",
        ])
        .arg(target);
    cargo.args([
        "--profile",
        if profile.ends_with("release") {
            "release"
        } else {
            "dev"
        },
    ]);
    let built = cargo
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status()
        .expect("cargo runs");
    assert!(built.success(), "the examples do not build");
    profile.join("examples")
});

/// A process that has not started.
pub(crate) struct Example {
    command: Command,
    input: Vec<u8>,
}

/// A running process, with its output so far.
pub(crate) struct Started {
    child: Child,
    reader: BufReader<ChildStdout>,
    pub(crate) out: String,
}

impl Started {
    /// Returns the next line of output.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        let read = self
            .reader
            .read_line(&mut line)
            .expect("the output is text");
        assert!(read > 0, "it ended after {:?}", self.out);
        self.out.push_str(&line);
        line
    }

    /// Kills the process like `kill -9`, without any cleanup.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("the process ends");
    }
}

/// A process that has ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: ExitStatus,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Returns an example with these arguments. Its environment is empty, so that the keys of the
/// developer have no effect.
pub(crate) fn example(name: &str, args: &[&str]) -> Example {
    let mut command = Command::new(
        FOLDER
            .join(name)
            .with_extension(std::env::consts::EXE_EXTENSION),
    );
    command.args(args).env_clear();
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Example {
        command,
        input: Vec::new(),
    }
}

impl Example {
    /// Sets the standard input.
    pub(crate) fn input(mut self, text: impl AsRef<[u8]>) -> Self {
        self.input = text.as_ref().to_vec();
        self
    }

    /// Sets an environment variable.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs the process to its end, while the runtime of the test continues.
    pub(crate) async fn run(self) -> Ran {
        let Self { mut command, input } = self;
        let work = tokio::task::spawn_blocking(move || {
            let mut child = command.spawn().expect("the example starts");
            let mut stdin = child.stdin.take().expect("the input is piped");
            // The process may end before it has read all input.
            let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
            let output = child.wait_with_output().expect("the example ends");
            writer.join().expect("no panic");
            let text = |bytes| String::from_utf8(bytes).expect("it is text");
            Ran {
                status: output.status,
                out: text(output.stdout),
                err: text(output.stderr),
            }
        });
        work.await.expect("no panic")
    }

    /// Starts the process, and leaves it running.
    pub(crate) fn start(mut self) -> Child {
        self.command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the example starts")
    }

    /// Starts the process, reads its output up to a line that begins with this text, and leaves it
    /// running.
    pub(crate) fn start_until(self, begins: &str) -> Started {
        let Self { mut command, .. } = self;
        let mut child = command.spawn().expect("the example starts");
        let reader = BufReader::new(child.stdout.take().expect("the output is piped"));
        let mut started = Started {
            child,
            reader,
            out: String::new(),
        };
        while !started.line().starts_with(begins) {}
        started
    }

    /// Reads the first bytes of the output, then closes the pipe, as `head` does. Returns the
    /// standard error.
    pub(crate) async fn run_until_closed(self, bytes: usize) -> Ran {
        let Self { mut command, .. } = self;
        let work = tokio::task::spawn_blocking(move || {
            let mut child = command.spawn().expect("the example starts");
            let mut out = vec![0; bytes];
            child
                .stdout
                .take()
                .expect("the output is piped")
                .read_exact(&mut out)
                .expect("the output has this many bytes");
            let output = child.wait_with_output().expect("the example ends");
            let text = |bytes| String::from_utf8(bytes).expect("it is text");
            Ran {
                status: output.status,
                out: text(out),
                err: text(output.stderr),
            }
        });
        work.await.expect("no panic")
    }
}

impl Ran {
    /// Asserts success, and that a pipe gets no escape codes.
    #[track_caller]
    pub(crate) fn good(self) -> Self {
        assert!(self.status.success(), "{self:?}");
        self.clean()
    }

    /// Asserts a nonzero exit code, and these texts on standard error.
    #[track_caller]
    pub(crate) fn bad(self, said: &[&str]) -> Self {
        assert_eq!(self.status.code(), Some(1), "{self:?}");
        for said in said {
            assert!(self.err.contains(said), "{said:?} is not in {}", self.err);
        }
        assert!(self.err.contains("; help: "), "{}", self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
        self.clean()
    }

    #[track_caller]
    fn clean(self) -> Self {
        let control = |c: char| c.is_control() && c != '\n';
        assert!(
            !self.out.contains(control) && !self.err.contains(control),
            "{self:?}"
        );
        self
    }

    /// Parses standard output as events: one per line, and nothing else.
    #[track_caller]
    pub(crate) fn events(&self) -> Vec<Event> {
        let parse = |line: &str| {
            serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("{line:?} is no event: {error}"))
        };
        self.out.lines().map(parse).collect()
    }
}
