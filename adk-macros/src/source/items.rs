//! The names that a file gives to plain items and to imports, by the bracket in which they stand.
//!
//! They are read with the brackets, token by token. What has a condition or an attribute that may change it is none of
//! them, nor what stands in such an item: of these only rustc knows what becomes of them.

#[cfg(test)]
mod tests;

use super::lost::{self, Lost};
use super::{Around, Place, Scope};
use std::collections::{HashMap, HashSet};

/// What has a name that no macro of ours gave it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plain {
    /// Among the types, as a `struct` or a module.
    pub(crate) in_types: bool,
    /// Among the values, as a function.
    pub(crate) in_values: bool,
    /// It is a function.
    pub(crate) is_function: bool,
    /// Something of that name has an attribute that may change it.
    pub(crate) is_unclear: bool,
    /// By a `use`, which does not say among which.
    pub(crate) imported: bool,
    /// It is a `struct` or an `enum` without parameters, and no attribute makes it data.
    pub(crate) is_bare: bool,
}

/// A module that is written in the file.
#[derive(Clone)]
pub(super) struct Module {
    pub(super) name: String,
    pub(super) outer: Place,
    /// Whether it is there, and as it is written.
    pub(super) certain: bool,
}

/// What certainly is a module of that name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Child {
    Bracket(Place),
    File,
}

/// What a file says of names, by bracket.
#[derive(Default)]
pub(super) struct Items {
    pub(super) names: HashMap<Place, HashMap<String, Plain>>,
    /// The paths of imports that certainly are there.
    pub(super) imports: HashMap<(Place, String), Vec<String>>,
    /// The paths of those with `*`.
    pub(super) globs: HashMap<Place, Vec<Vec<String>>>,
    /// Whether the paths of those with `*` from a prelude all begin with a crate that has no attributes but ours.
    pub(super) preludes: HashMap<Place, bool>,
    /// Items with an attribute that may be meant as one of ours.
    pub(super) lost: HashMap<(Place, String), Lost>,
    /// Constants of which it is not spelled that they are a `&str`.
    pub(super) no_texts: HashSet<(Place, String)>,
    /// The brackets in which a macro is called that may give names to items.
    pub(super) calls: HashSet<Place>,
    /// Those in which one is called that may import something, or something is imported that is not read.
    pub(super) importers: HashSet<Place>,
    pub(super) modules: HashMap<Place, Module>,
    pub(super) children: HashMap<(Place, String), Child>,
}

/// Attributes behind which an item is as it was written.
const INERT: [&str; 18] = [
    "allow",
    "automatically_derived",
    "cold",
    "deny",
    "deprecated",
    "derive",
    "doc",
    "expect",
    "forbid",
    "inline",
    "macro_use",
    "must_use",
    "non_exhaustive",
    "repr",
    "schemars",
    "serde",
    "track_caller",
    "warn",
];

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

/// Stands for the names that a `use` with `*` brings, but for those of a prelude.
pub(super) const ALL: &str = "*";

/// Derives that make nothing data.
const DERIVES: [&str; 9] =
    ["Clone", "Copy", "Debug", "Default", "Eq", "Hash", "Ord", "PartialEq", "PartialOrd"];

const NOTHING: Plain = Plain {
    in_types: false,
    in_values: false,
    is_function: false,
    is_unclear: false,
    imported: false,
    is_bare: false,
};
const TYPE: Plain = Plain { in_types: true, ..NOTHING };
const BARE: Plain = Plain { is_bare: true, ..TYPE };
const VALUE: Plain = Plain { in_values: true, ..NOTHING };
const FUNCTION: Plain = Plain { is_function: true, ..VALUE };
const IMPORT: Plain = Plain { imported: true, ..NOTHING };
const UNCLEAR: Plain = Plain { is_unclear: true, ..NOTHING };

/// Before a path that leads to another crate.
const GLOBAL: &str = "";

/// The name itself.
fn plain(word: &str) -> &str {
    word.strip_prefix("r#").unwrap_or(word)
}

/// What was read of a statement.
#[derive(Clone, Copy)]
enum State<'a> {
    /// Nothing but attributes.
    Start,
    /// `#`, and `!` perhaps; in its brackets when `name` is known.
    Attribute {
        name: Option<&'a str>,
    },
    /// Words before the one that says what it is.
    Head,
    /// `const`, behind which more of them may stand.
    Const,
    /// All before the name.
    Named(Plain),
    /// The name of a type that may be bare.
    Bare(&'a str),
    /// The name of a constant, behind which its type stands.
    Typed(&'a str),
    /// `mod`, and the name behind it.
    Module(Option<&'a str>),
    Import,
    Rest,
}

/// A part of a `use`.
#[derive(Default)]
struct Path<'a> {
    /// All names before it, the first `outside` of them before the braces around it.
    names: Vec<&'a str>,
    outside: usize,
    /// Behind `as`, and what stands there.
    renamed: Option<Option<&'a str>>,
}

/// A bracket around the one that is read.
struct Outer<'a> {
    state: State<'a>,
    around: Around,
    certain: bool,
    inert: bool,
    outside: usize,
}

/// Reads the names on the way through a file.
pub(super) struct Reader<'a> {
    pub(super) found: Items,
    outer: Vec<Outer<'a>>,
    around: Around,
    /// Whether what stands in this bracket is there as it is written.
    certain: bool,
    /// The same for the item that is read.
    inert: bool,
    /// Whether no attribute of the item that is read makes it data.
    bare: bool,
    /// The attribute that may be meant as one of ours; `None` where another may change the item.
    meant: Option<Lost>,
    /// Whether the attribute that is read has a `!`.
    inner: bool,
    state: State<'a>,
    path: Path<'a>,
}

impl<'a> Reader<'a> {
    pub(super) fn new() -> Self {
        Self {
            found: Items::default(),
            outer: Vec::new(),
            around: super::NOTHING,
            certain: true,
            inert: true,
            bare: true,
            meant: Some(Lost::default()),
            inner: false,
            state: State::Start,
            path: Path::default(),
        }
    }

    fn start(&mut self) {
        (self.state, self.inert, self.bare) = (State::Start, true, true);
        self.path = Path::default();
        self.meant = Some(Lost::default());
    }

    /// A word; `nested` says in how many brackets that are none of a block.
    pub(super) fn word(&mut self, word: &'a str, nested: usize) {
        // An import that is not read as one.
        if word == "use" && (nested > 0 || !matches!(self.state, State::Start | State::Head)) {
            self.found.importers.insert(self.around.bracket);
        }
        self.state = match (self.state, nested) {
            (State::Attribute { name: None }, 1) => {
                self.attribute(word);
                self.bare &= !matches!(word, "serde" | "schemars");
                State::Attribute { name: Some(word) }
            }
            (State::Attribute { name: Some("derive") }, 2) => {
                match word.eq_ignore_ascii_case("data") {
                    true => self.attribute(word),
                    false => self.bare &= DERIVES.contains(&word),
                }
                if let Some(Lost { derives, .. }) = &mut self.meant {
                    derives.clone |= word == "Clone";
                    derives.debug |= word == "Debug";
                }
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
                "struct" | "enum" => State::Named(if self.bare { BARE } else { TYPE }),
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
    pub(super) fn sign(&mut self, sign: u8, nested: usize) {
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
            State::Bare(name) if self.inert => self.keep(name, BARE),
            State::Bare(name) => self.lose(name, false),
            _ => {}
        }
    }

    /// What a constant is, as the first word of its type tells.
    fn typed(&mut self, name: &str, is_text: bool) {
        if !is_text {
            self.found.no_texts.insert((self.around.bracket, plain(name).to_owned()));
        }
    }

    /// A macro is called, perhaps.
    pub(super) fn call(&mut self, name: &str) {
        if !NAMELESS.contains(&name) {
            self.found.calls.insert(self.around.bracket);
            // That of ours imports nothing.
            if name != "agent" {
                self.found.importers.insert(self.around.bracket);
            }
        }
    }

    /// A bracket that is none of a block opens.
    pub(super) fn group(&mut self, nested: usize) {
        self.bare();
        if let State::Typed(name) = self.state {
            self.typed(name, false);
        }
        if nested == 0 && !matches!(self.state, State::Attribute { .. } | State::Head) {
            self.state = State::Rest;
        }
    }

    pub(super) fn group_end(&mut self, nested: usize) {
        if nested == 0 && matches!(self.state, State::Attribute { .. }) {
            self.state = State::Start;
        }
    }

    /// The bracket of a block or of a call opens.
    pub(super) fn open(&mut self, around: Around) {
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

    pub(super) fn close(&mut self, nested: usize) {
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

    /// A part of a `use` is read.
    fn import(&mut self) {
        let Path { names, outside, renamed } = &mut self.path;
        if names.len() > *outside {
            if names.last() == Some(&"self") {
                names.pop();
            }
            let name = renamed.flatten().or(names.last().copied());
            let path = names.iter().copied().map(str::to_owned).collect();
            names.truncate(*outside);
            if let Some(name) = name {
                self.keep(name, IMPORT);
                if self.certain && self.inert {
                    self.found.imports.insert((self.around.bracket, name.to_owned()), path);
                }
            }
        }
        self.path.renamed = None;
    }

    fn glob(&mut self) {
        if self.certain && self.inert {
            let path = self.path.names.iter().map(|name| (*name).to_owned()).collect();
            self.found.globs.entry(self.around.bracket).or_default().push(path);
        }
    }

    /// A module of that name, which is there as it is written.
    fn child(&mut self, name: &str, child: Child) {
        if self.certain && self.inert {
            self.found.children.insert((self.around.bracket, name.to_owned()), child);
        }
    }

    fn name(&mut self, name: &'a str, kind: Plain) -> State<'a> {
        if self.certain {
            self.keep(name, if self.inert { Plain { is_bare: false, ..kind } } else { UNCLEAR });
        }
        if kind.is_function {
            self.lose(name, true);
        }
        match kind {
            Plain { is_bare: true, .. } if self.certain => State::Bare(name),
            VALUE => State::Typed(name),
            _ => State::Rest,
        }
    }

    /// The name of an attribute.
    fn attribute(&mut self, word: &str) {
        if INERT.contains(&word) {
            return;
        }
        let name = (!self.inner).then(|| word.to_owned());
        let is_first = self.meant.as_ref().is_some_and(|meant| meant.attribute.is_none());
        let may_be_meant = lost::is_meant(word) || word == lost::FACADE;
        self.meant = self.meant.take().filter(|_| is_first && may_be_meant);
        if let Some(meant) = &mut self.meant {
            meant.attribute = name;
        }
        self.inert = false;
    }

    fn prelude(&mut self) {
        let first = self.path.names.iter().find(|name| **name != GLOBAL);
        let is_known = first.is_some_and(|first| ["adk", "std", "core", "alloc"].contains(first));
        *self.found.preludes.entry(self.around.bracket).or_insert(true) &= is_known;
    }

    /// An item of a module, with an attribute that may be meant as one of ours.
    fn lose(&mut self, name: &str, is_function: bool) {
        let Around { associated, scope, bracket } = self.around;
        let is_item = self.certain && !self.inert && !associated && scope == Scope::Module;
        if let Some(meant) = self.meant.as_ref().filter(|_| is_item) {
            let lost = Lost { is_function, ..meant.clone() };
            self.found.lost.insert((bracket, plain(name).to_owned()), lost);
        }
    }

    fn keep(&mut self, name: &str, kind: Plain) {
        let Around { associated, scope, bracket } = self.around;
        if associated || !matches!(scope, Scope::Module | Scope::Block(_)) || name == "_" {
            return;
        }
        let names = self.found.names.entry(bracket).or_default();
        let known = names.entry(plain(name).to_owned()).or_default();
        known.in_types |= kind.in_types;
        known.in_values |= kind.in_values;
        known.is_function |= kind.is_function;
        known.is_unclear |= kind.is_unclear;
        known.imported |= kind.imported;
        known.is_bare |= kind.is_bare;
    }
}
