use super::*;

const CRITIC: AgentMeta<'static> = AgentMeta::new(AgentKind::Llm, "critic")
    .description("Reviews.")
    .prompts(&["Review {draft}."])
    .writes(&[KeySpec::new("criticism", "String")])
    .max_turns(Some(3));
const INNER: &[Step<'static>] = &[
    Step::new("refinement", StepKind::Loop { max: Some(2), until: Some("done") }, 3).description("Refines."),
    Step::new("critic", StepKind::Agent { meta: &CRITIC, instance: false }, 1),
    Step::new("", StepKind::Break { target: Some("refinement") }, 2),
    Step::new("", StepKind::End, 3),
];
const DRAFTING: AgentMeta<'static> = AgentMeta::new(AgentKind::Workflow, "drafting").steps(INNER);
const STEPS: &[Step<'static>] = &[
    Step::new("parallel_1", StepKind::Parallel { max_concurrency: Some(4) }, 7).unnamed(),
    Step::new("", StepKind::Branch, 3),
    Step::new("drafting", StepKind::Agent { meta: &DRAFTING, instance: false }, 2),
    Step::new("", StepKind::End, 3),
    Step::new("", StepKind::Branch, 6),
    Step::new("second", StepKind::Agent { meta: &DRAFTING, instance: true }, 5),
    Step::new("", StepKind::End, 6),
    Step::new("", StepKind::End, 7),
];
const SPEC: Spec<'static> = Spec::new("writing", "Writes.", STEPS)
    .inputs(&[InputSpec::new("topic", "String", false)])
    .outputs(&[KeySpec::new("draft", "String"), KeySpec::new("score", "f64")]);

#[test]
fn text() {
    assert_eq!(
        SPEC.to_string(),
        "\
writing(topic: String) -> (draft: String, score: f64)
└─ parallel(max_concurrency = 4)
   ├─ drafting
   │  └─ refinement: loop(max = 2, until = done)
   │     ├─ critic -> criticism
   │     └─ break refinement
   └─ second
      └─ second::refinement: loop(max = 2, until = done)
         ├─ second::critic -> criticism
         └─ break refinement"
    );
}

#[test]
fn nodes() {
    let nodes = SPEC.nodes();
    for (at, node) in nodes.iter().enumerate() {
        assert_eq!(node.parent.is_none(), at == 0);
        if let Some(parent) = node.parent {
            assert!(parent < at && nodes[parent].children.contains(&at));
            assert_eq!(node.depth, nodes[parent].depth + 1);
        }
        assert!(node.children.iter().all(|&child| nodes[child].parent == Some(at)));
    }
    assert_eq!(nodes[0].description, "Writes.");
    let critic = SPEC.find("second::critic").unwrap();
    assert_eq!((critic.kind, critic.description, critic.max_turns), (NodeKind::Llm, "Reviews.", Some(3)));
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
        .prompts(&["{draft?} {user:tone?} {artifact.plan} {draft} {{topic}} ${no}", "{topic?}"])
        .reads(&[KeySpec::new("topic", "String").optional(true)]);
    const STEPS: &[Step<'static>] =
        &[Step::new("agent", StepKind::Agent { meta: &AGENT, instance: false }, 0)];
    const INPUTS: &[InputSpec<'static>] = &[InputSpec::new("topic", "String", true)];
    let nodes = Spec::new("writing", "", STEPS).inputs(INPUTS).nodes();
    assert_eq!(*nodes[0].reads, [KeySpec::new("topic", "String").optional(true)]);
    let expected = [
        KeySpec::new("topic", "String"),
        KeySpec::new("draft", "Value"),
        KeySpec::new("user:tone", "Value").optional(true),
    ];
    assert_eq!(*nodes[1].reads, expected);
}
