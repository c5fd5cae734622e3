//! Plugins: every hook runs in order, before the agent's own callbacks.

use super::*;
use crate::support::*;
use adk_build::model::{ModelErrorKind, ModelRequest, ModelResponse};
use adk_build::{Content, Error, ErrorKind, FunctionCall, Plugin, Result, WithCallbacks};

/// Traces every hook, and emits content in `before_agent` of one agent.
struct Traces {
    name: &'static str,
    trace: Trace,
    answers: Option<(&'static str, &'static str)>,
}

fn traces(name: &'static str, trace: &Trace) -> Traces {
    Traces {
        name,
        trace: trace.clone(),
        answers: None,
    }
}

impl Traces {
    fn hook(&self, hook: &str) {
        self.trace.add(format!("{} {hook}", self.name));
    }
}

impl Plugin for Traces {
    fn name(&self) -> &str {
        self.name
    }
    async fn on_user_message(
        &self,
        _: &mut CallbackContext,
        message: &Content,
    ) -> Result<Option<Content>> {
        self.hook(&format!("on_user_message {}", message.text()));
        Ok(None)
    }
    async fn before_run(&self, _: &mut CallbackContext) -> Result<Option<Content>> {
        self.hook("before_run");
        Ok(None)
    }
    async fn after_run(&self, _: &mut CallbackContext) -> Result<()> {
        self.hook("after_run");
        Ok(())
    }
    async fn on_event(&self, _: &mut CallbackContext, event: &Event) -> Result<Option<Event>> {
        self.hook(&format!("on_event {}", event.author));
        Ok(None)
    }
    async fn before_agent(&self, cx: &mut CallbackContext) -> Result<Option<Content>> {
        self.hook(&format!("before_agent {}", cx.agent_name()));
        Ok(self
            .answers
            .filter(|(agent, _)| *agent == cx.agent_name())
            .map(|(_, text)| Content::model(text)))
    }
    async fn after_agent(&self, cx: &mut CallbackContext) -> Result<Option<Content>> {
        self.hook(&format!("after_agent {}", cx.agent_name()));
        Ok(None)
    }
    async fn on_agent_error(&self, cx: &mut CallbackContext, error: &Error) -> Result<()> {
        self.hook(&format!(
            "on_agent_error {} {}",
            cx.agent_name(),
            error.message()
        ));
        Err(Error::other("the error of the hook itself"))
    }
    async fn before_model(
        &self,
        _: &mut CallbackContext,
        _: &mut ModelRequest,
    ) -> Result<Option<ModelResponse>> {
        self.hook("before_model");
        Ok(None)
    }
    async fn after_model(
        &self,
        _: &mut CallbackContext,
        _: &mut ModelResponse,
    ) -> Result<Option<ModelResponse>> {
        self.hook("after_model");
        Ok(None)
    }
    async fn on_model_error(
        &self,
        _: &mut CallbackContext,
        _: &ModelRequest,
        error: &Error,
    ) -> Result<Option<ModelResponse>> {
        self.hook(&format!("on_model_error {}", error.message()));
        Ok(Some("sorry".into()))
    }
    async fn before_tool(
        &self,
        _: &mut CallbackContext,
        call: &mut FunctionCall,
    ) -> Result<Option<Value>> {
        self.hook(&format!("before_tool {}", call.name));
        Ok(None)
    }
    async fn after_tool(
        &self,
        _: &mut CallbackContext,
        call: &FunctionCall,
        result: &mut Value,
    ) -> Result<Option<Value>> {
        self.hook(&format!("after_tool {} {result}", call.name));
        Ok(None)
    }
    async fn on_tool_error(
        &self,
        _: &mut CallbackContext,
        call: &FunctionCall,
        _: &Error,
    ) -> Result<Option<Value>> {
        self.hook(&format!("on_tool_error {}", call.name));
        Ok(None)
    }
}

#[tokio::test]
async fn hooks_around_a_tool_call_run_in_order() {
    let trace = Trace::default();
    let mut agent = llm();
    let called = |what: &'static str| {
        let trace = trace.clone();
        move || trace.add(what)
    };
    let (bm, am, bt, at) = (
        called("own bm"),
        called("own am"),
        called("own bt"),
        called("own at"),
    );
    agent
        .add_tool(add(&trace))
        .add_before_agent(trace.called("own before"))
        .add_after_agent(trace.called("own after"))
        .add_before_model(move |_: &mut CallbackContext, _: &mut ModelRequest| bm())
        .add_after_model(move |_: &mut CallbackContext, _: &mut ModelResponse| am())
        .add_before_tool(move |_: &mut CallbackContext, _: &mut FunctionCall| bt())
        .add_after_tool(move |_: &mut CallbackContext, _: &FunctionCall, _: &mut Value| at());
    let model = ScriptedModel::new()
        .call("add", json!({"a": 1, "b": 2}))
        .text("3");
    let builder = modelled(&model).plugin(traces("p1", &trace));
    let all = drive(builder, &Tree::new("w", vec![run(agent)])).await;
    assert_eq!(all.len(), 3);
    assert_eq!(
        trace.take(),
        [
            "p1 on_user_message go",
            "p1 before_run",
            "p1 before_agent w",
            "p1 before_agent a",
            "own before a",
            "p1 before_model",
            "own bm",
            "p1 after_model",
            "own am",
            "p1 on_event a",
            "p1 before_tool add",
            "own bt",
            "tool add",
            "p1 after_tool add 3",
            "own at",
            "p1 on_event a",
            "p1 before_model",
            "own bm",
            "p1 after_model",
            "own am",
            "p1 on_event a",
            "p1 after_agent a",
            "own after a",
            "p1 after_agent w",
            "p1 after_run",
        ]
    );
}

#[tokio::test]
async fn plugins_are_asked_in_order_and_the_first_answer_wins() {
    let trace = Trace::default();
    let second = Traces {
        answers: Some(("a", "p2")),
        ..traces("p2", &trace)
    };
    let third = Traces {
        answers: Some(("a", "p3")),
        ..traces("p3", &trace)
    };
    let agent = WithCallbacks::new(say("a")).before_agent(trace.called("own"));
    let tree = Tree::new("w", vec![sequence("root", vec![run(agent)])]);
    let builder = Runner::builder()
        .plugin(traces("p1", &trace))
        .plugin(second)
        .plugin(third);
    assert_eq!(drive(builder, &tree).await, ["a: p2"]);
    let before: Vec<_> = trace
        .take()
        .into_iter()
        .filter(|line| line.contains("before_agent") || line == "own a")
        .collect();
    let all = |agent| ["p1", "p2", "p3"].map(|name| format!("{name} before_agent {agent}"));
    let mut expected = [all("w"), all("root")].concat();
    expected.extend([
        "p1 before_agent a".to_owned(),
        "p2 before_agent a".to_owned(),
    ]);
    assert_eq!(before, expected);
}

#[tokio::test]
async fn on_agent_error_runs_outwards_and_after_run_does_not_run() {
    let trace = Trace::default();
    let failing = by("a", |_| Box::pin(async { Err(Error::other("boom")) }));
    let tree = Tree::new("w", vec![sequence("s", vec![run(failing)])]);
    let all = drive(Runner::builder().plugin(traces("p", &trace)), &tree).await;
    assert_eq!(all, ["agent `a` (at w/s/a): boom"]);
    let hooks: Vec<_> = trace
        .take()
        .into_iter()
        .filter(|line| !line.contains("before"))
        .collect();
    assert_eq!(
        hooks,
        [
            "p on_user_message go",
            "p on_agent_error a boom",
            "p on_agent_error s boom",
            "p on_agent_error w boom"
        ]
    );
}

#[tokio::test]
async fn hooks_receive_errors_of_models_and_tools() {
    let trace = Trace::default();
    let mut agent = llm();
    agent.add_tool(fails());
    let model = ScriptedModel::new()
        .call("fails", json!({}))
        .error(ModelErrorKind::InvalidRequest, "down");
    let tree = Tree::new("w", vec![run(agent)]);
    let all = drive(modelled(&model).plugin(traces("p", &trace)), &tree).await;
    assert_eq!(all[2], "a: sorry o=\"sorry\"");
    let hooks: Vec<_> = trace
        .take()
        .into_iter()
        .filter(|line| line.contains("_error"))
        .collect();
    assert_eq!(hooks, ["p on_tool_error fails", "p on_model_error down"]);
}

/// Replaces events, the message of the user, or the whole run.
#[derive(Default)]
struct Replaces {
    event: Option<&'static str>,
    message: Option<&'static str>,
    run: Option<&'static str>,
}

impl Plugin for Replaces {
    fn name(&self) -> &str {
        "replaces"
    }
    async fn on_event(&self, _: &mut CallbackContext, event: &Event) -> Result<Option<Event>> {
        Ok(self.event.map(|text| event.clone().with_text(text)))
    }
    async fn on_user_message(
        &self,
        cx: &mut CallbackContext,
        _: &Content,
    ) -> Result<Option<Content>> {
        cx.state().set("asked", true)?;
        Ok(self.message.map(Content::user))
    }
    async fn before_run(&self, cx: &mut CallbackContext) -> Result<Option<Content>> {
        cx.state().set("begun", true)?;
        Ok(self.run.map(Content::model))
    }
}

/// Returns all stored events.
async fn stored(plugin: Replaces, tree: Tree) -> Vec<String> {
    let runner: Runner = Runner::builder()
        .config(any_key())
        .plugin(plugin)
        .build()
        .unwrap();
    let outcome = runner.run(&tree, "go").await.unwrap();
    outcome
        .session()
        .events()
        .map(|event| short(event))
        .collect()
}

#[tokio::test]
async fn an_event_replaced_by_a_plugin_is_stored_and_delivered() {
    let tree = || Tree::new("w", vec![run(say("a")), run(put("b", "k", |_| 1))]);
    let masks = || Replaces {
        event: Some("masked"),
        ..Replaces::default()
    };
    let delivered = drive(Runner::builder().config(any_key()).plugin(masks()), &tree()).await;
    assert_eq!(
        delivered,
        ["w: masked begun=true", "a: masked", "b: masked k=1"]
    );
    let log = stored(masks(), tree()).await;
    assert_eq!(
        log,
        [
            "user: go asked=true topic=\"go\"",
            "w: masked begun=true",
            "a: masked",
            "b: masked k=1"
        ]
    );
}

/// Counts events in a state key, which each event itself carries.
struct Counts;

impl Plugin for Counts {
    fn name(&self) -> &str {
        "counts"
    }
    async fn on_event(&self, cx: &mut CallbackContext, event: &Event) -> Result<Option<Event>> {
        for key in ["count", "temp:count"] {
            let count: u32 = cx.state().get(key)?.unwrap_or_default();
            cx.state().set(key, count + 1)?;
        }
        let both: (Option<u32>, Option<u32>) =
            (cx.state().get("count")?, cx.state().get("temp:count")?);
        cx.state().set("same", both.0 == both.1)?;
        let k: Option<u32> = cx.state().get("k")?;
        Ok((event.author == "c").then(|| event.clone().with_text(format!("k is {k:?}"))))
    }
}

#[tokio::test]
async fn state_set_in_on_event_is_part_of_the_event_and_sees_its_writes() {
    let inner = Tree::with_keys("inner", &[], &[], vec![run(put("c", "k", |_| 7))]);
    let tree = Tree::new("w", vec![run(say("a")), run(say("b")), run(inner)]);
    let all = drive(Runner::builder().config(any_key()).plugin(Counts), &tree).await;
    let own = "inner/k=7 inner/count=1 inner/same=false";
    assert_eq!(
        all,
        [
            "a: a count=1 same=true",
            "b: b count=2 same=true",
            &format!("c: k is Some(7) {own}")
        ]
    );
}

#[tokio::test]
async fn the_message_of_the_user_may_be_replaced_before_it_is_stored() {
    let plugin = Replaces {
        message: Some("rewritten"),
        ..Replaces::default()
    };
    let log = stored(plugin, Tree::new("w", vec![run(say("a"))])).await;
    assert_eq!(
        log,
        [
            "user: rewritten asked=true topic=\"go\"",
            "w:  begun=true",
            "a: a"
        ]
    );
}

#[tokio::test]
async fn a_plugin_may_replace_the_whole_run() {
    let plugin = Replaces {
        run: Some("closed"),
        ..Replaces::default()
    };
    let log = stored(plugin, Tree::new("w", vec![run(say("a"))])).await;
    assert_eq!(
        log,
        [
            "user: go asked=true topic=\"go\"",
            "model: closed begun=true"
        ]
    );
}

#[tokio::test]
async fn two_plugins_of_one_name_are_refused() {
    let trace = Trace::default();
    let builder: RunnerBuilder<adk_build::model::NoProvider> = Runner::builder();
    let error = builder
        .plugin(traces("p", &trace))
        .plugin(traces("p", &trace))
        .build()
        .map(drop)
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert!(
        error.to_string().contains("two plugins are called `p`"),
        "{error}"
    );
}
