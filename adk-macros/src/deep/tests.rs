//! What no one types by hand, at every place of the macros: it is told, and neither `syn` nor we run out of stack; what is as
//! deep as people write it is read.

#![allow(clippy::unwrap_used)]

use crate::{data, function, workflow};
use proc_macro2::TokenStream;

/// What begins one more type, expression or pattern each time, and what ends them.
const UNITS: [(&str, &str); 34] = [
    ("&", ""),
    ("&mut ", ""),
    ("*", ""),
    ("* const ", ""),
    ("- ", ""),
    ("!", ""),
    ("& 'a ", ""),
    ("fn() -> ", ""),
    ("impl Fn() -> ", ""),
    ("Vec<", ">"),
    ("a::<", ">"),
    ("<", ">"),
    ("<Vec<", ">>"),
    ("[", "]"),
    ("(", ")"),
    ("{", "}"),
    ("Some(", ")"),
    ("x @ ", ""),
    ("a | ", ""),
    ("a = ", ""),
    ("a += ", ""),
    ("return ", ""),
    ("break ", ""),
    ("|x| ", ""),
    ("|| ", ""),
    ("move || ", ""),
    ("async {", "}"),
    ("if a {} else ", ""),
    ("if a { ", "}"),
    ("match a { _ => ", "}"),
    ("a .. ", ""),
    (".. ", ""),
    ("dyn ", ""),
    ("a as Vec<", ">"),
];

/// Where a type, an expression, a pattern, a path or a step may stand in a workflow.
const PLACES: [(&str, &str); 23] = [
    ("", ""),
    ("W(x: ", ") { a }"),
    ("W(x: u8 = ", ") { a }"),
    ("W() -> x: ", " { a }"),
    ("W() { let x: ", " = 1; a }"),
    ("W() { let x: u8 = ", "; a }"),
    ("W() { state x: ", "; a }"),
    ("W() { agent a -> x: ", " { instruction: \"x\" } a }"),
    ("W() { agent a { instruction: ", " } a }"),
    ("W() { agent a { tools: [", "] } a }"),
    ("W() { agent a: ", "; a }"),
    ("W() { ", " }"),
    ("W() { a; ", "; b }"),
    ("W() { x = ", "; b }"),
    ("W() { let x = ", "; b }"),
    ("W() { agent ", "; b }"),
    ("W() { a -> ", "; b }"),
    ("W() { a(x = ", "); b }"),
    ("W() { loop(max = ", ") < a > }"),
    ("W() { match x < ", " => a, _ => b > }"),
    ("W() { match x < y if ", " => a, _ => b > }"),
    ("W() { await(default = ", ") d: u8; b }"),
    ("#[bounds(model_calls = ", ")] W() { a }"),
];

fn nested(n: usize, (open, close): (&str, &str), (before, after): (&str, &str)) -> Option<TokenStream> {
    format!("{before} {} u8 {} {after}", open.repeat(n), close.repeat(n)).parse().ok()
}

#[test]
fn what_goes_on_and_on_in_a_workflow_is_told() {
    for unit in UNITS {
        for place in PLACES {
            let Some(input) = nested(3_000, unit, place) else { continue };
            let output = workflow::workflow(input).to_string();
            assert!(output.contains("compile_error"), "{unit:?} {place:?}");
        }
    }
}

/// Where one may stand in what has an attribute, all but bodies, which only rustc reads.
const ITEMS: [(&str, &str); 10] = [
    ("fn a() -> A<", "> {}"),
    ("fn a(x: ", ") {}"),
    ("fn a(", ": u8) {}"),
    ("fn a() -> ", " {}"),
    ("fn a(#[default(", ")] x: u8) {}"),
    ("fn a<T: ", ">() {}"),
    ("impl Agent for ", " { const META: u8 = 1; }"),
    ("struct A { x: ", " }"),
    ("struct A { #[serde(default = ", ")] x: u8 }"),
    ("enum A { B = ", " }"),
];

#[test]
fn what_goes_on_and_on_in_an_item_is_told_or_left_to_rustc() {
    for unit in UNITS {
        for place in ITEMS {
            let Some(input) = nested(3_000, unit, place) else { continue };
            let part = nested(3_000, unit, ("", "")).unwrap().to_string();
            for attribute in [function::agent, function::tool, data::data] {
                let output = attribute(TokenStream::new(), input.clone()).to_string();
                assert!(output.contains("compile_error") || output.contains(&part), "{unit:?} {place:?}");
            }
        }
    }
}

#[test]
fn bodies_are_left_to_rustc() {
    for unit in UNITS {
        for place in [
            ("fn a() { ", " }"),
            ("impl Agent for A { const META: A = ", "; }"),
            ("impl Agent for A { ", " }"),
        ] {
            let Some(input) = nested(3_000, unit, place) else { continue };
            for attribute in [function::agent, function::tool] {
                attribute(TokenStream::new(), input.clone());
            }
        }
    }
}

#[test]
fn what_goes_on_and_on_in_an_attribute_is_told() {
    for unit in UNITS {
        for (before, after) in
            [("reads(x: ", ")"), ("writes(x: ", ")"), ("writes = ", ""), ("", ""), ("blocking = ", "")]
        {
            let Some(args) = nested(3_000, unit, (before, after)) else { continue };
            for (attribute, item) in [
                (function::agent as fn(_, _) -> _, "fn a() {}"),
                (function::agent, "impl Agent for A {}"),
                (function::tool, "fn a() {}"),
                (data::data, "struct A;"),
            ] {
                let output: TokenStream = attribute(args.clone(), item.parse().unwrap());
                assert!(output.to_string().contains("compile_error"), "{unit:?} {before} {item}");
            }
        }
    }
}

#[test]
fn what_is_as_deep_as_people_write_it_is_read() {
    for unit in UNITS {
        for place in PLACES.into_iter().chain(ITEMS) {
            let Some(input) = nested(8, unit, place) else { continue };
            let found = super::find(input);
            assert!(found.is_none(), "{unit:?} {place:?} {}", found.unwrap().fact);
        }
    }
    let arms = "A => < a -> x > ".repeat(300);
    let blocks = "parallel < a -> x > ".repeat(300);
    let lets = "let x: Vec<u8> = a; ".repeat(300);
    let input = format!("W() {{ {lets} {blocks} match k < {arms} > }}").parse().unwrap();
    let found = super::find(input);
    assert!(found.is_none(), "{}", found.unwrap().fact);
}
