//! What the compiler says of programs, without its layout.
//!
//! A snapshot holds our own words. Where the words are rustc's it holds only the code, the line and the source text, so a
//! new compiler changes few of them.

use super::folder;
use adk::check::Check;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fmt, fs};

/// One error or warning.
#[derive(PartialEq)]
pub(super) struct Message {
    level: String,
    code: Option<String>,
    text: String,
    /// Line and column, and the source text there; `None` without a place in the program.
    at: Option<(u64, u64, String)>,
    /// As a terminal shows it, with all places, notes and helps.
    pub(super) rendered: String,
}

impl Message {
    /// A line of rustc's JSON, unless it only counts what came before.
    fn read(line: &Value, file: &str) -> Option<Self> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let message = Self {
            level: text(&line["level"])?,
            code: text(&line["code"]["code"]),
            text: text(&line["message"])?,
            at: line["spans"]
                .as_array()?
                .iter()
                .find(|span| span["is_primary"] == true)
                .and_then(|span| place(span, file)),
            rendered: text(&line["rendered"])?,
        };
        let counts = message.text.starts_with("aborting due to") || message.text.ends_with("emitted");
        (matches!(&*message.level, "error" | "warning") && !counts).then_some(message)
    }

    /// Adds the message to those of its compile, unless it is there.
    ///
    /// rustc prints equal errors once. In an incremental build, Cargo's default, a span also holds the item around it, which
    /// JSON leaves out. So rustc takes the error at one type, of which a macro made two items, for two errors and prints it
    /// twice. Cargo shows it once on a terminal.
    fn add_to(self, messages: &mut Vec<Self>) {
        if !messages.contains(&self) {
            messages.push(self);
        }
    }

    /// The text without what const evaluation puts before it.
    fn own(&self) -> &str {
        self.text.strip_prefix("evaluation panicked: ").unwrap_or(&self.text)
    }

    /// The check that speaks.
    pub(super) fn check(&self) -> Option<&'static str> {
        let (name, _) = self.own().split_once(": ")?;
        Check::ALL.iter().map(|check| check.name()).find(|check| *check == name)
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_own = self.check().is_some() || self.code.is_none();
        let text = if is_own { self.own() } else { "" };
        match &self.code {
            Some(code) if !is_own => write!(f, "{}[{code}]", self.level)?,
            _ => write!(f, "{}: {text}", self.level)?,
        }
        match &self.at {
            Some((line, column, source)) => writeln!(f, "\n --> {line}:{column}: {source}"),
            None => writeln!(f),
        }
    }
}

/// Where in the program a span is: what a macro made is where the macro was called.
fn place(span: &Value, file: &str) -> Option<(u64, u64, String)> {
    if span["file_name"]
        .as_str()
        .is_some_and(|name| Path::new(name).file_name() == Path::new(file).file_name())
    {
        let (line, column) = (span["line_start"].as_u64()?, span["column_start"].as_u64()?);
        let source = span["text"][0].clone();
        let text: Vec<char> = source["text"].as_str().unwrap_or_default().chars().collect();
        let edge =
            |name: &str| source[name].as_u64().map_or(1, |edge| edge as usize).clamp(1, text.len() + 1);
        let (start, end) = (edge("highlight_start"), edge("highlight_end"));
        return Some((line, column, text.get(start - 1..end - 1).unwrap_or_default().iter().collect()));
    }
    place(span["expansion"].get("span")?, file)
}

/// The messages as a snapshot shows them.
pub(super) fn snapshot(messages: &[Message]) -> String {
    messages.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// What rustc says of one program; `command` has everything but the program.
pub(super) fn rustc(mut command: Command, program: &str) -> Vec<Message> {
    let output = command.args(["--error-format=json", program]).output().expect("rustc");
    let said = String::from_utf8(output.stderr).expect("a text");
    let lines = said.lines().map(|line| serde_json::from_str(line).expect("rustc writes JSON"));
    let mut messages = Vec::new();
    lines.filter_map(|line| Message::read(&line, program)).for_each(|message| message.add_to(&mut messages));
    messages
}

/// What `cargo check` says of each program, all at once, in a package that has what a user of the facade has.
pub(super) fn programs(package: &str, programs: &[(String, PathBuf)]) -> BTreeMap<String, Vec<Message>> {
    let (home, root) = (
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(package),
        folder("../..").canonicalize().expect("the root"),
    );
    fs::create_dir_all(&home).expect("a folder for the package");
    let bins = programs.iter().map(|(name, path)| format!("[[bin]]\nname = {name:?}\npath = {path:?}\n"));
    let manifest = format!(
        "[package]\nname = {package:?}\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n[workspace]\n[dependencies]\n\
         adk-workflow = {{ path = {root:?} }}\nagents = {{ path = {:?} }}\nschemars = \"1\"\nserde = {{ version = \"1\", features = [\"derive\"] }}\n\
         serde_json = \"1\"\n{}",
        root.join("tests/crates/agents"),
        bins.collect::<String>(),
    );
    fs::write(home.join("Cargo.toml"), manifest).expect("a manifest");
    fs::copy(root.join("Cargo.lock"), home.join("Cargo.lock")).expect("a lock file");
    // Both packages use one folder, so the dependencies are checked once.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("target");
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["check", "--offline", "--keep-going", "--bins", "--message-format=json", "--manifest-path"])
        .arg(home.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", target)
        .output()
        .expect("cargo");
    let mut said: BTreeMap<_, _> = programs.iter().map(|(name, _)| (name.clone(), Vec::new())).collect();
    let lines = String::from_utf8(output.stdout).expect("a text");
    for line in lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let (name, source) = (line["target"]["name"].as_str(), line["target"]["src_path"].as_str());
        if let (Some(name), Some(source)) = (name, source)
            && let Some(messages) = said.get_mut(name)
            && let Some(message) = Message::read(&line["message"], source)
        {
            message.add_to(messages);
        }
    }
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(said.values().any(|messages| !messages.is_empty()), "nothing was checked: {log}");
    said
}
