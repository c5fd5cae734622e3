//! Handovers between agents: permissions, the receiving agent, limits, and written keys.

use super::*;
use crate::support::{Tree, by, repeat, run, say};
use adk_build::llm::OutputKey;
use adk_build::{ErrorKind, Flow, KeySpec, LoopEndReason};

const BILLING: AgentMeta<'static> = meta("billing").description("Knows invoices.");
const TECH: AgentMeta<'static> = meta("tech").description("Knows machines.");
const KEY: &[KeySpec<'static>] = &[KeySpec::new("answer", "String")];

agent!(Triage = LlmDecl::new(meta("triage").transfer(&[&BILLING, &TECH])));
agent!(Billing = LlmDecl::new(BILLING));
agent!(Tech = LlmDecl::new(TECH));
agent!(Lonely = LlmDecl::new(TECH).disallow_transfer(true, true));

fn desk() -> Tree {
    Tree::new("desk", vec![run(llm::<Triage>()), run(say("after"))])
        .target(llm::<Billing>())
        .target(llm::<Tech>())
}

fn to(name: &str) -> Value {
    json!({"agent_name": name})
}

fn places(events: &[Arc<Event>]) -> Vec<String> {
    let mut all: Vec<_> = events.iter().map(|event| event.path.to_string()).collect();
    all.dedup();
    all
}

/// Returns the names that the transfer tool offers in a request.
fn offered(model: &ScriptedModel, agent: &str, call: usize) -> Value {
    let requests = model.requests_of(agent);
    let tool = requests[call]
        .tools
        .iter()
        .find(|tool| tool.name == "transfer_to_agent");
    tool.map_or(Value::Null, |tool| {
        tool.parameters["properties"]["agent_name"]["enum"].clone()
    })
}

#[tokio::test]
async fn the_target_runs_below_its_sender_and_the_workflow_continues() {
    let model = ScriptedModel::new()
        .on("triage")
        .call("transfer_to_agent", to("billing"));
    let model = model.on("billing").text("It is paid.");
    let events = events(&model, &desk()).await;
    assert_eq!(
        places(&events),
        ["desk/triage", "desk/triage/billing", "desk/after"]
    );
    assert_eq!(
        events[1].actions.transfer_to_agent.as_deref(),
        Some("billing")
    );
    assert_eq!(
        events[1]
            .function_responses()
            .next()
            .map(|r| json!(r.response)),
        Some(json!({"result": null}))
    );
    assert_eq!(
        (&*events[2].author, events[2].text().as_str()),
        ("billing", "It is paid.")
    );
    assert_eq!(offered(&model, "triage", 0), json!(["billing", "tech"]));
    assert_eq!(
        offered(&model, "billing", 0),
        json!(["triage", "tech"]),
        "its parent, then its peers"
    );
    let instruction = &model.requests_of("triage")[0].system_instruction;
    assert!(
        instruction.contains("- `billing`: Knows invoices.\n- `tech`: Knows machines."),
        "{instruction}"
    );
    assert!(!instruction.contains("your parent"), "{instruction}");
    let instruction = &model.requests_of("billing")[0].system_instruction;
    assert!(
        instruction.contains("hand over to `triage`, your parent"),
        "{instruction}"
    );
    assert!(
        model.requests_of("billing")[0].info.handed_over
            && !model.requests_of("triage")[0].info.handed_over
    );
}

#[tokio::test]
async fn an_agent_that_is_handed_back_to_gets_a_new_turn_number() {
    let model = ScriptedModel::new()
        .on("triage")
        .call("transfer_to_agent", to("billing"))
        .call("transfer_to_agent", to("tech"))
        .on("billing")
        .call("transfer_to_agent", to("triage"))
        .on("tech")
        .text("Restart it.");
    let events = events(&model, &desk()).await;
    let expected = [
        "desk/triage",
        "desk/triage/billing",
        "desk/triage@2",
        "desk/triage/tech",
        "desk/after",
    ];
    assert_eq!(places(&events), expected);
    let turns: Vec<_> = model
        .requests_of("triage")
        .iter()
        .map(|request| request.info.turn)
        .collect();
    assert_eq!(turns, [0, 1], "its calls are counted on");
    let ids: Vec<_> = events
        .iter()
        .flat_map(|event| event.function_calls())
        .map(|call| &call.id)
        .collect();
    assert!(
        ids.iter()
            .enumerate()
            .all(|(at, id)| !ids[..at].contains(id)),
        "{ids:?}"
    );
}

#[tokio::test]
async fn an_agent_that_may_not_hand_over_has_no_transfer_tool() {
    let tree = Tree::new("desk", vec![run(llm::<Triage>())])
        .target(llm::<Billing>())
        .target(llm::<Lonely>());
    let model = ScriptedModel::new()
        .on("triage")
        .call("transfer_to_agent", to("tech"))
        .on("tech")
        .text("No.");
    events(&model, &tree).await;
    assert!(model.requests_of("tech")[0].tools.is_empty());
    assert!(
        !model.requests_of("tech")[0]
            .system_instruction
            .contains("hand")
    );
}

#[tokio::test]
async fn an_unknown_name_is_reported_to_the_model_with_the_known_ones() {
    let model = ScriptedModel::new()
        .on("triage")
        .call("transfer_to_agent", to("ghost"))
        .call("transfer_to_agent", json!({}))
        .text("Then by myself.");
    let events = events(&model, &desk()).await;
    let errors: Vec<_> = events
        .iter()
        .flat_map(|event| event.function_responses())
        .collect();
    let text = "there is no agent `ghost` to hand over to; the agents to hand over to are: \
        `billing`, `tech`";
    assert_eq!(errors[0].response["error"], text);
    assert!(
        errors[1].response["error"]
            .as_str()
            .unwrap()
            .starts_with("argument `agent_name` is missing")
    );
    assert!(
        events
            .iter()
            .all(|event| event.actions.transfer_to_agent.is_none())
    );
}

#[tokio::test]
async fn as_in_adk_an_unknown_name_fails_the_run_after_its_event() {
    let model = ScriptedModel::new()
        .on("triage")
        .call("transfer_to_agent", to("ghost"));
    let config = RunConfig::new().transfer_errors_end_run(true);
    let runner: Runner = Runner::builder()
        .model(model)
        .config(config)
        .build()
        .unwrap();
    let (events, error) = drive(&runner, &desk()).await;
    assert_eq!(
        events.last().unwrap().actions.transfer_to_agent.as_deref(),
        Some("ghost")
    );
    let error = error.unwrap();
    assert_eq!(error.kind(), ErrorKind::Transfer);
    assert_eq!(
        error.to_string(),
        "agent `triage` (at desk/triage): it cannot hand over to `ghost`, which is not one of its \
         targets; help: name one of its targets: `billing`, `tech`"
    );
}

#[tokio::test]
async fn a_tool_hands_over_by_its_actions() {
    let over = |name: &'static str| {
        tool("over", move |_, cx| {
            cx.actions.transfer_to_agent = Some(name.into());
            Box::pin(async { Ok(json!({"ok": true})) })
        })
    };
    let with = |name| {
        let mut triage = llm::<Triage>();
        triage.add_tool(over(name));
        Tree::new("desk", vec![run(triage)])
            .target(llm::<Billing>())
            .target(llm::<Tech>())
    };
    let model = ScriptedModel::new()
        .on("triage")
        .call("over", json!({}))
        .on("tech")
        .text("Here.");
    assert_eq!(
        places(&events(&model, &with("tech")).await),
        ["desk/triage", "desk/triage/tech"]
    );
    let names: Vec<_> = model.requests_of("triage")[0]
        .tools
        .iter()
        .map(|tool| tool.name.to_string())
        .collect();
    assert_eq!(names, ["transfer_to_agent", "over"], "as in ADK");

    let model = ScriptedModel::new().on("triage").call("over", json!({}));
    let error = failure(&model, &with("nobody")).await;
    assert!(
        error.kind() == ErrorKind::Transfer && error.to_string().contains("`nobody`"),
        "{error}"
    );

    // This agent has no handover target.
    let mut alone = llm::<Billing>();
    alone.add_tool(over("tech"));
    let model = ScriptedModel::new().call("over", json!({}));
    let error = failure(&model, &Tree::new("w", vec![run(alone)])).await;
    assert!(error.to_string().contains("`transfer: [tech]`"), "{error}");
}

const LEAF: AgentMeta<'static> = meta("leaf");
const MID: AgentMeta<'static> = meta("mid").transfer(&[&LEAF]);
agent!(Top = LlmDecl::new(meta("top").transfer(&[&MID])));
agent!(Mid = LlmDecl::new(MID));

#[tokio::test]
async fn a_handover_crosses_two_levels_and_leaves_the_loop() {
    agent!(Exits = LlmDecl::new(LEAF.may_exit(true)).tools(|| vec![Arc::new(super::exit_loop())]));
    let tree = Tree::new(
        "w",
        vec![repeat(
            "lp",
            Some(3),
            vec![run(llm::<Top>()), run(say("b"))],
        )],
    )
    .target(llm::<Mid>())
    .target(llm::<Exits>());
    let model = ScriptedModel::new()
        .on("top")
        .call("transfer_to_agent", to("mid"))
        .on("mid")
        .call("transfer_to_agent", to("leaf"))
        .on("leaf")
        .call("exit_loop", json!({}));
    let outcome = runner(&model).run(&tree, "go").await.unwrap();
    let (last, reason) = (&outcome.loops[0].path, &outcome.loops[0].reason);
    assert_eq!(last.to_string(), "w/lp");
    let LoopEndReason::Escalated { by } = reason else {
        panic!("{reason:?}")
    };
    assert_eq!(by.to_string(), "w/lp#1/top/mid/leaf");
    assert_eq!(
        offered(&model, "mid", 0),
        json!(["leaf", "top"]),
        "its subagents, then its parent"
    );
    assert_eq!(offered(&model, "leaf", 0), json!(["mid"]));
}

#[tokio::test]
async fn the_target_writes_the_key() {
    agent!(
        Asks = LlmDecl::new(meta("triage").transfer(&[&BILLING, &TECH]).writes(KEY))
            .output(OutputKey::text("answer"))
    );
    agent!(Writes = LlmDecl::new(BILLING.writes(KEY)).output(OutputKey::text("answer")));
    let tree = || {
        Tree::new("desk", vec![run(llm::<Asks>())])
            .target(llm::<Writes>())
            .target(llm::<Tech>())
    };
    let model = ScriptedModel::new()
        .on("triage")
        .call("transfer_to_agent", to("billing"));
    let events = events(&model.on("billing").text("Paid."), &tree()).await;
    assert_eq!(delta(events.last().unwrap()), json!({"answer": "Paid."}));

    // A target that declares no key does not write the key of the agent that handed over; a target
    // that declares the key must write it.
    let model = ScriptedModel::new()
        .on("triage")
        .call("transfer_to_agent", to("tech"))
        .on("tech")
        .text("Hm.");
    assert!(drive(&runner(&model), &tree()).await.1.is_none());
    let model = ScriptedModel::new()
        .on("triage")
        .call("transfer_to_agent", to("billing"));
    let error = failure(
        &model.on("billing").reply(adk_build::testing::Reply::new()),
        &tree(),
    )
    .await;
    assert_eq!(
        error.kind(),
        ErrorKind::NoAnswer(adk_build::NoAnswerKind::Empty)
    );
    assert_eq!(error.path().unwrap().to_string(), "desk/triage/billing");
}

#[tokio::test]
async fn model_calls_are_counted_over_all_turns_of_an_agent() {
    // `bounds` counts one call each for targets without tools.
    const ONE: AgentMeta<'static> = BILLING.max_turns(Some(1));
    const DESK: AgentMeta<'static> = meta("triage").transfer(&[&ONE, &TECH]).max_turns(Some(2));
    agent!(Twice = LlmDecl::new(DESK).max_turns(2));
    agent!(Once = LlmDecl::new(ONE));
    let tree = || {
        Tree::new("desk", vec![run(llm::<Twice>())])
            .target(llm::<Once>())
            .target(llm::<Tech>())
    };
    let model = ScriptedModel::new()
        .on("triage")
        .call("transfer_to_agent", to("billing"))
        .call("transfer_to_agent", to("billing"))
        .on("billing")
        .call("transfer_to_agent", to("triage"));
    let error = failure(&model, &tree()).await;
    assert_eq!(
        offered(&model, "triage", 1),
        json!(["tech"]),
        "an agent without remaining calls is not offered"
    );
    assert_eq!(
        error.kind(),
        ErrorKind::TurnsExceeded,
        "the limit is in effect: {error}"
    );

    let model = ScriptedModel::new()
        .on("triage")
        .call("transfer_to_agent", to("tech"))
        .call("transfer_to_agent", to("tech"))
        .on("tech")
        .call("transfer_to_agent", to("triage"))
        .text("By myself.");
    assert!(drive(&runner(&model), &tree()).await.1.is_none());
    assert_eq!(
        offered(&model, "tech", 1),
        json!(["billing"]),
        "the parent has no remaining calls"
    );

    // As in ADK, each turn starts with a new count.
    let model = ScriptedModel::new()
        .on("triage")
        .call("transfer_to_agent", to("billing"))
        .call("transfer_to_agent", to("billing"))
        .text("By myself.")
        .on("billing")
        .call("transfer_to_agent", to("triage"))
        .call("transfer_to_agent", to("triage"));
    let config = RunConfig::new().limit_handovers(false);
    let runner: Runner = Runner::builder()
        .model(model.clone())
        .config(config)
        .build()
        .unwrap();
    let error = drive(&runner, &tree()).await.1;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(offered(&model, "triage", 2), json!(["billing", "tech"]));
}

#[tokio::test]
async fn any_agent_may_be_a_target_and_ends_the_turn() {
    const SHOUT: AgentMeta<'static> = AgentMeta::custom("shout");
    const NESTED: AgentMeta<'static> = AgentMeta::new(AgentKind::Workflow, "nested");
    agent!(Desk = LlmDecl::new(meta("triage").transfer(&[&SHOUT, &NESTED])));
    let tree = || {
        let shout = by("shout", |cx| {
            Box::pin(async move {
                cx.emit(Event::new().with_text("!")).await?;
                Ok(Flow::Continue)
            })
        });
        Tree::with_keys(
            "desk",
            &[],
            &[],
            vec![run(llm::<Desk>()), run(say("after"))],
        )
        .target(shout)
        .target(Tree::with_keys("nested", &[], &[], vec![run(say("inner"))]))
    };
    let model = || {
        ScriptedModel::new()
            .on("triage")
            .call("transfer_to_agent", to("shout"))
    };
    let said = events(&model(), &tree()).await;
    assert_eq!(
        places(&said),
        ["desk/triage", "desk/triage/shout", "desk/after"]
    );
    let model = ScriptedModel::new()
        .on("triage")
        .call("transfer_to_agent", to("nested"));
    let said = events(&model, &tree()).await;
    assert_eq!(
        places(&said),
        ["desk/triage", "desk/triage/nested/inner", "desk/after"]
    );
    assert_eq!(
        said[2].author, "nested::inner",
        "names inside the workflow are qualified"
    );
}

#[tokio::test]
async fn targets_inherit_the_model_of_their_parent() {
    let model = ScriptedModel::new()
        .on("triage")
        .call("transfer_to_agent", to("tech"))
        .on("tech")
        .text("Here.");
    let tree = |own: bool| {
        let mut triage = llm::<Triage>();
        if own {
            triage.set_model(model.clone());
        }
        Tree::new("desk", vec![run(triage)])
            .target(llm::<Billing>())
            .target(llm::<Tech>())
    };
    let without: Runner = Runner::builder().build().unwrap();
    let error = drive(&without, &tree(false)).await.1.unwrap();
    assert_eq!(
        error.message(),
        "no model for `desk/triage`, `desk/triage/billing`, `desk/triage/tech`",
        "{error}"
    );
    assert!(drive(&without, &tree(true)).await.1.is_none());
}

#[tokio::test]
async fn a_streaming_handover_delivers_pieces_of_both_and_stores_complete_answers() {
    let reply = adk_build::testing::Reply::new;
    let call = reply()
        .text("One moment.")
        .call("transfer_to_agent", to("billing"));
    let model = ScriptedModel::new()
        .on("triage")
        .reply(call.pieces(["One ", "moment."]))
        .on("billing")
        .reply(reply().text("It is paid.").pieces(["It is ", "paid."]));
    let (runner, tree) = (streaming(&model), desk());
    let session = runner.session("u", "s");
    let (events, error) = collect(&mut session.run(&tree, "go").stream()).await;
    assert!(error.is_none(), "{error:?}");
    let lines: Vec<_> = events
        .iter()
        .map(|event| {
            format!(
                "{}{}: {}",
                if event.partial { "~" } else { "" },
                event.path,
                event.text()
            )
        })
        .collect();
    assert_eq!(
        lines,
        [
            "~desk/triage: One ",
            "~desk/triage: moment.",
            "desk/triage: One moment.",
            "desk/triage: ",
            "~desk/triage/billing: It is ",
            "~desk/triage/billing: paid.",
            "desk/triage/billing: It is paid.",
            "desk/after: after",
        ]
    );
    assert!(
        events
            .iter()
            .all(|event| !event.partial || event.function_calls().next().is_none())
    );
    let stored = session.open().await.unwrap();
    assert_eq!(stored.len(), 5, "the user's event and each complete answer");
    assert!(stored.events().all(|event| !event.partial));
}
