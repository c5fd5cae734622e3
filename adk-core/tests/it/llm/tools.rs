//! Tools: their results, their state changes, and how they end a loop.

use super::*;
use crate::support::{Tree, repeat, run, say};
use adk_build::AgentTool;
use adk_build::llm::{LlmAgent, OutputKey};
use adk_build::tool::FunctionTool;
use adk_build::{ErrorKind, KeySpec, LoopEndReason};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

agent!(A = LlmDecl::new(meta("a").may_exit(true)));
agent!(
    Out = LlmDecl::new(
        meta("out")
            .may_exit(true)
            .exits(&["outer"])
            .writes(&[KeySpec::new("o", "String")])
    )
    .output(OutputKey::text("o"))
);

fn with(tools: Vec<ByTool>) -> Declared<A> {
    let mut agent = llm::<A>();
    for tool in tools {
        agent.add_tool(tool);
    }
    agent
}

fn tree(tools: Vec<ByTool>) -> Tree {
    Tree::new("w", vec![run(with(tools))])
}

fn responses(event: &Event) -> Vec<Value> {
    event
        .function_responses()
        .map(|response| json!({&*response.name: response.response}))
        .collect()
}

fn sets(name: &'static str, key: &'static str, value: Value) -> ByTool {
    tool(name, move |_, cx| {
        let set = cx.state().set(key, value.clone());
        Box::pin(async move { set.map(|()| Value::Null).map_err(Into::into) })
    })
}

#[tokio::test(start_paused = true)]
async fn calls_of_one_reply_run_concurrently_and_answer_in_order() {
    let sleeps = |name, seconds| {
        tool(name, move |_, _| {
            Box::pin(async move {
                tokio::time::sleep(Duration::from_secs(seconds)).await;
                Ok(json!({"t": name}))
            })
        })
    };
    let model = ScriptedModel::new()
        .calls([
            ("slow", json!({})),
            ("fast", json!({})),
            ("slow", json!({})),
        ])
        .text("ok");
    let since = tokio::time::Instant::now();
    let events = events(&model, &tree(vec![sleeps("slow", 60), sleeps("fast", 1)])).await;
    assert_eq!(since.elapsed().as_secs(), 60, "beside each other");
    assert_eq!(events.len(), 3);
    assert_eq!(
        responses(&events[1]),
        [
            json!({"slow": {"t": "slow"}}),
            json!({"fast": {"t": "fast"}}),
            json!({"slow": {"t": "slow"}})
        ]
    );
    let ids: Vec<_> = events[0]
        .function_calls()
        .map(|call| call.id.clone())
        .collect();
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2]);
}

#[tokio::test]
async fn results_that_are_not_objects_are_wrapped_in_result() {
    let tools = vec![
        gives("none", Value::Null),
        gives("list", json!([1])),
        gives("object", json!({"x": 1})),
    ];
    let calls = ["none", "list", "object"].map(|name| (name, json!({})));
    let model = ScriptedModel::new().calls(calls).text("ok");
    let events = events(&model, &tree(tools)).await;
    assert_eq!(
        responses(&events[1]),
        [
            json!({"none": {"result": null}}),
            json!({"list": {"result": [1]}}),
            json!({"object": {"x": 1}})
        ]
    );
}

#[tokio::test]
async fn tool_errors_are_returned_to_the_model() {
    let tools = vec![
        tool("fails", |_, cx| {
            cx.actions.escalate = true;
            let set = cx.state().set("k", 1);
            Box::pin(async move {
                set.map_err(Into::into)
                    .and(Err(ToolError::failed("no such city")))
            })
        }),
        tool("panics", |_, _| Box::pin(async { panic!("boom") })),
        tool("argument", |_, _| {
            Box::pin(async { Err(ToolError::argument("`city` is missing")) })
        }),
    ];
    let calls = ["fails", "panics", "argument", "nope"].map(|name| (name, json!({})));
    let model = ScriptedModel::new().calls(calls).text("sorry");
    let events = events(&model, &tree(tools)).await;
    assert_eq!(
        events.len(),
        3,
        "the model is called again, and no event escalates"
    );
    let mut responses = responses(&events[1]);
    // The text of a panic is only in the log.
    let panicked = responses[1]["panics"]["error"].take();
    let panicked = panicked.as_str().unwrap_or_default();
    assert!(
        panicked.starts_with("the tool panicked (reference "),
        "{panicked}"
    );
    assert_eq!(
        responses,
        [
            json!({"fails": {"error": "no such city"}}),
            json!({"panics": {"error": null}}),
            json!({"argument": {"error": "`city` is missing"}}),
            json!({"nope": {"error": "Invoking `nope()` failed as no tool with that name is \
                available. The tools you can call are: fails, panics, argument. You could retry, \
                but it is IMPORTANT that you only call a tool from that list."}}),
        ]
    );
    assert_eq!(
        delta(&events[1]),
        json!({}),
        "a call that failed has written nothing"
    );
}

#[tokio::test]
async fn state_of_parallel_calls_is_merged_in_call_order() {
    let tools = vec![
        sets("f", "d", json!({"x": 1, "n": {"a": 1}})),
        sets("g", "d", json!({"y": 2, "n": {"b": 2}})),
        sets("h", "k", json!("h")),
        sets("i", "k", json!("i")),
        sets("t", "temp:t", json!("T")),
    ];
    let calls = ["f", "g", "i", "h", "t"].map(|name| (name, json!({})));
    let model = ScriptedModel::new()
        .calls(calls)
        .text("ok")
        .on("reader")
        .text("ok");
    agent!(Reader = decl("reader").instruction("{temp:t}"));
    let tree = Tree::new("w", vec![run(with(tools)), run(llm::<Reader>())]);
    let events = events(&model, &tree).await;
    assert_eq!(
        delta(&events[1]),
        json!({"d": {"x": 1, "n": {"a": 1, "b": 2}, "y": 2}, "k": "h"})
    );
    assert!(
        model.requests_of("reader")[0]
            .system_instruction
            .starts_with("T\n\n")
    );
}

#[tokio::test]
async fn a_call_sees_committed_state_and_its_own_writes_but_not_siblings() {
    let append = |name: &'static str| {
        tool(name, move |_, cx| {
            let mut list: Vec<String> = cx.state().get("l").unwrap().unwrap_or_default();
            let seen = list.len();
            list.push(name.to_owned());
            let set = cx.state().set("l", list);
            Box::pin(async move { set.map(|()| json!(seen)).map_err(Into::into) })
        })
    };
    let both = || [("f", json!({})), ("g", json!({}))];
    let model = ScriptedModel::new().calls(both()).calls(both()).text("ok");
    let events = events(&model, &tree(vec![append("f"), append("g")])).await;
    assert_eq!(
        responses(&events[1]),
        [json!({"f": {"result": 0}}), json!({"g": {"result": 0}})]
    );
    assert_eq!(
        delta(&events[1]),
        json!({"l": ["f", "g"]}),
        "no added element is lost"
    );
    assert_eq!(
        responses(&events[3]),
        [json!({"f": {"result": 2}}), json!({"g": {"result": 2}})]
    );
    assert_eq!(delta(&events[3]), json!({"l": ["f", "g", "f", "g"]}));
}

#[tokio::test]
async fn exit_loop_ends_the_loop_without_a_summary_and_keeps_the_old_value() {
    let mut agent = llm::<Out>();
    agent.add_tool(exit_loop());
    let tree = Tree::new(
        "w",
        vec![repeat("l", Some(5), vec![run(agent), run(say("b"))])],
    );
    let model = ScriptedModel::new().text("v1").reply(
        adk_build::testing::Reply::new()
            .text("bye")
            .call("exit_loop", json!({})),
    );
    let outcome = runner(&model).run(&tree, "go").await.unwrap();
    assert_eq!(outcome.get::<String>("o").unwrap().as_deref(), Some("v1"));
    assert_eq!((outcome.loops[0].rounds, model.requests().len()), (2, 2));
    let LoopEndReason::Escalated { by } = &outcome.loops[0].reason else {
        panic!("{:?}", outcome.loops[0].reason);
    };
    assert_eq!(by.to_string(), "w/l#2/out");
    let last = outcome.session().events().next_back().unwrap();
    assert_eq!(
        (last.actions.escalate, last.actions.skip_summarization),
        (Some(true), Some(true))
    );
    assert_eq!(responses(last), [json!({"exit_loop": {"result": null}})]);
    assert!(last.is_final_response());
}

#[tokio::test]
async fn escalating_without_skipping_the_summary_costs_one_more_call() {
    let stop = tool("stop", |_, cx| {
        cx.actions.escalate = true;
        Box::pin(async { Ok(Value::Null) })
    });
    let tree = Tree::new(
        "w",
        vec![repeat(
            "l",
            Some(3),
            vec![run(with(vec![stop])), run(say("b"))],
        )],
    );
    let model = ScriptedModel::new().call("stop", json!({})).text("bye");
    let events = events(&model, &tree).await;
    assert_eq!(events.len(), 3);
    assert_eq!(
        (
            events[1].actions.escalate,
            events[1].actions.skip_summarization
        ),
        (Some(true), None)
    );
    assert_eq!(events[2].text(), "bye");
}

#[tokio::test]
async fn a_tool_may_end_an_outer_loop_by_name() {
    let stop = tool("stop", |_, cx| {
        cx.actions.exit_to = Some("outer".into());
        cx.actions.skip_summarization = true;
        Box::pin(async { Ok(Value::Null) })
    });
    let mut agent = llm::<Out>();
    agent.add_tool(stop);
    let inner = repeat("inner", Some(3), vec![run(agent)]);
    let tree = Tree::new(
        "w",
        vec![repeat("outer", Some(3), vec![inner]), run(say("after"))],
    );
    let model = ScriptedModel::new().call("stop", json!({}));
    let events = events(&model, &tree).await;
    assert_eq!(events.last().unwrap().author, "after");
    assert_eq!(events.len(), 3);
}

#[tokio::test]
async fn a_skipped_summary_without_an_exit_leaves_the_key_unwritten() {
    let quiet = || {
        tool("f", |_, cx| {
            cx.actions.skip_summarization = true;
            Box::pin(async { Ok(json!({"v": 1})) })
        })
    };
    let model = || ScriptedModel::new().call("f", json!({}));
    let mut agent = llm::<Out>();
    agent.add_tool(quiet());
    let error = failure(&model(), &Tree::new("w", vec![run(agent)])).await;
    assert_eq!(error.kind(), ErrorKind::KeyNotWritten);
    assert_eq!(
        error.to_string(),
        "agent `out` (at w/out): it ended without having written its key `o`: its tool `f` set \
         `skip_summarization`, which ends the turn before the model answers; help: do not set it \
         for this agent, let the tool write the key, or take the key off the agent"
    );
    // The error names the tool that skipped the summary, not its neighbour.
    let mut agent = llm::<Out>();
    agent
        .add_tool(tool("g", |_, _| Box::pin(async { Ok(Value::Null) })))
        .add_tool(quiet());
    let model_of_two = ScriptedModel::new().calls([("g", json!({})), ("f", json!({}))]);
    let error = failure(&model_of_two, &Tree::new("w", vec![run(agent)])).await;
    assert!(
        error
            .to_string()
            .contains("its tool `f` set `skip_summarization`"),
        "{error}"
    );
    // A tool that writes the key replaces an answer.
    let mut agent = llm::<Out>();
    agent.add_tool(quiet()).add_tool(sets("g", "o", json!("G")));
    let model = ScriptedModel::new().calls([("f", json!({})), ("g", json!({}))]);
    events(&model, &Tree::new("w", vec![run(agent)])).await;
}

#[tokio::test]
async fn an_agent_makes_at_most_max_turns_calls_in_a_turn() {
    let calls = Arc::new(AtomicU32::new(0));
    let counter = calls.clone();
    let mut agent = with(vec![tool("f", move |_, _| {
        counter.fetch_add(1, SeqCst);
        Box::pin(async { Ok(Value::Null) })
    })]);
    agent.set_max_turns(2);
    let model = ScriptedModel::new().call("f", json!({})).repeat_last();
    let error = failure(&model, &Tree::new("w", vec![run(agent)])).await;
    assert_eq!(error.kind(), ErrorKind::TurnsExceeded);
    assert!(
        error
            .to_string()
            .contains("2 model calls in one turn, its `max_turns`"),
        "{error}"
    );
    assert_eq!((model.requests().len(), calls.load(SeqCst)), (2, 2));
}

agent!(Bounded = LlmDecl::new(meta("bounded")).max_turns(3));

#[tokio::test]
async fn wrong_settings_fail_before_the_first_call() {
    let model = ScriptedModel::new().text("never");
    let refused = |agent: Declared<A>| Tree::new("w", vec![run(agent)]);
    let error = failure(
        &model,
        &refused(with(vec![gives("f", json!(1)), gives("f", json!(2))])),
    )
    .await;
    assert!(
        error
            .to_string()
            .contains("tool-duplicate: two tools are called `f`"),
        "{error}"
    );
    let error = failure(
        &model,
        &refused(with(vec![gives("set_model_response", json!(1))])),
    )
    .await;
    assert!(error.to_string().contains("tool-reserved"), "{error}");
    let payer = LlmAgent::builder("payer")
        .tool(FunctionTool::new("pay", "Pays.", |(), _| ()).confirm(true));
    let mut agent = with(vec![]);
    agent.add_tool(AgentTool::new(payer.build().unwrap()));
    let error = failure(&model, &refused(agent)).await;
    assert!(
        error
            .to_string()
            .contains("wait-in-tool: agent `a` calls `payer` as a tool"),
        "{error}"
    );
    let mut agent = with(vec![]);
    agent.set_max_turns(0);
    assert_eq!(
        failure(&model, &refused(agent)).await.kind(),
        ErrorKind::Config
    );
    let mut agent = llm::<Bounded>();
    agent.set_max_turns(4);
    let error = failure(&model, &Tree::new("w", vec![run(agent)])).await;
    assert_eq!(error.kind(), ErrorKind::Unchecked);
    assert!(
        error.to_string().contains("declared with `max_turns: 3`"),
        "{error}"
    );
    assert!(model.requests().is_empty());
}

agent!(Closed = LlmDecl::new(AgentMeta::new(AgentKind::Llm, "closed")));
agent!(Counted = LlmDecl::new(meta("counted").max_turns(Some(3))));
agent!(Open = LlmDecl::new(meta("open")));

#[tokio::test]
async fn a_tool_that_voids_a_check_is_refused_before_the_first_call() {
    const KEYS: &[KeySpec<'static>] = &[KeySpec::new("k", "u8")];
    const READS: ToolMeta<'static> = ToolMeta::new("keep", "").reads(KEYS);
    const WRITES: ToolMeta<'static> = ToolMeta::new("keep", "").writes(KEYS);
    let model = ScriptedModel::new().text("never");
    let refused = async |agent: support::Node| {
        let error = failure(&model, &Tree::new("w", vec![agent])).await;
        assert_eq!(error.kind(), ErrorKind::Unchecked, "{error}");
        assert!(model.requests().is_empty(), "{error}");
        error.to_string()
    };
    let mut agent = llm::<Closed>();
    agent.add_tool(gives("search", json!(1)));
    assert_eq!(
        refused(run(agent)).await,
        "agent `closed` (at w/closed): `add_tool` gave tool `search` to agent `closed`, but its \
         declaration does not allow more tools; help: list it in `tools`, or write `tools: [..]` \
         there"
    );
    let mut agent = llm::<Open>();
    agent.add_tool(adk_build::tools::exit_loop::default());
    let error = refused(repeat("l", Some(2), vec![run(agent)])).await;
    assert!(
        error.contains("but the tool may end a loop, and no declared one does; help: list it"),
        "{error}"
    );
    for (meta, does) in [(READS, "reads"), (WRITES, "writes")] {
        let mut agent = llm::<Open>();
        agent.add_tool(ByTool {
            meta,
            ..gives("keep", json!(1))
        });
        let error = refused(run(agent)).await;
        assert!(
            error.contains(&format!(
                "the tool {does} the key `k`, which no check has seen"
            )),
            "{error}"
        );
    }
    let helper = || AgentTool::new(LlmAgent::builder("helper").build().unwrap());
    let mut agent = llm::<Counted>();
    agent.add_tool(helper());
    assert!(
        refused(run(agent))
            .await
            .contains("those calls are limited by `max_turns`")
    );
    // The agent is used as a tool.
    let mut inner = llm::<Open>();
    inner.add_tool(FunctionTool::new("pay", "Pays.", |(), _| ()).confirm(true));
    let mut outer = llm::<Open>();
    outer.add_tool(AgentTool::new(Tree::new("paying", vec![run(inner)])));
    assert!(
        refused(run(outer))
            .await
            .contains("the agent is used as a tool, which cannot wait")
    );
    // A workflow without static bounds accepts an agent as an added tool.
    let mut agent = llm::<Open>();
    agent.add_tool(helper());
    events(&model, &Tree::new("w", vec![run(agent)])).await;
}

#[tokio::test]
async fn a_tool_knows_its_call_and_place() {
    let whoami = tool("whoami", |args, cx| {
        let place = json!({
            "agent": cx.agent_name(),
            "path": cx.path().to_string(),
            "round": cx.iteration(),
            "id": cx.call_id(),
            "args": args,
        });
        Box::pin(async move { Ok(place) })
    });
    let model = ScriptedModel::new()
        .reply(adk_build::testing::Reply::new().call_with_id("m1", "whoami", json!({"a": 1})))
        .text("ok");
    let tree = Tree::new(
        "w",
        vec![repeat("l", Some(1), vec![run(with(vec![whoami]))])],
    );
    let events = events(&model, &tree).await;
    assert_eq!(
        responses(&events[1]),
        [json!({
            "whoami": {
                "agent": "a",
                "path": "w/l#1/a",
                "round": 0,
                "id": "m1",
                "args": {"a": 1},
            },
        })]
    );
}

/// Makes a tool that fails, hangs, then works.
fn slow_at_first(calls: &Arc<AtomicU32>) -> ByTool {
    let calls = calls.clone();
    let mut flaky = tool("flaky", move |_, cx| {
        let attempt = calls.fetch_add(1, SeqCst);
        cx.actions.escalate = attempt < 2;
        let set = cx
            .state()
            .set(["first", "second", "third"][attempt as usize], attempt);
        Box::pin(async move {
            set?;
            match attempt {
                0 => Err(ToolError::failed("busy")),
                1 => std::future::pending().await,
                _ => Ok(json!("found")),
            }
        })
    });
    flaky.meta = flaky.meta.timeout(Duration::from_secs(20)).retry(2);
    flaky
}

#[tokio::test(start_paused = true)]
async fn a_retried_call_is_one_record_of_the_journal() {
    let calls = Arc::new(AtomicU32::new(0));
    let model = ScriptedModel::new().call("flaky", json!({})).text("ok");
    let runner: Runner = Runner::builder()
        .model(model.clone())
        .config(config())
        .engine(adk_build::engine::MemoryJournal::new())
        .build()
        .unwrap();
    let tree = tree(vec![slow_at_first(&calls)]);
    let since = tokio::time::Instant::now();
    let mut stream = runner.run(&tree, "go").stream();
    let (mut run, mut events) = (None, Vec::new());
    while events.len() < 2 {
        let event = stream.next().await.unwrap().unwrap();
        run = Some(event.invocation_id);
        if event.author != "user" {
            events.push(event);
        }
    }
    let waited = since.elapsed().as_secs();
    assert!(
        (23..26).contains(&waited),
        "two waits beside the timeout: {waited} s"
    );
    assert_eq!(
        responses(&events[1]),
        [json!({"flaky": {"result": "found"}})]
    );
    assert_eq!(
        delta(&events[1]),
        json!({"third": 2}),
        "attempts that failed have written nothing"
    );
    // The stream is dropped before the model answers: the resumed run repeats only unrecorded work.
    drop(stream);
    let outcome = runner.resume(&tree, run.unwrap()).await.unwrap();
    assert_eq!((calls.load(SeqCst), model.requests().len()), (3, 2));
    assert_eq!(outcome.get::<u32>("third").unwrap(), Some(2));
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_never_returns_is_an_error_for_the_model_or_for_the_run() {
    let hangs = |times| {
        let mut hangs = tool("hangs", |_, _| Box::pin(std::future::pending()));
        hangs.meta = hangs.meta.timeout(Duration::from_secs(20)).retry(times);
        tree(vec![hangs])
    };
    let model = ScriptedModel::new().call("hangs", json!({})).text("sorry");
    let events = events(&model, &hangs(1)).await;
    let error = "`hangs` gave no result in 20s, its `timeout` (after 2 attempts)";
    assert_eq!(responses(&events[1]), [json!({"hangs": {"error": error}})]);
    let strict = RunConfig::new().tool_errors_end_run(true);
    let model = ScriptedModel::new().call("hangs", json!({}));
    let strict: Runner = Runner::builder()
        .model(model)
        .config(strict)
        .build()
        .unwrap();
    let error = drive(&strict, &hangs(0)).await.1.unwrap();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert_eq!(
        error.to_string(),
        "agent `a` (at w/a): tool `hangs` gave no result in 20s, its `timeout`; help: give it a \
         longer `timeout` or a `retry`, or look for what it waits for"
    );
}

#[tokio::test(start_paused = true)]
async fn permanent_tool_errors_are_not_retried() {
    let calls = Arc::new(AtomicU32::new(0));
    let fails = |name, error: fn() -> ToolError| {
        let calls = calls.clone();
        let mut fails = tool(name, move |_, _| {
            calls.fetch_add(1, SeqCst);
            Box::pin(async move { Err(error()) })
        });
        fails.meta = fails.meta.retry(5);
        fails
    };
    let tools = vec![
        fails("argument", || ToolError::argument("`city` is missing")),
        fails("panics", || panic!("boom")),
    ];
    let model = ScriptedModel::new()
        .calls(["argument", "panics"].map(|name| (name, json!({}))))
        .text("ok");
    events(&model, &tree(tools)).await;
    assert_eq!(calls.load(SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn the_timeout_of_a_tool_excludes_the_time_of_the_consumer() {
    let mut steps = tool("steps", |_, _| {
        Box::pin(async {
            for _ in 0..3 {
                tokio::time::sleep(Duration::from_secs(5)).await;
            }
            Ok(json!("done"))
        })
    });
    steps.meta = steps.meta.timeout(Duration::from_secs(16));
    agent!(Talks = decl("talks"));
    let model = ScriptedModel::new()
        .on("a")
        .call("steps", json!({}))
        .text("ok")
        .on("talks")
        .text("hm");
    let inside = vec![run(with(vec![steps])), run(llm::<Talks>())];
    let tree = Tree::new("w", vec![crate::support::parallel("p", inside)]);
    let runner = runner(&model);
    let mut stream = runner.run(&tree, "go").stream();
    let mut responded = Vec::new();
    while let Some(event) = stream.next().await {
        responded.extend(responses(&event.unwrap()));
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
    assert_eq!(responded, [json!({"steps": {"result": "done"}})]);
}
