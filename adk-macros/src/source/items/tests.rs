use super::super::{File, Traits};

/// The names outside of all brackets, with `t`, `v` and `i` for what they are.
fn names(text: &str) -> Vec<String> {
    in_bracket(text, (0, 0))
}

fn in_bracket(text: &str, bracket: (usize, usize)) -> Vec<String> {
    let file = File::of(text.to_owned());
    let told = |(yes, mark)| if yes { mark } else { "" };
    let known = file.items.names.get(&bracket).into_iter().flatten();
    let named = known
        .filter(|(name, plain)| *name != super::ALL && (plain.in_types || plain.in_values || plain.imported));
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
        ("unsafe auto trait A {} type B<'a> = &'a str; mod c; pub mod d { struct E; }", "A t, B t, c t, d t"),
        ("fn a(b: fn(c: u8)) { fn d() {} } pub const unsafe extern \"C\" fn e() {}", "a v, e v"),
        (
            "const A: [u8; { const B: usize = 1; B }] = []; static mut C: u8 = 1; const _: () = ();",
            "A v, C v",
        ),
        ("#[derive(Debug)] /// A.\n #[doc = include_str!(\"a\")] #[allow(x)] struct A; struct A;", "A t"),
        ("struct A; fn A() {}", "A tv"),
        ("fn r#type() {} macro_rules! a { () => { struct B; } } fn c() {}", "c v, type v"),
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

#[test]
fn imports_have_their_paths() {
    for (text, expected) in [
        (
            "use a::b; use self::c as d; use ::e; extern crate f; #[cfg(x)] use g;",
            "b=a::b d=self::c e=::e f=::f",
        ),
        ("use a::{b, c as d, e::{self, f}, self as g, *, h}; use i::*; use r#mod::j;", {
            "b=a::b d=a::c e=a::e f=a::e::f g=a h=a::h j=mod::j"
        }),
        ("use {super::a, b::{c}}; use ::{d}; struct E { f: u8 }", "a=super::a c=b::c d=::d"),
    ] {
        let file = File::of(text.to_owned());
        let told = |((_, name), path): (&(_, String), &Vec<String>)| format!("{name}={}", path.join("::"));
        let mut imports: Vec<_> = file.items.imports.iter().map(told).collect();
        imports.sort();
        assert_eq!(imports.join(" "), expected, "{text}");
    }
}

#[test]
fn modules_have_their_brackets() {
    let text = "mod a { mod r#loop {} #[cfg(x)] mod c { mod d; } } pub mod e; #[path = \"f\"] mod f; fn g() { mod h {} }";
    let items = File::of(text.to_owned()).items;
    let mut children: Vec<_> =
        items.children.iter().map(|((outer, name), child)| format!("{} {name} {child:?}", outer.1)).collect();
    children.sort();
    let expected = ["0 a Bracket((1, 7))", "0 e File", "7 loop Bracket((1, 20))", "91 h Bracket((1, 99))"];
    assert_eq!(children, expected);
    let mut modules: Vec<_> =
        items.modules.values().map(|module| (module.name.as_str(), module.certain)).collect();
    modules.sort();
    assert_eq!(modules, [("a", true), ("c", false), ("h", true), ("loop", true)]);
}

#[test]
fn a_type_is_bare_that_no_attribute_makes_data() {
    let find = |text: &str| {
        let file = File::of(text.to_owned());
        let plain = file.items.names.get(&(0, 0)).and_then(|names| names.get("A")).copied();
        plain.filter(|plain| plain.is_bare).map(|plain| plain.derives)
    };
    for (text, derives) in [
        ("struct A;", Traits::NONE),
        ("pub(crate) struct A(u8);", Traits::NONE),
        (
            "/// A.\n #[derive(Clone, Debug)] #[non_exhaustive] pub enum A { B, C }",
            Traits::CLONE.and(Traits::DEBUG),
        ),
        ("#[derive(serde::Serialize, a::B)] struct A;", Traits::WRITTEN),
        (
            "#[derive(Deserialize)] #[serde(transparent)] #[derive(JsonSchema)] struct A(u8);",
            Traits::READ.and(Traits::SCHEMA),
        ),
    ] {
        assert_eq!(find(text), Some(derives), "{text}");
    }
    for text in [
        "struct A<T> { b: T }",
        "enum A<'a> { B(&'a str) }",
        "#[data] struct A;",
        "#[cfg(b)] struct A;",
        "type A = u8; trait B {} union C { d: u8 }",
        "b! { struct A; }",
    ] {
        assert_eq!(find(text), None, "{text}");
    }
}

#[test]
fn imports_of_all_have_their_paths() {
    let text = "use a::*; use super::b::{c, d::*, *}; use e::prelude::*; #[cfg(f)] use g::*; use {h::*};";
    let items = File::of(text.to_owned()).items;
    let all: Vec<_> = items.globs.values().flatten().map(|path| path.join("::")).collect();
    assert_eq!(all, ["a", "super::b::d", "super::b", "h"]);
}
