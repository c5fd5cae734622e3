mod flow;
mod most;
mod words;

use super::*;
use crate::check::facts::{Facts, Sizes, facts, sizes};
use crate::check::limits::limit;
use crate::spec::{AgentKind, AgentMeta, KeySpec, ToolMeta};

const fn agent<'a>(name: &'a str, meta: &'a AgentMeta<'a>, at: usize) -> Step<'a> {
    Step::new(
        name,
        StepKind::Agent {
            meta,
            instance: false,
        },
        at,
    )
}

const fn instance<'a>(name: &'a str, meta: &'a AgentMeta<'a>, at: usize) -> Step<'a> {
    Step::new(
        name,
        StepKind::Agent {
            meta,
            instance: true,
        },
        at,
    )
}

const fn defined<'a>(name: &'a str, definition: &'a str) -> AgentMeta<'a> {
    AgentMeta::new(AgentKind::Function, name).definition(definition)
}

/// Returns the failed checks, each with its step.
fn checks(steps: &[Step<'_>]) -> Vec<String> {
    let faults = faults(&Spec::new("root", "", steps));
    for fault in &faults {
        assert!(fault.message.starts_with(fault.check.name()), "{fault}");
    }
    faults
        .iter()
        .map(|fault| format!("{} {}", fault.check.name(), fault.node))
        .collect()
}

const CRITIC: AgentMeta<'static> = defined("critic", "one::critic");
const OTHER: AgentMeta<'static> = defined("critic", "two::critic");
const GRADE: AgentMeta<'static> = AgentMeta::custom("grade");
const DRAFTING: AgentMeta<'static> = AgentMeta::new(AgentKind::Workflow, "drafting")
    .definition("one::Drafting")
    .steps(&[agent("critic", &CRITIC, 0), agent("grade", &GRADE, 1)]);

#[test]
fn two_definitions_and_one_definition_twice() {
    assert_eq!(
        checks(&[agent("critic", &CRITIC, 0), agent("grade", &GRADE, 1)]),
        [""; 0]
    );
    assert_eq!(
        checks(&[agent("critic", &CRITIC, 0), agent("critic", &OTHER, 1)]),
        ["name-duplicate critic"]
    );
    assert_eq!(
        checks(&[agent("critic", &CRITIC, 0), agent("critic", &CRITIC, 1)]),
        ["agent-reused critic"]
    );
    // Another name does not make an instance: only `as` does.
    assert_eq!(
        checks(&[agent("critic", &CRITIC, 0), agent("judge", &CRITIC, 1)]),
        ["agent-reused judge"]
    );
    assert_eq!(
        checks(&[agent("critic", &CRITIC, 0), instance("judge", &CRITIC, 1)]),
        [""; 0]
    );
    assert_eq!(
        checks(&[instance("a", &CRITIC, 0), instance("a", &CRITIC, 1)]),
        ["name-duplicate a"]
    );
    // The definition of an agent by hand is only its name, which two types may share.
    assert_eq!(
        checks(&[agent("grade", &GRADE, 0), agent("rate", &GRADE, 1)]),
        [""; 0]
    );
    assert_eq!(
        checks(&[agent("root", &CRITIC, 0)]),
        ["name-duplicate root"]
    );
}

#[test]
fn names_inside_of_nested_workflows() {
    assert_eq!(checks(&[agent("drafting", &DRAFTING, 0)]), [""; 0]);
    assert_eq!(
        checks(&[agent("critic", &CRITIC, 0), agent("drafting", &DRAFTING, 1)]),
        ["agent-reused drafting"]
    );
    assert_eq!(
        checks(&[agent("drafting", &DRAFTING, 0), agent("critic", &OTHER, 1)]),
        ["name-duplicate critic"]
    );
    // Names inside an instance have the prefix of the instance.
    let both = [
        agent("critic", &CRITIC, 0),
        instance("a", &DRAFTING, 1),
        instance("b", &DRAFTING, 2),
    ];
    assert_eq!(checks(&both), [""; 0]);
    // An error inside a nested workflow is reported at the definition of that workflow.
    let wrong = [agent("critic", &CRITIC, 0), agent("critic", &OTHER, 1)];
    let inner = AgentMeta::new(AgentKind::Workflow, "inner")
        .definition("x::Inner")
        .steps(&wrong);
    assert_eq!(
        checks(&[agent("inner", &inner, 0), agent("x", &GRADE, 1)]),
        [""; 0]
    );
    let message = &faults(&Spec::new(
        "root",
        "",
        &[agent("critic", &OTHER, 0), agent("drafting", &DRAFTING, 1)],
    ))[0]
        .message;
    assert_eq!(
        message,
        "name-duplicate: `critic`, a step in `drafting`, has the same name as a step before it; \
         help: write `as second_drafting` after it, which makes it an instance with a name of its \
         own; its steps are then called `second_drafting::critic` and so on"
    );
}

#[test]
fn an_agent_with_transfer_targets_is_placed_twice() {
    let desk = AgentMeta::new(AgentKind::Llm, "desk")
        .definition("x::Desk")
        .transfer(&[&CRITIC]);
    assert_eq!(
        checks(&[agent("desk", &desk, 0), instance("second", &desk, 1)]),
        [""; 0]
    );
    assert_eq!(
        checks(&[instance("first", &desk, 0), instance("second", &desk, 1)]),
        [""; 0]
    );
    // The target of an instance keeps its own name, so it may not be placed a second time.
    assert_eq!(
        checks(&[agent("desk", &desk, 0), agent("critic", &CRITIC, 1)]),
        ["agent-reused critic"]
    );
    assert_eq!(
        checks(&[instance("first", &desk, 0), agent("critic", &CRITIC, 1)]),
        [""; 0]
    );
}

#[test]
fn names_of_unnamed_blocks_do_not_count_across_workflows() {
    let inner = Step::new(
        "loop_1",
        StepKind::Loop {
            max: Some(1),
            until: None,
        },
        2,
    )
    .unnamed();
    let steps = [
        inner,
        agent("a", &GRADE, 1),
        Step::new("", StepKind::End, 2),
    ];
    let nested = AgentMeta::new(AgentKind::Workflow, "nested")
        .definition("x::Nested")
        .steps(&steps);
    let outer = [
        inner,
        agent("nested", &nested, 1),
        Step::new("", StepKind::End, 2),
    ];
    assert_eq!(checks(&outer), [""; 0]);
}

#[test]
fn reserved_and_invalid_names() {
    for name in ["user", "model"] {
        assert_eq!(
            checks(&[agent(name, &GRADE, 0)]),
            [format!("name-reserved {name}")]
        );
    }
    for name in ["1x", "a b", "_", "a-b"] {
        assert_eq!(
            checks(&[agent(name, &GRADE, 0)]),
            [format!("name-invalid {name}")]
        );
    }
    assert_eq!(
        checks(&[agent("naïve", &GRADE, 0), agent("type", &CRITIC, 1)]),
        [""; 0]
    );
    assert_eq!(
        faults(&Spec::new("user", "", &[]))[0].check.name(),
        "name-reserved"
    );
}

#[test]
fn tools() {
    const TOOLS: &[ToolMeta<'static>] = &[
        ToolMeta::new("search", ""),
        ToolMeta::new("search", ""),
        ToolMeta::new("transfer_to_agent", ""),
    ];
    let meta = AgentMeta::new(AgentKind::Llm, "critic").tools(TOOLS);
    assert_eq!(
        checks(&[agent("critic", &meta, 0)]),
        ["tool-duplicate critic", "tool-reserved critic"]
    );
}

/// An agent must write a key, but its tool ends the turn before the model answers.
#[test]
fn tools_that_skip_the_answer() {
    const KEY: &[KeySpec<'static>] = &[KeySpec::new("receipt", "String")];
    const PAY: ToolMeta<'static> = ToolMeta::new("pay", "Pays.").may_skip(true);
    const LOOK: ToolMeta<'static> = ToolMeta::new("look", "Looks.");
    let payer = |tools| {
        AgentMeta::new(AgentKind::Llm, "payer")
            .writes(KEY)
            .tools(tools)
    };
    let checks_of = |meta: AgentMeta<'_>| checks(&[agent("payer", &meta, 0)]);
    assert_eq!(checks_of(payer(&[LOOK, PAY])), ["output-missing payer"]);
    assert_eq!(checks_of(payer(&[LOOK])), [""; 0]);
    // Allowed: this tool or another one writes the key, a callback may write it, or no key has to
    // be written. A tool that ends the loop is only reported for its exit.
    assert_eq!(checks_of(payer(const { &[PAY.writes(KEY)] })), [""; 0]);
    assert_eq!(
        checks_of(payer(const { &[PAY, LOOK.writes(KEY)] })),
        [""; 0]
    );
    assert_eq!(checks_of(payer(&[PAY]).own_code(true)), [""; 0]);
    assert_eq!(
        checks_of(payer(const { &[PAY.may_exit(true)] })),
        ["exit-outside-loop payer"]
    );
    assert_eq!(checks_of(payer(&[PAY]).writes(&[])), [""; 0]);
    let target = payer(&[PAY]);
    let targets = [&target];
    let desk = AgentMeta::new(AgentKind::Llm, "desk").transfer(&targets);
    assert_eq!(checks(&[agent("desk", &desk, 0)]), ["output-missing payer"]);
}

#[test]
fn names_below_an_agent_that_is_a_tool() {
    let llm = |name| AgentMeta::new(AgentKind::Llm, name).description("Helps.");
    let (one, two) = ([&CRITIC], [&OTHER]);
    let (desk, table) = (llm("desk").transfer(&one), llm("table").transfer(&two));
    let both = [&desk, &table];
    let front = llm("front").transfer(&both);
    let (front, desk) = ([ToolMeta::of_agent(&front)], [ToolMeta::of_agent(&desk)]);
    let (wrong, right) = (llm("planner").tools(&front), llm("planner").tools(&desk));
    let (in_tool, in_target) = ([ToolMeta::of_agent(&wrong)], [&wrong]);
    let (in_tool, in_target) = (llm("a").tools(&in_tool), llm("a").transfer(&in_target));
    assert_eq!(
        checks(&[agent("planner", &wrong, 0)]),
        ["name-duplicate planner"]
    );
    assert_eq!(checks(&[agent("a", &in_tool, 0)]), ["name-duplicate a"]);
    assert_eq!(checks(&[agent("a", &in_target, 0)]), ["name-duplicate a"]);
    let message = &faults(&Spec::new("root", "", &[agent("planner", &wrong, 0)]))[0].message;
    assert_eq!(
        message,
        "name-duplicate: `critic`, below the tool `front` of `planner`, has the same name as an \
         agent in `desk`, which comes before it; help: give one of them another name"
    );
    // An agent that is a tool runs on its own, so its names are not those of the workflow.
    let steps = [
        agent("critic", &CRITIC, 0),
        agent("planner", &right, 1),
        instance("second", &right, 2),
    ];
    assert_eq!(checks(&steps), [""; 0]);
}

#[test]
fn names_in_a_workflow_that_is_a_transfer_target() {
    let targets = [&DRAFTING];
    let desk = AgentMeta::new(AgentKind::Llm, "desk").transfer(&targets);
    assert_eq!(
        checks(&[agent("desk", &desk, 0), agent("critic", &OTHER, 1)]),
        [""; 0]
    );
}

#[test]
fn waits_in_agents_that_are_tools() {
    let pay = [ToolMeta::new("pay", "Pays.").confirm(true)];
    let build = [
        ToolMeta::new("find", "Finds."),
        ToolMeta::new("build", "Builds.").long_running(true),
    ];
    let payer = AgentMeta::new(AgentKind::Llm, "payer").tools(&pay);
    let (builder, clerk) = (
        AgentMeta::new(AgentKind::Llm, "builder").tools(&build),
        [&payer],
    );
    let clerk = AgentMeta::new(AgentKind::Llm, "clerk").transfer(&clerk);
    let ok = AgentMeta::new(AgentKind::Await, "ok");
    let (asking, paying) = ([agent("ok", &ok, 0)], [agent("payer", &payer, 0)]);
    let asking = AgentMeta::new(AgentKind::Workflow, "asking").steps(&asking);
    let paying = AgentMeta::new(AgentKind::Workflow, "paying").steps(&paying);
    let message = |used: &AgentMeta<'_>| {
        let tools = [ToolMeta::of_agent(used)];
        let boss = AgentMeta::new(AgentKind::Llm, "boss").tools(&tools);
        faults(&Spec::new("root", "", &[agent("boss", &boss, 0)]))
            .pop()
            .map(|fault| fault.message)
    };
    let says = |text: &str| Some(format!("wait-in-tool: agent `boss` calls {text}"));
    let step = |used: &str, wait: &str| {
        format!(
            "`{used}` as a tool, and in it {wait}; a call of a tool cannot wait; help: make \
             `{used}` a step"
        )
    };
    let agrees = "tool `pay` of `payer` waits until a person agrees (`confirm`)";
    let hand_over = ", or a sub-agent to which `boss` hands over (`transfer`)";
    assert_eq!(message(&payer), says(&(step("payer", agrees) + hand_over)));
    assert_eq!(message(&clerk), says(&(step("clerk", agrees) + hand_over)));
    assert_eq!(message(&paying), says(&step("paying", agrees)));
    let result = "tool `build` of `builder` waits for its result (`long_running`)";
    assert_eq!(
        message(&builder),
        says(&(step("builder", result) + hand_over))
    );
    let answer = "`await ok` of `asking` waits for an answer from outside";
    assert_eq!(message(&asking), says(&step("asking", answer)));
    // An agent that is a step may wait.
    assert_eq!(
        checks(&[agent("payer", &payer, 0), agent("asking", &asking, 1)]),
        [""; 0]
    );
    // In two nested calls, only the inner call is reported.
    let tools = [ToolMeta::of_agent(&payer)];
    let middle = AgentMeta::new(AgentKind::Llm, "middle").tools(&tools);
    assert_eq!(message(&middle), None);
}

#[test]
fn limits() {
    let parallel = StepKind::Parallel {
        max_concurrency: Some(0),
        first: false,
    };
    let steps = [
        Step::new("p", parallel, 4),
        Step::new("", StepKind::Branch, 3),
        agent("grade", &GRADE, 2),
        Step::new("", StepKind::End, 3),
        Step::new("", StepKind::End, 4),
    ];
    assert_eq!(checks(&steps), ["syntax p"]);
    assert_eq!((limit(-1), limit(7), limit(1 << 40)), (1, 7, u32::MAX));
}

#[test]
fn const_evaluation_reports_the_same() {
    const STEPS: &[Step<'static>] = &[agent("critic", &CRITIC, 0), agent("critic", &OTHER, 1)];
    const SPEC: Spec<'static> = Spec::new("root", "", STEPS);
    const SIZES: Sizes = sizes(&SPEC);
    const FACTS: &Facts<'static, 2, 0, 0> = &facts::<
        2,
        2,
        0,
        0,
        { SIZES.names },
        { SIZES.keys },
        { SIZES.slots },
        { SIZES.words },
        { SIZES.depth },
    >(&SPEC, ("", 0), &[], false);
    const fn raise(at: usize) {
        FACTS.raise(&SPEC, at, 0);
    }
    assert!(std::panic::catch_unwind(|| raise(0)).is_ok());
    let raised = std::panic::catch_unwind(|| raise(1)).unwrap_err();
    let text = raised.downcast_ref::<String>().cloned().unwrap_or_default();
    assert_eq!(text, faults(&SPEC)[0].message);
}

#[test]
fn many_names() {
    let names: Vec<String> = (0..2_000).map(|i| format!("agent_{i}")).collect();
    let metas: Vec<_> = names.iter().map(|name| defined(name, "")).collect();
    let mut steps: Vec<_> = metas
        .iter()
        .enumerate()
        .map(|(at, meta)| agent(meta.name, meta, at))
        .collect();
    assert_eq!(checks(&steps), [""; 0]);
    steps.push(agent("agent_1999", &GRADE, 2_000));
    assert_eq!(checks(&steps), ["name-duplicate agent_1999"]);
}

#[test]
fn a_message_that_is_too_long_is_cut_between_characters() {
    let mut message = Message::new();
    for _ in 0..1_000 {
        message.push("äöü");
    }
    assert_eq!(
        message
            .as_str()
            .strip_suffix("...")
            .map(|text| text.chars().count()),
        Some(2_046)
    );
    let mut message = Message::new();
    message.number(-170_141_183_460_469_231_731_687_303_715_884_105_728);
    assert_eq!(message.as_str(), i128::MIN.to_string());
}
