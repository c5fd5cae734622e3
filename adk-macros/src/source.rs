//! The files of the crate as text: what a macro cannot learn from its own tokens.
//!
//! Read once each, and only where it is asked for.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

/// Where something stands in a file: line and column, from 1.
pub(crate) type Place = (usize, usize);

/// A file.
pub(crate) struct Source {
    text: String,
    pieces: Vec<Piece>,
}

/// What goes from one bracket to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Piece {
    from: Place,
    /// The block that is innermost there, by where its piece begins; 0 outside of all.
    pub(crate) block: usize,
    /// Whether that is an `impl` or a `trait`.
    pub(crate) is_associated: bool,
    /// Whether a macro gets it, which may put it anywhere.
    pub(crate) is_given: bool,
}

/// Where the macro that is expanded is called. An editor may have another text than the disk.
pub(crate) fn call() -> Option<(PathBuf, Place)> {
    if !proc_macro::is_available() || !crate::facade::is_compiled() {
        return None;
    }
    let span = proc_macro::Span::call_site();
    Some((span.local_file()?, (span.line(), span.column())))
}

/// Asks a file something, which is empty when it cannot be read.
pub(crate) fn ask<T>(file: PathBuf, question: impl FnOnce(&Source) -> T) -> Option<T> {
    static FILES: Mutex<Option<HashMap<PathBuf, Source>>> = Mutex::new(None);
    let mut files = FILES.lock().ok()?;
    let read = |file: &PathBuf| Source::new(fs::read_to_string(file).unwrap_or_default());
    Some(question(files.get_or_insert_default().entry(file).or_insert_with_key(read)))
}

impl Source {
    pub(crate) fn new(text: String) -> Self {
        let pieces = pieces(&text);
        Self { text, pieces }
    }

    /// The piece in which something stands.
    pub(crate) fn piece(&self, place: Place) -> Option<Piece> {
        let before = self.pieces.partition_point(|piece| piece.from < place);
        self.pieces.get(before.checked_sub(1)?).copied()
    }

    /// The last name of the path of a macro that is called there.
    pub(crate) fn called(&self, (line, column): Place) -> Option<&str> {
        let line = self.text.lines().nth(line.checked_sub(1)?)?;
        let (at, _) = line.char_indices().nth(column.checked_sub(1)?)?;
        let path = line.get(at..)?.trim_start_matches(['#', '[', ' ']);
        let end = path.find(|char: char| !char.is_alphanumeric() && char != '_' && char != ':');
        path.get(..end.unwrap_or(path.len()))?.rsplit(':').next()
    }
}

/// Words that an item or a block begins with; the first of them says what a brace belongs to.
const HEADS: [&str; 17] = [
    "impl", "trait", "fn", "mod", "struct", "enum", "union", "const", "static", "let", "match", "if", "for",
    "while", "loop", "extern", "return",
];

fn pieces(text: &str) -> Vec<Piece> {
    let start = Piece { from: (0, 0), block: 0, is_associated: false, is_given: false };
    let (mut found, mut now, mut lexer) = (vec![start], start, Lexer::new(text));
    // What is open, with what it stands in: each brace, and other brackets since the last one.
    let (mut open, mut nested): (Vec<(Piece, Vec<bool>)>, Vec<bool>) = (Vec::new(), Vec::new());
    // What the next brace belongs to, and the tokens before: `!` or `! name` when it is a macro's.
    let (mut head, mut before): (Option<&str>, [&str; 2]) = (None, [""; 2]);
    while let Some((place, token)) = lexer.next() {
        let is_given = now.is_given || before[1] == "!" || (before[0] == "!" && is_word(before[1]));
        match token {
            "(" | "[" => {
                nested.push(now.is_given);
                now.is_given = is_given;
            }
            ")" | "]" => now.is_given = nested.pop().unwrap_or(now.is_given),
            "{" => {
                open.push((now, std::mem::take(&mut nested)));
                let is_associated = matches!(head, Some("impl" | "trait"));
                (now, head) = (Piece { from: place, block: found.len(), is_associated, is_given }, None);
            }
            "}" => {
                (now, nested) = open.pop().unwrap_or((start, Vec::new()));
                head = None;
            }
            ";" => head = None,
            word if nested.is_empty() && head.is_none() => head = HEADS.into_iter().find(|one| *one == word),
            _ => {}
        }
        now.from = place;
        if found.last().is_some_and(|last| Piece { from: place, ..*last } != now) {
            found.push(now);
        }
        before = [before[1], token];
    }
    found
}

fn is_word(token: &str) -> bool {
    token.starts_with(|char: char| char.is_alphabetic() || char == '_')
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
pub(crate) mod tests {
    use super::{Piece, Source};

    /// The piece of each `@`.
    pub(crate) fn marked(text: &str) -> Vec<Piece> {
        let source = Source::new(text.to_owned());
        let lines = text.lines().enumerate();
        let marks = lines.flat_map(|(line, text)| {
            let columns = text.chars().enumerate().filter(|(_, char)| *char == '@');
            columns.map(move |(column, _)| (line + 1, column + 1))
        });
        marks.map(|place| source.piece(place).unwrap()).collect()
    }

    #[test]
    fn what_stands_in_one_block() {
        for (text, expected) in [
            ("@ mod a { @ mod b {} @ } @", [0, 1, 1, 0].as_slice()),
            ("fn f() { if x { @ } else { @ } @ } @", &[2, 4, 1, 0]),
            ("fn f(x: [u8; { 3 }]) { @ }", &[3]),
        ] {
            let blocks = marked(text).iter().map(|piece| piece.block).collect::<Vec<_>>();
            assert_eq!(blocks.len(), expected.len(), "{text}");
            for (a, x) in blocks.iter().zip(expected) {
                for (b, y) in blocks.iter().zip(expected) {
                    assert_eq!(a == b, x == y, "{text}");
                }
            }
        }
    }

    #[test]
    fn what_a_macro_gets() {
        for (text, expected) in [
            ("@ macro_rules! m { () => { @ } } @", [false, true, false].as_slice()),
            (
                "a::m! { @ mod b { @ } } @ m!(@ { @ } @) @ m![@] @",
                &[true, true, false, true, true, true, false, true, false],
            ),
            ("fn f() { g(@); if !x { @ } }", &[false, true]),
        ] {
            let given = marked(text).iter().map(|piece| piece.is_given).collect::<Vec<_>>();
            assert_eq!(given, expected, "{text}");
        }
    }

    #[test]
    fn the_macro_of_a_call() {
        let source = Source::new("mod a {\n  #[ adk::agent(writes = k)] fn f() {}\n ä::workflow! {}".into());
        assert_eq!(source.called((2, 3)), Some("agent"));
        assert_eq!(source.called((3, 2)), Some("workflow"));
        assert_eq!(source.called((9, 1)), None);
    }
}
