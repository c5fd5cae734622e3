//! Every write is checked: agents, tools and callbacks set only keys of the state that they
//! declare.

use super::killed::{ByTurn, kill_everywhere};
use adk::prelude::*;
use adk::testing::ScriptedModel;
use adk::tool::FunctionTool;
use adk::{AgentMeta, ErrorKind, RunConfig, SequentialAgent, llm::LlmAgent};
use serde_json::json;

/// Sets a key.
#[tool(writes(completed: bool, user:plan: Plan))]
fn finish(cx: &mut ToolContext, key: String, value: &adk::Value) -> Result<String> {
    // The tool may ignore the error; the run fails anyway.
    let refused = cx.state().set(key, value).err();
    Ok(refused.map_or_else(|| "done".to_owned(), |error| error.to_string()))
}

/// A plan.
#[data]
struct Plan {
    days: u8,
}

workflow! {
    /// Answers.
    Desk(question: String) -> reply: String {
        agent clerk -> reply: String {
            instruction: "Answer {question}",
            tools: [finish],
            max_turns: 3,
        }
        clerk
    }
}

fn scripted_runner(key: &str, value: adk::Value) -> Runner {
    let model = ScriptedModel::new()
        .call("finish", json!({"key": key, "value": value}))
        .text("ok");
    Runner::builder().model(model).build().expect("a runner")
}

async fn set_key(key: &str, value: adk::Value) -> Result<String, (ErrorKind, String)> {
    let ran = scripted_runner(key, value)
        .run(&Desk::default(), "when?")
        .await;
    ran.map(|outcome| outcome.output)
        .map_err(|error| (error.kind(), error.to_string()))
}

#[tokio::test]
async fn a_tool_writes_its_declared_keys() {
    assert_eq!(set_key("completed", json!(true)).await.unwrap(), "ok");
    assert_eq!(
        set_key("user:plan", json!({"days": 2})).await.unwrap(),
        "ok"
    );
    assert_eq!(set_key("temp:scratch", json!([1])).await.unwrap(), "ok");
}

#[tokio::test]
async fn an_undeclared_key_fails_the_run_and_the_error_names_the_nearest() {
    let (kind, text) = set_key("complted", json!(true)).await.unwrap_err();
    assert_eq!(kind, ErrorKind::KeyUnannounced);
    let wanted = "agent `clerk` (at desk/clerk): tool `finish` writes state key `complted`, which \
        it has not announced; help: did you mean `completed`? Otherwise announce it: \
        `#[key] complted: Out<bool>` as a parameter, or `#[tool(writes(complted: bool))]`;";
    assert!(text.starts_with(wanted), "{text}");
    let (kind, text) = set_key("app:motd", json!("hello")).await.unwrap_err();
    assert_eq!(kind, ErrorKind::KeyUnannounced);
    assert!(
        text.contains("`#[tool(writes(app:motd: String))]`"),
        "{text}"
    );
    // A tool may not write the key of its agent.
    assert_eq!(
        set_key("reply", json!("x")).await.unwrap_err().0,
        ErrorKind::KeyUnannounced
    );
}

#[tokio::test]
async fn a_value_of_another_type_fails_the_run() {
    for (key, value, why) in [
        (
            "completed",
            json!("yes"),
            "announced as `bool`, and is set to another type: invalid type: string \"yes\"",
        ),
        (
            "user:plan",
            json!({"days": 300}),
            "announced as `Plan`, and is set to another type: invalid value: integer `300`",
        ),
        ("completed", json!(null), "announced as `bool`"),
    ] {
        let (kind, text) = set_key(key, value).await.unwrap_err();
        assert_eq!(kind, ErrorKind::KeyType);
        assert!(
            text.starts_with("agent `clerk` (at desk/clerk): state key `") && text.contains(why),
            "{text}"
        );
    }
}

#[tokio::test]
async fn trees_without_flow_checks_may_write_any_key() {
    let outcome = scripted_runner("complted", json!(1))
        .run(&Desk::default(), "?")
        .config(RunConfig::adk())
        .await
        .unwrap();
    assert_eq!(outcome.get::<u8>("complted").unwrap(), Some(1));

    let agent = || {
        let tool = FunctionTool::new("finish", "Ends.", |(), cx| {
            cx.state().set("loose", 1).map_err(Error::other)
        });
        LlmAgent::builder("clerk").instruction("Go.").tool(tool)
    };
    let runner = || -> Runner {
        Runner::builder()
            .model(ScriptedModel::new().call("finish", json!({})).text("ok"))
            .build()
            .unwrap()
    };
    let tree = SequentialAgent::builder("w")
        .sub_agent(agent())
        .build()
        .unwrap();
    let error = runner().run(&tree, "go").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyUnannounced);
    assert!(
        error
            .to_string()
            .contains("a `FunctionTool` says `.writes::<u64>(\"loose\")`"),
        "{error}"
    );
    let tree = SequentialAgent::builder("w")
        .sub_agent(agent())
        .flow_checks(false)
        .build()
        .unwrap();
    assert_eq!(
        runner()
            .run(&tree, "go")
            .await
            .unwrap()
            .get::<u8>("loose")
            .unwrap(),
        Some(1)
    );
}

/// An agent that sets one key in the state or emits it.
#[derive(Default)]
struct Hand(Option<(&'static str, adk::Value, bool)>);

#[agent(writes(score: u8, plan: Option<Plan>))]
impl Agent for Hand {
    const META: AgentMeta<'static> = AgentMeta::custom("hand");

    async fn run(&self, cx: &mut Context) -> Result<Flow> {
        cx.state().set("score", 1)?;
        match &self.0 {
            Some((key, value, true)) => drop(
                cx.emit(Event::new().with_state(*key, value.clone()))
                    .await?,
            ),
            Some((key, value, false)) => cx.state().set(*key, value)?,
            None => drop(
                cx.state()
                    .update("score", |n: Option<u8>| u16::from(n.unwrap_or(0)) + 300)
                    .await?,
            ),
        }
        Ok(Flow::Continue)
    }
}

workflow! {
    /// Runs an agent that is written by hand.
    ByHand() -> score: u8 {
        agent hand: Hand;
        hand
    }
}

#[tokio::test]
async fn an_agent_by_hand_writes_its_declared_keys() {
    let runner: Runner = Runner::builder().build().unwrap();
    for emits in [true, false] {
        let run = async |key, value| {
            runner
                .run(&ByHand::new(Hand(Some((key, value, emits)))), ())
                .await
        };
        run("score", json!(2)).await.unwrap();
        run("plan", json!({"days": 1})).await.unwrap();
        let error = run("scores", json!(2)).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "agent `hand` (at by_hand/hand): it writes state key `scores`, which it has not \
             announced; help: did you mean `score`? Otherwise announce it: \
             `#[agent(writes(scores: u64))]` on its `impl Agent`"
        );
        assert_eq!(
            run("score", json!("2")).await.unwrap_err().kind(),
            ErrorKind::KeyType
        );
        assert_eq!(
            run("user:score", json!(2)).await.unwrap_err().kind(),
            ErrorKind::KeyUnannounced
        );
    }
    let error = runner.run(&ByHand::new(Hand(None)), ()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyType, "{error}");
}

/// Returns a callback that sets a key.
fn mark(key: &'static str) -> impl Fn(&mut CallbackContext) -> Result<()> + Send + Sync + 'static {
    move |cx| cx.state().set(key, "text")
}

workflow! {
    /// Has callbacks of an agent and of a block.
    Called() -> reply: String {
        state seen: String;
        agent clerk -> reply: String { instruction: "Go." }
        again: loop(max = 1) < clerk >
    }
}

#[tokio::test]
async fn callbacks_write_prefixed_keys_agent_keys_and_state_keys() {
    for (key, of_agent, of_block) in [
        ("user:seen", true, true),
        ("temp:seen", true, true),
        ("seen", true, true),
        ("reply", true, false),
        ("other", false, false),
    ] {
        for (is_block, is_fine) in [(false, of_agent), (true, of_block)] {
            let mut called = Called::default();
            if is_block {
                called.again.add_after_agent(mark(key));
            } else {
                called.clerk.add_after_agent(mark(key));
            }
            let runner: Runner = Runner::builder()
                .model(ScriptedModel::new().text("ok"))
                .build()
                .unwrap();
            let ran = runner
                .session("u", "s")
                .run(&called, ())
                .state("seen", "")
                .await;
            assert_eq!(ran.is_ok(), is_fine, "{key} {is_block}: {ran:?}");
            if let Err(error) = ran {
                assert_eq!(error.kind(), ErrorKind::KeyUnannounced, "{error}");
            }
        }
    }
}

/// Adds one, and writes an undeclared note.
#[agent(writes = sum)]
fn add(cx: &mut Context, sum: u64) -> Result<u64> {
    cx.state().set("sun", sum)?;
    Ok(sum + 1)
}

workflow! {
    /// Runs a function with a context.
    Adding(sum: u64) -> sum: u64 { add }
}

#[tokio::test]
async fn a_function_writes_its_declared_keys() {
    let runner: Runner = Runner::builder().build().unwrap();
    let error = runner.run(&Adding::default(), 1_u64).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyUnannounced);
    assert!(error.to_string().contains("did you mean `sum`?"), "{error}");
}

/// Ends the work on a draft.
#[tool]
fn close(
    #[key] draft: &str,
    #[key] notes: Option<Vec<String>>,
    #[key] completed: Out<bool>,
    mark: u8,
    #[key(user:best)] best: Out<u8>,
) -> String {
    completed.set(mark > 5);
    if mark > 8 {
        best.set(mark);
    }
    format!(
        "{draft}: {mark}, {} notes",
        notes.map_or(0, |notes| notes.len())
    )
}

/// Does the same on another thread.
#[tool(blocking)]
fn close_blocking(mark: u8, #[key] completed: Out<bool>, #[key] draft: &str) -> String {
    completed.set(mark > 5);
    draft.to_owned()
}

/// Counts the characters, and writes whether the draft is long.
#[agent(writes = length)]
async fn measure(draft: &str, #[key] long: Out<bool>) -> Result<usize> {
    if draft.len() > 3 {
        long.set(true);
    }
    Ok(draft.len())
}

/// Formats whether the draft is long and completed.
#[agent(writes = said)]
fn say(long: Option<bool>, completed: Option<bool>) -> String {
    format!("{long:?} {completed:?}")
}

workflow! {
    /// Has parameters that are keys.
    Closing(draft: String) -> (length: usize, said: String) {
        agent closer -> reply: String {
            instruction: "Close it.",
            tools: [close, close_blocking],
            max_turns: 3,
        }
        closer; measure; say
    }
}

async fn closing(tool: &str, draft: &str, mark: u8) -> (String, Vec<adk::Value>, Option<u8>) {
    let model = ScriptedModel::new()
        .call(tool, json!({"mark": mark}))
        .text("ok");
    let runner: Runner = Runner::builder()
        .model(model.clone())
        .build()
        .expect("the runner is valid");
    let outcome = runner
        .run(&Closing::default(), draft)
        .await
        .expect("the run succeeds");
    let requests = model.requests();
    let parameters = requests[0]
        .tools
        .iter()
        .map(|tool| tool.parameters["properties"].clone())
        .collect();
    (
        outcome.output.said.clone(),
        parameters,
        outcome.get("user:best").expect("the key has this type"),
    )
}

#[tokio::test]
async fn parameters_read_and_write_keys() {
    let (said, parameters, best) = closing("close", "text", 9).await;
    assert_eq!((&*said, best), ("Some(true) Some(true)", Some(9)));
    for parameters in parameters {
        assert_eq!(
            parameters.as_object().unwrap().keys().collect::<Vec<_>>(),
            ["mark"]
        );
    }
    assert_eq!(closing("close", "abc", 3).await.0, "None Some(false)");
    assert_eq!(
        closing("close_blocking", "text", 6).await.0,
        "Some(true) Some(true)"
    );
    assert_eq!(close("d", None, Out::new(), 1, Out::new()), "d: 1, 0 notes");
    assert_eq!(
        Closing::SPEC.find("closer").unwrap().tools[0].reads[0].name,
        "draft"
    );
}

workflow! {
    /// Runs an instance whose tool reads and writes renamed keys.
    Renamed(essay: String) -> done: bool {
        let done: bool = false;
        agent closer { instruction: "Close {draft}.", tools: [close_blocking], max_turns: 3 }
        closer(draft = essay) as second;
        check
    }
}

/// Returns whether the work is completed.
#[agent(writes = done)]
fn check(completed: Option<bool>) -> bool {
    completed.unwrap_or_default()
}

#[tokio::test]
async fn tools_of_an_instance_use_its_renamed_keys() {
    let model = ScriptedModel::new()
        .call("close_blocking", json!({"mark": 9}))
        .text("ok");
    let runner: Runner = Runner::builder().model(model.clone()).build().unwrap();
    assert!(
        runner
            .run(&Renamed::default(), "an essay")
            .await
            .unwrap()
            .output
    );
    let told = model.requests()[1]
        .contents
        .iter()
        .rev()
        .find_map(|one| one.function_responses().next().cloned());
    assert_eq!(told.unwrap().response["result"], "an essay");
}

#[tokio::test]
async fn a_key_that_a_tool_cannot_read_fails_the_run() {
    let tree = || {
        let agent = LlmAgent::builder("clerk")
            .instruction("Go.")
            .tool(close::default());
        SequentialAgent::builder("w").sub_agent(agent)
    };
    let refused = tree().build().unwrap_err().to_string();
    assert!(
        refused.contains("key-missing: tool `close` of agent `clerk` reads `draft`"),
        "{refused}"
    );

    let tree = tree().flow_checks(false).build().unwrap();
    let model = || ScriptedModel::new().call("close", json!({"mark": 1}));
    let runner = || -> Runner { Runner::builder().model(model()).build().unwrap() };
    let (runner, tree) = (&runner, &tree);
    let runs = [
        (
            runner().run(tree, "go"),
            "the parameter `draft` reads a state key that holds no value",
        ),
        (
            runner().run(tree, "go").state("draft", 1),
            "state key `draft` does not hold a text: it holds the number 1",
        ),
        (
            runner()
                .run(tree, "go")
                .state("draft", "d")
                .state("notes", "n"),
            "state key `notes` does not hold a",
        ),
    ];
    for (run, text) in runs {
        let error = run.await.unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with(&format!("agent `clerk` (at w/clerk): {text}")),
            "{error}"
        );
    }
}

/// Writes both keys, unless it fails.
#[agent(writes = sum)]
fn divide(
    cx: &mut Context,
    #[key(user:name)] name: &str,
    by: u8,
    #[key] rest: Out<u8>,
) -> Result<u8> {
    rest.set(100);
    cx.state().set("rest", by)?;
    rest.set(7 % by.max(1));
    7_u8.checked_div(by)
        .ok_or_else(|| Error::other(format!("{name} divides by zero")))
}

workflow! {
    /// Divides.
    Dividing(by: u8) -> sum: u8 {
        state user:name: String;
        let rest: u8 = 9;
        divide(by = by) -> (sum, rest)
    }
}

#[tokio::test]
async fn a_function_with_a_context_writes_two_keys() {
    let runner: Runner = Runner::builder()
        .model(ScriptedModel::new())
        .build()
        .unwrap();
    let workflow = Dividing::default();
    let run = |by| runner.run(&workflow, by).state("user:name", "Ada");
    let outcome = run(2).await.unwrap();
    assert_eq!(
        (outcome.output, outcome.get("rest").unwrap()),
        (3, Some(1_u8))
    );
    assert!(
        run(0)
            .await
            .unwrap_err()
            .to_string()
            .contains("Ada divides by zero")
    );
}

#[tokio::test]
async fn a_resumed_run_writes_the_recorded_keys() {
    let closes = ByTurn(|turn| match turn {
        0 => ScriptedModel::new().call("close", json!({"mark": 9})),
        _ => ScriptedModel::new().text("ok"),
    });
    let kills = kill_everywhere(&Closing::default(), "text", closes, |outcome| {
        assert_eq!(outcome.get::<u8>("user:best").unwrap(), Some(9));
        assert_eq!(
            (outcome.output.length, &*outcome.output.said),
            (4, "Some(true) Some(true)")
        );
    })
    .await;
    assert!(kills > 20, "{kills}");
}
