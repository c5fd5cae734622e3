//! The name that the user's manifest gives to the facade.
//!
//! The macros need one fact of a manifest. A TOML crate costs every first build more than the rest
//! of this crate's dependencies except `syn`, so a reader of keys and strings does the work here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;
use std::{env, fs};

const PACKAGE: &str = "adk-workflow";
const DEPENDENCY_TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "dev_dependencies"];

/// The name in one manifest, and the files that it was read from.
struct CachedName {
    files: Vec<(PathBuf, Option<SystemTime>)>,
    name: Option<String>,
}

impl CachedName {
    fn is_current(&self) -> bool {
        self.files
            .iter()
            .all(|(file, time)| modified(file) == *time)
    }
}

/// Returns `other` for a crate with the dependency `other = { package = "adk-workflow" }`.
///
/// An editor keeps the macros loaded, for many crates and while their manifests change.
pub(crate) fn renamed_facade() -> Option<String> {
    static NAMES: Mutex<BTreeMap<PathBuf, CachedName>> = Mutex::new(BTreeMap::new());
    let dir = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR")?);
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(cached) = names.get(&dir)
        && cached.is_current()
    {
        return cached.name.clone();
    }
    let mut files = Vec::new();
    let name = find_name(&dir, &mut files);
    names.insert(
        dir,
        CachedName {
            files,
            name: name.clone(),
        },
    );
    name
}

fn modified(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).and_then(|data| data.modified()).ok()
}

/// Reads the manifest in `dir` and adds it to `files`.
fn read_manifest(dir: &Path, files: &mut Vec<(PathBuf, Option<SystemTime>)>) -> Option<Manifest> {
    let file = dir.join("Cargo.toml");
    files.push((file.clone(), modified(&file)));
    Some(Manifest::parse(&fs::read_to_string(file).ok()?))
}

fn find_name(dir: &Path, files: &mut Vec<(PathBuf, Option<SystemTime>)>) -> Option<String> {
    let manifest = read_manifest(dir, files)?;
    if manifest.text(&["package", "name"]) == Some(PACKAGE) {
        return None;
    }
    let inherited = manifest.dependencies("workspace", "true");
    let name = manifest
        .dependencies("package", PACKAGE)
        .next_back()
        .or_else(|| {
            let mut inherited = inherited.peekable();
            inherited.peek()?;
            let workspace = find_workspace(dir, &manifest, files);
            let workspace = workspace.as_ref().unwrap_or(&manifest);
            let is_facade = |name: &&str| {
                workspace.text(&["workspace", "dependencies", name, "package"]) == Some(PACKAGE)
            };
            inherited.rfind(is_facade)
        })?;
    // A dependency that is not renamed has the name of its library.
    let name = name.replace('-', "_");
    (name != "adk_workflow").then_some(name)
}

/// Returns the manifest of the workspace, or `None` if it is `manifest` itself.
fn find_workspace(
    dir: &Path,
    manifest: &Manifest,
    files: &mut Vec<(PathBuf, Option<SystemTime>)>,
) -> Option<Manifest> {
    if manifest.has_workspace() {
        return None;
    }
    if let Some(root) = manifest.text(&["package", "workspace"]) {
        return read_manifest(&dir.join(root), files);
    }
    let mut above = dir.ancestors().skip(1);
    above.find_map(|dir| read_manifest(dir, files).filter(Manifest::has_workspace))
}

/// The strings and words of a manifest with their full keys, in order.
///
/// A table is an entry without text. The elements of arrays are left out.
struct Manifest(Vec<(Vec<String>, String)>);

impl Manifest {
    fn parse(text: &str) -> Self {
        let mut reader = Reader {
            tokens: tokens(text),
            at: 0,
            found: Vec::new(),
        };
        reader.read_document();
        Self(reader.found)
    }

    fn text(&self, key: &[&str]) -> Option<&str> {
        self.0
            .iter()
            .find(|(path, _)| path == key)
            .map(|(_, text)| text.as_str())
    }

    fn has_workspace(&self) -> bool {
        self.0
            .iter()
            .any(|(path, _)| path.first().is_some_and(|key| key == "workspace"))
    }

    /// Returns the names of the dependencies whose `field` is `value`.
    fn dependencies<'a>(
        &'a self,
        field: &'a str,
        value: &'a str,
    ) -> impl DoubleEndedIterator<Item = &'a str> {
        let is_match = move |(path, text): &'a (Vec<String>, String)| {
            let (table, name, key) = match path.as_slice() {
                [table, name, key] => (table, name, key),
                [target, _, table, name, key] if target == "target" => (table, name, key),
                _ => return None,
            };
            let is_dependency = DEPENDENCY_TABLES.contains(&table.as_str());
            (is_dependency && key == field && text == value).then_some(name.as_str())
        };
        self.0.iter().filter_map(is_match)
    }
}

#[derive(Debug, PartialEq)]
enum Token {
    /// A bare word or a quoted string.
    Text(String),
    /// One of `[]{}=,.`.
    Mark(char),
    LineEnd,
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let taken = match first {
            '\n' => {
                tokens.push(Token::LineEnd);
                1
            }
            '[' | ']' | '{' | '}' | '=' | ',' | '.' => {
                tokens.push(Token::Mark(first));
                1
            }
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '"' | '\'' => {
                let (string, taken) = quoted(rest, first);
                tokens.push(Token::Text(string));
                taken
            }
            _ if first.is_whitespace() => first.len_utf8(),
            _ => {
                let ends = |c: char| c.is_whitespace() || "[]{}=,.#\"'".contains(c);
                let taken = rest.find(ends).unwrap_or(rest.len());
                tokens.push(Token::Text(rest[..taken].to_owned()));
                taken
            }
        };
        rest = &rest[taken..];
    }
    tokens
}

/// Returns the content of the string at the beginning of `text`, and the length with its quotes.
///
/// Escapes stay as they are: no name of a crate has one.
fn quoted(text: &str, quote: char) -> (String, usize) {
    let triple = text.starts_with(if quote == '"' { "\"\"\"" } else { "'''" });
    let width = if triple { 3 } else { 1 };
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(width) {
        if escaped {
            escaped = false;
        } else if c == '\\' && quote == '"' {
            escaped = true;
        } else if c == quote && (!triple || text[at..].starts_with(&text[..3])) {
            // A string may end with quotes of its own before the three.
            let more = if triple {
                text[at + 3..].chars().take_while(|c| *c == quote).count()
            } else {
                0
            };
            return (text[width..at + more].to_owned(), at + more + width);
        } else if c == '\n' && !triple {
            return (text[width..at].to_owned(), at);
        }
    }
    (text[width..].to_owned(), text.len())
}

struct Reader {
    tokens: Vec<Token>,
    at: usize,
    found: Vec<(Vec<String>, String)>,
}

impl Reader {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn eat(&mut self, mark: char) -> bool {
        let is_mark = self.peek() == Some(&Token::Mark(mark));
        self.at += usize::from(is_mark);
        is_mark
    }

    fn read_document(&mut self) {
        let mut table = Vec::new();
        while self.peek().is_some() {
            if self.eat('[') {
                self.eat('[');
                table = self.read_key(&[]);
                self.found.push((table.clone(), String::new()));
            } else {
                self.read_entry(&table);
            }
            while self.peek().is_some_and(|token| *token != Token::LineEnd) {
                self.at += 1;
            }
            self.at += 1;
        }
    }

    /// Reads `a.b` after the keys of `table`.
    fn read_key(&mut self, table: &[String]) -> Vec<String> {
        let mut key = table.to_vec();
        while let Some(Token::Text(text)) = self.peek() {
            key.push(text.clone());
            self.at += 1;
            if !self.eat('.') {
                break;
            }
        }
        key
    }

    fn read_entry(&mut self, table: &[String]) {
        let key = self.read_key(table);
        if !self.eat('=') {
            return;
        }
        if self.eat('{') {
            self.found.push((key.clone(), String::new()));
            self.read_inline(&key);
        } else if self.eat('[') {
            self.skip_array();
        } else if let Some(Token::Text(text)) = self.peek() {
            self.found.push((key, text.clone()));
            self.at += 1;
        }
    }

    /// Reads an inline table, after its brace.
    fn read_inline(&mut self, table: &[String]) {
        while self.peek().is_some() && !self.eat('}') {
            if let Some(Token::Text(_)) = self.peek() {
                self.read_entry(table);
            } else {
                self.at += 1;
            }
        }
    }

    /// Skips an array, after its bracket.
    fn skip_array(&mut self) {
        let mut depth = 1;
        while depth > 0
            && let Some(token) = self.peek()
        {
            match token {
                Token::Mark('[') => depth += 1,
                Token::Mark(']') => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests;
