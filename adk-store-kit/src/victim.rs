//! Processes that a promise starts and kills, and the notes that they leave.

use crate::place::{DynPlace, OpenStore, Place};
use crate::{changes, kills, queue};
use std::cell::RefCell;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::Duration;

thread_local! {
    /// The test that executes the task of a process, as `cargo test` names it.
    static VICTIM: RefCell<String> = RefCell::new("victim".to_owned());
}

/// Sets the module of the promise on this thread. The macro [`promises`](crate::promises) adds the
/// test `victim`, which executes the tasks of processes, to the module above it.
pub(crate) fn set_victim(module: &str) {
    // The name of a test does not begin with the name of its crate.
    let names: Vec<&str> = module.split("::").skip(1).collect();
    let above = names.split_last().map_or(&[][..], |(_, above)| above);
    VICTIM.set([above, &["victim"]].concat().join("::"));
}

/// Executes the task of a process, if a promise has started it. The test `victim` calls it.
pub fn execute<P: Place>() {
    let (Ok(address), Ok(task)) = (std::env::var("ADK_VICTIM"), std::env::var("ADK_TASK")) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.unwrap().block_on(async {
        let store = OpenStore::new(&P::at(&address).open().await);
        match &*task {
            "count" => kills::count(store).await,
            "wait in line" => queue::waits_in_line(store).await,
            "change" => changes::killed::execute_once(store).await,
            _ => kills::continues(store).await,
        }
    });
}

/// Returns the command of a process that executes a task.
pub(crate) fn start(place: &dyn DynPlace, task: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", &VICTIM.with_borrow(String::clone)])
        .args(["--ignored", "--nocapture", "--test-threads=1"])
        .env("ADK_VICTIM", place.address_dyn())
        .env("ADK_TASK", task)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Kills a process after a while. It may have ended.
pub(crate) fn kill(child: &Child, after: Duration) -> JoinHandle<()> {
    let pid = child.id().to_string();
    std::thread::spawn(move || {
        std::thread::sleep(after);
        let _ = Command::new("kill")
            .args(["-9", &pid])
            .stderr(Stdio::null())
            .status();
    })
}

/// Returns the required number of kills: `ADK_KILLS`, or 8.
pub(crate) fn kill_count() -> usize {
    std::env::var("ADK_KILLS").map_or(8, |text| text.parse().unwrap())
}

/// A temporary folder that is removed on drop.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Creates the folder.
    #[allow(clippy::new_without_default, reason = "it is made on disk")]
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Relaxed);
        let name = format!("adk-store-kit-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Notes a call in a file, which outlives the process.
pub(crate) fn notes(world: &Path, line: &str) {
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(world)
        .unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}
