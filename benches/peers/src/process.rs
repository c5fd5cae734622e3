//! [`Machine`] starts one process per job: this program for peers in Rust, a script for the other
//! peers.

use crate::job::{Job, Report, Result};
use crate::rows::Peer;
use clap::ValueEnum;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// The programs on this machine that a measurement uses.
pub struct Machine {
    own: PathBuf,
    python: Option<OsString>,
    node: bool,
    pub valgrind: bool,
    /// Whether `chrt` can start a process with real-time priority, which keeps other programs off
    /// the processor.
    chrt: bool,
}

impl Machine {
    pub fn look_around() -> Result<Self> {
        let python = std::env::var_os("ADK_PYTHON").unwrap_or_else(|| "python3".into());
        let has_adk = succeeds(Command::new(&python).args(["-c", "import google.adk"]));
        Ok(Machine {
            own: std::env::current_exe()?,
            python: has_adk.then_some(python),
            node: succeeds(Command::new("node").arg("--version")),
            valgrind: succeeds(Command::new("valgrind").arg("--version")),
            chrt: succeeds(Command::new("chrt").args(["-f", "5", "true"])),
        })
    }

    pub fn has(&self, peer: Peer) -> bool {
        match peer {
            Peer::GoogleAdk => self.python.is_some(),
            Peer::GoogleAdkJs => {
                self.node && Path::new(HERE).join("node_modules/@google/adk").exists()
            }
            Peer::IqaiAdk => self.node && Path::new(HERE).join("node_modules/@iqai/adk").exists(),
            Peer::Ours => true,
            Peer::AdkRust | Peer::AdkRs | Peer::GraphFlow => cfg!(feature = "peers"),
        }
    }

    /// Runs the job and returns its times.
    pub fn time(&self, peer: Peer, job: Job) -> Result<Report> {
        let mut words: Vec<OsString> = Vec::new();
        if self.chrt {
            words.extend(["chrt", "-f", "5"].map(OsString::from));
        }
        words.extend(self.words(peer, job));
        Report::parse(&output(words)?.0)
    }

    /// Counts the job's allocations, polls and locks.
    pub fn count(&self, peer: Peer, job: Job) -> Result<Report> {
        let mut words = self.words(peer, job);
        words.push("--count".into());
        Report::parse(&output(words)?.0)
    }

    /// Counts the instructions of the job's process. The C library does not delay the merging of
    /// freed chunks: it would merge them at a moment that depends on the layout of the heap, and one
    /// of the two sizes of a row would pay for it.
    pub fn instructions(&self, peer: Peer, job: Job) -> Result<u64> {
        let cachegrind = [
            "env",
            "GLIBC_TUNABLES=glibc.malloc.mxfast=0",
            "valgrind",
            "--tool=cachegrind",
            "--cache-sim=no",
            "--cachegrind-out-file=/dev/null",
        ];
        let words = cachegrind
            .map(OsString::from)
            .into_iter()
            .chain(self.words(peer, job))
            .collect();
        let (_, log) = output(words)?;
        let line = log
            .lines()
            .find(|line| line.contains("refs:"))
            .ok_or("no count of instructions")?;
        let number = line.rsplit(' ').next().unwrap_or_default();
        Ok(number.replace(',', "").parse()?)
    }

    fn words(&self, peer: Peer, job: Job) -> Vec<OsString> {
        let script = |file: &str| Path::new(HERE).join("scripts").join(file).into_os_string();
        let python = self.python.clone().unwrap_or_default();
        let mut words: Vec<OsString> = match peer {
            Peer::GoogleAdk => vec![python, script("google_adk.py")],
            Peer::GoogleAdkJs => vec!["node".into(), script("google_adk.mjs")],
            Peer::IqaiAdk => vec!["node".into(), script("iqai_adk.mjs")],
            _ => vec![
                self.own.clone().into_os_string(),
                "--job".into(),
                name(&peer),
            ],
        };
        words.extend([
            name(&job.scenario),
            job.width.to_string().into(),
            job.size.to_string().into(),
        ]);
        words
    }
}

fn name(value: &impl ValueEnum) -> OsString {
    value
        .to_possible_value()
        .map(|value| value.get_name().into())
        .unwrap_or_default()
}

fn succeeds(command: &mut Command) -> bool {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Runs the command and returns its standard output and standard error.
fn output(words: Vec<OsString>) -> Result<(String, String)> {
    let output = Command::new(&words[0]).args(&words[1..]).output()?;
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        let mut lines = log.lines().rev().filter(|line| !line.trim().is_empty());
        // Node and Python also write a stack trace, and Node ends with a line that shows its
        // version, so find the line of the error.
        let error = lines.clone().find(|line| line.contains("Error: "));
        let message = error.or_else(|| lines.next()).unwrap_or("no message");
        return Err(format!("{}: {message}", output.status).into());
    }
    Ok((String::from_utf8_lossy(&output.stdout).into_owned(), log))
}
