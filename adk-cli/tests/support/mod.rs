//! A store with runs of a workflow that asks a person, and functions that run the program on it.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test file uses a part, and a test fails by a panic"
)]

use adk::prelude::*;
use adk::testing::{Reply, ScriptedModel};
use adk::{RunEnd, RunId, Store, Value, Waiting};
use adk_sqlite::SqliteStore;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The decision of an editor.
#[adk::data]
pub enum Decision {
    /// As it is.
    Publish,
    /// Once more, with a note.
    Revise {
        /// The requested change.
        note: String,
    },
}

/// Publishes the draft, or fails because no writer can revise it.
#[agent(writes = post)]
fn publish(draft: &str, decision: Decision) -> Result<String> {
    match decision {
        Decision::Publish => Ok(draft.to_owned()),
        Decision::Revise { note } => Err(Error::other(format!("no writer can make it {note}"))),
    }
}

workflow! {
    /// Drafts a post, and publishes it when an editor agrees.
    pub Approval(topic: String) -> post: String {
        /// Writes the draft.
        agent writer -> draft: String { instruction: "Write a post about {topic}." }

        writer;
        /// May this be published? {draft}
        await(timeout = "72h", default = Decision::Publish) decision: Decision;
        publish
    }
}

/// Creates a runner with the workflow and a model that always replies with the same draft.
pub fn runner(store: &(impl Store + Clone), app: &str) -> Runner {
    let model = ScriptedModel::new()
        .reply(Reply::new().text("A cat sat.").usage(12, 4))
        .repeat_last();
    let runner = Runner::builder().app_name(app).model(model);
    runner
        .store(store.clone())
        .workflow(Approval::default())
        .build()
        .unwrap()
}

/// Starts a run and returns its wait.
pub async fn pause_run(runner: &Runner, user: &str, session: &str) -> Waiting {
    let workflow = Approval::default();
    let mut stream = runner
        .session(user, session)
        .run(&workflow, "a cat")
        .stream();
    while let Some(event) = stream.next().await {
        event.unwrap();
    }
    match stream.end() {
        RunEnd::Paused(mut waiting) => waiting.remove(0),
        _ => panic!("the run does not wait"),
    }
}

/// A temporary folder for a SQLite file. Dropping it removes the folder.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "adk-cli-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the address of the SQLite file.
    pub fn store(&self) -> String {
        self.0.join("agents.db").to_str().unwrap().to_owned()
    }

    pub async fn open(&self) -> SqliteStore {
        SqliteStore::open(self.store()).await.unwrap()
    }

    /// Creates a folder whose store has a waiting run of `ann` in her session `s1`.
    pub async fn with_wait() -> (Self, Waiting) {
        let folder = Self::new();
        let waiting = pause_run(&runner(&folder.open().await, "desk"), "ann", "s1").await;
        (folder, waiting)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The output and exit code of a program.
#[derive(Debug)]
pub struct ProgramOutput {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl ProgramOutput {
    #[track_caller]
    pub fn success_text(self) -> String {
        assert_eq!((self.code, &*self.err), (0, ""), "{self:?}");
        self.out
    }

    #[track_caller]
    pub fn json(self) -> Value {
        serde_json::from_str(&self.success_text()).unwrap()
    }

    /// Asserts that the program failed with an exit code and an error, and printed nothing else.
    #[track_caller]
    pub fn assert_error(self, code: i32, why: &str) {
        assert!(self.code == code && self.out.is_empty(), "{self:?}");
        assert!(
            self.err.starts_with("error: ") && self.err.contains(why),
            "{self:?}"
        );
        assert!(
            !self.err.contains("Error {") && !self.err.contains("Some("),
            "{self:?}"
        );
    }
}

/// Returns the command of the program with a store.
pub fn command(store: &str, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_adk"));
    command
        .args(args)
        .env("ADK_STORE", store)
        .env_remove("NO_COLOR");
    command
}

/// Runs the program on a store.
pub fn adk(store: &str, args: &[&str]) -> ProgramOutput {
    adk_with_input(store, args, "")
}

/// Runs the program on a store, with an input on standard input.
pub fn adk_with_input(store: &str, args: &[&str], input: &str) -> ProgramOutput {
    run_program(command(store, args), input)
}

pub fn run_program(mut command: Command, input: &str) -> ProgramOutput {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A program that has failed does not read its input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let done = child.wait_with_output().unwrap();
    ProgramOutput {
        code: done.status.code().unwrap(),
        out: String::from_utf8(done.stdout).unwrap(),
        err: String::from_utf8(done.stderr).unwrap(),
    }
}

/// Returns a run id that no store contains.
pub fn unknown_run() -> RunId {
    "e-01890000-0000-7000-8000-000000000000".parse().unwrap()
}
