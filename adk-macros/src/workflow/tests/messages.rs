//! Checks that reject a text, and independent errors that are reported together.

use super::super::{check, parse, plan};

/// Returns all errors.
pub(super) fn errors(text: &str) -> Vec<String> {
    let (mut tree, mut diagnostics) = parse::workflow(text.parse().unwrap());
    if diagnostics.has_known_flow() {
        let mut found = check::mend(&mut tree);
        check::workflow(&tree, &mut plan::flatten(&tree), &mut found);
        diagnostics.extend(found);
    }
    diagnostics.texts()
}

fn checks(text: &str) -> Vec<String> {
    errors(text)
        .iter()
        .map(|text| text.split(':').next().unwrap().to_owned())
        .collect()
}

#[test]
fn one_mistake_is_one_error() {
    for (text, check) in [
        ("W() { agent a {} a b; c }", "syntax"),
        ("W() { a; loop(max = 0) < b >; c }", "loop-max"),
        ("W() { a; < >; c }", "block-empty"),
        ("W() { a; < b; { } > c }", "block-empty"),
        ("W() { a; match k < >; c }", "block-empty"),
        ("W() { }", "block-empty"),
        ("W() { a; loop b; c }", "syntax"),
        ("W() { a; lop < b >; c }", "syntax"),
        ("W() { a; match (k) < _ => b >; c }", "syntax"),
        ("W() { a; W; c }", "agent-reused"),
        ("W() { a; foo::; c }", "syntax"),
        ("W() { a; parallel(max = 3) < b >; c }", "field-unknown"),
        (
            "W() { agent a { bad: 1, instruction: \"x\" } a }",
            "field-unknown",
        ),
        ("W() { agent a { instruction \"x\" } a; b }", "syntax"),
        ("W() { agent a -> x { } a; b }", "syntax"),
        ("W() { agent a -> x: String; a; b }", "syntax"),
        ("W() { agent a: { instruction: \"x\" } a; b }", "syntax"),
        ("W() { let x: u8; agent a {} a }", "syntax"),
        ("W() { let x: u8 = ; agent a {} a }", "syntax"),
        ("W() { state user:x; agent a {} a }", "syntax"),
        ("W() { await; d }", "syntax"),
        ("W() { await x; d }", "syntax"),
        ("W() { await(timeout = \"72\") x: T; d }", "syntax"),
        ("W() { await(default = 1) x: T; d }", "syntax"),
        ("W() { await(by = staff) x: T; d }", "syntax"),
        ("W() { await(by = \"other\") x: T; d }", "syntax"),
        ("W() { await(by = \"\") x: T; d }", "syntax"),
        ("W() { await(by = ) x: T; d }", "syntax"),
        ("W() { await(timeuot = \"72h\") x: T; d }", "field-unknown"),
        ("W() { match k < A -> a, _ => () > d }", "syntax"),
        ("W() { match k < A => a B => b > d }", "syntax"),
        ("W() { match k < A if => a, _ => () > d }", "syntax"),
        ("W() { a; b > ; c }", "syntax"),
        ("W() { a; if n > 3 { b } else { c } d }", "syntax"),
        ("W() { while n < 3 { b } d }", "syntax"),
        ("W() { a; loop < b; c }", "syntax"),
        ("W() { await x: Vec<String; c }", "syntax"),
        ("W() { a; agent b {} c }", "syntax"),
        ("W() { a(x = ); b }", "syntax"),
        ("W() { a(x = y, x = z); b }", "field-unknown"),
        ("W() { a -> (x, x); b }", "field-unknown"),
        ("W(x: &str) { a }", "syntax"),
        ("W() -> (x: u8, x: u8) { a }", "key-duplicate"),
        ("W { a } b", "syntax"),
        ("W()", "syntax"),
        ("", "syntax"),
    ] {
        assert_eq!(checks(text), [check], "{text}");
    }
}

#[test]
fn several_mistakes_are_several_errors() {
    let text = r#"W(x: u8, y: ) -> z: T {
        agent a { instructions: "x", temprature: 1 }
        let t: String = "x"
        agent b -> { }
        a; lop < b; b >; 17; c as ; < > match k < A => , B => b >
    }"#;
    let expected = [
        "syntax",
        "field-unknown",
        "field-unknown",
        "syntax",
        "syntax",
        "syntax",
        "syntax",
        "syntax",
        "block-empty",
        "syntax",
    ];
    assert_eq!(checks(text), expected, "{:#?}", errors(text));
}

#[test]
fn a_word_of_another_language_may_be_the_name_of_an_agent() {
    for text in [
        "W() { agent run {} run; b }",
        "W() { run; then as call; step::go }",
    ] {
        assert_eq!(checks(text), [""; 0], "{text}");
    }
}

#[test]
fn blocks_have_a_limit() {
    for (open, close) in [
        ("<", ">"),
        ("{", "}"),
        ("name: loop(max = 2) <", ">"),
        ("each x in y {", "}"),
        ("match x < n if n > 3 =>", ", _ => () >"),
        ("match x { A =>", ", B => () }"),
    ] {
        let nested = |n: usize| format!("W() {{ {} a {} }}", open.repeat(n), close.repeat(n));
        let syntax = |text: &str| parse::workflow(text.parse().unwrap()).1.texts();
        assert_eq!(syntax(&nested(128)), [""; 0], "{open}");
        assert_eq!(syntax(&nested(129)).len(), 1, "{open}");
        assert_eq!(syntax(&nested(2_000)).len(), 1, "{open}");
    }
}

#[test]
fn brackets_of_expressions_types_and_patterns_have_a_limit_too() {
    for (open, close) in [
        ("let x: u8 = ", "; a"),
        ("let x: ", " = 1; a"),
        ("match x < ", " => a >"),
        ("match x < n if ", " => a >"),
        ("loop(max = ", ") < a >"),
        ("agent a { model: ", " } a"),
    ] {
        for (n, expected) in [(40, 0), (2_000, 1)] {
            let text = format!(
                "W() {{ {open} {} u8 {} {close} }}",
                "(".repeat(n),
                ")".repeat(n)
            );
            let errors = parse::workflow(text.parse().unwrap()).1.texts();
            assert_eq!(errors.len(), expected, "{open} {n}: {errors:?}");
        }
    }
}
