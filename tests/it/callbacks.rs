//! Callbacks in declarations, on fields, and in agents that are built at run time.
#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
#![allow(
    clippy::unwrap_used,
    clippy::unnecessary_wraps,
    clippy::unused_async,
    clippy::trivially_copy_pass_by_ref
)]

use adk::llm::LlmAgent;
use adk::model::{ModelErrorKind, ModelRequest, ModelResponse};
use adk::prelude::*;
use adk::testing::ScriptedModel;
use adk::{DynAgent, Event, FunctionCall, LoopAgent, Tree, Value, WithCallbacks};

/// Records a call in the state.
fn mark(cx: &mut CallbackContext, what: &str) -> Result<()> {
    let mut all: Vec<String> = cx.state().get("user:trace")?.unwrap_or_default();
    all.push(format!("{what} {}", cx.agent_name()));
    cx.state().set("user:trace", all)
}

fn begins(cx: &mut CallbackContext) -> Result<()> {
    mark(cx, "before")
}

async fn ends(cx: &mut CallbackContext) -> Result<Option<Content>> {
    mark(cx, "after").map(|()| None)
}

fn no_secrets(_: &mut CallbackContext, request: &mut ModelRequest) -> Option<&'static str> {
    request
        .contents
        .iter()
        .any(|content| content.text().contains("secret"))
        .then_some("I do not talk about that.")
}

mod hooks {
    //! Callbacks in another module.
    use super::{
        CallbackContext, Error, FunctionCall, ModelRequest, ModelResponse, Result, Value, json,
        mark,
    };

    pub(crate) async fn shorten(
        cx: &mut CallbackContext,
        response: &mut ModelResponse,
    ) -> Result<Option<ModelResponse>> {
        mark(cx, "after_model")?;
        let text = response.content.text();
        Ok((text.len() > 20).then(|| format!("{}...", &text[..20]).into()))
    }

    pub(crate) fn sorry(
        _: &mut CallbackContext,
        _: &ModelRequest,
        error: &Error,
    ) -> Option<String> {
        Some(format!("sorry: {}", error.message()))
    }

    pub(crate) fn metric(_: &mut CallbackContext, call: &mut FunctionCall) {
        call.args.insert("unit".into(), json!("km"));
    }

    pub(crate) fn redact(_: &mut CallbackContext, call: &FunctionCall, result: &mut Value) {
        *result = json!({"redacted": call.name});
    }

    pub(crate) fn saved(_: &mut CallbackContext, _: &FunctionCall, _: &Error) -> Option<Value> {
        Some(json!("unknown"))
    }
}

/// Returns a distance.
#[tool]
fn distance(to: String, #[default("mi".to_owned())] unit: String) -> Result<String, String> {
    if to.is_empty() {
        Err("no place".to_owned())
    } else {
        Ok(format!("5 {unit} to {to}"))
    }
}

workflow! {
    /// Has every field that takes callbacks.
    pub Guarded(question: String) -> answer: String {
        /// Answers.
        agent clerk -> answer: String {
            instruction: "Answer {question}",
            tools: [distance],
            before_agent: begins,
            after_agent: [ends, |cx: &mut CallbackContext| mark(cx, "again")],
            before_model: no_secrets,
            after_model: [hooks::shorten],
            on_model_error: hooks::sorry,
            before_tool: [
                hooks::metric,
                |_: &mut CallbackContext, _: &mut FunctionCall| None::<Value>,
            ],
            after_tool: hooks::redact,
            on_tool_error: hooks::saved,
        }

        desk: sequence(before_agent = begins, after_agent = [ends]) < clerk >
        again: loop(
            max = 2,
            before_agent = |cx: &mut CallbackContext| cx.iteration().is_none().then_some("closed")
        ) < clerk as second >
    }
}

llm::agent! {
    /// Runs one agent with callbacks.
    pub alone -> note: String {
        instruction: "Say something.",
        before_agent: |_: &mut CallbackContext| Some("nothing to say"),
    }
}

workflow! {
    /// Runs an external agent with callbacks, and blocks of every kind.
    pub Blocks(topics: Vec<String>, kind: u8) {
        alone;
        choice: match(before_agent = begins) kind < 0 => (), _ => never >
        both: parallel(max_concurrency = 1, after_agent = ends) <
            alone as left; alone as right -> right_note
        >
        many: each(before_agent = begins, after_agent = ends) topic in topics < nothing >
    }
}

/// Is never called.
#[agent]
fn never() -> Result<()> {
    Err(Error::other("it was run"))
}

#[agent]
fn nothing() {}

fn runner(model: &ScriptedModel) -> Runner {
    Runner::builder().model(model.clone()).build().unwrap()
}

#[tokio::test]
async fn declared_callbacks_of_agents_and_blocks_run() {
    let model = ScriptedModel::new()
        .call("distance", json!({"to": "Bern"}))
        .text("It is a long, long way to go.");
    let outcome = runner(&model)
        .run(&Guarded::default(), "how far?")
        .await
        .unwrap();
    assert_eq!(outcome.output, "It is a long, long w...");
    let trace: Vec<String> = outcome.get("user:trace").unwrap().unwrap();
    let expected = [
        "before desk",
        "before clerk",
        "after_model clerk",
        "after_model clerk",
        "after clerk",
        "again clerk",
        "after desk",
    ];
    assert_eq!(trace, expected);
    let log: Vec<_> = outcome
        .session()
        .events()
        .map(|event| (event.author.to_string(), event.text()))
        .collect();
    assert_eq!(
        log.last().unwrap(),
        &("again".to_owned(), "closed".to_owned())
    );
    let responses = outcome
        .session()
        .events()
        .flat_map(|event| event.function_responses());
    let responses: Vec<_> = responses
        .map(|response| Value::Object(response.response.clone()))
        .collect();
    assert_eq!(responses, [json!({"redacted": "distance"})]);
}

#[tokio::test]
async fn callbacks_replace_errors_and_requests() {
    let model = ScriptedModel::new();
    let outcome = runner(&model)
        .run(&Guarded::default(), "a secret")
        .await
        .unwrap();
    assert_eq!(outcome.output, "I do not talk about that.");
    assert!(model.requests().is_empty());
    let model = ScriptedModel::new().error(ModelErrorKind::InvalidRequest, "no");
    let outcome = runner(&model)
        .run(&Guarded::default(), "how far?")
        .await
        .unwrap();
    assert_eq!(outcome.output, "sorry: no");
}

#[tokio::test]
async fn callbacks_run_on_blocks_of_every_kind_and_on_external_agents() {
    let input = BlocksInput {
        topics: vec!["a".into()],
        kind: 0,
    };
    let outcome = runner(&ScriptedModel::new())
        .run(&Blocks::default(), input)
        .await
        .unwrap();
    assert_eq!(
        outcome.get::<String>("right_note").unwrap().as_deref(),
        Some("nothing to say")
    );
    let trace: Vec<String> = outcome.get("user:trace").unwrap().unwrap();
    assert_eq!(
        trace,
        ["before choice", "after both", "before many", "after many"]
    );
}

#[tokio::test]
async fn callbacks_of_fields_run_after_the_declared_callbacks() {
    let mut workflow = Guarded::default();
    let later = String::from("later");
    workflow
        .clerk
        .add_after_agent(move |cx: &mut CallbackContext| mark(cx, &later));
    workflow
        .desk
        .add_after_agent(|_: &mut CallbackContext| Some("the desk closes"));
    workflow.again.add_after_agent(begins).set_max(1).unwrap();
    workflow
        .clerk
        .add_before_model(|_: &mut CallbackContext, request: &mut ModelRequest| {
            request.system_instruction = "Be brief.".into();
        });
    let model = ScriptedModel::new().text("ok");
    let outcome = runner(&model).run(&workflow, "how far?").await.unwrap();
    let trace: Vec<String> = outcome.get("user:trace").unwrap().unwrap();
    assert_eq!(trace[5..], ["later clerk", "after desk"]);
    assert_eq!(model.requests()[0].system_instruction, "Be brief.");
    assert!(
        outcome
            .session()
            .events()
            .any(|event| event.text() == "the desk closes" && event.author == "desk")
    );
}

/// Runs a tree and returns its texts.
async fn run_texts(tree: &Tree, model: &ScriptedModel) -> Vec<String> {
    let outcome = runner(model).run(tree, "go").await.unwrap();
    outcome
        .session()
        .events()
        .skip(1)
        .map(|event| format!("{}: {}", event.path, event.text()))
        .collect()
}

#[tokio::test]
async fn builders_take_callbacks_and_the_root_of_a_tree_runs_them_once() {
    let agent = LlmAgent::builder("a")
        .output_key("o")
        .before_agent(begins)
        .after_model(hooks::shorten);
    let tree = LoopAgent::builder("lp")
        .max_iterations(2)
        .before_agent(|cx: &mut CallbackContext| cx.state().set("user:lp", 1))
        .after_agent(|cx: &mut CallbackContext| Some(format!("over at {}", cx.path())))
        .sub_agent(agent)
        .build()
        .unwrap();
    let model = ScriptedModel::new().text("one").text("two");
    let all = run_texts(&tree.into(), &model).await;
    assert_eq!(
        all,
        [
            "lp: ",
            "lp#1/a: ",
            "lp#1/a: one",
            "lp#2/a: ",
            "lp#2/a: two",
            "lp: over at lp"
        ]
    );

    let agent = LlmAgent::builder("a")
        .output_key("o")
        .after_agent(|_: &mut CallbackContext| Some("bye"))
        .build()
        .unwrap();
    let tree = Tree::of(agent).unwrap();
    assert_eq!(
        run_texts(&tree, &ScriptedModel::new().text("one")).await,
        ["a: one", "a: bye"]
    );

    let skipped = WithCallbacks::new(LlmAgent::builder("a").output_key("o").build().unwrap())
        .before_agent(|_: &mut CallbackContext| Some("instead"));
    assert_eq!(
        skipped
            .callbacks_dyn()
            .map(adk::callback::AgentCallbacks::is_empty),
        Some(false)
    );
    let tree = Tree::of(skipped).unwrap();
    let outcome = runner(&ScriptedModel::new())
        .run(&tree, "go")
        .await
        .unwrap();
    assert_eq!(
        outcome.get::<String>("o").unwrap().as_deref(),
        Some("instead")
    );
}

/// A plugin that counts events by their author.
struct Counts;

impl Plugin for Counts {
    fn name(&self) -> &'static str {
        "counts"
    }

    async fn on_event(&self, cx: &mut CallbackContext, event: &Event) -> Result<Option<Event>> {
        let key = format!("temp:events_of_{}", event.author);
        let count: u32 = cx.state().get(&key)?.unwrap_or_default();
        cx.state().set(key, count + 1)?;
        Ok(None)
    }

    async fn after_run(&self, cx: &mut CallbackContext) -> Result<()> {
        let count: Option<u32> = cx.state().get("temp:events_of_clerk")?;
        cx.state().set("user:clerk_spoke", count)
    }
}

#[tokio::test]
async fn a_plugin_sees_every_run_of_its_runner() {
    let model = ScriptedModel::new()
        .call("distance", json!({"to": "Bern"}))
        .text("ok");
    let runner = Runner::builder()
        .model(model)
        .plugin(Counts)
        .build()
        .unwrap();
    let outcome = runner.run(&Guarded::default(), "how far?").await.unwrap();
    // Five events: the callback before the agent, the call, its result, the final text, the
    // callback after it.
    assert_eq!(outcome.get::<u32>("user:clerk_spoke").unwrap(), Some(5));
}

/// Formats the app, the user and the session of a context.
macro_rules! whose {
    ($cx:expr) => {
        format!("{}/{}/{}", $cx.app(), $cx.user(), $cx.session())
    };
}

/// Reports the user of the run.
#[tool]
fn tool_whose(cx: &mut ToolContext) -> String {
    whose!(cx)
}

#[agent(writes = by_agent)]
fn agent_whose(cx: &mut Context) -> String {
    whose!(cx)
}

fn callback_whose(cx: &mut CallbackContext) -> Result<()> {
    let whose = whose!(cx);
    cx.state().set("user:by_callback", whose)
}

#[allow(clippy::needless_pass_by_value, reason = "an instruction is called so")]
fn instruction_whose(cx: adk::ReadonlyContext) -> String {
    whose!(cx)
}

workflow! {
    /// Reads the user, the session and the app in every kind of context.
    pub Whose() -> (by_agent: String, said: String) {
        agent asked -> said: String {
            instruction: instruction_whose,
            tools: [tool_whose],
            before_agent: callback_whose,
        }
        agent_whose;
        asked
    }
}

#[tokio::test]
async fn each_context_names_the_user_the_session_and_the_app() {
    let model = ScriptedModel::new()
        .call("tool_whose", json!({}))
        .text("done");
    let runner = Runner::builder()
        .app_name("shop")
        .model(model.clone())
        .build()
        .unwrap();
    let outcome = runner
        .session("ann", "s1")
        .run(&Whose::default(), ())
        .await
        .unwrap();
    let whose = "shop/ann/s1";
    assert_eq!(outcome.output.by_agent, whose);
    assert_eq!(
        outcome
            .get::<String>("user:by_callback")
            .unwrap()
            .as_deref(),
        Some(whose)
    );
    let requests = model.requests();
    let instruction = adk::json!(requests[0].system_instruction).to_string();
    assert!(instruction.contains(whose), "{instruction}");
    let answer = requests[1]
        .contents
        .iter()
        .flat_map(Content::function_responses)
        .next()
        .unwrap();
    assert!(
        adk::json!(answer.response).to_string().contains(whose),
        "{answer:?}"
    );
}
