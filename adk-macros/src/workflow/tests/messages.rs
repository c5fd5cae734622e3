//! One mistake, one message; and what could be read is kept.

mod parts;
mod steps;

use super::super::{check, parse, plan};

/// A text with one mistake, the check that tells it, and how many agents and steps are read all the same.
type Case = (&'static str, &'static str, usize, usize);

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
    let (mut all, mut expected) = (Vec::new(), Vec::new());
    for &(text, check, agents, steps) in steps::CASES.iter().chain(parts::CASES) {
        let Ok(tokens) = text.parse::<proc_macro2::TokenStream>() else {
            // rustc's own brackets do not match: it never calls the macro.
            assert_eq!(check, "", "{text}");
            continue;
        };
        drop(tokens);
        all.push((checks(text), text));
        let checks = check.split(' ').map(ToOwned::to_owned).collect();
        expected.push(((checks, agents, steps), text));
    }
    let is_other = |(found, expected)| (found != expected).then_some((found, expected));
    let others: Vec<_> = all.into_iter().zip(expected).filter_map(is_other).collect();
    assert_eq!(others, []);
}

/// What is said of the fields of an agent that stands behind a step is taken back with the rest of its item.
#[test]
fn an_item_behind_a_step_may_have_any_number_of_faults() {
    let (said, ..) = checks("W() { a; agent b { bad: 1, worse: 2, worst: 3 } c }");
    assert_eq!(said, ["syntax"]);
}

#[test]
fn a_word_of_others_may_be_the_name_of_an_agent() {
    for text in ["W() { agent run {} run; b }", "W() { run; then as call; step::go }"] {
        assert_eq!(checks(text).0, [""; 0], "{text}");
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
fn depth_has_a_limit_in_every_kind_of_block() {
    for (open, close) in [
        ("<", ">"),
        ("{", "}"),
        ("name: loop(max = 2) <", ">"),
        ("each x in y {", "}"),
        ("match x < n if n > 3 =>", ", _ => () >"),
        ("match x { A =>", ", B => () }"),
        ("match x < A => each y in z < match y { B =>", "} > , _ => () >"),
    ] {
        let blocks = open.matches(['<', '{']).count();
        let nested = |n: usize| {
            let n = n / blocks;
            format!("W() {{ first; {} a {} last }}", open.repeat(n), close.repeat(n))
        };
        // Blocks of one name, and items of one name, are another matter.
        let syntax = |text: &str| {
            let (checks, agents, steps) = checks(text);
            let syntax: Vec<_> = checks.into_iter().filter(|check| check == "syntax").collect();
            (syntax, agents, steps)
        };
        assert_eq!(syntax(&nested(128)), (vec![], 0, 3), "{open}");
        assert_eq!(syntax(&nested(128 + blocks)), (vec!["syntax".into()], 0, 2), "{open}");
        assert_eq!(syntax(&nested(2_000)), (vec!["syntax".into()], 0, 2), "{open}");
    }
    // Never closed.
    for open in ["< ", "match x < A => ", "match x < n if n > 3 => ", "each x in y < "] {
        let deep = format!("W() {{ {} a; last }}", open.repeat(2_000));
        let syntax = checks(&deep).0.into_iter().filter(|check| check == "syntax");
        assert_eq!(syntax.count(), 1, "{open}");
    }
    // Thousands of them do not end the compiler either.
    let deep = format!("W() {{ {} a {}; last }}", "< ".repeat(20_000), "> ".repeat(20_000));
    assert_eq!(checks(&deep), (vec!["syntax".into()], 0, 1));
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
            let text = format!("W() {{ {open} {} u8 {} {close} }}", "(".repeat(n), ")".repeat(n));
            let (_, report) = parse::workflow(text.parse().unwrap());
            assert_eq!(report.texts().len(), expected, "{open} {n}");
        }
    }
}
