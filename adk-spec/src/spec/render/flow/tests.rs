use super::*;
use crate::spec::StepKind;
use crate::spec::sketch::*;

/// Returns the arrows, with the names of their boxes.
fn arrows(all: impl IntoIterator<Item = Steps>) -> Vec<String> {
    let spec = Spec::new("w", "", steps(all));
    let nodes = spec.nodes();
    let name = |Id(letter, at): Id| match (letter, at) {
        ('s', 0) => "start".to_owned(),
        ('s', _) => "finish".to_owned(),
        ('n', at) if nodes[at].name.is_empty() => format!("break_{at}"),
        ('n', at) => nodes[at].name.to_string(),
        (letter, at) => format!("{}_{letter}", nodes[at].name),
    };
    let graph = graph(&spec);
    let opened = graph
        .parts
        .iter()
        .filter(|part| matches!(part, DrawPart::Open { .. }))
        .count();
    let closed = graph
        .parts
        .iter()
        .filter(|part| matches!(part, DrawPart::Close))
        .count();
    assert_eq!(opened, closed);
    let line = |kind| match kind {
        ArrowKind::Next => "->",
        ArrowKind::Back => "=>",
        ArrowKind::Exit => "~>",
        ArrowKind::Transfer => "..>",
        ArrowKind::Label => "==>",
    };
    let arrows = graph.arrows.iter().map(|arrow| {
        let label = if arrow.label.is_empty() {
            String::new()
        } else {
            format!(" [{}]", arrow.label)
        };
        format!(
            "{} {} {}{label}",
            name(arrow.from),
            line(arrow.kind),
            name(arrow.to)
        )
    });
    arrows.collect()
}

#[test]
fn steps_follow_one_another() {
    let (a, b) = (run(function("a")), run(function("b")));
    let expected = ["start -> a", "a -> b", "b -> finish"];
    assert_eq!(arrows([a.clone(), b.clone()]), expected);
    assert_eq!(
        arrows([
            sequence("s", [a.clone()]),
            sequence("sequence_1", [b.clone()])
        ]),
        expected
    );
    assert_eq!(arrows([run(workflow("inner", [a, b]))]), expected);
    assert_eq!(arrows([]), ["start -> finish"]);
}

#[test]
fn a_parallel_forks_and_joins() {
    let branches = || {
        [
            run(function("a")),
            sequence("s", [run(function("b")), run(function("c"))]),
        ]
    };
    assert_eq!(
        arrows([parallel("p", branches())]),
        [
            "start -> p",
            "p -> a",
            "p -> b",
            "b -> c",
            "a -> p_j",
            "c -> p_j",
            "p_j -> finish"
        ]
    );
}

#[test]
fn the_arms_of_a_match() {
    let arms = [
        ("A", run(function("a"))),
        ("B", vec![]),
        ("_", run(function("c"))),
    ];
    assert_eq!(
        arrows([choice("m", "key", arms)]),
        [
            "start -> m",
            "m -> a [A]",
            "m -> c [_]",
            "a -> finish",
            "m -> finish [B]",
            "c -> finish"
        ]
    );
}

#[test]
fn a_loop_leads_back_and_on() {
    let kind = StepKind::Loop {
        max: Some(5),
        until: Some("done"),
    };
    let agents = || [run(function("a")), run(function("b"))];
    assert_eq!(
        arrows([block("l", kind, agents())]),
        [
            "start -> a",
            "a -> b",
            "b => a [max = 5, until = done]",
            "b -> finish"
        ]
    );
    // Two loops that begin with the same step.
    assert_eq!(
        arrows([repeat("l", 2, [repeat("m", 3, agents())])]),
        [
            "start -> a",
            "a -> b",
            "b => a [max = 3]",
            "b => a [max = 2]",
            "b -> finish"
        ]
    );
    // Several arrows lead to the end of a round. They meet before the next round begins.
    let arms = [("A", run(function("a"))), ("_", vec![])];
    assert_eq!(
        arrows([repeat("l", 5, [choice("m", "key", arms)])]),
        [
            "start -> m",
            "m -> a [A]",
            "a -> l_r",
            "m -> l_r [_]",
            "l_r => m [max = 5]",
            "l_r -> finish"
        ]
    );
}

#[test]
fn exits_lead_to_the_step_after_their_loop() {
    let critic = || run(function("critic").may_exit(true));
    assert_eq!(
        arrows([
            repeat("l", None, [critic(), run(function("b"))]),
            run(function("c"))
        ]),
        [
            "start -> critic",
            "critic -> b",
            "b => critic",
            "critic ~> c [exit]",
            "c -> finish"
        ]
    );
    let outer = run(function("a").exits(&["outer"]));
    assert_eq!(
        arrows([repeat(
            "outer",
            2,
            [repeat("l", 3, [outer, leave(None)]), run(function("b"))]
        )]),
        [
            "start -> a",
            "a -> break_4",
            "break_4 ~> b",
            "b => a [max = 2]",
            "b -> finish",
            "a ~> finish [exit]"
        ]
    );
    // An exit leaves an instance, but never a workflow.
    let inner = workflow("inner", [repeat("l", 2, [leave("l")]), critic()]);
    assert_eq!(
        arrows([repeat("l", 3, [run_as("second", inner)])]),
        [
            "start -> break_4",
            "break_4 ~> second::critic",
            "second::critic => break_4 [max = 3]",
            "second::critic -> finish"
        ]
    );
    // An exit outside of loops is an error, and leads nowhere.
    assert_eq!(arrows([critic()]), ["start -> critic", "critic -> finish"]);
}

#[test]
fn every_transfer_target_continues_with_the_next_step() {
    let support = llm("support").transfer(leak([leak(llm("billing")), leak(llm("tech"))]));
    assert_eq!(
        arrows([run(support), run(function("a"))]),
        [
            "start -> support",
            "support ..> billing [transfer]",
            "support ..> tech [transfer]",
            "support -> a",
            "billing -> a",
            "tech -> a",
            "a -> finish"
        ]
    );
}
