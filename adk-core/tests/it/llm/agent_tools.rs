//! Agents as tools: what they see, what they return, and what stays inside.

use super::*;
use crate::support::{Tree, repeat, run, say};
use adk_build::llm::LlmAgent;
use adk_build::testing::Reply;
use adk_build::{AgentTool, Content, ErrorKind, Flow, Part, SequentialAgent};

fn helper() -> adk_build::build::LlmAgentBuilder {
    LlmAgent::builder("helper").description("Helps.")
}

fn asks(request: &str) -> ScriptedModel {
    ScriptedModel::new()
        .on("a")
        .call("helper", json!({"request": request}))
        .text("ok")
        .on("helper")
}

fn caller(tool: AgentTool) -> LlmAgent {
    LlmAgent::builder("a").tool(tool).build().unwrap()
}

fn result(events: &[Arc<Event>]) -> Value {
    events
        .iter()
        .flat_map(|event| event.function_responses())
        .map(|r| json!(r.response))
        .next()
        .unwrap()
}

#[tokio::test]
async fn the_agent_sees_the_request_and_returns_its_last_text() {
    let agent = caller(AgentTool::new(helper().build().unwrap()));
    let model = asks("do it").text("helped");
    let mut stream = runner(&model).run(&agent, "go").stream();
    let (events, error) = collect(&mut stream).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(result(&events), json!({"result": "helped"}));
    assert!(
        events.iter().all(|event| event.author == "a"),
        "its own events are not delivered"
    );
    let request = &model.requests_of("helper")[0];
    assert_eq!(request.contents, vec![Content::user("do it")].into());
    assert_eq!(request.info.path.to_string(), "a/helper");
    let tool = &model.requests_of("a")[0].tools[0];
    assert_eq!((&*tool.name, &*tool.description), ("helper", "Helps."));
    assert_eq!(tool.parameters["required"], json!(["request"]));
    assert_eq!(model.requests_of("a")[1].contents.len(), 3);
}

#[tokio::test]
async fn the_agent_sees_the_state_and_its_writes_belong_to_the_call() {
    let agent = caller(AgentTool::new(
        helper()
            .instruction("About {topic}.")
            .output_key("h")
            .build()
            .unwrap(),
    ));
    let model = asks("x").text("helped");
    let outcome = runner(&model)
        .run(&agent, "go")
        .state("topic", "cats")
        .await
        .unwrap();
    assert_eq!(
        outcome.get::<String>("h").unwrap().as_deref(),
        Some("helped")
    );
    assert!(
        model.requests_of("helper")[0]
            .system_instruction
            .starts_with("About cats.")
    );
    let mut stream = runner(&asks("x").text("helped"))
        .run(&agent, "go")
        .state("topic", "cats")
        .stream();
    let (events, _) = collect(&mut stream).await;
    assert_eq!(
        delta(&events[1]),
        json!({"h": "helped"}),
        "written by the event of the response"
    );
}

#[tokio::test]
async fn an_exit_in_the_agent_ends_no_loop_of_the_caller() {
    let inner = helper()
        .tool(adk_build::tools::exit_loop::default())
        .build()
        .unwrap();
    let tree = Tree::new(
        "w",
        vec![repeat(
            "lp",
            Some(2),
            vec![run(caller(AgentTool::new(inner)))],
        )],
    );
    let model = ScriptedModel::new()
        .on("a")
        .call("helper", json!({"request": "x"}))
        .text("ok")
        .call("helper", json!({"request": "x"}))
        .text("ok")
        .on("helper")
        .call("exit_loop", json!({}))
        .repeat_last();
    let (events, error) = drive(&runner(&model), &tree).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(events.len(), 6);
    assert_eq!(result(&events), json!({"result": ""}));
    assert!(events.iter().all(|event| !event.actions.escalates()));
}

#[tokio::test]
async fn the_agent_uses_the_files_of_the_session() {
    let saves = tool("save", |_, cx| {
        Box::pin(async move {
            let before = cx
                .artifacts()
                .load("in.txt")
                .await?
                .and_then(|part| part.as_text().map(str::to_owned));
            cx.artifacts()
                .save("out.txt", Part::text(format!("{before:?}")))
                .await?;
            Ok(Value::Null)
        })
    });
    let agent = caller(AgentTool::new(helper().tool(saves).build().unwrap()));
    let model = asks("x").call("save", json!({})).text("saved");
    let first = support::by("first", |cx| {
        Box::pin(async move {
            cx.artifacts().save("in.txt", Part::text("hello")).await?;
            Ok(Flow::Continue)
        })
    });
    let tree = Tree::new("w", vec![run(first), run(agent)]);
    let session = runner(&model).session("u", "s");
    let mut stream = session.run(&tree, "go").stream();
    let (events, error) = collect(&mut stream).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(events[2].actions.artifact_delta, [("out.txt".into(), 0)]);
    let out = session.load_artifact("out.txt").await.unwrap().unwrap();
    assert_eq!(out.as_text(), Some("Some(\"hello\")"));
}

#[tokio::test]
async fn any_agent_may_be_a_tool_and_a_tree_has_its_own_steps() {
    let tree = SequentialAgent::builder("helper")
        .description("Helps.")
        .sub_agent(LlmAgent::builder("one").output_key("x"))
        .sub_agent(LlmAgent::builder("two").instruction("After {x}."))
        .build()
        .unwrap();
    let model = asks("x").on("one").text("1").on("two").text("2");
    let agent = caller(AgentTool::new(tree));
    let mut stream = runner(&model).run(&agent, "go").stream();
    let (events, error) = collect(&mut stream).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(
        result(&events),
        json!({"result": "1"}),
        "its output key takes precedence over its last text"
    );

    let agent = caller(AgentTool::new(Tree::with_keys(
        "helper",
        &[],
        &[],
        vec![run(say("inner"))],
    )));
    let mut stream = runner(&asks("x")).run(&agent, "go").stream();
    assert_eq!(
        result(&collect(&mut stream).await.0),
        json!({"result": "inner"})
    );
}

#[tokio::test]
async fn calls_of_the_agent_count_for_the_whole_run() {
    let agent = caller(AgentTool::new(helper().build().unwrap()));
    let outcome = runner(&asks("x").text("y"))
        .run(&agent, "go")
        .await
        .unwrap();
    assert_eq!(outcome.usage.calls, 3);
    let config = RunConfig::new().max_llm_calls(2);
    let runner: Runner = Runner::builder()
        .model(asks("x").text("y"))
        .config(config)
        .build()
        .unwrap();
    assert_eq!(
        runner.run(&agent, "go").await.unwrap_err().kind(),
        ErrorKind::LlmCallsExceeded
    );
}

#[tokio::test]
async fn failures_and_waits_are_reported_to_the_model() {
    let mut fails = support::by("helper", |_| {
        Box::pin(async { Err(Error::other("no ink")) })
    });
    fails.meta = fails.meta.description("Fails.");
    let agent = caller(AgentTool::new(fails));
    let mut stream = runner(&asks("x")).run(&agent, "go").stream();
    let text = result(&collect(&mut stream).await.0)["error"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(text.contains("no ink"), "{text}");
}

#[tokio::test]
async fn without_a_model_the_run_does_not_begin() {
    let runner: Runner = Runner::builder().build().unwrap();
    let inner = helper().build().unwrap();
    let agent = LlmAgent::builder("a")
        .model(ScriptedModel::new().text("hi"))
        .tool(AgentTool::new(inner))
        .build()
        .unwrap();
    let error = runner.run(&agent, "go").await.unwrap_err();
    assert!(
        error.message().contains("no model for `a/helper`"),
        "{error}"
    );
}

#[tokio::test]
async fn the_request_is_the_only_input_of_a_workflow() {
    let echo = support::by("echo", |cx| {
        Box::pin(async move {
            let topic: Option<String> = cx.state().get("topic")?;
            cx.emit(Event::new().with_text(format!("about {topic:?}")))
                .await?;
            Ok(Flow::Continue)
        })
    });
    let agent = caller(AgentTool::new(Tree::new("helper", vec![run(echo)])));
    let model = asks("cats");
    let mut stream = runner(&model).run(&agent, "go").stream();
    let (events, error) = collect(&mut stream).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(result(&events), json!({"result": "about Some(\"cats\")"}));
}

/// Builds a workflow that writes `note` and succeeds, or writes it and fails.
fn notes(fails: bool) -> Tree {
    let writes = support::by("writes", move |cx| {
        Box::pin(async move {
            cx.emit(
                Event::new()
                    .with_state("note", "new")
                    .with_state("temp:seen", true),
            )
            .await?;
            if fails {
                Err(adk_build::Error::other("no luck"))
            } else {
                Ok(Flow::Continue)
            }
        })
    });
    const NOTE: &[adk_build::KeySpec<'static>] =
        &[adk_build::KeySpec::new("note", "String").optional(true)];
    Tree::with_keys("notes", &[], NOTE, vec![run(writes)])
}

#[tokio::test]
async fn later_agents_see_the_temp_keys_of_the_agent() {
    let model = ScriptedModel::new()
        .on("a")
        .call("notes", json!({"request": "x"}))
        .text("ok");
    let looks = support::by("looks", |cx| {
        Box::pin(async move {
            assert_eq!(cx.state().get::<bool>("temp:seen")?, Some(true));
            Ok(Flow::Continue)
        })
    });
    let tree = Tree::new(
        "w",
        vec![run(caller(AgentTool::new(notes(false)))), run(looks)],
    );
    events(&model, &tree).await;
}

#[tokio::test]
async fn of_two_calls_the_later_write_of_a_temp_key_counts_even_if_its_value_is_not_new() {
    let writes = |name: &'static str, value: &'static str| {
        let agent = support::by("writes", move |cx| {
            Box::pin(async move {
                cx.emit(Event::new().with_state("temp:seen", value)).await?;
                Ok(Flow::Continue)
            })
        });
        AgentTool::new(Tree::new(name, vec![run(agent)]))
    };
    let looks = support::by("looks", |cx| {
        Box::pin(async move {
            assert_eq!(
                cx.state().get::<String>("temp:seen")?.as_deref(),
                Some("old")
            );
            Ok(Flow::Continue)
        })
    });
    let request = || json!({"request": "x"});
    let both = Reply::new()
        .call("changes", request())
        .call("keeps", request());
    let model = ScriptedModel::new()
        .on("a")
        .call("keeps", request())
        .reply(both)
        .text("ok");
    let agent = LlmAgent::builder("a")
        .tool(writes("keeps", "old"))
        .tool(writes("changes", "new"));
    let tree = Tree::new("w", vec![run(agent.build().unwrap()), run(looks)]);
    assert!(
        events(&model, &tree)
            .await
            .iter()
            .any(|event| event.text() == "ok")
    );
}

#[tokio::test]
async fn in_an_element_a_failed_call_does_not_restore_values_of_earlier_rounds() {
    let agent = || caller(AgentTool::new(notes(false)));
    let fails = LlmAgent::builder("b")
        .tool(AgentTool::new(notes(true)))
        .build()
        .unwrap();
    let each = support::each("e", "item", "items", vec![run(agent())]);
    let again = support::each("e", "item", "items", vec![run(fails)]);
    let body = vec![
        support::sequence("one", vec![each]),
        support::sequence("two", vec![again]),
    ];
    let tree = Tree::new("w", body).lets("items", json!(["x"]));
    let call = json!({"request": "x"});
    let model = ScriptedModel::new()
        .on("a")
        .call("notes", call.clone())
        .text("ok");
    let model = model.on("b").call("notes", call).text("ok");
    let events = events(&model, &tree).await;
    let lists: Vec<_> = events
        .iter()
        .map(|event| delta(event)["note"].clone())
        .filter(Value::is_array)
        .collect();
    assert_eq!(lists, [json!(["new"]), json!([])]);
}

#[tokio::test]
async fn in_an_element_the_request_is_an_input_that_is_also_an_output() {
    const TEXT: &[adk_build::spec::InputSpec<'static>] =
        &[adk_build::spec::InputSpec::new("text", "String", false)];
    const KEY: &[adk_build::KeySpec<'static>] = &[adk_build::KeySpec::new("text", "String")];
    let doubles = support::by("doubles", |cx| {
        Box::pin(async move {
            let text = cx.state().get::<String>("text")?.unwrap_or_default();
            cx.emit(Event::new().with_state("text", format!("{text}{text}")))
                .await?;
            Ok(Flow::Continue)
        })
    });
    let twice = Tree::with_keys("twice", TEXT, KEY, vec![run(doubles)]);
    let model = ScriptedModel::new()
        .on("a")
        .call("twice", json!({"request": "x"}))
        .text("ok");
    let each = support::each(
        "e",
        "item",
        "items",
        vec![run(caller(AgentTool::new(twice)))],
    );
    let tree = Tree::new("w", vec![each]).lets("items", json!(["x"]));
    let events = events(&model, &tree).await;
    assert_eq!(result(&events), json!({"result": "xx"}));
}

#[tokio::test]
async fn the_request_may_be_a_key_of_the_run() {
    const TEXT: &[adk_build::spec::InputSpec<'static>] = &[adk_build::spec::InputSpec::new(
        "temp:text",
        "String",
        false,
    )];
    let echo = support::by("echo", |cx| {
        Box::pin(async move {
            let text = cx.state().get::<String>("temp:text")?;
            cx.emit(Event::new().with_text(format!("{text:?}"))).await?;
            Ok(Flow::Continue)
        })
    });
    let echoes = Tree::with_keys("echoes", TEXT, &[], vec![run(echo)]);
    let model = ScriptedModel::new()
        .on("a")
        .call("echoes", json!({"request": "x"}))
        .text("ok");
    let events = events(
        &model,
        &Tree::new("w", vec![run(caller(AgentTool::new(echoes)))]),
    )
    .await;
    assert_eq!(result(&events), json!({"result": "Some(\"x\")"}));
}
