//! [`Process`]: the process of a [`StdioServer`]. It has a small environment, and ends with its
//! connection.

use crate::server::StdioServer;
use crate::turn::lock;
use secrecy::ExposeSecret as _;
use std::collections::VecDeque;
use std::io;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Environment variables that each server gets: those that the official SDKs pass, and the language
/// settings.
const KEPT: [&str; 20] = [
    "APPDATA",
    "HOME",
    "HOMEDRIVE",
    "HOMEPATH",
    "LANG",
    "LC_ALL",
    "LOCALAPPDATA",
    "LOGNAME",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMFILES",
    "SHELL",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TERM",
    "TMPDIR",
    "USER",
    "USERPROFILE",
];

/// Number of bytes kept from the end of standard error.
const LAST_WORDS: usize = 1000;

/// Time in which the process may end by itself before it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// Time to wait for the end of standard error.
const LAST_READ: Duration = Duration::from_millis(200);

pub(crate) struct Process {
    child: Option<Child>,
    errors: Arc<Mutex<VecDeque<u8>>>,
    /// Task that reads standard error.
    reads: JoinHandle<()>,
}

pub(crate) fn start(server: &StdioServer) -> io::Result<(Process, ChildStdout, ChildStdin)> {
    let mut command = Command::new(&server.program);
    command.args(&server.args).env_clear();
    command.envs(
        KEPT.iter()
            .filter_map(|name| Some((name, std::env::var_os(name)?))),
    );
    command.envs(
        server
            .envs
            .iter()
            .map(|(name, value)| (name, value.expose_secret())),
    );
    if let Some(folder) = &server.folder {
        command.current_dir(folder);
    }
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut child = command.spawn()?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
        return Err(io::Error::other(
            "the process has no standard input and output",
        ));
    };
    let errors = Arc::default();
    let reads = tokio::spawn(keep(stderr, Arc::clone(&errors)));
    Ok((
        Process {
            child: Some(child),
            errors,
            reads,
        },
        stdout,
        stdin,
    ))
}

/// Keeps the end of standard error.
async fn keep(mut stderr: ChildStderr, errors: Arc<Mutex<VecDeque<u8>>>) {
    let mut buffer = [0; 1024];
    while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
        let mut kept = lock(&errors);
        kept.extend(&buffer[..read]);
        let over = kept.len().saturating_sub(LAST_WORDS);
        kept.drain(..over);
    }
}

impl Process {
    /// Returns the exit status of the process and the end of its standard error, as a suffix of a
    /// message.
    pub(crate) async fn last_words(&mut self) -> String {
        let mut words = String::new();
        if let Some(child) = &mut self.child
            && let Ok(Ok(status)) = timeout(GRACE, child.wait()).await
        {
            words = format!(" ({status})");
            // A child process of the server may keep standard error open, so the wait is limited.
            let _ = timeout(LAST_READ, &mut self.reads).await;
        }
        let kept = lock(&self.errors);
        let text: Vec<u8> = kept.iter().copied().collect();
        let text = String::from_utf8_lossy(&text);
        if !text.trim().is_empty() {
            words.push_str(&format!("; standard error ends with: {}", text.trim()));
        }
        words
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Standard input is closed by now, which ends most servers. A server that continues is
        // killed.
        if let (Some(mut child), Ok(runtime)) = (self.child.take(), Handle::try_current()) {
            runtime.spawn(async move { timeout(GRACE, child.wait()).await.map(drop) });
        }
    }
}
