//! Whether a function stands in an `impl` or a `trait`. Its tokens do not tell when it has no `self`, its file does.
//!
//! An attribute there may not write a struct beside the function, and rustc says four times what it thinks of ours.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

/// Where something stands in a file: line and column, from 1.
type Place = (usize, usize);

/// Each brace of a file, and whether an `impl` or a `trait` is what is innermost behind it.
type Braces = Vec<(Place, bool)>;

/// Whether the attribute that is expanded stands there, as far as its file tells. In no column but the first somebody may
/// have put a module around, so that files are read for those alone, and once.
pub(super) fn is_associated() -> bool {
    static FILES: Mutex<Option<HashMap<PathBuf, Braces>>> = Mutex::new(None);
    // An editor may have another text than the disk.
    if !proc_macro::is_available() || !crate::facade::is_compiled() {
        return false;
    }
    let span = proc_macro::Span::call_site();
    let column = span.column();
    if column == 1 {
        return false;
    }
    let (Some(file), place) = (span.local_file(), (span.line(), column)) else { return false };
    let Ok(mut files) = FILES.lock() else { return false };
    let read = |file: &PathBuf| fs::read_to_string(file).map(|text| braces(&text)).unwrap_or_default();
    let files = files.get_or_insert_default();
    let braces = files.entry(file).or_insert_with_key(read);
    is_in(braces, place)
}

fn is_in(braces: &Braces, place: Place) -> bool {
    let before = braces.partition_point(|(brace, _)| *brace < place);
    before.checked_sub(1).and_then(|last| braces.get(last)).is_some_and(|(_, is)| *is)
}

/// Words that an item or a block begins with; the first of them says what a brace belongs to.
const HEADS: [&str; 17] = [
    "impl", "trait", "fn", "mod", "struct", "enum", "union", "const", "static", "let", "match", "if", "for",
    "while", "loop", "extern", "return",
];

fn braces(text: &str) -> Braces {
    let (mut found, mut open, mut lexer) = (Braces::new(), Vec::new(), Lexer::new(text));
    // What the next brace belongs to, and how many other brackets are open.
    let (mut head, mut nested): (Option<&str>, usize) = (None, 0);
    while let Some((place, token)) = lexer.next() {
        match token {
            "(" | "[" => nested += 1,
            ")" | "]" => nested = nested.saturating_sub(1),
            "{" => {
                open.push((matches!(head, Some("impl" | "trait")), nested));
                (head, nested) = (None, 0);
                found.push((place, open.last().is_some_and(|(is, _)| *is)));
            }
            "}" => {
                nested = open.pop().map_or(0, |(_, before)| before);
                head = None;
                found.push((place, open.last().is_some_and(|(is, _)| *is)));
            }
            ";" => head = None,
            word if nested == 0 && head.is_none() => head = HEADS.into_iter().find(|one| *one == word),
            _ => {}
        }
    }
    found
}

/// The words and the punctuation of a text, without comments and literals.
struct Lexer<'a> {
    rest: &'a str,
    place: Place,
}

impl<'a> Lexer<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text, place: (1, 1) }
    }

    /// Goes on by that many bytes.
    fn skip(&mut self, length: usize) -> &'a str {
        let (skipped, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        for char in skipped.chars() {
            self.place = if char == '\n' { (self.place.0 + 1, 1) } else { (self.place.0, self.place.1 + 1) };
        }
        self.rest = rest;
        skipped
    }

    /// Goes on behind the next `end`.
    fn skip_past(&mut self, end: &str) {
        let length = self.rest.find(end).map_or(self.rest.len(), |at| at + end.len());
        self.skip(length);
    }

    fn next(&mut self) -> Option<(Place, &'a str)> {
        loop {
            let place = self.place;
            let first = self.rest.chars().next()?;
            let word = self
                .rest
                .find(|char: char| !char.is_alphanumeric() && char != '_')
                .unwrap_or(self.rest.len());
            if word > 0 {
                let word = self.skip(word);
                let is_raw = matches!(word, "r" | "br" | "cr") && self.rest.starts_with(['"', '#']);
                if !is_raw {
                    return Some((place, word));
                }
                let marks = self.rest.bytes().take_while(|byte| *byte == b'#').count();
                self.skip(marks);
                match self.rest.starts_with('"') {
                    true => {
                        self.skip(1);
                        self.skip_past(&format!("\"{}", "#".repeat(marks)));
                    }
                    // `r#impl` is a name.
                    false => {
                        let name = self.rest.find(|char: char| !char.is_alphanumeric() && char != '_');
                        self.skip(name.unwrap_or(self.rest.len()));
                    }
                }
            } else if first.is_whitespace() {
                self.skip(first.len_utf8());
            } else if self.rest.starts_with("//") {
                self.skip_past("\n");
            } else if self.rest.starts_with("/*") {
                self.comment();
            } else if first == '"' {
                self.quoted('"');
            } else if first == '\'' {
                let mut chars = self.rest.chars().skip(1);
                match (chars.next(), chars.next()) {
                    (Some('\\'), _) | (_, Some('\'')) => self.quoted('\''),
                    // A lifetime.
                    _ => drop(self.skip(1)),
                }
            } else {
                return Some((place, self.skip(first.len_utf8())));
            }
        }
    }

    /// A text or a character.
    fn quoted(&mut self, quote: char) {
        self.skip(1);
        let mut escaped = false;
        let end = self.rest.char_indices().find(|(_, char)| {
            let is_end = *char == quote && !escaped;
            escaped = *char == '\\' && !escaped;
            is_end
        });
        self.skip(end.map_or(self.rest.len(), |(at, _)| at + 1));
    }

    /// Comments stand in one another.
    fn comment(&mut self) {
        let mut depth = 0_usize;
        while !self.rest.is_empty() {
            if self.rest.starts_with("/*") {
                depth += 1;
                self.skip(2);
            } else if self.rest.starts_with("*/") {
                depth -= 1;
                self.skip(2);
                if depth == 0 {
                    return;
                }
            } else {
                let next = self.rest.chars().next().map_or(1, char::len_utf8);
                self.skip(next);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{braces, is_in};

    /// For each `@` whether it stands in an `impl` or a `trait`.
    fn marked(text: &str) -> Vec<bool> {
        let braces = braces(text);
        let lines = text.lines().enumerate();
        let marks = lines.flat_map(|(line, text)| {
            let columns = text.chars().enumerate().filter(|(_, char)| *char == '@');
            columns.map(move |(column, _)| (line + 1, column + 1))
        });
        marks.map(|place| is_in(&braces, place)).collect()
    }

    #[test]
    fn associated_functions_stand_in_an_impl_or_a_trait() {
        for inside in [
            "struct S { a: u8 }\nimpl S { @ }",
            "impl<F: Fn() -> u8> Display for Wörter<F> where F: Clone { const N: [u8; 2] = [1, 2]; fn f() {} @ }",
            "mod m { pub(crate) unsafe trait T { fn f(); @ } }",
            "fn main() { #[allow(fn_x)] impl S { fn g() { if x { } } @ } }",
            "impl S { /* } /* } */ } */ // }\n  const A: &str = \"}\\\"}\"; const B: char = '}'; const C: &str = r#\"}\"}\"#; @ }",
        ] {
            assert_eq!(marked(inside), [true], "{inside}");
        }
    }

    #[test]
    fn others_do_not() {
        for outside in [
            "@ impl S {} @",
            "impl S { fn f() { @ } }",
            "mod m { impl S {} @ }",
            "fn f() -> impl Iterator<Item = u8> { @ }",
            "const X: fn() -> Box<dyn Fn()> = || { @ };",
            "fn f<'a>(x: &'a impl Clone) { @ }",
            "struct S { r#impl: u8 } mod m { @ }",
            "macro! { @ }",
        ] {
            assert!(marked(outside).iter().all(|is| !is), "{outside}");
        }
    }
}
