//! The way through a file: which statement a token is a part of, and what it says there.

mod keep;
mod state;

use super::{ALL, BARE, Child, FUNCTION, IMPORT, Items, Module, Plain, TYPE, VALUE, plain};
use crate::source::lost::{self, Lost};
use crate::source::{self, Around, Traits};
use state::{Outer, Path, State};

/// Macros that make nothing that has a name, and ours whose names are none of a function's.
const NAMELESS: [&str; 10] = [
    "assert",
    "cfg",
    "compile_error",
    "concat",
    "env",
    "format",
    "include_str",
    "matches",
    "vec",
    "workflow",
];

/// Derives that give nothing of what `#[data]` does, but for `Clone` and `Debug`.
const DERIVES: [&str; 9] =
    ["Clone", "Copy", "Debug", "Default", "Eq", "Hash", "Ord", "PartialEq", "PartialOrd"];

/// Before a path that leads to another crate.
const GLOBAL: &str = "";

/// Reads the names on the way through a file.
pub(in crate::source) struct Reader<'a> {
    pub(in crate::source) found: Items,
    outer: Vec<Outer<'a>>,
    around: Around,
    /// Whether what stands in this bracket is there as it is written.
    certain: bool,
    /// The same for the item that is read.
    inert: bool,
    /// What derives give it.
    derives: Traits,
    /// The attribute that may be meant as one of ours; `None` where another may change the item.
    meant: Option<Lost>,
    /// Whether the attribute that is read has a `!`.
    inner: bool,
    state: State<'a>,
    path: Path<'a>,
}

impl<'a> Reader<'a> {
    pub(in crate::source) fn new() -> Self {
        Self {
            found: Items::default(),
            outer: Vec::new(),
            around: source::NOTHING,
            certain: true,
            inert: true,
            derives: Traits::NONE,
            meant: Some(Lost::default()),
            inner: false,
            state: State::Start,
            path: Path::default(),
        }
    }

    fn start(&mut self) {
        (self.state, self.inert, self.derives) = (State::Start, true, Traits::NONE);
        self.path = Path::default();
        self.meant = Some(Lost::default());
    }

    /// A word; `nested` says in how many brackets that are none of a block.
    pub(in crate::source) fn word(&mut self, word: &'a str, nested: usize) {
        // An import that is not read as one.
        if word == "use" && (nested > 0 || !matches!(self.state, State::Start | State::Head)) {
            self.found.importers.insert(self.around.bracket);
        }
        self.state = match (self.state, nested) {
            (State::Attribute { name: None }, 1) => {
                self.attribute(word);
                // It is of derives.
                if matches!(word, "serde" | "schemars") {
                    self.meant = None;
                }
                State::Attribute { name: Some(word) }
            }
            (State::Attribute { name: Some("derive") }, 2) => {
                if word.eq_ignore_ascii_case("data") {
                    self.attribute(word)
                } else {
                    self.meant = self.meant.take().filter(|_| DERIVES.contains(&word))
                }
                if let Some(Lost { is_derived, .. }) = &mut self.meant {
                    *is_derived |= word.eq_ignore_ascii_case("data");
                }
                self.derives = self.derives.and(Traits::derived(word));
                self.state
            }
            (State::Attribute { name: Some(lost::FACADE) }, 1) => {
                self.meant = self.meant.take().filter(|_| lost::is_slip_away(word));
                if let Some(Lost { attribute: Some(attribute), .. }) = &mut self.meant {
                    *attribute = format!("{attribute}::{word}");
                }
                State::Attribute { name: Some(word) }
            }
            (state @ State::Attribute { .. }, _) => state,
            (state, 1..) => state,
            (State::Const, _) if !matches!(word, "fn" | "unsafe" | "async" | "extern") => {
                self.name(word, VALUE)
            }
            (State::Head, _) if word == "crate" => {
                self.path.names.push(GLOBAL);
                State::Import
            }
            (State::Start | State::Head | State::Const, _) => match word {
                "pub" | "unsafe" | "safe" | "async" | "extern" | "auto" => State::Head,
                "const" => State::Const,
                "struct" | "enum" => State::Named(BARE),
                "union" | "trait" | "type" => State::Named(TYPE),
                "mod" => State::Module(None),
                "fn" => State::Named(FUNCTION),
                "static" => State::Named(VALUE),
                "use" => State::Import,
                _ => State::Rest,
            },
            (State::Named(_), _) if word == "mut" => self.state,
            (State::Named(kind), _) => self.name(word, kind),
            (State::Module(None), _) => {
                self.name(word, TYPE);
                State::Module(Some(plain(word)))
            }
            (State::Import, _) => {
                match (&mut self.path.renamed, word) {
                    (Some(name), _) => *name = Some(plain(word)),
                    (renamed, "as") => *renamed = Some(None),
                    _ => self.path.names.push(plain(word)),
                }
                State::Import
            }
            (State::Typed(_), _) if word == "static" => self.state,
            (State::Typed(name), _) => {
                self.typed(name, word == "str");
                State::Rest
            }
            (State::Module(_) | State::Bare(_) | State::Rest, _) => State::Rest,
        };
    }

    /// A sign that is no bracket.
    pub(in crate::source) fn sign(&mut self, sign: u8, nested: usize) {
        match (self.state, nested, sign) {
            (State::Attribute { name: Some(lost::FACADE) }, 1, b':') => {}
            // A path leads to an attribute that nobody knows.
            (State::Attribute { name: Some(_) }, 1, b':') => (self.inert, self.meant) = (false, None),
            (State::Attribute { name: None }, 0, b'!') => self.inner = true,
            (State::Attribute { .. }, _, _) | (_, 1.., _) => {}
            (State::Import, _, b':') if self.path.names.is_empty() => self.path.names.push(GLOBAL),
            (State::Import, _, b':') => {}
            (State::Import, _, b',') => self.import(),
            (State::Import, _, b'*') => {
                match self.path.names.last() {
                    Some(&"prelude") => self.prelude(),
                    _ => {
                        self.keep(ALL, IMPORT);
                        self.glob();
                    }
                }
                self.path.names.truncate(self.path.outside);
            }
            (state, _, b';') => {
                self.bare();
                match state {
                    State::Import => self.import(),
                    State::Module(Some(name)) => self.child(name, Child::File),
                    _ => {}
                }
                self.start();
            }
            (State::Typed(_), _, b':' | b'&' | b'\'') => {}
            (State::Start, _, b'#') => (self.state, self.inner) = (State::Attribute { name: None }, false),
            _ => self.state = State::Rest,
        }
    }

    /// Where no parameters stand behind the name of a type.
    fn bare(&mut self) {
        match self.state {
            State::Bare(name) if self.inert => self.keep(name, Plain { derives: self.derives, ..BARE }),
            State::Bare(name) => self.lose(name, false),
            _ => {}
        }
    }

    /// A macro is called, perhaps.
    pub(in crate::source) fn call(&mut self, name: &str) {
        if !NAMELESS.contains(&name) {
            self.found.calls.insert(self.around.bracket);
            // That of ours imports nothing.
            if name != "agent" {
                self.found.importers.insert(self.around.bracket);
            }
        }
    }

    /// A bracket that is none of a block opens.
    pub(in crate::source) fn group(&mut self, nested: usize) {
        self.bare();
        if let State::Typed(name) = self.state {
            self.typed(name, false);
        }
        if nested == 0 && !matches!(self.state, State::Attribute { .. } | State::Head) {
            self.state = State::Rest;
        }
    }

    pub(in crate::source) fn group_end(&mut self, nested: usize) {
        if nested == 0 && matches!(self.state, State::Attribute { .. }) {
            self.state = State::Start;
        }
    }

    /// The bracket of a block or of a call opens.
    pub(in crate::source) fn open(&mut self, around: Around) {
        self.bare();
        let (state, certain, inert, outside) = (self.state, self.certain, self.inert, self.path.outside);
        let outer = std::mem::replace(&mut self.around, around);
        self.outer.push(Outer { state, around: outer, certain, inert, outside });
        match state {
            // The names stand where the `use` does.
            State::Import => {
                self.around = outer;
                self.path.outside = self.path.names.len();
                return;
            }
            State::Module(Some(name)) => {
                let (name, certain, bracket) = (name.to_owned(), certain && inert, around.bracket);
                self.found.modules.insert(bracket, Module { name, outer: outer.bracket, certain });
            }
            _ => {}
        }
        self.certain &= inert;
        self.start();
    }

    pub(in crate::source) fn close(&mut self, nested: usize) {
        let Some(Outer { state, around, certain, inert, outside }) = self.outer.pop() else { return };
        let inside = std::mem::replace(&mut self.around, around);
        if let State::Import = state {
            self.import();
            self.path.names.truncate(outside);
            self.path.outside = outside;
        }
        (self.certain, self.inert) = (certain, inert);
        match state {
            State::Import | State::Attribute { .. } => self.state = state,
            State::Module(Some(name)) if nested == 0 => {
                self.child(name, Child::Bracket(inside.bracket));
                self.start();
            }
            _ if nested > 0 => self.state = state,
            _ => self.start(),
        }
    }
}
