//! What stands around a place of the user's file, as far as its braces tell: an `impl` or a `trait`, and a block that is no
//! module. No tokens tell an attribute where its item stands.
//!
//! Each file is read once, and not in an editor, whose text may be another.

mod items;
mod lexer;
mod made;

pub(crate) use items::Plain;

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
    /// Whether that is a function of its module alone, without an attribute that may make more of it.
    pub(crate) fn is_function(&self, name: &str) -> bool {
        // What a block does not have may be found outside of it.
        self.around.scope == Scope::Module && self.read.is_function(self.around.bracket, name)
    }

    /// What else has that name in the bracket of the call.
    pub(crate) fn plain(&self, name: &str) -> Plain {
        let names = self.read.items.get(&self.around.bracket);
        names.and_then(|names| names.get(name)).copied().unwrap_or_default()
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

fn written(span: Span) -> Option<(PathBuf, Place, Arc<File>)> {
    static FILES: Mutex<Option<HashMap<PathBuf, Arc<File>>>> = Mutex::new(None);
    if !crate::facade::is_compiled() {
        return None;
    }
    let (path, place) = (span.local_file()?, (span.line(), span.column()));
    let mut files = FILES.lock().ok()?;
    let files = files.get_or_insert_default();
    let file = match files.get(&path) {
        Some(file) => file.clone(),
        None => files.entry(path.clone()).or_insert_with_key(|path| Arc::new(File::read(path))).clone(),
    };
    Some((path, place, file))
}

impl File {
    fn read(path: &Path) -> Self {
        Self::of(fs::read_to_string(path).unwrap_or_default())
    }

    fn of(text: String) -> Self {
        let (braces, items) = braces(&text);
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(ends).collect();
        Self { text, lines, braces, items }
    }

    fn is_function(&self, bracket: Place, name: &str) -> bool {
        let is = |names: &HashMap<String, Plain>| {
            let only = Plain { in_values: true, is_function: true, ..Plain::default() };
            !names.contains_key(items::ALL) && names.get(name) == Some(&only)
        };
        self.items.get(&bracket).is_some_and(is)
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
                    (b'!', Before::Word(word)) => before = Before::Bang { rules: word == "macro_rules" },
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

#[cfg(test)]
mod tests {
    use super::{Around, File, Scope, braces, look};

    /// What stands around each `@`.
    fn marked(text: &str) -> Vec<Around> {
        let (braces, _) = braces(text);
        let lines = text.lines().enumerate();
        let marks = lines.flat_map(|(line, text)| {
            let columns = text.chars().enumerate().filter(|(_, char)| *char == '@');
            columns.map(move |(column, _)| (line + 1, column + 1))
        });
        marks.map(|place| look(&braces, place)).collect()
    }

    #[test]
    fn associated_functions_stand_in_an_impl_or_a_trait() {
        for inside in [
            "struct S { a: u8 }\nimpl S { @ }",
            "impl<F: Fn() -> u8> Display for Wörter<F> where F: Clone { const N: [u8; 2] = [1, 2]; fn f() {} @ }",
            "mod m { pub(crate) unsafe trait T { fn f(); @ } }",
            "fn main() { #[allow(fn_x)] impl S { fn g() { if x { } } @ } }",
            "impl S { /* } /* } */ } */ // }\n  const A: &str = \"}\\\"}\"; const B: char = '}'; const C: &str = r#\"}\"}\"#; @ }",
            "impl S { vec![1, 2]; @ }",
        ] {
            let associated: Vec<_> = marked(inside).iter().map(|around| around.associated).collect();
            assert_eq!(associated, [true], "{inside}");
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
            assert!(marked(outside).iter().all(|around| !around.associated), "{outside}");
        }
    }

    #[test]
    fn blocks_are_told_from_modules() {
        use Scope::{Block, Call, Made, Module};
        for (text, scopes) in [
            ("@ mod m { @ pub(crate) mod n { @ } } @", vec![Module; 4]),
            ("fn f() { @ { @ } @ } @", vec![Block((1, 8)), Block((1, 12)), Block((1, 8)), Module]),
            ("fn f() { mod m { @ } }", vec![Block((1, 8))]),
            ("const _: () = {\n @ };", vec![Block((1, 15))]),
            ("let a = \"{\"; let b = '{'; let ö = r#\"{\"#; fn f<'a>() {} @", vec![Module]),
            ("m! { @ { @ } } fn f() { m!(@ [@]); @ }", {
                let inside = Call(Some((1, 23)));
                vec![Call(None), Call(None), inside, inside, Block((1, 23))]
            }),
            ("macro_rules! m { ($a:ident) => { @ mod n { @ } fn f() { @ } }; () => (@) } @", {
                vec![Made(None), Made(None), Made(Some((1, 55))), Made(None), Module]
            }),
            ("fn f() { if a != (b) { @ } }", vec![Block((1, 22))]),
        ] {
            assert_eq!(marked(text).iter().map(|around| around.scope).collect::<Vec<_>>(), scopes, "{text}");
        }
    }

    #[test]
    fn what_stands_in_one_bracket() {
        for (text, expected) in [
            ("@ mod a { @ mod b {} @ } @", [0, 1, 1, 0].as_slice()),
            ("fn f() { if x { @ } else { @ } @ } @", &[2, 4, 1, 0]),
            ("fn f(x: [u8; { 3 }]) { @ }", &[3]),
        ] {
            let brackets = marked(text).iter().map(|around| around.bracket).collect::<Vec<_>>();
            assert_eq!(brackets.len(), expected.len(), "{text}");
            for (a, x) in brackets.iter().zip(expected) {
                for (b, y) in brackets.iter().zip(expected) {
                    assert_eq!(a == b, x == y, "{text}");
                }
            }
        }
    }

    #[test]
    fn the_macro_of_a_call() {
        let text = "mod a {\n  #[ adk::agent(writes = k)] fn f() {}\n ä::workflow! {}";
        let file = File::of(text.to_owned());
        assert_eq!(file.called((2, 3)), Some("agent"));
        assert_eq!(file.called((3, 2)), Some("workflow"));
        assert_eq!(file.called((9, 1)), None);
    }
}
