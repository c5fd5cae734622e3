use super::*;
use crate::spec::sketch::{self, block, choice, keys, leak, llm, run, steps, workflow};
use crate::spec::{AgentKind, KeySpec, Limits};

const CRITIC: AgentMeta<'static> = AgentMeta::new(AgentKind::Llm, "critic")
    .description("Reviews.")
    .prompts(&["Review {draft}."])
    .writes(&[KeySpec::new("criticism", "String")])
    .max_turns(Some(3));
const INNER: &[Step<'static>] = &[
    Step::new(
        "refinement",
        StepKind::Loop {
            max: Some(2),
            until: Some("done"),
        },
        3,
    )
    .description("Refines."),
    Step::new(
        "critic",
        StepKind::Agent {
            meta: &CRITIC,
            instance: false,
        },
        1,
    ),
    Step::new(
        "",
        StepKind::Break {
            target: Some("refinement"),
        },
        2,
    ),
    Step::new("", StepKind::End, 3),
];
const DRAFTING: AgentMeta<'static> = AgentMeta::new(AgentKind::Workflow, "drafting").steps(INNER);
const STEPS: &[Step<'static>] = &[
    Step::new(
        "parallel_1",
        StepKind::Parallel {
            max_concurrency: Some(4),
            first: false,
        },
        7,
    )
    .unnamed(),
    Step::new("", StepKind::Branch, 3),
    Step::new(
        "drafting",
        StepKind::Agent {
            meta: &DRAFTING,
            instance: false,
        },
        2,
    ),
    Step::new("", StepKind::End, 3),
    Step::new("", StepKind::Branch, 6),
    Step::new(
        "second",
        StepKind::Agent {
            meta: &DRAFTING,
            instance: true,
        },
        5,
    ),
    Step::new("", StepKind::End, 6),
    Step::new("", StepKind::End, 7),
];
const SPEC: Spec<'static> = Spec::new("writing", "Writes.", STEPS)
    .inputs(&[InputSpec::new("topic", "String", false)])
    .outputs(&[
        KeySpec::new("draft", "String"),
        KeySpec::new("score", "f64"),
    ]);

#[test]
fn nodes() {
    let nodes = SPEC.nodes();
    for (at, node) in nodes.iter().enumerate() {
        assert_eq!(node.parent.is_none(), at == 0);
        if let Some(parent) = node.parent {
            assert!(parent < at && nodes[parent].children.contains(&at));
            assert_eq!(node.depth, nodes[parent].depth + 1);
        }
        assert!(
            node.children
                .iter()
                .all(|&child| nodes[child].parent == Some(at))
        );
    }
    assert_eq!(nodes[0].description, "Writes.");
    let critic = SPEC.find("second::critic").unwrap();
    assert_eq!(
        (critic.kind, critic.description, critic.max_turns),
        (NodeKind::Llm, "Reviews.", Some(3))
    );
    assert_eq!(nodes[critic.parent.unwrap()].name, "second::refinement");
    let refinement = SPEC.find("refinement").unwrap();
    assert_eq!(
        (refinement.max, refinement.until, refinement.description),
        (Some(2), Some("done"), "Refines.")
    );
    assert!(SPEC.find("").is_none() && SPEC.find("nobody").is_none());
    assert!(!SPEC.find("parallel_1").unwrap().named);
}

#[test]
fn json() {
    let json = serde_json::to_value(SPEC).unwrap();
    assert_eq!(json["inputs"][0]["type"], "String");
    let nodes = json["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), SPEC.nodes().len());
    let critic = nodes.iter().find(|node| node["name"] == "critic").unwrap();
    assert_eq!(critic["kind"], "llm");
    assert_eq!(critic["writes"][0]["name"], "criticism");
}

#[test]
fn reads_are_those_of_parameters_and_prompts() {
    const AGENT: AgentMeta<'static> = AgentMeta::new(AgentKind::Llm, "agent")
        .prompts(&[
            "{draft?} {user:tone?} {artifact.plan} {draft} {{topic}} ${no}",
            "{topic?}",
        ])
        .reads(&[KeySpec::new("topic", "String").optional(true)]);
    const STEPS: &[Step<'static>] = &[Step::new(
        "agent",
        StepKind::Agent {
            meta: &AGENT,
            instance: false,
        },
        0,
    )];
    const INPUTS: &[InputSpec<'static>] = &[InputSpec::new("topic", "String", true)];
    let nodes = Spec::new("writing", "", STEPS).inputs(INPUTS).nodes();
    assert_eq!(
        *nodes[0].reads,
        [KeySpec::new("topic", "String").optional(true)]
    );
    let expected = [
        KeySpec::new("topic", "String"),
        KeySpec::new("draft", "Value"),
        KeySpec::new("user:tone", "Value").optional(true),
    ];
    assert_eq!(*nodes[1].reads, expected);
}

#[test]
fn blocks_of_every_kind() {
    let arms = [("Severity::High", run(llm("page"))), ("_", vec![])];
    let each = StepKind::Each {
        item: "chapter",
        list: "chapters",
        max: None,
        over: crate::spec::Over::Fail,
        max_concurrency: Some(2),
    };
    let all = steps([
        choice("triage", "severity", arms),
        block("each_1", each, [run(llm("author"))]),
    ]);
    let spec = Spec::new("w", "", all);
    let kinds: Vec<_> = spec
        .nodes()
        .iter()
        .map(|node| (node.kind, node.parent))
        .collect();
    let expected = [
        (NodeKind::Workflow, None),
        (NodeKind::Match, Some(0)),
        (NodeKind::Arm, Some(1)),
        (NodeKind::Llm, Some(2)),
        (NodeKind::Arm, Some(1)),
        (NodeKind::Each, Some(0)),
        (NodeKind::Llm, Some(5)),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(spec.find("triage").unwrap().key, Some("severity"));
    assert_eq!(spec.nodes()[2].pattern, Some("Severity::High"));
    let each = spec.find("each_1").unwrap();
    assert_eq!(
        (each.item, each.list, each.max_concurrency),
        (Some("chapter"), Some("chapters"), Some(2))
    );
}

#[test]
fn several_steps_in_one_branch_follow_one_another() {
    let branch = |inside| block("", StepKind::Branch, inside);
    let branches = [
        branch(vec![run(llm("a")), run(llm("b"))]),
        branch(vec![run(llm("c"))]),
    ];
    let spec = Spec::new(
        "w",
        "",
        steps([block(
            "p",
            StepKind::Parallel {
                max_concurrency: None,
                first: false,
            },
            branches,
        )]),
    );
    let nodes = spec.nodes();
    assert_eq!(nodes[1].children.len(), 2);
    assert_eq!(
        (nodes[2].kind, &*nodes[2].children),
        (NodeKind::Sequence, &[3, 4][..])
    );
}

#[test]
fn the_keys_of_an_instance() {
    let critic = llm("critic")
        .prompts(&["{draft} {topic} {essay?}"])
        .reads(keys(["draft", "tone"]))
        .writes(keys(["criticism", "score"]));
    let mut step = sketch::run_as("second", critic);
    step[0] = step[0].renames(Renames::new(
        &[("draft", "essay"), ("topic", "user:topic")],
        &["verdict"],
    ));
    let node = Spec::new("w", "", steps([step])).find("second").unwrap();
    let names = |keys: &[KeySpec<'_>]| {
        keys.iter()
            .map(|key| key.name.to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&node.reads), ["essay", "tone", "user:topic"]);
    assert_eq!(names(&node.writes), ["verdict", "score"]);
    assert_eq!(
        (node.definition, node.renames.writes),
        ("critic", &["verdict"][..])
    );
}

#[test]
fn transfer_targets_are_children_of_their_agent() {
    let refunds = leak(workflow("refunds", [run(llm("refund"))]));
    let billing = leak(
        llm("billing")
            .description("Bills.")
            .transfer(leak([refunds])),
    );
    let support = llm("support").transfer(leak([billing, leak(llm("tech"))]));
    let spec = Spec::new(
        "w",
        "",
        steps([sketch::run_as("desk", support), run(llm("end"))]),
    );
    let nodes = spec.nodes();
    let names: Vec<_> = nodes
        .iter()
        .map(|node| (&*node.name, node.depth, node.transfer))
        .collect();
    let expected = [
        ("w", 0, false),
        ("desk", 1, false),
        ("desk::billing", 2, true),
        ("desk::refunds", 3, true),
        ("desk::refunds::refund", 4, false),
        ("desk::tech", 2, true),
        ("end", 1, false),
    ];
    assert_eq!(names, expected);
    assert_eq!(spec.find("desk::billing").unwrap().description, "Bills.");
    // In a tree that was built at run time, the workflow has no names of its own.
    let built = spec.built().nodes();
    assert_eq!(built[4].name, "desk::refund");
}

#[test]
fn json_of_limits_and_of_unplaced_agents() {
    let spec = Spec::new("w", "", &[])
        .unplaced(&["critic"])
        .limits(Limits::new(Some(30), None));
    let json = serde_json::to_value(spec).unwrap();
    assert_eq!(json["unplaced"][0], "critic");
    assert_eq!(json["limits"]["model_calls"], 30);
}
