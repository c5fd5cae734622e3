use super::*;
use crate::bounds::tests::{tools, turns};
use crate::check::faults;
use crate::spec::sketch::*;
use crate::spec::{AgentMeta, KeySpec, Limits, Over, Step, StepKind};

/// Returns the message about limits of model calls and rounds.
fn bounds_message(
    allowed: (Option<u64>, Option<u64>),
    all: impl IntoIterator<Item = Steps>,
) -> Option<String> {
    let spec = Spec::new("w", "", steps(all)).limits(Limits::new(allowed.0, allowed.1));
    let mut faults = faults(&spec)
        .into_iter()
        .filter(|fault| fault.check.name() == "bounds-exceeded");
    let fault = faults.next();
    assert!(faults.next().is_none(), "one message");
    fault.map(|fault| fault.message)
}

#[test]
fn within_the_limits() {
    assert_eq!(
        bounds_message((Some(5), Some(5)), [repeat("l", 5, [run(llm("a"))])]),
        None
    );
    assert_eq!(
        bounds_message((None, None), [repeat("l", None, [run(tools("a"))])]),
        None
    );
    assert_eq!(
        bounds_message((Some(0), None), [repeat("l", None, [run(function("f"))])]),
        None
    );
    assert_eq!(
        bounds_message(
            (Some(0), None),
            [run(crate::__private::stub_if(true, AgentMeta::custom("a")))]
        ),
        None
    );
}

#[test]
fn an_endless_loop_is_reported_once() {
    let checks = |inside: Vec<Steps>| {
        let endless = steps([repeat("l", None, inside)]);
        let spec = Spec::new("w", "", endless).limits(Limits::new(Some(1), Some(1)));
        faults(&spec)
            .iter()
            .map(|fault| fault.check.name())
            .collect::<Vec<_>>()
    };
    assert_eq!(checks(vec![run(llm("a"))]), ["loop-endless"]);
    // An exit inside a nested workflow does not end a loop around the workflow.
    let inner = workflow("inner", [repeat("m", 2, [run(llm("a").may_exit(true))])]);
    assert_eq!(checks(vec![run(inner)]), ["loop-endless"]);
    assert_eq!(
        checks(vec![run(llm("a")), leave(None)]),
        ["bounds-exceeded"]
    );
    assert_eq!(
        checks(vec![run(llm("a").may_exit(true))]),
        ["bounds-exceeded"]
    );
    assert_eq!(
        checks(vec![run(llm("a")), run(function("f").exits(&["l"]))]),
        ["bounds-exceeded"]
    );
    let target = leak(llm("b").may_exit(true));
    assert_eq!(
        checks(vec![run(llm("a")
            .max_turns(Some(2))
            .transfer(leak([target])))]),
        ["bounds-exceeded"]
    );
    // An unbounded agent in an endless loop is an error of its own.
    assert_eq!(
        checks(vec![run(tools("a"))]),
        ["loop-endless", "bounds-exceeded"]
    );
}

#[test]
fn the_largest_part_is_named() {
    let refinement = || {
        repeat(
            "refinement",
            5,
            [run(turns("critic", 3)), run(turns("refiner", 6))],
        )
    };
    assert_eq!(
        bounds_message((Some(30), None), [refinement()]).unwrap(),
        "bounds-exceeded: the worst case of this workflow is 45 model calls, and it allows 30: \
         loop `refinement` makes up to 45 of them, 9 in each of 5 rounds; help: lower its `max` to \
         3, or write `#[bounds(model_calls = 45)]`"
    );
    // The agent outside of the loop needs a call too, so no `max` is low enough.
    assert_eq!(
        bounds_message((Some(8), None), [run(llm("a")), refinement()]).unwrap(),
        "bounds-exceeded: the worst case of this workflow is 46 model calls, and it allows 8: loop \
         `refinement` makes up to 45 of them, 9 in each of 5 rounds; help: lower its `max`, or \
         write `#[bounds(model_calls = 46)]`"
    );
    let drafting = workflow(
        "drafting",
        [run(turns("writer", 7)), sequence("s", [run(llm("a"))])],
    );
    assert_eq!(
        bounds_message((Some(7), None), [repeat("once", 1, [run(drafting)])]).unwrap(),
        "bounds-exceeded: the worst case of this workflow is 8 model calls, and it allows 7: agent \
         `writer` in `drafting` makes up to 7 of them; help: lower its `max_turns` to 6, or write \
         `#[bounds(model_calls = 8)]`"
    );
    assert_eq!(
        bounds_message((Some(1), None), [run(llm("a")), run(llm("b"))]).unwrap(),
        "bounds-exceeded: the worst case of this workflow is 2 model calls, and it allows 1, one \
         for each agent that asks a model; help: place fewer agents that ask a model, or write \
         `#[bounds(model_calls = 2)]`"
    );
}

#[test]
fn a_part_without_limits_of_its_own_is_named() {
    // A workflow or a block in which no step has a `max` or `max_turns`.
    let reviewing = workflow("reviewing", ["a", "b", "c"].map(|name| run(llm(name))));
    assert_eq!(
        bounds_message((Some(3), None), [run(llm("d")), run(reviewing)]).unwrap(),
        "bounds-exceeded: the worst case of this workflow is 4 model calls, and it allows 3: \
         workflow `reviewing` makes up to 3 of them; help: place fewer agents that ask a model in \
         it, or write `#[bounds(model_calls = 4)]`"
    );
    let three = ["b", "c", "d"]
        .into_iter()
        .flat_map(|name| run(llm(name)))
        .collect();
    let arms = [("High", run(llm("a"))), ("_", three)];
    assert_eq!(
        bounds_message(
            (Some(3), None),
            [parallel(
                "many",
                [choice("match_1", "severity", arms), run(llm("e"))]
            )]
        )
        .unwrap(),
        "bounds-exceeded: the worst case of this workflow is 4 model calls, and it allows 3: block \
         `match_1` makes up to 3 of them; help: place fewer agents that ask a model in it, or \
         write `#[bounds(model_calls = 4)]`"
    );
    assert_eq!(
        bounds_message(
            (Some(2), None),
            [parallel("many", [run(turns("a", 2)), run(llm("b"))])]
        )
        .unwrap(),
        "bounds-exceeded: the worst case of this workflow is 3 model calls, and it allows 2: agent \
         `a` makes up to 2 of them; help: lower its `max_turns` to 1, or write \
         `#[bounds(model_calls = 3)]`"
    );
}

#[test]
fn a_repeated_part_is_named() {
    // The count saturates.
    let deep = (0..5).fold(run(llm("a")), |inside, i| {
        repeat(["a", "b", "c", "d", "e"][i], 1_000_000, [inside])
    });
    assert_eq!(
        bounds_message((Some(30), None), [deep]).unwrap(),
        "bounds-exceeded: the worst case of this workflow is more than 18446744073709551614 model \
         calls, and it allows 30: loop `e` makes more than can be counted; help: lower its `max` \
         and those of the loops in it"
    );
    let (max, over) = (Some(5), Over::Fail);
    let five = StepKind::Each {
        item: "i",
        list: "l",
        max,
        over,
        max_concurrency: None,
    };
    assert_eq!(
        bounds_message(
            (Some(9), None),
            [block("research", five, [run(llm("a")), run(llm("b"))])]
        )
        .unwrap(),
        "bounds-exceeded: the worst case of this workflow is 10 model calls, and it allows 9: \
         block `research` makes up to 10 of them, 2 for each of 5 elements; help: lower its `max` \
         to 4, or write `#[bounds(model_calls = 10)]`"
    );
    // A loop outside of the worst arm is not named.
    let three =
        [("x", 20), ("y", 20), ("z", 21)].map(|(name, max)| repeat(name, max, [run(llm("a"))]));
    let arms = [
        ("A", repeat("w", 40, [run(llm("a"))])),
        ("B", three.concat()),
    ];
    let message = bounds_message((Some(10), None), [choice("m", "key", arms)]).unwrap();
    assert!(
        message.contains("loop `z` makes up to 21 of them, 1 in each of 21 rounds"),
        "{message}"
    );
}

#[test]
fn rounds_are_limited_as_well() {
    let both = repeat("outer", 5, [repeat("inner", 5, [run(llm("a"))])]);
    assert_eq!(
        bounds_message((Some(25), Some(20)), [both.clone()]).unwrap(),
        "bounds-exceeded: the worst case of this workflow is 30 rounds of its loops, and it allows \
         20: loop `outer` makes up to 30 of them, 6 in each of 5 rounds; help: lower its `max` to \
         3, or write `#[bounds(rounds = 30)]`"
    );
    // Only one message is reported, because both limits usually have the same cause.
    assert!(
        bounds_message((Some(1), Some(1)), [both])
            .unwrap()
            .contains("it allows 1: loop `outer` makes up to 25 of them")
    );
    assert_eq!(
        bounds_message(
            (None, Some(1)),
            [repeat("l", None, [run(tools("a")), leave(None)])]
        )
        .unwrap(),
        "bounds-exceeded: the worst case of this workflow is unbounded, and it allows 1 round of \
         its loops: loop `l` has no `max`; help: give the loop a `max`, as in `loop(max = 5)`"
    );
    let message = bounds_message(
        (None, Some(1)),
        [repeat("l", 1, [run(tools("a"))]), repeat("m", 1, [])],
    )
    .unwrap();
    assert!(
        message.ends_with(
            "it allows 1, one for each loop; help: place fewer loops, or write \
             `#[bounds(rounds = 2)]`"
        ),
        "{message}"
    );
}

#[test]
fn the_unbounded_step_is_named() {
    let unbounded = |all: Vec<Steps>| {
        let message = bounds_message((Some(30), None), all).unwrap();
        let start = "bounds-exceeded: the worst case of this workflow is unbounded, and it allows \
            30 model calls: ";
        message
            .strip_prefix(start)
            .unwrap_or_else(|| panic!("{message}"))
            .to_owned()
    };
    assert_eq!(
        unbounded(vec![repeat(
            "polish",
            None,
            [run(tools("critic")), leave(None)]
        )]),
        "agent `critic` has tools and no `max_turns`, and loop `polish` has no `max`; help: give \
         the agent a `max_turns`, as in `max_turns: 3`, and give the loop a `max`, as in \
         `loop(max = 5)`"
    );
    let typed = llm("judge").writes(const { &[KeySpec::new("score", "f64")] });
    assert_eq!(
        unbounded(vec![run(workflow("judging", [run(typed)]))]),
        "agent `judge` in `judging` answers with a type that is not `String` and has no \
         `max_turns`; help: give the agent a `max_turns`, as in `max_turns: 3`"
    );
    assert_eq!(
        unbounded(vec![each("each_1", [run(llm("a"))])]),
        "block `each_1` runs once per element of a list and has no `max`; help: give the `each` a \
         `max`, as in `each(max = 20)`"
    );
    assert_eq!(
        unbounded(vec![run(AgentMeta::custom("grader"))]),
        "agent `grader` does not state how often it calls a model; help: set it in its `META`, as \
         in `.max_turns(Some(3))`"
    );
    let many = ["a", "b", "c", "d", "e"].map(|name| run(tools(name)));
    let message = unbounded(many.to_vec());
    assert!(
        message
            .contains("agent `c` has tools and no `max_turns`, and 2 more; help: give the agent"),
        "{message}"
    );
    // A step that does not count is not named as unbounded.
    assert_eq!(
        unbounded(vec![
            repeat("wait", None, [run(function("f"))]),
            run(llm("a").transfer(leak([leak(llm("b"))])))
        ]),
        "agent `a` may transfer and has no `max_turns`; help: give the agent a `max_turns`, as in \
         `max_turns: 3`"
    );
}

/// The number of calls of agents that are tools is unknown; only the known calls count.
#[test]
fn agents_as_tools_are_limited_at_run_time() {
    let calls = |turns| {
        let tool = crate::spec::ToolMeta::of_agent(leak(llm("helper")));
        run(llm("boss").tools(leak([tool])).max_turns(turns))
    };
    assert_eq!(bounds_message((Some(8), None), [calls(Some(8))]), None);
    assert_eq!(bounds_message((Some(1), None), [calls(None)]), None);
    let message = bounds_message((Some(23), None), [repeat("l", 3, [calls(Some(8))])]).unwrap();
    assert!(
        message.contains("is 24 model calls, and it allows 23: loop `l`"),
        "{message}"
    );
    let message = bounds_message((Some(8), None), [calls(Some(8)), run(tools("critic"))]).unwrap();
    assert!(
        message.contains(": agent `critic` has tools and no `max_turns`; help"),
        "{message}"
    );
    let spec = Spec::new("w", "", steps([calls(Some(8))]));
    assert_eq!(spec.bounds().model_calls, None);
}

#[test]
fn code_that_no_timeout_ends_may_run_forever() {
    let second = std::time::Duration::from_secs(1);
    let proof = |steps: &'static [Step<'static>], limits: Limits| {
        let faults = faults(&Spec::new("w", "", steps).limits(limits.ends(true)));
        faults.into_iter().map(|fault| fault.message).next()
    };
    let limited = || llm("a").max_turns(Some(1)).timeout(second);
    assert_eq!(proof(steps([run(limited())]), Limits::NONE), None);
    let own = || steps([run(limited().own_code(true))]);
    assert!(
        proof(own(), Limits::NONE)
            .unwrap()
            .contains("agent `a` has callbacks")
    );
    assert_eq!(proof(own(), Limits::NONE.time(second)), None);
    let mut block = sequence("s", [run(limited())]);
    block[0].own_code = true;
    let message = proof(steps([repeat("l", 2, [block])]), Limits::NONE).unwrap();
    assert!(message.contains("block `s` has callbacks"), "{message}");
}

#[test]
fn const_evaluation_reports_the_same() {
    const A: AgentMeta<'static> = llm("a");
    const STEPS: &[Step<'static>] = &[Step::new(
        "a",
        StepKind::Agent {
            meta: &A,
            instance: false,
        },
        0,
    )];
    const SPEC: Spec<'static> = Spec::new("w", "", STEPS);
    const {
        raise_bounds(
            &SPEC.limits(Limits::new(Some(1), Some(0))),
            "model_calls",
            false,
        )
    };
    let spec = SPEC.limits(Limits::new(Some(0), None));
    let raised =
        std::panic::catch_unwind(|| raise_bounds(&spec, "model_calls", false)).unwrap_err();
    assert_eq!(
        raised.downcast_ref::<String>(),
        Some(&faults(&spec)[0].message)
    );
}
