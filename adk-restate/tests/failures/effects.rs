//! Outside effects of runs: a file that all processes share, with a line for each call that begins
//! or ends.

use adk::RunId;
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// Environment variable with the path of the file.
const FILE: &str = "ADK_EFFECTS";

/// Duration of a call.
const PAUSE: Duration = Duration::from_millis(12);

/// Makes a call with this idempotency key: records its begin, waits, and records its end.
pub async fn call(run: RunId, key: &str) {
    let key = format!("{run}/{key}");
    note(&format!("begin {key} {}", std::process::id()));
    tokio::time::sleep(PAUSE).await;
    note(&format!("end {key} {}", std::process::id()));
}

fn note(line: &str) {
    write(
        Path::new(&std::env::var_os(FILE).expect("a program of the tests has it")),
        line,
    );
}

/// Records the request to a model, so that a failed test can show it.
pub fn asked(hash: u32, text: &str) {
    let file = std::env::var("ADK_EFFECTS").expect("a program of the tests has it") + ".asked";
    write(Path::new(&file), &format!("{hash:08x} {text:?}"));
}

/// Returns the requests that led to an answer.
pub fn questions(file: &Path, answer: &str) -> Vec<String> {
    let text = std::fs::read_to_string(file.with_extension("asked")).unwrap_or_default();
    let of_answer = |line: &&str| line.get(..8).is_some_and(|hash| answer.contains(hash));
    text.lines()
        .filter(of_answer)
        .map(str::to_owned)
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .collect()
}

/// Appends a line. One write to a file in append mode is atomic between processes.
pub fn write(file: &Path, line: &str) {
    let mut file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(file)
        .expect("it can be written");
    file.write_all(format!("{line}\n").as_bytes())
        .expect("it can be written");
}

/// A line of the file.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    /// A call was begun by a process.
    Begin(String, u32),
    End(String),
    /// The test has killed a process.
    Kill,
    /// The test has cut a process off.
    Cut(u32),
    /// The test has connected the process again, and the broken connections were detected.
    Whole,
}

/// Returns the lines of one run, and the kills between them.
pub fn of_run(file: &Path, run: RunId) -> Vec<Seen> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let prefix = format!("{run}/");
    // Call ids contain the run id in another form.
    let number = run.to_string().trim_start_matches("e-").replace('-', "");
    let number = number.trim_start_matches('0');
    let seen = text.lines().filter_map(|line| {
        let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
        match what {
            "kill" => return Some(Seen::Kill),
            "cut" => return Some(Seen::Cut(rest.parse().expect("it says who is cut off"))),
            "whole" => return Some(Seen::Whole),
            _ => {}
        }
        let (key, process) = rest.split_once(' ')?;
        let key = key.strip_prefix(&prefix)?.replace(number, "RUN");
        let process = process.parse().expect("a line ends with its process");
        Some(if what == "begin" {
            Seen::Begin(key, process)
        } else {
            Seen::End(key)
        })
    });
    seen.collect()
}

/// Returns the number of calls by process, of one run or of all.
pub fn processes_of(file: &Path, run: Option<RunId>) -> HashMap<u32, usize> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let prefix = run.map_or_else(|| "begin ".to_owned(), |run| format!("begin {run}/"));
    let mut counts = HashMap::new();
    for line in text.lines().filter(|line| line.starts_with(&prefix)) {
        let pid = line.rsplit(' ').next().and_then(|pid| pid.parse().ok());
        *counts
            .entry(pid.expect("a line ends with its process"))
            .or_default() += 1;
    }
    counts
}
