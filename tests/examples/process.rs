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

/// Where the examples are, as they are in the sources now: `cargo test` builds them, `cargo test --test examples` does
/// not. Where nothing is to be done this takes no time: what is built is what a test of the whole workspace builds.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let test = std::env::current_exe().expect("this test is a file");
    let profile = test.ancestors().nth(2).expect("it is in PROFILE/deps");
    let target = profile.parent().expect("PROFILE is in the target folder");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--workspace", "--examples", "--quiet", "--target-dir"]).arg(target);
    cargo.args(["--profile", if profile.ends_with("release") { "release" } else { "dev" }]);
    let built = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).status().expect("cargo runs");
    assert!(built.success(), "the examples do not build");
    profile.join("examples")
});

/// A process to be.
pub(crate) struct Example {
    command: Command,
    input: Vec<u8>,
}

/// A process that goes on, with what it has said so far.
pub(crate) struct Started {
    child: Child,
    reader: BufReader<ChildStdout>,
    pub(crate) out: String,
}

impl Started {
    /// What it says next.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line).expect("it says text");
        assert!(read > 0, "it ended after {:?}", self.out);
        self.out.push_str(&line);
        line
    }

    /// As `kill -9` does: it cannot tidy up.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it ends");
    }
}

/// A process that has ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: ExitStatus,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// An example with the arguments; its environment is empty, so that nobody's keys matter.
pub(crate) fn example(name: &str, args: &[&str]) -> Example {
    let mut command = Command::new(FOLDER.join(name).with_extension(std::env::consts::EXE_EXTENSION));
    command.args(args).env_clear();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Example { command, input: Vec::new() }
}

impl Example {
    /// What stands on its standard input.
    pub(crate) fn input(mut self, text: impl AsRef<[u8]>) -> Self {
        self.input = text.as_ref().to_vec();
        self
    }

    /// A variable of its environment.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs it to its end, while the runtime of the test goes on serving.
    pub(crate) async fn run(self) -> Ran {
        let Self { mut command, input } = self;
        let work = tokio::task::spawn_blocking(move || {
            let mut child = command.spawn().expect("the example starts");
            let mut stdin = child.stdin.take().expect("it is piped");
            // It may end without having read all of it.
            let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
            let output = child.wait_with_output().expect("the example ends");
            writer.join().expect("no panic");
            let text = |bytes| String::from_utf8(bytes).expect("it is text");
            Ran { status: output.status, out: text(output.stdout), err: text(output.stderr) }
        });
        work.await.expect("no panic")
    }

    /// Starts it, and leaves it running.
    pub(crate) fn start(mut self) -> Child {
        self.command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the example starts")
    }

    /// Starts it, reads its output up to a line that begins with this, and leaves it running.
    pub(crate) fn start_until(self, begins: &str) -> Started {
        let Self { mut command, .. } = self;
        let mut child = command.spawn().expect("the example starts");
        let reader = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut started = Started { child, reader, out: String::new() };
        while !started.line().starts_with(begins) {}
        started
    }

    /// Reads the first bytes of its output, then closes the pipe, as `head` does; what it wrote to standard error.
    pub(crate) async fn cut_short(self, bytes: usize) -> Ran {
        let Self { mut command, .. } = self;
        let work = tokio::task::spawn_blocking(move || {
            let mut child = command.spawn().expect("the example starts");
            let mut out = vec![0; bytes];
            child.stdout.take().expect("it is piped").read_exact(&mut out).expect("it says that much");
            let output = child.wait_with_output().expect("the example ends");
            let text = |bytes| String::from_utf8(bytes).expect("it is text");
            Ran { status: output.status, out: text(out), err: text(output.stderr) }
        });
        work.await.expect("no panic")
    }
}

impl Ran {
    /// It went well; a pipe got no escape codes.
    #[track_caller]
    pub(crate) fn good(self) -> Self {
        assert!(self.status.success(), "{self:?}");
        self.clean()
    }

    /// It ended with a code that is not zero, and said this on standard error.
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
        assert!(!self.out.contains(control) && !self.err.contains(control), "{self:?}");
        self
    }

    /// Standard output as events, one per line and nothing else.
    #[track_caller]
    pub(crate) fn events(&self) -> Vec<Event> {
        let parse = |line: &str| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{line:?} is no event: {error}"))
        };
        self.out.lines().map(parse).collect()
    }
}
