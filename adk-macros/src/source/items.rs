//! The names that a file gives to plain items and to imports, by the bracket in which they stand.
//!
//! They are read with the brackets, token by token. What has a condition or an attribute that may change it is none of
//! them, nor what stands in such an item: of these only rustc knows what becomes of them.

use super::{Around, Place, Scope};
use std::collections::HashMap;

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
}

pub(super) type Items = HashMap<Place, HashMap<String, Plain>>;

/// Attributes behind which an item is as it was written.
const INERT: [&str; 17] = [
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
    "must_use",
    "non_exhaustive",
    "repr",
    "schemars",
    "serde",
    "track_caller",
    "warn",
];

/// Stands for the names that a `use` with `*` brings, but for those of a prelude.
pub(super) const ALL: &str = "*";

const NOTHING: Plain =
    Plain { in_types: false, in_values: false, is_function: false, is_unclear: false, imported: false };
const TYPE: Plain = Plain { in_types: true, ..NOTHING };
const VALUE: Plain = Plain { in_values: true, ..NOTHING };
const FUNCTION: Plain = Plain { is_function: true, ..VALUE };
const IMPORT: Plain = Plain { imported: true, ..NOTHING };
const UNCLEAR: Plain = Plain { is_unclear: true, ..NOTHING };

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
    /// A part of a `use`: its last word, and the one before the braces around it.
    Import {
        last: Option<&'a str>,
        before: Option<&'a str>,
    },
    Rest,
}

/// A bracket around the one that is read.
struct Outer<'a> {
    state: State<'a>,
    around: Around,
    certain: bool,
    inert: bool,
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
    state: State<'a>,
}

impl<'a> Reader<'a> {
    pub(super) fn new() -> Self {
        let (found, outer) = (HashMap::new(), Vec::new());
        Self { found, outer, around: super::NOTHING, certain: true, inert: true, state: State::Start }
    }

    fn start(&mut self) {
        (self.state, self.inert) = (State::Start, true);
    }

    /// A word; `nested` says in how many brackets that are none of a block.
    pub(super) fn word(&mut self, word: &'a str, nested: usize) {
        self.state = match (self.state, nested) {
            (State::Attribute { name: None }, 1) => {
                self.inert &= INERT.contains(&word);
                State::Attribute { name: Some(word) }
            }
            (state @ State::Attribute { .. }, _) => state,
            (state, 1..) => state,
            (State::Const, _) if !matches!(word, "fn" | "unsafe" | "async" | "extern") => {
                self.name(word, VALUE)
            }
            (State::Head, _) if word == "crate" => State::Import { last: None, before: None },
            (State::Start | State::Head | State::Const, _) => match word {
                "pub" | "unsafe" | "safe" | "async" | "extern" | "auto" => State::Head,
                "const" => State::Const,
                "struct" | "enum" | "union" | "trait" | "type" | "mod" => State::Named(TYPE),
                "fn" => State::Named(FUNCTION),
                "static" => State::Named(VALUE),
                "use" => State::Import { last: None, before: None },
                _ => State::Rest,
            },
            (State::Named(_), _) if word == "mut" => self.state,
            (State::Named(kind), _) => self.name(word, kind),
            (State::Import { before, .. }, _) => State::Import { last: Some(word), before },
            (State::Rest, _) => State::Rest,
        };
    }

    /// A sign that is no bracket.
    pub(super) fn sign(&mut self, sign: u8, nested: usize) {
        match (self.state, nested, sign) {
            // A path leads to an attribute that nobody knows.
            (State::Attribute { name: Some(_) }, 1, b':') => self.inert = false,
            (State::Attribute { .. }, _, _) | (_, 1.., _) => {}
            (State::Import { .. }, _, b':') => {}
            (State::Import { .. }, _, b',') => self.import(),
            (State::Import { .. }, _, b';') => {
                self.import();
                self.start();
            }
            (_, _, b';') => self.start(),
            (State::Start, _, b'#') => self.state = State::Attribute { name: None },
            (State::Import { last, before }, _, b'*') => {
                if last.or(before) != Some("prelude") {
                    self.keep(ALL, IMPORT);
                }
                self.state = State::Import { last: None, before };
            }
            _ => self.state = State::Rest,
        }
    }

    /// A bracket that is none of a block opens.
    pub(super) fn group(&mut self, nested: usize) {
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
        let (state, certain, inert) = (self.state, self.certain, self.inert);
        let outside = std::mem::replace(&mut self.around, around);
        self.outer.push(Outer { state, around: outside, certain, inert });
        self.certain &= inert;
        self.state = match state {
            // The names stand where the `use` does.
            State::Import { last, .. } => {
                self.around = outside;
                State::Import { last: None, before: last }
            }
            _ => State::Start,
        };
        self.inert = true;
    }

    pub(super) fn close(&mut self, nested: usize) {
        let Some(Outer { state, around, certain, inert }) = self.outer.pop() else { return };
        if matches!((self.state, state), (State::Import { .. }, State::Import { .. })) {
            self.import();
        }
        (self.around, self.certain, self.inert) = (around, certain, inert);
        self.state = match state {
            State::Import { before, .. } => State::Import { last: None, before },
            State::Attribute { .. } => return self.state = state,
            _ if nested > 0 => state,
            _ => return self.start(),
        };
    }

    fn import(&mut self) {
        let State::Import { last, before } = self.state else { return };
        if let Some(name) = last.and_then(|last| if last == "self" { before } else { Some(last) }) {
            self.keep(name, IMPORT);
        }
        self.state = State::Import { last: None, before };
    }

    fn name(&mut self, name: &str, kind: Plain) -> State<'a> {
        if self.certain {
            self.keep(name, if self.inert { kind } else { UNCLEAR });
        }
        State::Rest
    }

    fn keep(&mut self, name: &str, kind: Plain) {
        let Around { associated, scope, bracket } = self.around;
        if associated || !matches!(scope, Scope::Module | Scope::Block(_)) || name == "_" {
            return;
        }
        let names = self.found.entry(bracket).or_default();
        let known = names.entry(name.to_owned()).or_default();
        known.in_types |= kind.in_types;
        known.in_values |= kind.in_values;
        known.is_function |= kind.is_function;
        known.is_unclear |= kind.is_unclear;
        known.imported |= kind.imported;
    }
}

#[cfg(test)]
mod tests {
    use super::super::File;

    /// The names outside of all brackets, with `t`, `v` and `i` for what they are.
    fn names(text: &str) -> Vec<String> {
        in_bracket(text, (0, 0))
    }

    fn in_bracket(text: &str, bracket: (usize, usize)) -> Vec<String> {
        let file = File::of(text.to_owned());
        let told = |(yes, mark)| if yes { mark } else { "" };
        let known = file.items.get(&bracket).into_iter().flatten();
        let named = known.filter(|(name, plain)| {
            *name != super::ALL && (plain.in_types || plain.in_values || plain.imported)
        });
        let names = named.map(|(name, plain)| {
            let marks = [(plain.in_types, "t"), (plain.in_values, "v"), (plain.imported, "i")];
            format!("{name} {}", marks.map(told).concat())
        });
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn items_have_their_names() {
        for (text, expected) in [
            ("struct A; pub enum B {} pub(in a::b) union C { x: u8 } D", "A t, B t, C t"),
            (
                "unsafe auto trait A {} type B<'a> = &'a str; mod c; pub mod d { struct E; }",
                "A t, B t, c t, d t",
            ),
            ("fn a(b: fn(c: u8)) { fn d() {} } pub const unsafe extern \"C\" fn e() {}", "a v, e v"),
            (
                "const A: [u8; { const B: usize = 1; B }] = []; static mut C: u8 = 1; const _: () = ();",
                "A v, C v",
            ),
            ("#[derive(Debug)] /// A.\n #[doc = include_str!(\"a\")] #[allow(x)] struct A; struct A;", "A t"),
            ("struct A; fn A() {}", "A tv"),
            ("fn r#type() {} macro_rules! a { () => { struct B; } } fn c() {}", "c v"),
        ] {
            assert_eq!(names(text).join(", "), expected, "{text}");
        }
    }

    #[test]
    fn what_may_not_be_there_has_none() {
        for text in [
            "#[cfg(x)] struct A;",
            "#[cfg_attr(x, y)] #[derive(Debug)] fn a() {}",
            "#[derive(Debug)] #[agent(writes = k)] pub fn a() {}",
            "#[doc::x] struct A;",
            "x! { struct A; } x!(fn a() {});",
            "impl A { fn a() {} const B: u8 = 1; }",
            "let a: *const A = b as *const B; let c: &'static C = d;",
            "impl<const A: usize> B<{ A }> for C<A> {}",
        ] {
            assert_eq!(names(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn imports_are_told_from_items() {
        for (text, expected) in [
            ("use a::b; pub(crate) use ::c; use d as e; use f::*; use g::h as _;", "b i, c i, e i"),
            ("use a::{b, c as d, e::{self, f}, self as g, *}; struct H;", "H t, b i, d i, e i, f i, g i"),
            ("#[cfg(x)] use a::{self}; extern crate b as c; use {d, e::f}; fn d() {}", "a i, c i, d vi, f i"),
        ] {
            assert_eq!(names(text).join(", "), expected, "{text}");
        }
    }

    #[test]
    fn a_function_is_one_where_nothing_else_may_have_its_name() {
        let is = |text: &str| {
            let file = File::of(text.to_owned());
            file.is_function((0, 0), "a")
        };
        for text in [
            "use adk::prelude::*; fn a() {}",
            "use b::{prelude::{*}, c}; #[inline] pub async fn a() {} #[test] fn d() {}",
            "mod b { use super::*; struct a; } fn a() {}",
        ] {
            assert!(is(text), "{text}");
        }
        for text in [
            "use b::*; fn a() {}",
            "use b::{c::*}; fn a() {}",
            "use b::a; fn a() {}",
            "struct a; fn a() {}",
            "#[agent] fn a() {}",
            "fn a() {} #[agent] fn a() {}",
            "#[cfg(b)] type a = u8; fn a() {}",
            "const a: u8 = 1;",
            "a! { fn a() {} }",
        ] {
            assert!(!is(text), "{text}");
        }
    }

    #[test]
    fn names_stand_in_brackets() {
        assert_eq!(in_bracket("fn f() { struct A; if b { struct C; } use d::{e}; }", (1, 8)), ["A t", "e i"]);
        assert_eq!(in_bracket("mod m { @ struct A; }", (1, 7)), Vec::<String>::new());
        assert_eq!(in_bracket("mod m { x! {} struct A; }", (1, 7)), ["A t"]);
        assert_eq!(in_bracket("#[x] mod m { struct A; use b::C; }", (1, 12)), ["C i"]);
    }
}
