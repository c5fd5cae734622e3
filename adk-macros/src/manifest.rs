//! Reads in a `Cargo.toml` by which name a crate knows a dependency.
//!
//! No parser of TOML: one would be a tenth of what the macros cost the first build of each user. What is read here is where each
//! key has which text; what is not TOML ends the reading, since cargo has refused it.

use std::path::Path;
use std::{fs, iter};

/// The name of a dependency on `package`: `None` where it is not renamed.
pub(crate) fn renamed(folder: &Path, package: &str) -> Option<String> {
    let entries = read(&fs::read_to_string(folder.join("Cargo.toml")).ok()?);
    let mut inherited = Vec::new();
    for (path, value) in &entries {
        let [.., kind, name, field] = path.as_slice() else { continue };
        if !kind.ends_with("dependencies") {
            continue;
        }
        match (field.as_str(), value.as_str()) {
            ("package", value) if value == package => return Some(name.clone()),
            ("workspace", "true") => inherited.push(name),
            _ => {}
        }
    }
    let of_workspace = workspace(folder, &entries).filter(|_| !inherited.is_empty())?;
    of_workspace.iter().find_map(|(path, value)| match path.as_slice() {
        [workspace, kind, name, field]
            if workspace == "workspace" && kind == "dependencies" && field == "package" =>
        {
            (value == package && inherited.contains(&name)).then(|| name.clone())
        }
        _ => None,
    })
}

/// The manifest of the workspace of a crate: what its own names, or the first one above that has members.
fn workspace(folder: &Path, entries: &[Entry]) -> Option<Vec<Entry>> {
    let named = entries.iter().find(|(path, _)| path.iter().eq(["package", "workspace"]));
    let above = match named {
        Some((_, named)) => vec![folder.join(named)],
        None => folder.ancestors().map(Path::to_owned).collect(),
    };
    above.iter().find_map(|folder| {
        let entries = read(&fs::read_to_string(folder.join("Cargo.toml")).ok()?);
        let is_workspace = entries.iter().any(|(path, _)| path.first().is_some_and(|key| key == "workspace"));
        is_workspace.then_some(entries)
    })
}

/// A key with all above it, and its text: what a string holds, otherwise what is written, such as `true`.
type Entry = (Vec<String>, String);

fn read(text: &str) -> Vec<Entry> {
    let mut reader = Reader { rest: text, entries: Vec::new() };
    // What comes after a mistake is not read.
    let _ = reader.document();
    reader.entries
}

struct Reader<'a> {
    rest: &'a str,
    entries: Vec<Entry>,
}

impl Reader<'_> {
    fn document(&mut self) -> Option<()> {
        let mut table = Vec::new();
        loop {
            self.space();
            if self.rest.is_empty() {
                return Some(());
            }
            if self.take("[") {
                let is_list = self.take("[");
                table = self.keys()?;
                self.take("]").then_some(())?;
                (!is_list || self.take("]")).then_some(())?;
            } else {
                self.entry(&table)?;
            }
        }
    }

    fn entry(&mut self, table: &[String]) -> Option<()> {
        let path: Vec<_> = table.iter().cloned().chain(self.keys()?).collect();
        self.take("=").then_some(())?;
        self.value(&path)
    }

    fn value(&mut self, path: &[String]) -> Option<()> {
        self.space();
        if self.take("{") {
            return self.list("}", |reader| reader.entry(path));
        }
        if self.take("[") {
            return self.list("]", |reader| reader.value(path));
        }
        let text = match self.string() {
            Some(text) => text?,
            None => self.word(|c| !c.is_whitespace() && !",]}#".contains(c))?,
        };
        self.entries.push((path.to_vec(), text));
        Some(())
    }

    /// What is between two brackets, up to the second one.
    fn list(&mut self, end: &str, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        loop {
            self.space();
            if self.take(end) {
                return Some(());
            }
            item(self)?;
            self.space();
            self.take(",");
        }
    }

    /// A key with dots.
    fn keys(&mut self) -> Option<Vec<String>> {
        let mut keys = Vec::new();
        loop {
            self.space();
            let key = match self.string() {
                Some(key) => key?,
                None => self.word(|c| c.is_alphanumeric() || "_-".contains(c))?,
            };
            keys.push(key);
            self.space();
            if !self.take(".") {
                return Some(keys);
            }
        }
    }

    /// A string of any kind; the inner `None` is one without an end. Escapes stay as they are: no name of a package has one.
    fn string(&mut self) -> Option<Option<String>> {
        let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| self.take(quote))?;
        let is_raw = quote.starts_with('\'');
        let end = iter::successors(Some(0), |at| {
            let rest = self.rest.get(*at..)?;
            let width = rest.chars().next()?.len_utf8();
            // A character after a backslash is none that ends it.
            let escaped = if is_raw || !rest.starts_with('\\') { 0 } else { rest.chars().nth(1)?.len_utf8() };
            Some(at + width + escaped)
        })
        .find(|at| self.rest.get(*at..).is_some_and(|rest| rest.starts_with(quote)));
        let text = end.and_then(|end| self.rest.get(..end)).map(str::to_owned);
        self.rest = end.and_then(|end| self.rest.get(end + quote.len()..)).unwrap_or_default();
        Some(text)
    }

    /// At least one character.
    fn word(&mut self, mut is_part: impl FnMut(char) -> bool) -> Option<String> {
        let (word, rest) = self.rest.split_at(self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len()));
        self.rest = rest;
        (!word.is_empty()).then(|| word.to_owned())
    }

    fn space(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            if !self.rest.starts_with('#') {
                return;
            }
            self.rest = self.rest.split_once('\n').map_or("", |(_, rest)| rest);
        }
    }

    fn take(&mut self, token: &str) -> bool {
        self.rest.strip_prefix(token).map(|rest| self.rest = rest).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str, path: &str) -> Option<String> {
        read(text).into_iter().find(|(keys, _)| keys.join("/") == path).map(|(_, value)| value)
    }

    #[test]
    fn each_way_to_write_a_dependency_is_read() {
        let ways = [
            "[dependencies]\nother = { package = \"adk-workflow\", path = \"..\" }",
            "[dependencies.other]\nversion = \"1\"\npackage = \"adk-workflow\" # ours",
            "[dependencies]\nother.version = '1'\nother . package = 'adk-workflow'",
            "[ dependencies ]\n\"other\" = {\n  # TOML 1.1\n  features = [\"a\", \"b\",],\n  package = \"adk-workflow\",\n}",
        ];
        for text in ways {
            let read = value(text, "dependencies/other/package");
            assert_eq!(read.as_deref(), Some("adk-workflow"), "{text}");
        }
        let text = "[target.'cfg(unix)'.dev-dependencies]\nother = { package = \"adk-workflow\" }";
        let read = value(text, "target/cfg(unix)/dev-dependencies/other/package");
        assert_eq!(read.as_deref(), Some("adk-workflow"));
    }

    #[test]
    fn what_looks_like_a_table_in_a_text_is_none() {
        let text = "[package]\ndescription = \"\"\"\n[dependencies]\nother = { package = \\\"\"\"\"\nkey = 'a # b' # c\n\
                    [[bin]]\nname = \"a\\\"]\"\n[dependencies]\nother = true";
        assert_eq!(value(text, "package/key").as_deref(), Some("a # b"));
        assert_eq!(value(text, "bin/name").as_deref(), Some("a\\\"]"));
        assert_eq!(value(text, "dependencies/other").as_deref(), Some("true"));
        assert_eq!(value(text, "dependencies/other/package"), None);
    }

    #[test]
    fn what_is_no_toml_ends_the_reading() {
        for text in ["= 1", "[a", "a", "a = {", "a = \"b", "a = [", "[[a]", "a..b = 1", "a = { b", "a = [}"] {
            assert!(read(&format!("first = 1\n{text}")).len() <= 2, "{text}");
        }
    }

    #[test]
    fn a_name_is_also_that_of_the_workspace() {
        let folder = std::env::temp_dir().join(format!("adk-manifest-{}", std::process::id()));
        let member = folder.join("members/one");
        fs::create_dir_all(&member).expect("a folder");
        let write = |folder: &Path, text: &str| fs::write(folder.join("Cargo.toml"), text).expect("a file");
        write(
            &folder,
            "[workspace.dependencies]\nfirst = { package = \"adk-workflow\" }\nother = { package = \"adk-workflow\" }",
        );
        write(&member, "[dependencies]\nother.workspace = true");
        assert_eq!(renamed(&member, "adk-workflow").as_deref(), Some("other"));
        assert_eq!(renamed(&member, "adk"), None);
        write(&member, "[dependencies]\nadk-workflow = \"1\"");
        assert_eq!(renamed(&member, "adk-workflow"), None);
        fs::remove_dir_all(&folder).expect("the folder");
    }
}
