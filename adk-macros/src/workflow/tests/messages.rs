//! One mistake, one message; and what could be read is kept.

use super::super::{check, parse, plan};

/// The checks that fail, and how many agents and steps were read.
fn checks(text: &str) -> (Vec<String>, usize, usize) {
    let (tree, mut report) = parse::workflow(text.parse().unwrap());
    let mut plan = plan::of(&tree);
    check::workflow(&tree, &mut plan, &mut report);
    let names = report.texts().iter().map(|text| text.split(':').next().unwrap().to_owned()).collect();
    (names, tree.items.agents.len(), plan.steps.iter().filter(|step| step.is_agent()).count())
}

#[test]
fn one_mistake_is_one_message() {
    for (text, check, agents, steps) in [
        ("W() { agent a {} a b; c }", "syntax", 1, 3),
        ("W() { a; loop(max = 0) < b >; c }", "loop-max", 0, 3),
        ("W() { a; loop(max = 5 < b >; c }", "", 0, 0),
        ("W() { a; loop( < b >; c }", "", 0, 0),
        ("W() { a; < >; c }", "block-empty", 0, 2),
        ("W() { a; foo::; c }", "syntax", 0, 2),
        ("W() { agent a { bad: 1, instruction: \"x\" } a }", "field-unknown", 1, 1),
        ("W() { agent a { instruction \"x\" } a; b }", "syntax", 1, 2),
        ("W() { agent a { model: , seed: 1 } a; b }", "syntax", 1, 2),
        ("W() { agent a -> x { } a; b }", "syntax", 1, 2),
        ("W() { agent a -> x: String; a; b }", "syntax", 1, 2),
        ("W() { agent fn { } b; c }", "name-invalid", 0, 2),
        ("W() { let x: u8; agent a {} a }", "syntax", 1, 1),
        ("W() { let x: u8 = ; agent a {} a }", "syntax", 1, 1),
        ("W() { state x; agent a {} a }", "syntax", 1, 1),
        ("W() { match x < A => a, B => < b; c >, _ => () > d }", "syntax", 0, 1),
        ("W() { each x in y < a; b >; d }", "syntax", 0, 1),
        ("W() { name: match x { A => a } d }", "syntax", 0, 1),
        ("W() { await x: T; d }", "syntax", 0, 1),
        ("W() { a(x = y) as b -> z; d }", "syntax", 0, 2),
        ("W() { a -> z; d }", "syntax", 0, 2),
        ("W() { a; a }", "agent-reused", 0, 2),
        ("W() { a; b as a }", "name-duplicate", 0, 2),
        ("W() { a; x: loop < b > x: loop < c > }", "name-duplicate", 0, 3),
        ("W(x: u8, x: u8) { a }", "key-duplicate", 0, 1),
        ("W(x: u8) { loop(max = x) < a > }", "loop-max", 0, 1),
        ("W() { paralell < a; b >; c }", "syntax", 0, 3),
        ("W() { a > b; c }", "syntax", 0, 3),
        ("W() { user }", "name-reserved", 0, 1),
        ("W() { agent user {} user }", "name-reserved", 1, 1),
        ("W() { a as }", "syntax", 0, 0),
        ("W( { a }", "", 0, 0),
        ("W(: u8) { a }", "syntax", 0, 1),
        ("W(a: u8 b: u8) { a }", "syntax", 0, 1),
        ("W() -> { a }", "syntax", 0, 1),
        ("W() -> (x) { a }", "syntax", 0, 1),
        ("W() x { a }", "syntax", 0, 0),
        ("W() { a } b", "syntax", 0, 1),
    ] {
        let Ok(tokens) = text.parse::<proc_macro2::TokenStream>() else {
            // rustc's own brackets do not match: it never calls the macro.
            assert_eq!(check, "", "{text}");
            continue;
        };
        drop(tokens);
        assert_eq!(checks(text), (vec![check.to_owned()], agents, steps), "{text}");
    }
}

#[test]
fn several_mistakes_are_several_messages() {
    let text = r#"W(x: u8, x: u8) -> y: T {
        agent a { instructions: "x", temprature: 1 }
        a; lop < b; b >; 17; c as ; < >
    }"#;
    assert_eq!(
        checks(text).0,
        [
            "field-unknown",
            "field-unknown",
            "syntax",
            "syntax",
            "syntax",
            "block-empty",
            "agent-reused",
            "key-duplicate"
        ]
    );
}

#[test]
fn depth_has_a_limit_in_both_brackets() {
    for (open, close) in [("<", ">"), ("{", "}")] {
        let nested = |n: usize| format!("W() {{ first; {} a {}; last }}", open.repeat(n), close.repeat(n));
        assert_eq!(checks(&nested(128)), (vec![], 0, 3));
        assert_eq!(checks(&nested(129)), (vec!["syntax".into()], 0, 2));
    }
    // Thousands of them do not end the compiler either.
    let deep = format!("W() {{ {} a {}; last }}", "< ".repeat(20_000), "> ".repeat(20_000));
    assert_eq!(checks(&deep), (vec!["syntax".into()], 0, 1));
}
