use super::*;
use crate::check::faults;
use crate::spec::sketch::*;
use crate::spec::{AgentMeta, KeySpec, Limits, Over, Step, StepKind, ToolMeta};

/// Returns the bounds of model calls and rounds.
fn bounds(all: impl IntoIterator<Item = Steps>) -> (Option<u64>, Option<u64>) {
    let bounds = Spec::new("w", "", steps(all)).bounds();
    (bounds.model_calls, bounds.rounds)
}

pub(crate) const fn turns(name: &'static str, most: u32) -> AgentMeta<'static> {
    llm(name)
        .tools(const { &[ToolMeta::new("search", "")] })
        .max_turns(Some(most))
}

pub(crate) const fn tools(name: &'static str) -> AgentMeta<'static> {
    llm(name).tools(const { &[ToolMeta::new("search", "")] })
}

#[test]
fn agents() {
    let typed = llm("a").writes(const { &[KeySpec::new("score", "f64")] });
    let text = llm("a").writes(const { &[KeySpec::new("text", "String")] });
    let searches = const { &[ToolMeta::new("google_search", "").at_provider(true)] };
    for (meta, calls) in [
        (llm("a"), Some(1)),
        (text, Some(1)),
        (text.max_turns(Some(9)), Some(1)),
        (typed, None),
        (typed.max_turns(Some(9)), Some(9)),
        (tools("a"), None),
        (llm("a").tools(searches), Some(1)),
        (turns("a", 4), Some(4)),
        (turns("a", 4).compacts(true), Some(8)),
        (function("a"), Some(0)),
        (AgentMeta::custom("a"), None),
        (AgentMeta::custom("a").max_turns(Some(0)), Some(0)),
        // The steps inside the agent are unknown.
        (AgentMeta::new(crate::AgentKind::Workflow, "a"), None),
    ] {
        assert_eq!(bounds([run(meta)]), (calls, Some(0)), "{meta:?}");
    }
}

#[test]
fn transfer() {
    let billing = llm("billing").transfer(leak([leak(turns("refunds", 3))]));
    let support =
        llm("support").transfer(leak([leak(billing.max_turns(Some(2))), leak(llm("tech"))]));
    assert_eq!(bounds([run(support)]), (None, Some(0)));
    assert_eq!(
        bounds([run(support.max_turns(Some(5)))]),
        (Some(5 + 2 + 3 + 1), Some(0))
    );
    // A target of a repeated handover asks its model again.
    let support = llm("support")
        .max_turns(Some(2))
        .transfer(leak([leak(llm("tech").max_turns(Some(3)))]));
    assert_eq!(bounds([run(support)]), (Some(2 + 3), Some(0)));
    let desk = workflow("desk", [repeat("l", 4, [run(llm("a"))])]);
    let support = llm("support")
        .max_turns(Some(1))
        .transfer(leak([leak(desk)]));
    assert_eq!(bounds([run(support)]), (Some(5), Some(4)));
}

#[test]
fn blocks() {
    let (a, b) = (|| run(llm("a")), || run(turns("b", 10)));
    assert_eq!(bounds([]), (Some(0), Some(0)));
    assert_eq!(
        bounds([a(), sequence("s", [b(), a()])]),
        (Some(12), Some(0))
    );
    assert_eq!(
        bounds([parallel("p", [a(), sequence("s", [b(), a()]), b()])]),
        (Some(22), Some(0))
    );
    assert_eq!(bounds([repeat("l", 5, [a(), b()])]), (Some(55), Some(5)));
    assert_eq!(
        bounds([repeat("l", 5, [repeat("m", 3, [a()]), b()])]),
        (Some(65), Some(5 + 15))
    );
    assert_eq!(bounds([repeat("l", None, [a()])]), (None, None));
    assert_eq!(
        bounds([repeat("l", None, [run(function("f"))])]),
        (Some(0), None)
    );
    assert_eq!(
        bounds([repeat("l", 3, [repeat("m", None, [run(function("f"))])])]),
        (Some(0), None)
    );
    assert_eq!(
        bounds([each("e", [run(function("f"))])]),
        (Some(0), Some(0))
    );
    assert_eq!(bounds([each("e", [a()])]), (None, Some(0)));
    assert_eq!(
        bounds([each("e", [repeat("l", 2, [run(function("f"))])])]),
        (Some(0), None)
    );
    let twenty = |inside: Steps| {
        let (max, over) = (Some(20), Over::Cut);
        block(
            "e",
            StepKind::Each {
                item: "i",
                list: "l",
                max,
                over,
                max_concurrency: None,
            },
            [inside],
        )
    };
    assert_eq!(bounds([twenty([a(), b()].concat())]), (Some(220), Some(0)));
    assert_eq!(
        bounds([twenty(repeat("l", 2, [twenty(a())]))]),
        (Some(800), Some(40))
    );
    // With or without `until`, a loop may have as many rounds as `max` says.
    let until = |max| {
        block(
            "l",
            StepKind::Loop {
                max,
                until: Some("done"),
            },
            [a()],
        )
    };
    assert_eq!(
        (bounds([until(None)]), bounds([until(Some(3))])),
        ((None, None), (Some(3), Some(3)))
    );
}

#[test]
fn the_worst_arm_counts_for_each_cost_by_itself() {
    let (calls, rounds) = (
        || run(turns("b", 10)),
        || repeat("l", 7, [run(function("f"))]),
    );
    let arms = [("A", calls()), ("B", rounds()), ("_", vec![])];
    assert_eq!(bounds([choice("m", "key", arms)]), (Some(10), Some(7)));
    let inner = choice("n", "key", [("A", calls()), ("_", run(turns("c", 11)))]);
    let arms = [
        ("A", [inner.clone(), inner].concat()),
        ("B", run(turns("d", 21))),
    ];
    assert_eq!(
        bounds([repeat("l", 2, [choice("m", "key", arms)])]),
        (Some(44), Some(2))
    );
    let arms = [("A", run(tools("a"))), ("B", calls())];
    assert_eq!(bounds([choice("m", "key", arms)]), (None, Some(0)));
}

#[test]
fn workflows_in_workflows() {
    let inner = workflow("inner", [repeat("l", 3, [run(turns("b", 2))])]);
    assert_eq!(
        bounds([run(inner), run_as("second", inner)]),
        (Some(12), Some(6))
    );
    let outer = workflow("outer", [repeat("k", 2, [run(inner)]), run(llm("a"))]);
    assert_eq!(
        bounds([repeat("j", 10, [run(outer)])]),
        (Some(10 * (2 * 6 + 1)), Some(10 * (1 + 2 * (1 + 3))))
    );
}

#[test]
fn nothing_overflows() {
    let deep = (0..10).fold(run(turns("a", u32::MAX)), |inside, _| {
        repeat("l", u32::MAX, [inside])
    });
    assert_eq!(
        bounds([deep.clone(), deep.clone()]),
        (Some(u64::MAX), Some(u64::MAX))
    );
    let diagnostics = faults(&Spec::new("w", "", steps([deep])).limits(Limits::new(Some(1), None)));
    let message = &diagnostics
        .iter()
        .find(|fault| fault.check.name() == "bounds-exceeded")
        .unwrap()
        .message;
    assert!(
        message.contains("is more than 18446744073709551614 model calls"),
        "{message}"
    );
    // A saturated number is not a remedy.
    assert!(!message.contains("write `#[bounds"), "{message}");
}

#[test]
fn deep_trees_and_long_lists() {
    // The depth exceeds the language's limit of 128 blocks and const evaluation's limit of 128
    // calls.
    const DEPTH: usize = 400;
    const A: AgentMeta<'static> = llm("a");
    const STEPS: &[Step<'static>; 2 * DEPTH + 1] = &{
        let mut steps = [Step::new("", StepKind::End, 0); 2 * DEPTH + 1];
        let mut at = 0;
        while at < DEPTH {
            steps[at] = Step::new(
                "l",
                StepKind::Loop {
                    max: Some(1),
                    until: None,
                },
                2 * DEPTH - at,
            );
            steps[2 * DEPTH - at].end = 2 * DEPTH - at;
            at += 1;
        }
        steps[DEPTH] = Step::new(
            "a",
            StepKind::Agent {
                meta: &A,
                instance: false,
            },
            DEPTH,
        );
        steps
    };
    const BOUNDS: Bounds<'static> = Spec::new("w", "", STEPS).bounds();
    assert_eq!(
        (BOUNDS.model_calls, BOUNDS.rounds),
        (Some(1), Some(DEPTH as u64))
    );

    let arms = (0..500).fold(run(llm("a")), |inside, _| {
        choice("m", "key", [("A", inside), ("_", vec![])])
    });
    assert_eq!(bounds([arms]), (Some(1), Some(0)));
    let nested = (0..500).fold(llm("a"), |inside, _| {
        workflow("w", [repeat("l", 1, [run(inside)])])
    });
    assert_eq!(bounds([run(nested)]), (Some(1), Some(500)));
    let long = (0..100_000).map(|_| run(llm("a")));
    assert_eq!(
        bounds([long.collect::<Vec<_>>().concat()]),
        (Some(100_000), Some(0))
    );
}

#[test]
fn an_invalid_list_of_steps_does_not_panic() {
    let kinds = [
        StepKind::Arm { pattern: "_" },
        StepKind::Match { key: "k" },
        StepKind::Loop {
            max: Some(0),
            until: None,
        },
        StepKind::Each {
            item: "i",
            list: "l",
            max: None,
            over: Over::Fail,
            max_concurrency: None,
        },
        StepKind::End,
        StepKind::Branch,
    ];
    for first in kinds {
        for second in kinds {
            for (end, other) in [(0, 0), (1, 1), (1, 0), (usize::MAX, usize::MAX), (2, 7)] {
                let pair = [Step::new("x", first, end), Step::new("y", second, other)];
                let spec = Spec::new("w", "", &pair).limits(Limits::new(Some(0), Some(0)));
                let many = vec![pair[0]; 200];
                let deep = Spec::new("w", "", &many).limits(Limits::new(Some(0), Some(0)));
                for spec in [spec, deep] {
                    let _ = (
                        spec.bounds(),
                        faults(&spec),
                        spec.lints(),
                        spec.to_string(),
                        spec.mermaid(),
                        spec.dot(),
                    );
                }
            }
        }
    }
}
