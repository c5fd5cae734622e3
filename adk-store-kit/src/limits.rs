//! Promises about limits: values that are nested too deep, at each entry point, and ids that no
//! store can keep. They are refused there, and the session stays usable in a store that is opened
//! later.

use crate::place::DynPlace;
use crate::sessions::{deep_events, impossible_keys, is_too_deep, nested, nested_object};
use crate::trees::{By, Tree, by, run, say};
use adk_build::llm::LlmAgent;
use adk_build::session::EventFilter;
use adk_build::testing::{Reply, ScriptedModel};
use adk_build::tool::FunctionTool;
use adk_build::{Await, Content, Error, ErrorKind, Event, Flow, MAX_DEPTH, Part, Role, Runner};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

fn no_model() -> ScriptedModel {
    ScriptedModel::new()
}

/// Runs a tree in a session.
async fn go(place: &dyn DynPlace, id: &str, tree: &Tree) -> Result<(), Error> {
    place
        .runner(no_model())
        .await
        .session("u", id)
        .run(tree, "go")
        .await
        .map(drop)
}

/// Checks that a session can be read from its beginning and used. Returns its events.
async fn still_works(place: &dyn DynPlace, id: &str) -> Vec<Arc<Event>> {
    go(place, id, &Tree::new("after", vec![run(say("after"))]))
        .await
        .unwrap();
    let found = place
        .runner(no_model())
        .await
        .session("u", id)
        .get(&EventFilter::new())
        .await
        .unwrap()
        .unwrap();
    assert_eq!((found.events.len(), found.first), (found.len, 0));
    assert_eq!(found.events.last().unwrap().text(), "after");
    found.events
}

/// Makes an agent that uses a value and fails if the value is too deep.
macro_rules! agent {
    ($value:ident, |$cx:ident| $work:expr) => {
        by("a", move |$cx| {
            let $value = $value.clone();
            Box::pin(async move {
                $work;
                Ok(Flow::Continue)
            })
        })
    };
}

/// Returns agents that use a value of this depth, with the place that an error names.
fn agents(depth: usize) -> Vec<(&'static str, By)> {
    let value = || nested(depth);
    let (set, call, step) = (value(), value(), value());
    let mut all = vec![
        ("state key `k`", agent!(set, |cx| cx.state().set("k", set)?)),
        (
            "state key `k`",
            agent!(call, |cx| cx
                .emit_call(async move { Ok(Event::new().with_state("k", call)) })
                .await?),
        ),
        (
            "step `s`",
            agent!(step, |cx| cx.step("s", async move { Ok(step) }).await?),
        ),
    ];
    for (what, event) in deep_events(depth) {
        let event = Event {
            author: "".into(),
            id: Default::default(),
            ..event
        };
        all.push((what, agent!(event, |cx| cx.emit(event).await?)));
    }
    all
}

/// Values at the depth limit that agents write and record are kept, and deeper ones are refused.
pub async fn agents_obey_the_limit(place: &dyn DynPlace) {
    for (n, (what, agent)) in agents(MAX_DEPTH).into_iter().enumerate() {
        let id = format!("fits{n}");
        go(place, &id, &Tree::new("w", vec![run(agent)]))
            .await
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        still_works(place, &id).await;
    }
    for depth in [MAX_DEPTH + 1, 5_000] {
        for (n, (what, agent)) in agents(depth).into_iter().enumerate() {
            let id = format!("deep{depth}-{n}");
            let error = go(place, &id, &Tree::new("w", vec![run(agent)]))
                .await
                .unwrap_err();
            is_too_deep(&error, what);
            assert_eq!(error.path().unwrap().to_string(), "w/a", "{error}");
            let events = still_works(place, &id).await;
            assert_eq!(events.len(), 3, "{what}: refused values are not stored");
        }
    }
}

/// A run does not begin with values that are too deep.
pub async fn beginnings_obey_the_limit(place: &dyn DynPlace) {
    let tree = Tree::new("w", vec![run(say("a"))]);
    for (depth, fits) in [(MAX_DEPTH, true), (MAX_DEPTH + 1, false), (5_000, false)] {
        let runner = place.runner(no_model()).await;
        let session = |what: &str| runner.session("u", format!("{what}{depth}"));
        let message = Content::new(
            Role::User,
            vec![
                Part::text("go"),
                Part::Other(Box::new(nested_object(depth))),
            ],
        );
        let said = session("message")
            .run(&tree, "go")
            .message(message)
            .await
            .map(drop);
        let set = session("state")
            .run(&tree, "go")
            .state("user:k", nested(depth))
            .await
            .map(drop);
        let created = session("create")
            .create([("app:k", nested(depth))].into_iter().collect())
            .await
            .map(drop);
        let lets = Tree::new("w", vec![run(say("a"))]).lets("k", nested(depth));
        let begun = session("let").run(&lets, "go").await.map(drop);
        for (what, result) in [
            ("part", said),
            ("state key `user:k`", set),
            ("state key `app:k`", created),
            ("state key `k`", begun),
        ] {
            match result {
                Err(error) if !fits => is_too_deep(&error, what),
                result => assert!(result.is_ok() && fits, "{what} of {depth}: {result:?}"),
            }
        }
        let sessions = place
            .runner(no_model())
            .await
            .sessions(Some("u"))
            .await
            .unwrap();
        assert!(
            sessions
                .iter()
                .filter(|one| one.key.id.ends_with(&depth.to_string()))
                .all(|one| fits || one.len == 0)
        );
        still_works(place, &format!("message{depth}")).await;
    }
}

/// Answers of people obey the depth limit: a deep one is refused, and its question stays open.
pub async fn answers_obey_the_limit(place: &dyn DynPlace) {
    let tree = || {
        Tree::new(
            "w",
            vec![run(Await::builder::<Value>("k").question("What?").build())],
        )
    };
    let runner = place.runner(no_model()).await;
    assert_eq!(
        go(place, "s", &tree()).await.unwrap_err().kind(),
        ErrorKind::Paused
    );
    let waiting = runner.waiting().await.unwrap().remove(0);
    for depth in [MAX_DEPTH + 1, 5_000] {
        let error = runner.answer(&waiting.id, nested(depth)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AnswerInvalid, "{error}");
        let said = error.to_string();
        assert!(
            said.contains(&format!(
                "nested {depth} levels deep, above the limit of 100"
            )),
            "{said}"
        );
        assert!(
            error.help().is_some_and(|help| help.contains("still open")),
            "{said}"
        );
        assert!(runner.waiting().await.unwrap().contains(&waiting));
    }
    runner.answer(&waiting.id, nested(MAX_DEPTH)).await.unwrap();
    let runner = place.runner(no_model()).await;
    let outcome = runner.resume(&tree(), waiting.run_id).await.unwrap();
    assert_eq!(outcome.get::<Value>("k").unwrap(), Some(nested(MAX_DEPTH)));
    still_works(place, "s").await;
}

/// Makes a tool that returns a value of this depth.
fn gives(depth: usize) -> FunctionTool {
    FunctionTool::new("gives", "Gives a value.", move |(), cx| {
        cx.state().set("seen", true)?;
        Ok::<_, Error>(nested(depth))
    })
    .writes::<bool>("seen")
}

/// Makes a tool that takes any value, and sets it on request.
fn takes() -> FunctionTool {
    FunctionTool::new(
        "takes",
        "Takes a value.",
        |args: BTreeMap<String, Value>, cx| {
            cx.state().set("taken", &args["x"])?;
            Ok::<_, Error>("taken")
        },
    )
    .writes::<Value>("taken")
}

/// Runs an agent with these tools and a script of one call. Returns the result that the model
/// received.
async fn tool_result(
    place: &dyn DynPlace,
    id: &str,
    tool: FunctionTool,
    call: (&str, Value),
) -> (Value, Vec<Arc<Event>>) {
    let model = ScriptedModel::new().call(call.0, call.1).text("done");
    let agent = LlmAgent::builder("m")
        .instruction("Go.")
        .tool(tool)
        .build()
        .unwrap();
    let tree = Tree::new("w", vec![run(agent)]);
    place
        .runner(model.clone())
        .await
        .session("u", id)
        .run(&tree, "go")
        .await
        .unwrap();
    assert_eq!(
        model.left("m"),
        0,
        "the model received the error and continued"
    );
    let events = still_works(place, id).await;
    let response = events
        .iter()
        .find_map(|event| event.function_responses().next())
        .unwrap();
    (Value::Object(response.response.clone()), events)
}

/// Arguments and results of tools obey the depth limit: a deep one becomes an error result, and the
/// model continues.
pub async fn tools_obey_the_limit(place: &dyn DynPlace) {
    let object = |depth| Value::Object(nested_object(depth));
    let (answer, events) = tool_result(place, "fits", gives(MAX_DEPTH), ("gives", json!({}))).await;
    assert_eq!(answer, json!({"result": nested(MAX_DEPTH)}));
    assert!(
        events
            .iter()
            .any(|event| event.actions.state_delta.get("seen").is_some())
    );
    let (answer, _) = tool_result(place, "fitting", takes(), ("takes", object(MAX_DEPTH))).await;
    assert_eq!(answer, json!({"result": "taken"}));
    for depth in [MAX_DEPTH + 1, 5_000] {
        let (answer, events) = tool_result(
            place,
            &format!("gives{depth}"),
            gives(depth),
            ("gives", json!({})),
        )
        .await;
        let said = answer["error"].as_str().unwrap();
        assert!(
            said.contains("the result of `gives`")
                && said.contains(&format!("nested {depth} levels")),
            "{said}"
        );
        assert!(
            events
                .iter()
                .all(|event| event.actions.state_delta.get("seen").is_none()),
            "the tool has failed"
        );

        let (answer, events) = tool_result(
            place,
            &format!("takes{depth}"),
            takes(),
            ("takes", object(depth)),
        )
        .await;
        let said = answer["error"].as_str().unwrap();
        assert!(
            said.contains("`takes`")
                && said.contains("100")
                && said.contains(&format!("{depth} levels")),
            "{said}"
        );
        assert!(
            events
                .iter()
                .all(|event| event.actions.state_delta.get("taken").is_none()),
            "the tool did not run"
        );
        let call = events
            .iter()
            .find_map(|event| event.function_calls().next())
            .unwrap();
        assert!(
            call.args.is_empty() && call.malformed.is_some(),
            "the call is not treated as one without arguments"
        );
    }
}

/// Outputs of models obey the depth limit, as text and as the argument of the tool
/// `set_model_response`.
pub async fn outputs_obey_the_limit(place: &dyn DynPlace) {
    let agent = |tool: Option<FunctionTool>| {
        let agent = LlmAgent::builder("m")
            .instruction("Go.")
            .output_key("out")
            .output_type::<Value>();
        Tree::new(
            "w",
            vec![run(tool
                .into_iter()
                .fold(agent, |agent, tool| agent.tool(tool))
                .build()
                .unwrap())],
        )
    };
    for (depth, fits) in [(MAX_DEPTH, true), (MAX_DEPTH + 1, false), (125, false)] {
        let id = format!("text{depth}");
        let runner = place
            .runner(ScriptedModel::new().json(nested(depth)).repeat_last())
            .await;
        match runner.session("u", &*id).run(&agent(None), "go").await {
            Ok(outcome) => {
                assert!(fits && outcome.get::<Value>("out").unwrap() == Some(nested(depth)))
            }
            Err(error) => {
                assert!(error.kind() == ErrorKind::OutputInvalid && !fits, "{error}");
                let said = error.to_string();
                assert!(
                    said.contains("`out`") && said.contains(&format!("nested {depth} levels")),
                    "{said}"
                );
            }
        }
        still_works(place, &id).await;
    }
    // The answer is the argument `response` of the tool `set_model_response`.
    let answer =
        |depth| Reply::new().call("set_model_response", json!({"response": nested(depth)}));
    let model = ScriptedModel::new()
        .reply(answer(MAX_DEPTH))
        .reply(answer(110))
        .reply(answer(MAX_DEPTH - 1));
    let runner = place.runner(model.clone()).await;
    let tree = agent(Some(gives(1)));
    let outcome = runner.session("u", "tool").run(&tree, "go").await.unwrap();
    assert_eq!(
        outcome.get::<Value>("out").unwrap(),
        Some(nested(MAX_DEPTH - 1))
    );
    assert_eq!(model.left("m"), 0);
    still_works(place, "tool").await;
}

/// A session with an id that no store can keep is refused before its run starts and before any
/// model call.
pub async fn ids_obey_the_limit(place: &dyn DynPlace) {
    for (key, said) in impossible_keys("app") {
        let model = ScriptedModel::new().text("paid");
        let runner = place.runner(model.clone()).await;
        let agent = LlmAgent::builder("m").instruction("Go.").build().unwrap();
        let tree = Tree::new("w", vec![run(agent)]);
        let handle = runner.session(&*key.user, &*key.id);
        let ran = handle.run(&tree, "go").await.map(drop);
        let opened = handle.open().await.map(drop);
        let created = handle
            .create([("app:k", json!(1))].into_iter().collect())
            .await
            .map(drop);
        for result in [ran, opened, created] {
            let error = result.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::IdInvalid, "{error}");
            assert!(error.to_string().contains(said), "{error}");
        }
        assert_eq!(model.left("m"), 1, "no model call was made");
        assert!(
            handle.get(&EventFilter::new()).await.unwrap().is_none()
                && !handle.delete().await.unwrap()
        );
        assert!(runner.sessions(None).await.unwrap().is_empty());
    }
    still_works(place, &"\u{1F408}".repeat(128)).await;
    for app in ["x".repeat(129), "a\0b".to_owned()] {
        let error = Runner::<adk_build::model::NoProvider>::builder()
            .app_name(app)
            .build()
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::IdInvalid, "{error}");
    }
}
