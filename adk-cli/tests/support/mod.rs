//! A store with runs of a workflow that asks a person, and the program on it.
#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses a part, and fails by it")]

use adk::prelude::*;
use adk::testing::{Reply, ScriptedModel};
use adk::{RunEnd, RunId, Store, Value, Waiting};
use adk_sqlite::SqliteStore;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// What an editor says.
#[adk::data]
pub enum Decision {
    /// As it is.
    Publish,
    /// Once more, with this in mind.
    Revise {
        /// What to change.
        note: String,
    },
}

/// Publishes the draft, unless it cannot be.
#[agent(writes = post)]
fn publish(draft: &str, decision: Decision) -> Result<String> {
    match decision {
        Decision::Publish => Ok(draft.to_owned()),
        Decision::Revise { note } => Err(Error::other(format!("nobody is there to make it {note}"))),
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

/// A runner with the workflow, whose model gives the same draft each time.
pub fn runner(store: &(impl Store + Clone), app: &str) -> Runner {
    let model = ScriptedModel::new().reply(Reply::new().text("A cat sat.").usage(12, 4)).repeat_last();
    let runner = Runner::builder().app_name(app).model(model);
    runner.store(store.clone()).workflow(Approval::default()).build().unwrap()
}

/// A run of a user that waits.
pub async fn paused(runner: &Runner, user: &str, session: &str) -> Waiting {
    let workflow = Approval::default();
    let mut stream = runner.session(user, session).run(&workflow, "a cat").stream();
    while let Some(event) = stream.next().await {
        event.unwrap();
    }
    match stream.end() {
        RunEnd::Paused(mut waiting) => waiting.remove(0),
        _ => panic!("it does not wait"),
    }
}

/// A folder that is removed at the end, with a SQLite file in it.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("adk-cli-{}-{}", std::process::id(), NEXT.fetch_add(1, Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The address of the file.
    pub fn store(&self) -> String {
        self.0.join("agents.db").to_str().unwrap().to_owned()
    }

    pub async fn open(&self) -> SqliteStore {
        SqliteStore::open(self.store()).await.unwrap()
    }

    /// With a run of `ann` in her session `s1` that waits.
    pub async fn with_wait() -> (Self, Waiting) {
        let folder = Self::new();
        let waiting = paused(&runner(&folder.open().await, "desk"), "ann", "s1").await;
        (folder, waiting)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What the program said.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    #[track_caller]
    pub fn good(self) -> String {
        assert_eq!((self.code, &*self.err), (0, ""), "{self:?}");
        self.out
    }

    #[track_caller]
    pub fn json(self) -> Value {
        serde_json::from_str(&self.good()).unwrap()
    }

    /// It failed with that code, said so and printed nothing.
    #[track_caller]
    pub fn refused(self, code: i32, why: &str) {
        assert!(self.code == code && self.out.is_empty(), "{self:?}");
        assert!(self.err.starts_with("error: ") && self.err.contains(why), "{self:?}");
        assert!(!self.err.contains("Error {") && !self.err.contains("Some("), "{self:?}");
    }
}

/// The program with a store, to be started.
pub fn command(store: &str, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_adk"));
    command.args(args).env("ADK_STORE", store).env_remove("NO_COLOR");
    command
}

/// Runs the program on a store.
pub fn adk(store: &str, args: &[&str]) -> Ran {
    fed(store, args, "")
}

/// Runs it with this on its standard input.
pub fn fed(store: &str, args: &[&str], input: &str) -> Ran {
    ran(command(store, args), input)
}

pub fn ran(mut command: Command, input: &str) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // One that has failed does not read it.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let done = child.wait_with_output().unwrap();
    Ran {
        code: done.status.code().unwrap(),
        out: String::from_utf8(done.stdout).unwrap(),
        err: String::from_utf8(done.stderr).unwrap(),
    }
}

/// An id of a run that nobody has.
pub fn nobody() -> RunId {
    "e-01890000-0000-7000-8000-000000000000".parse().unwrap()
}
