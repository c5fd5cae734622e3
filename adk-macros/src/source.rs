//! What stands around a place of the user's file, as far as its braces tell: an `impl` or a `trait`, and a block that is no
//! module. No tokens tell an attribute where its item stands.
//!
//! Each file is read once, and not in an editor, whose text may be another.

mod items;
mod lexer;
mod lost;
mod made;
mod outside;
mod paths;
#[cfg(test)]
mod tests;
mod traits;

pub(crate) use items::Plain;
pub(crate) use paths::Definition;
pub(crate) use traits::Traits;

use items::{Items, Reader};
use lexer::{Lexer, Token};
use proc_macro::Span;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Where something stands in a file: line and column, from 1.
pub(crate) type Place = (usize, usize);

/// What is innermost around a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Around {
    /// An `impl` or a `trait`, so that a function is no item by itself.
    pub(crate) associated: bool,
    pub(crate) scope: Scope,
    /// The bracket itself; (0, 0) outside of all. What stands in one, and is not given to a macro, sees the same names.
    pub(crate) bracket: Place,
}

/// A macro of ours that is expanded.
pub(crate) struct Call {
    pub(crate) file: PathBuf,
    pub(crate) place: Place,
    /// Where a token stands that was given to the macro that wrote the call; (0, 0) for none.
    pub(crate) given: Place,
    pub(crate) around: Around,
    /// The last name of its path, as it is called there.
    pub(crate) name: String,
    read: Arc<File>,
}

impl Call {
    /// What else has that name in the bracket of the call.
    pub(crate) fn plain(&self, name: &str) -> Plain {
        let names = self.read.items.names.get(&self.around.bracket);
        names.and_then(|names| names.get(name)).copied().unwrap_or_default()
    }

    /// Whether a constant of that name in the bracket of the call may be no text, as its type is spelled.
    pub(crate) fn is_no_text(&self, name: &str) -> bool {
        self.read.items.no_texts.contains(&(self.around.bracket, name.to_owned()))
    }
}

/// Where names are looked up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scope {
    /// In modules alone.
    Module,
    /// In a block, as of a function.
    Block(Place),
    /// In a call of a macro, which may put it anywhere; the block around that, if it is one.
    Call(Option<Place>),
    /// In a macro that is written here, and in a block of what it makes.
    Made(Option<Place>),
}

const NOTHING: Around = Around { associated: false, scope: Scope::Module, bracket: (0, 0) };

/// A file with its braces: each of them, and what is innermost behind it.
struct File {
    text: String,
    /// Where each line begins.
    lines: Vec<usize>,
    braces: Vec<(Place, Around)>,
    items: Items,
}

/// What stands around the first token of a span; `None` if its file is not known.
pub(crate) fn around(span: Span) -> Option<Around> {
    let (_, place, file) = written(span)?;
    file.around(place, span)
}

/// The call that is expanded, where its file is known. One that a macro of the user's wrote stands where that is called.
pub(crate) fn call() -> Option<Call> {
    if !proc_macro::is_available() {
        return None;
    }
    let span = Span::call_site();
    let (path, place, file) = written(span)?;
    let (around, name) = (file.around(place, span)?, file.called(place)?.to_owned());
    let call = Call { file: path, place, given: (0, 0), around, name, read: file };
    match call.around.scope {
        Scope::Made(_) => made::caller(call, crate::origin::given()?),
        _ => Some(call),
    }
}

/// Whether a name is followed by that somewhere in the file of the call, beside its own definition.
pub(crate) fn is_written(name: &proc_macro2::Ident, behind: &str) -> bool {
    let is_head = |before: &str| before.ends_with("struct ") || before.ends_with("enum ");
    let searched = format!("{name}{behind}");
    call().is_some_and(|call| {
        let text = &call.read.text;
        text.match_indices(&searched).any(|(at, _)| text.get(..at).is_some_and(|before| !is_head(before)))
    })
}

fn written(span: Span) -> Option<(PathBuf, Place, Arc<File>)> {
    if !crate::facade::is_compiled() {
        return None;
    }
    let (path, place) = (span.local_file()?, (span.line(), span.column()));
    let file = file(&path)?;
    Some((path, place, file))
}

fn file(path: &Path) -> Option<Arc<File>> {
    static FILES: Mutex<Option<HashMap<PathBuf, Arc<File>>>> = Mutex::new(None);
    let mut files = FILES.lock().ok()?;
    let files = files.get_or_insert_default();
    Some(match files.get(path) {
        Some(file) => file.clone(),
        None => files.entry(path.to_owned()).or_insert_with_key(|path| Arc::new(File::read(path))).clone(),
    })
}

impl File {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_default();
        // rustc does not count the mark of the encoding, which some editors begin a file with.
        Self::of(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
    }

    fn of(text: String) -> Self {
        let (braces, items) = braces(&text);
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(ends).collect();
        Self { text, lines, braces, items }
    }

    /// Whether that is a function of its bracket alone, without an attribute that may make more of it.
    fn is_function(&self, bracket: Place, name: &str) -> bool {
        let is = |names: &HashMap<String, Plain>| {
            let only = Plain { in_values: true, is_function: true, ..Plain::default() };
            !names.contains_key(items::ALL) && names.get(name) == Some(&only)
        };
        self.items.names.get(&bracket).is_some_and(is)
    }

    fn around(&self, place: Place, span: Span) -> Option<Around> {
        let found = look(&self.braces, place);
        // The text of an example in a comment has the name of the file, and lines of its own.
        (found == NOTHING || self.has(place, &span.source_text()?)).then_some(found)
    }

    /// Whether that stands there.
    fn has(&self, place: Place, written: &str) -> bool {
        let first = written.lines().next().unwrap_or_default();
        self.behind(place).is_some_and(|rest| rest.starts_with(first))
    }

    /// The last name of the path of a macro that is called there.
    fn called(&self, place: Place) -> Option<&str> {
        let path = self.behind(place)?.trim_start_matches(['#', '[', ' ']);
        let end = path.find(|char: char| !char.is_alphanumeric() && char != '_' && char != ':');
        path.get(..end.unwrap_or(path.len()))?.rsplit(':').next()
    }

    /// The rest of the line.
    fn behind(&self, place: Place) -> Option<&str> {
        self.text.get(self.at(place)?..)?.lines().next()
    }

    /// How many bytes stand before a place.
    fn at(&self, (line, column): Place) -> Option<usize> {
        let before = *self.lines.get(line.checked_sub(1)?)?;
        let (at, _) = self.text.get(before..)?.char_indices().nth(column.checked_sub(1)?)?;
        Some(before + at)
    }
}

fn look(braces: &[(Place, Around)], place: Place) -> Around {
    let before = braces.partition_point(|(brace, _)| *brace < place);
    before.checked_sub(1).and_then(|last| braces.get(last)).map_or(NOTHING, |(_, around)| *around)
}

/// Words that an item or a block begins with; the first of them says what a brace belongs to.
const HEADS: [&str; 17] = [
    "impl", "trait", "fn", "mod", "struct", "enum", "union", "const", "static", "let", "match", "if", "for",
    "while", "loop", "extern", "return",
];

/// A bracket that is open, with how many others were inside of the one around it.
struct Open {
    around: Around,
    /// The rules of a `macro_rules!`.
    rules: bool,
    nested: usize,
}

/// What stands directly before a bracket.
#[derive(Clone, Copy)]
enum Before<'a> {
    Word(&'a str),
    /// `name!`, or `macro_rules!`.
    Bang {
        rules: bool,
    },
    /// `macro_rules! name`.
    Rules,
    Other,
}

fn braces(text: &str) -> (Vec<(Place, Around)>, Items) {
    let (mut found, mut open, mut lexer) = (Vec::new(), Vec::<Open>::new(), Lexer::new(text));
    let mut items = Reader::new();
    // What the next brace belongs to, how many brackets are open that are none of `open`, and what stands before.
    let (mut head, mut nested, mut before): (Option<&str>, usize, _) = (None, 0, Before::Other);
    while let Some(token) = lexer.next() {
        let last = std::mem::replace(&mut before, Before::Other);
        match token {
            Token::Open(bracket) => {
                let outer = open.last();
                let is_call = matches!(last, Before::Bang { .. } | Before::Rules);
                let is_rule = outer.is_some_and(|outer| outer.rules) && nested == 0;
                if bracket != b'{' && !is_call && !is_rule {
                    items.group(nested);
                    nested += 1;
                    continue;
                }
                let (place, outside) = (lexer.place(), outer.map_or(NOTHING, |outer| outer.around));
                let rules = matches!(last, Before::Rules | Before::Bang { rules: true });
                let scope = match outside.scope {
                    _ if is_rule => Scope::Made(None),
                    scope if head == Some("mod") && !is_call => scope,
                    Scope::Made(_) => Scope::Made(Some(place)),
                    Scope::Call(outer) => Scope::Call(outer),
                    Scope::Block(outer) if is_call => Scope::Call(Some(outer)),
                    Scope::Module if is_call => Scope::Call(None),
                    Scope::Block(_) | Scope::Module => Scope::Block(place),
                };
                let associated = match bracket {
                    b'{' => matches!(head, Some("impl" | "trait")),
                    _ => outside.associated,
                };
                let around = Around { associated, scope, bracket: place };
                items.open(around);
                open.push(Open { around, rules, nested });
                (head, nested) = (None, 0);
                found.push((place, around));
            }
            Token::Close(bracket) if bracket != b'}' && nested > 0 => {
                nested -= 1;
                items.group_end(nested);
            }
            Token::Close(bracket) => {
                // One that closes nothing is not the file's.
                if bracket == b'}' || !open.is_empty() {
                    nested = open.pop().map_or(0, |closed| closed.nested);
                    head = None;
                    items.close(nested);
                    found.push((lexer.place(), open.last().map_or(NOTHING, |outer| outer.around)));
                }
            }
            Token::Other(sign) => {
                items.sign(sign, nested);
                match (sign, last) {
                    (b';', _) => head = None,
                    (b'!', Before::Word(word)) => {
                        items.call(word);
                        before = Before::Bang { rules: word == "macro_rules" };
                    }
                    _ => {}
                }
            }
            Token::Word(word) => {
                items.word(word, nested);
                before = match last {
                    Before::Bang { rules: true } => Before::Rules,
                    _ => Before::Word(word),
                };
                if nested == 0 && head.is_none() {
                    head = HEADS.into_iter().find(|one| *one == word);
                }
            }
        }
    }
    (found, items.found)
}
