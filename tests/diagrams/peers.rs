//! Graphviz and Mermaid as programs.

use adk::Spec;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder for the diagrams of a test.
pub(crate) struct Folder {
    path: PathBuf,
    /// The diagrams whose boxes must show some texts.
    labels: Vec<(String, Vec<String>)>,
}

impl Folder {
    pub(crate) fn new() -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("diagrams");
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder for the diagrams");
        Self {
            path,
            labels: Vec::new(),
        }
    }

    /// Adds a diagram that is drawn.
    pub(crate) fn draw(&mut self, name: &str, spec: &Spec<'_>) {
        self.write(&format!("draw-{name}"), spec);
    }

    /// Adds a diagram that is drawn, and whose boxes must show these texts.
    pub(crate) fn draw_with(&mut self, name: &str, spec: &Spec<'_>, labels: &[&str]) {
        self.draw(name, spec);
        self.labels.push((
            format!("draw-{name}"),
            labels.iter().map(|&label| label.to_owned()).collect(),
        ));
    }

    /// Adds a diagram that is only parsed, because the layout of its boxes would take too long.
    pub(crate) fn parse(&mut self, name: &str, spec: &Spec<'_>) {
        self.write(&format!("parse-{name}"), spec);
    }

    fn write(&self, name: &str, spec: &Spec<'_>) {
        for (ending, text) in [("mmd", spec.mermaid()), ("dot", spec.dot())] {
            fs::write(self.path.join(format!("{name}.{ending}")), text)
                .expect("a diagram is written");
        }
    }

    fn names(&self, start: &str, ending: &str) -> Vec<PathBuf> {
        let all = fs::read_dir(&self.path)
            .expect("the folder")
            .map(|entry| entry.expect("an entry").path());
        let is_one = |path: &PathBuf| {
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or_default();
            name.starts_with(start) && path.extension().is_some_and(|found| found == ending)
        };
        let mut names: Vec<_> = all.filter(is_one).collect();
        names.sort();
        names
    }

    /// Asserts that every expected text is one of the shown texts.
    fn compare(&self, peer: &str, shown: impl Fn(&str) -> Vec<String>) {
        for (name, labels) in &self.labels {
            let shown = shown(name);
            let missing: Vec<_> = labels
                .iter()
                .filter(|label| !shown.contains(label))
                .collect();
            assert!(
                missing.is_empty(),
                "{peer} does not show {missing:?} but {shown:?}"
            );
        }
    }
}

/// Draws the diagrams in one process, as SVG. The other diagrams are parsed and written by a
/// program without a layout: `dot` computes a layout for each output format, which takes long, and
/// Graphviz 2.43 then sometimes frees memory twice.
pub(crate) fn graphviz(folder: &Folder) {
    let drawn = folder.names("draw-", "dot");
    succeed(Command::new("dot").args(["-Tsvg", "-O"]).args(&drawn));
    for file in drawn {
        let made = fs::read_to_string(file.with_extension("dot.svg")).unwrap_or_default();
        assert!(
            !made.is_empty(),
            "Graphviz has made nothing of {}",
            file.display()
        );
    }
    let read = folder.names("parse-", "dot");
    let written = succeed(Command::new("nop").args(&read));
    let graphs = written
        .lines()
        .filter(|line| line.starts_with("digraph"))
        .count();
    assert_eq!(graphs, read.len(), "Graphviz has not read all");
    folder.compare("Graphviz", |name| {
        let svg =
            fs::read_to_string(folder.path.join(format!("{name}.dot.svg"))).expect("a picture");
        let texts = svg
            .split("<text")
            .skip(1)
            .filter_map(|text| Some(text.split_once('>')?.1.split_once('<')?.0));
        texts.map(unescaped).collect()
    });
}

/// Returns the output of a Graphviz program. A warning is an invalid label or edge.
fn succeed(program: &mut Command) -> String {
    let ran = program
        .output()
        .expect("Graphviz runs: tests/peers/run-diagrams.sh installs it");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success() && said.is_empty(), "Graphviz: {said}");
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

/// Returns the text of a piece of XML.
fn unescaped(xml: &str) -> String {
    let mut text = String::new();
    let mut rest = xml;
    while let Some((before, entity)) = rest.split_once('&') {
        let (entity, behind) = entity.split_once(';').expect("an entity ends");
        text.push_str(before);
        text.push(match entity {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            number => {
                let code = number
                    .strip_prefix('#')
                    .and_then(|code| code.parse().ok())
                    .and_then(char::from_u32);
                code.unwrap_or_else(|| panic!("`&{number};` is not a character reference"))
            }
        });
        rest = behind;
    }
    // Graphviz writes a non-breaking space.
    (text + rest).replace('\u{a0}', " ")
}

/// Draws all diagrams on one page of a browser.
pub(crate) fn mermaid(folder: &Folder) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/mermaid/draw.mjs");
    let ran = Command::new("node").arg(script).arg(&folder.path).output();
    let ran = ran.expect("Node runs: tests/peers/run-diagrams.sh needs it");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(
        ran.status.success(),
        "Mermaid: {said}{}",
        String::from_utf8_lossy(&ran.stdout)
    );
    let (read, drawn) = (
        folder.names("", "mmd").len(),
        folder.names("draw-", "mmd").len(),
    );
    assert_eq!(
        String::from_utf8_lossy(&ran.stdout).trim(),
        format!("{read} read, {drawn} drawn")
    );
    folder.compare("Mermaid", |name| {
        let texts =
            fs::read_to_string(folder.path.join(format!("{name}.mmd.json"))).expect("texts");
        serde_json::from_str(&texts).expect("texts as JSON")
    });
}
