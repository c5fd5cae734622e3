//! Live runs: messages from a queue, agents that hand over to each other, and blocks that cannot
//! run live.

use crate::support::{Node, Tree, each, parallel, put, repeat, run, say, sequence};
use adk_build::llm::{Declared, Declares, LlmDecl, OutputKey};
use adk_build::spec::KeySpec;
use adk_build::testing::{Reply, ScriptedModel};
use adk_build::{
    AgentKind, AgentMeta, Content, DynAgent, Error, ErrorKind, Event, LiveQueue, RunConfig, RunEnd,
    RunStream, Runner,
};
use adk_build::{LoopAgent, SequentialAgent, llm::LlmAgent};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

struct Talks;

impl Declares<0> for Talks {
    const DECL: LlmDecl = LlmDecl::new(
        AgentMeta::new(AgentKind::Llm, "greeter").writes(&[KeySpec::new("greeting", "String")]),
    )
    .instruction("Greet.")
    .output(OutputKey::text("greeting"));
}

impl Declares<1> for Talks {
    const DECL: LlmDecl = LlmDecl::new(AgentMeta::new(AgentKind::Llm, "helper"));
}

fn greeter() -> Node {
    run(Declared::<Talks, 0>::default())
}

fn helper() -> Node {
    run(Declared::<Talks, 1>::default())
}

fn chat(body: Vec<Node>) -> Tree {
    Tree::with_keys("chat", &[], &[], body)
}

fn runner(model: &ScriptedModel) -> Runner {
    Runner::builder().model(model.clone()).build().unwrap()
}

/// Formats an event as `author: text`, with its calls.
fn line(event: &Event) -> String {
    let calls = event
        .function_calls()
        .map(|call| format!("{}()", call.name));
    let answers = event
        .function_responses()
        .map(|answer| format!("{} answers", answer.name));
    let said: Vec<_> = [event.text()]
        .into_iter()
        .filter(|text| !text.is_empty())
        .chain(calls)
        .chain(answers)
        .collect();
    format!("{}: {}", event.author, said.join(", "))
}

async fn lines(stream: &mut RunStream<'_, ()>) -> Vec<String> {
    let mut all = Vec::new();
    while let Some(event) = stream.next().await {
        all.push(event.map_or_else(|error| format!("error: {error}"), |event| line(&event)));
    }
    all
}

fn queue(messages: &[&str]) -> LiveQueue {
    let queue = LiveQueue::new();
    messages
        .iter()
        .for_each(|message| queue.send(*message).unwrap());
    queue.close();
    queue
}

#[tokio::test(start_paused = true)]
async fn a_sequence_with_a_closed_queue_runs_and_stores_only_its_own_events() {
    let tree = chat(vec![run(say("a")), sequence("inner", vec![run(say("b"))])]);
    let mut stream = runner(&ScriptedModel::new())
        .run_live(&tree, "", &queue(&[]))
        .stream();
    assert_eq!(lines(&mut stream).await, ["a: a", "b: b"]);
    let RunEnd::Finished(outcome) = stream.end() else {
        panic!("the run has finished")
    };
    assert_eq!(outcome.session().len(), 2, "no user message is invented");
}

#[tokio::test(start_paused = true)]
async fn each_message_is_answered_until_the_queue_is_closed() {
    let model = ScriptedModel::new().text("Hi.").text("Fine.");
    let tree = chat(vec![greeter()]);
    let mut stream = runner(&model)
        .run_live(&tree, "", &queue(&["Hello.", "How are you?"]))
        .stream();
    assert_eq!(
        lines(&mut stream).await,
        [
            "user: Hello.",
            "greeter: Hi.",
            "user: How are you?",
            "greeter: Fine."
        ]
    );
    let requests = model.requests();
    let said: Vec<_> = requests[1].contents.iter().map(Content::text).collect();
    assert_eq!(said, ["Hello.", "Hi.", "How are you?"], "one conversation");
    let RunEnd::Finished(outcome) = stream.end() else {
        panic!("the run has finished")
    };
    assert_eq!(
        outcome.get::<String>("greeting").unwrap().as_deref(),
        Some("Fine.")
    );
    assert_eq!(
        outcome.session().event(0).unwrap().path.to_string(),
        "chat/greeter",
        "the agent that received the message"
    );
}

#[tokio::test(start_paused = true)]
async fn a_running_agent_receives_messages_and_waits_without_pausing() {
    let model = ScriptedModel::new()
        .reply(Reply::new().text("One.").after(Duration::from_secs(5)))
        .text("Two.")
        .text("Three.");
    let (tree, queue) = (chat(vec![helper()]), LiveQueue::new());
    let mut stream = runner(&model).run_live(&tree, "", &queue).stream();
    let people = async {
        queue.send("1").unwrap();
        // The message arrives while the agent answers, and is processed next.
        tokio::time::sleep(Duration::from_secs(2)).await;
        queue.send("2").unwrap();
        // The message arrives long after the answer.
        tokio::time::sleep(Duration::from_secs(3600)).await;
        queue.clone().send("3").unwrap();
        drop(queue);
    };
    let (said, ()) = tokio::join!(lines(&mut stream), people);
    assert_eq!(
        said,
        [
            "user: 1",
            "helper: One.",
            "user: 2",
            "helper: Two.",
            "user: 3",
            "helper: Three."
        ],
        "the last clone of the queue closes it"
    );
    assert!(matches!(stream.end(), RunEnd::Finished(_)));
}

#[tokio::test(start_paused = true)]
async fn an_agent_hands_over_and_the_next_starts_with_the_conversation() {
    let model = ScriptedModel::new()
        .on("greeter")
        .text("Who are you?")
        .reply(
            Reply::new()
                .text("Hi, Ann.")
                .call("task_completed", json!({})),
        )
        .on("helper")
        .text("How can I help?")
        .text("Bye.");
    let tree = chat(vec![greeter_for_ann(), run(say("middle")), helper()]);
    let mut stream = runner(&model)
        .run_live(&tree, "", &queue(&["Hello.", "Ann.", "No."]))
        .stream();
    assert_eq!(
        lines(&mut stream).await,
        [
            "user: Hello.",
            "greeter: Who are you?",
            "user: Ann.",
            "greeter: Hi, Ann., task_completed()",
            "greeter: task_completed answers",
            "middle: middle",
            "helper: How can I help?",
            "user: No.",
            "helper: Bye.",
        ]
    );
    let requests = model.requests();
    let first = &requests[0];
    assert!(
        first
            .system_instruction
            .starts_with("Greet.\n\nOnce you have done"),
        "{}",
        first.system_instruction
    );
    let tools: Vec<_> = first
        .tools
        .iter()
        .map(|tool| tool.name.to_string())
        .collect();
    assert_eq!(tools, ["task_completed"]);
    assert!(
        requests[2]
            .contents
            .iter()
            .any(|content| content.text().contains("Ann."))
    );
}

/// Makes a greeter without a key, whose text beside a call is not its last answer.
fn greeter_for_ann() -> Node {
    struct Ann;
    impl Declares<0> for Ann {
        const DECL: LlmDecl =
            LlmDecl::new(AgentMeta::new(AgentKind::Llm, "greeter")).instruction("Greet.");
    }
    run(Declared::<Ann, 0>::default())
}

#[tokio::test(start_paused = true)]
async fn after_the_queue_closes_each_later_agent_has_one_turn() {
    let model = ScriptedModel::new()
        .on("greeter")
        .text("Hi.")
        .on("helper")
        .text("Anything else?");
    let tree = chat(vec![greeter(), helper()]);
    let mut stream = runner(&model)
        .run_live(&tree, "", &queue(&["Hello."]))
        .stream();
    assert_eq!(
        lines(&mut stream).await,
        ["user: Hello.", "greeter: Hi.", "helper: Anything else?"]
    );
}

#[tokio::test(start_paused = true)]
async fn an_agent_without_a_message_reports_it_with_its_missing_key() {
    let model = ScriptedModel::new();
    let tree = chat(vec![greeter()]);
    let mut stream = runner(&model).run_live(&tree, "", &queue(&[])).stream();
    let said = lines(&mut stream).await;
    assert!(
        said[0].contains("`greeting`: the queue of the live run was closed before"),
        "{said:?}"
    );
    assert_eq!((said.len(), model.requests().len()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn inputs_are_keys_and_a_message_comes_first() {
    let model = ScriptedModel::new().text("Yes?");
    let tree = Tree::new("chat", vec![greeter()]);
    let runner = runner(&model);
    let mut stream = runner
        .run_live(&tree, "cats", &queue(&[]))
        .message("Hello.")
        .stream();
    let first = stream.next().await.unwrap().unwrap();
    assert_eq!(
        (line(&first).as_str(), first.path.to_string().as_str()),
        ("user: Hello.", "chat")
    );
    assert_eq!(
        first
            .actions
            .state_delta
            .get("topic")
            .map(|topic| (**topic).clone()),
        Some(json!("cats"))
    );
    assert_eq!(lines(&mut stream).await, ["greeter: Yes?"]);
    // Without a message, the first event holds only the keys.
    let mut stream = runner.run_live(&tree, "cats", &queue(&["Go."])).stream();
    let first = stream.next().await.unwrap().unwrap();
    assert!(first.content.is_none() && first.actions.state_delta.get("topic").is_some());
}

#[tokio::test(start_paused = true)]
async fn a_conversation_continues_in_a_session_without_answering_old_messages() {
    let model = ScriptedModel::new().text("Hi.").text("Again.");
    let (runner, tree) = (runner(&model), chat(vec![helper()]));
    let session = runner.session("ann", "s1");
    session
        .run_live(&tree, "", &queue(&["Hello."]))
        .await
        .unwrap();
    let mut stream = session.run_live(&tree, "", &queue(&["Me again."])).stream();
    assert_eq!(
        lines(&mut stream).await,
        ["user: Me again.", "helper: Again."]
    );
    assert_eq!(model.requests()[1].contents.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn limits_of_a_run_cover_all_its_messages() {
    let model = ScriptedModel::new().text("1").repeat_last();
    let tree = chat(vec![helper()]);
    let config = RunConfig::new().max_llm_calls(2);
    let error = runner(&model)
        .run_live(&tree, "", &queue(&["a", "b", "c"]))
        .config(config)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LlmCallsExceeded);
}

#[test]
fn a_closed_queue_refuses_messages() {
    let queue = LiveQueue::new();
    queue.send("a").unwrap();
    assert_eq!(
        queue.send(Content::default()).unwrap_err().kind(),
        ErrorKind::EmptyInput
    );
    assert_eq!(format!("{queue:?}"), "LiveQueue(1 messages, open)");
    queue.close();
    assert!(queue.is_closed());
    assert_eq!(queue.send("b").unwrap_err().kind(), ErrorKind::QueueClosed);
}

async fn error_and_length(tree: &Tree) -> (Error, usize) {
    let runner = runner(&ScriptedModel::new());
    let session = runner.session("ann", "s1");
    let error = session.run_live(tree, "", &queue(&[])).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LiveLoop);
    let stored = session.open().await.unwrap().len();
    (error, stored)
}

#[tokio::test(start_paused = true)]
async fn loops_and_parallel_blocks_are_refused_before_the_run_starts() {
    for (block, word) in [
        (
            repeat("again", Some(1), vec![run(say("a"))]),
            "loop `again`",
        ),
        (
            parallel("both", vec![run(say("a")), run(say("b"))]),
            "parallel block `both`",
        ),
        (
            each("all", "item", "items", vec![run(say("a"))]),
            "each block `all`",
        ),
        (
            sequence("inner", vec![repeat("again", None, vec![run(say("a"))])]),
            "loop `again`",
        ),
    ] {
        let (error, stored) =
            error_and_length(&chat(vec![run(put("p", "items", |_| json!([]))), block])).await;
        assert!(
            error
                .message()
                .starts_with(&format!("live-loop: {word} cannot run live")),
            "{error}"
        );
        assert!(error.help().is_some() && error.path().is_some(), "{error}");
        assert_eq!(stored, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_loop_in_a_nested_workflow_is_found_with_and_without_a_description() {
    let inside = || {
        Tree::with_keys(
            "drafting",
            &[],
            &[],
            vec![repeat("again", Some(1), vec![run(say("a"))])],
        )
    };
    let inner: Arc<dyn DynAgent> = Arc::new(inside());
    // The trees of the tests copy descriptions without inner steps, so the run itself detects the
    // loop.
    let (error, _) = error_and_length(&chat(vec![run(inner)])).await;
    assert_eq!(error.path().unwrap().to_string(), "chat/drafting/again");
    assert!(
        error
            .message()
            .starts_with("live-loop: loop `again` cannot run live"),
        "{error}"
    );
    let (error, _) = error_and_length(&inside()).await;
    assert_eq!(error.path().unwrap().to_string(), "drafting");
    assert!(
        error
            .message()
            .starts_with("live-loop: loop `again` cannot run live"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn trees_of_the_builders_run_live_unless_they_contain_such_a_block() {
    let agent = || LlmAgent::builder("helper").instruction("Help.");
    let model = ScriptedModel::new().text("Yes.").repeat_last();
    let root = SequentialAgent::builder("root")
        .sub_agent(agent())
        .build()
        .unwrap();
    let mut stream = runner(&model)
        .run_live(&root, Content::default(), &queue(&["Hi."]))
        .stream();
    assert_eq!(lines(&mut stream).await, ["user: Hi.", "helper: Yes."]);
    let blank = runner(&model)
        .run_live(&root, " ", &queue(&["Hi."]))
        .await
        .unwrap_err();
    assert_eq!(blank.kind(), ErrorKind::EmptyInput);
    assert!(
        blank.help().unwrap().contains("`Content::default()`"),
        "{blank}"
    );
    let alone: Arc<dyn DynAgent> = Arc::new(agent().build().unwrap());
    let mut stream = runner(&model)
        .run_live(&*alone, Content::user("Hi."), &queue(&[]))
        .stream();
    assert_eq!(lines(&mut stream).await, ["user: Hi.", "helper: Yes."]);

    let inner = LoopAgent::builder("again")
        .max_iterations(1)
        .sub_agent(agent());
    let outer: Arc<dyn DynAgent> = Arc::new(
        SequentialAgent::builder("root")
            .sub_agent(inner)
            .build()
            .unwrap(),
    );
    let runner = runner(&model);
    let session = runner.session("ann", "s1");
    let error = session
        .run_live(outer.clone(), Content::user("Hi."), &queue(&[]))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LiveLoop, "{error}");
    assert!(
        error.message().starts_with("live-loop: loop `again`"),
        "{error}"
    );
    assert_eq!(session.open().await.unwrap().len(), 0);
}
