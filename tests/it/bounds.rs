//! Bounds: declarations that exceed them are rejected, and each run is limited by them.

use adk::engine::MemoryJournal;
use adk::prelude::*;
use adk::session::{MemoryStore, SessionStore};
use adk::testing::ScriptedModel;
use adk::{AgentTool, ErrorKind};
use std::sync::Arc;

/// Searches.
#[tool]
fn search() -> &'static str {
    "nothing"
}

workflow! {
    /// Answers a question.
    #[bounds(model_calls = 1)]
    pub Desk(question: String) -> answer: String {
        agent clerk -> answer: String { instruction: "Answer {question}." }

        clerk
    }
}

fn search_model() -> ScriptedModel {
    ScriptedModel::new()
        .calls([("search", serde_json::json!({}))])
        .repeat_last()
}

#[tokio::test]
async fn an_undeclared_tool_is_refused_before_any_call() {
    let model = search_model();
    let runner = Runner::builder().model(model.clone()).build().unwrap();
    let mut desk = Desk::default();
    desk.clerk.add_tool(search::default());
    let error = runner.run(&desk, "Why?").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unchecked);
    assert_eq!(
        error.to_string(),
        "agent `clerk` (at desk/clerk): `add_tool` gave tool `search` to agent `clerk`, but its \
         declaration does not allow more tools; help: list it in `tools`, or write `tools: [..]` \
         there"
    );
    assert!(model.requests().is_empty());
}

workflow! {
    /// Answers a question with tools of the caller.
    #[bounds(model_calls = 3)]
    pub OpenDesk(question: String) -> answer: String {
        agent clerk -> answer: String {
            instruction: "Answer {question}.",
            tools: [..],
            max_turns: 3,
        }

        clerk
    }
}

#[tokio::test]
async fn tools_may_be_added_if_the_declaration_allows_them() {
    assert_eq!(OpenDesk::SPEC.bounds().model_calls, Some(3));
    let model = ScriptedModel::new()
        .call("search", serde_json::json!({}))
        .text("So.");
    let runner = Runner::builder().model(model.clone()).build().unwrap();
    let mut desk = OpenDesk::default();
    desk.clerk.add_tool(search::default());
    assert_eq!(runner.run(&desk, "Why?").await.unwrap().output, "So.");
    assert_eq!(model.requests().len(), 2);
    // `max_turns` does not limit the calls that the agent tool itself makes.
    desk.clerk.add_tool(AgentTool::new(
        adk::llm::LlmAgent::builder("helper").build().unwrap(),
    ));
    assert_eq!(
        runner.run(&desk, "Why?").await.unwrap_err().kind(),
        ErrorKind::Unchecked
    );
}

workflow! {
    /// Polishes a text.
    pub Polishing(text: String) -> text: String {
        agent editor -> text: String { instruction: "Polish {text}." }

        polish: loop(max = 2) < editor >
    }
}

#[tokio::test]
async fn a_callback_that_may_skip_a_block_must_be_declared() {
    let model = ScriptedModel::new().text("Better.").repeat_last();
    let runner = Runner::builder().model(model.clone()).build().unwrap();
    let mut polishing = Polishing::default();
    polishing
        .polish
        .add_before_agent(|_: &mut adk::CallbackContext| {});
    assert_eq!(
        runner.run(&polishing, "A text.").await.unwrap().output,
        "Better."
    );
    polishing
        .polish
        .add_before_agent(|_: &mut adk::CallbackContext| Some("It is good."));
    let error = runner.run(&polishing, "A text.").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unchecked);
    assert!(
        error
            .to_string()
            .contains("gave block `polish` a callback that may answer in its place"),
        "{error}"
    );
    assert_eq!(model.requests().len(), 2);
}

/// Returns three tool calls for one reply.
fn search_calls() -> [(&'static str, serde_json::Value); 3] {
    std::array::from_fn(|_| ("search", serde_json::json!({})))
}

workflow! {
    /// Answers a question, in rounds.
    #[bounds(model_calls = 2, tool_calls = 4, rounds = 6)]
    pub Limited(question: String) -> answer: String {
        agent clerk -> answer: String {
            instruction: "Answer {question}.",
            tools: [search],
            max_turns: 2,
        }

        clerk
    }
}

#[tokio::test]
async fn a_tool_call_over_the_bound_is_not_made() {
    let model = ScriptedModel::new()
        .calls(search_calls())
        .calls(search_calls())
        .repeat_last();
    let runner = Runner::builder().model(model.clone()).build().unwrap();
    let session = runner.session("u", "s");
    let error = session.run(&Limited::default(), "Why?").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BoundsExceeded);
    assert_eq!(
        error.to_string(),
        "agent `clerk` (at limited/clerk): workflow `limited` has used up the 4 tool calls of its \
         `#[bounds(tool_calls = 4)]`; help: raise `tool_calls`, or find the cause in the events of \
         the run"
    );
    let responses: usize = session
        .open()
        .await
        .unwrap()
        .events()
        .map(|event| event.function_responses().count())
        .sum();
    assert_eq!(responses, 3, "what was committed stays");
}

/// A model that calls an unknown tool is called again, more often than a check can predict.
#[tokio::test]
async fn model_calls_are_limited_where_no_check_can_count_them() {
    let model = ScriptedModel::new()
        .call("nothing", serde_json::json!({}))
        .repeat_last();
    let runner = Runner::builder().model(model.clone()).build().unwrap();
    let error = runner.run(&Desk::default(), "Why?").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BoundsExceeded);
    assert!(
        error
            .to_string()
            .contains("has used up the 1 model call of its `#[bounds(model_calls = 1)]`"),
        "{error}"
    );
    assert_eq!(model.requests().len(), 1);
}

workflow! {
    /// Drafts three times in parallel.
    #[bounds(tokens = 50)]
    pub Drafting(topics: Vec<String>) -> note: Vec<String> {
        agent writer -> note: String { instruction: "Write about {topic}." }

        each(max = 3) topic in topics < writer >
    }
}

fn costly(tokens: u64) -> adk::testing::Reply {
    adk::testing::Reply::new().text("Text.").usage(tokens, 0)
}

#[tokio::test]
async fn tokens_are_counted_over_parallel_branches() {
    let topics = || vec!["a".to_owned(), "b".to_owned(), "c".to_owned()];
    let model = ScriptedModel::new().reply(costly(10)).repeat_last();
    let runner = Runner::builder().model(model).build().unwrap();
    assert_eq!(
        runner
            .run(&Drafting::default(), topics())
            .await
            .unwrap()
            .output
            .len(),
        3
    );
    let model = ScriptedModel::new().reply(costly(20)).repeat_last();
    let runner = Runner::builder().model(model).build().unwrap();
    let error = runner
        .run(&Drafting::default(), topics())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BoundsExceeded);
    assert!(
        error
            .to_string()
            .contains("has used up the 50 tokens of its `#[bounds(tokens = 50)]`"),
        "{error}"
    );
}

/// Never returns.
#[tool]
async fn hangs() {
    std::future::pending::<()>().await;
}

workflow! {
    /// Waits for a tool that hangs.
    #[bounds(time = "10m")]
    pub Hanging(question: String) -> answer: String {
        agent clerk -> answer: String { instruction: "Answer {question}.", tools: [hangs] }

        clerk
    }
}

workflow! {
    /// Runs the waiting workflow as a step.
    pub Around(question: String) -> answer: String {
        Hanging
    }
}

#[tokio::test(start_paused = true)]
async fn a_hanging_tool_ends_at_the_time_bound() {
    let model = ScriptedModel::new()
        .call("hangs", serde_json::json!({}))
        .repeat_last();
    let runner = Runner::builder().model(model).build().unwrap();
    let before = tokio::time::Instant::now();
    let error = runner.run(&Hanging::default(), "Why?").await.unwrap_err();
    assert_eq!(before.elapsed().as_secs(), 600);
    assert_eq!(error.kind(), ErrorKind::BoundsExceeded);
    assert_eq!(
        error.to_string(),
        "agent `hanging` (at hanging): workflow `hanging` takes longer than 600s, the `time` of \
         its `#[bounds(...)]`; help: raise `time`, or find the cause in the events of the run"
    );
    let error = runner.run(&Around::default(), "Why?").await.unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("agent `hanging` (at around/hanging): workflow `hanging` takes"),
        "{error}"
    );
}

workflow! {
    /// Runs workflows that have their own bounds.
    #[bounds(model_calls = 4, rounds = 2)]
    pub Office(question: String) -> answer: String {
        loop(max = 2) < Limited >
    }
}

#[tokio::test]
async fn a_nested_workflow_is_limited_by_its_own_and_the_outer_bounds() {
    assert_eq!(Office::SPEC.bounds().model_calls, Some(4));
    let model = ScriptedModel::new()
        .call("search", serde_json::json!({}))
        .text("A.")
        .call("search", serde_json::json!({}))
        .text("B.");
    let runner = Runner::builder().model(model).build().unwrap();
    let outcome = runner.run(&Office::default(), "Why?").await.unwrap();
    assert_eq!(
        (
            outcome.output.as_str(),
            outcome.usage.calls,
            outcome.usage.tool_calls
        ),
        ("B.", 4, 2)
    );
}

workflow! {
    /// Drafts in a workflow that has its own bounds, and reviews the notes after it.
    #[bounds(tokens = 100)]
    pub Press(topics: Vec<String>) -> review: String {
        agent critic -> review: String { instruction: "Review {note}." }

        Drafting;
        critic
    }
}

#[tokio::test]
async fn outer_bounds_count_after_a_nested_workflow_that_has_its_own() {
    let model = ScriptedModel::new().reply(costly(45)).reply(costly(60));
    let runner = Runner::builder().model(model).build().unwrap();
    let topics = vec!["a".to_owned()];
    let error = runner.run(&Press::default(), topics).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BoundsExceeded);
    assert!(
        error
            .to_string()
            .contains("has used up the 100 tokens of its `#[bounds(tokens = 100)]`"),
        "{error}"
    );
}

/// Pays.
#[tool(confirm)]
fn pay() -> &'static str {
    "paid"
}

workflow! {
    /// Pays a bill.
    #[bounds(tokens = 25)]
    pub Paying(bill: String) -> answer: String {
        agent reader -> sum: String { instruction: "How much is {bill}?" }
        agent payer -> answer: String { instruction: "Pay {sum}.", tools: [pay], max_turns: 3 }

        reader;
        payer
    }
}

#[tokio::test]
async fn recorded_calls_count_when_a_run_is_resumed() {
    let model = |last: u64| {
        let calls = adk::testing::Reply::new()
            .call("pay", serde_json::json!({}))
            .usage(10, 0);
        let last = adk::testing::Reply::new().text("Done.").usage(last, 0);
        ScriptedModel::new()
            .reply(costly(10))
            .reply(calls)
            .reply(last)
    };
    for (last, fits) in [(5, true), (6, false)] {
        // Another process resumes the run each time.
        let sessions: Arc<dyn SessionStore> = Arc::new(MemoryStore::default());
        let engine = MemoryJournal::new();
        let model = model(last);
        let runner = || {
            let runner = Runner::builder()
                .session_store(sessions.clone())
                .engine(engine.clone());
            runner.model(model.clone()).build().unwrap()
        };
        let paused = runner()
            .run(&Paying::default(), "a bill")
            .await
            .unwrap_err();
        assert_eq!(paused.kind(), ErrorKind::Paused);
        let waiting = runner().waiting().await.unwrap().remove(0);
        runner().answer(&waiting.id, true).await.unwrap();
        let ended = runner().resume(&Paying::default(), waiting.run_id).await;
        assert_eq!(model.requests().len(), 3, "no call was made twice");
        match ended {
            Ok(outcome) => assert!(fits && outcome.usage.total_tokens() == 25, "{outcome:?}"),
            Err(error) => assert!(
                !fits && error.kind() == ErrorKind::BoundsExceeded,
                "{error}"
            ),
        }
    }
}

workflow! {
    /// A workflow that is known to end.
    #[bounds(ends, model_calls = 4, tokens = 800, time = "1h")]
    pub Ending(question: String) -> answer: String {
        agent clerk -> answer: String {
            instruction: "Answer {question}.",
            timeout: "30s",
            retry: 0,
            max_output_tokens: 200,
        }

        loop(max = 2) < clerk >
        parallel < clerk as second -> left; clerk as third -> right >
    }
}

#[test]
fn bounds_are_shown_as_a_table() {
    assert_eq!(
        Ending::SPEC.bounds().to_string(),
        "model calls  4          loop `loop_1`: 2, 1 in each of 2 rounds\n\
         rounds       2          loop `loop_1`: 2, 1 in each of 2 rounds\n\
         tool calls   0\n\
         tokens       800        loop `loop_1`: 400, 200 in each of 2 rounds\n\
         time         1 min 30 s loop `loop_1`: 1 min, 30 s in each of 2 rounds\n\
         ends         at most 4 calls, 1 min 30 s"
    );
    let table = Hanging::SPEC.bounds().to_string();
    assert!(
        table.ends_with("ends         not known: agent `clerk` has tools and no `max_turns`"),
        "{table}"
    );
}

/// Takes any time.
#[agent(writes = facts)]
async fn look_up(question: &str) -> String {
    question.to_owned()
}

workflow! {
    /// An agent without its own limit has the limit of the enclosing `try`.
    #[bounds(ends)]
    pub LookingUp(question: String) -> facts: String {
        try(attempts = 2, timeout = "20s", delay = "1s") < look_up >
    }
}

#[test]
fn an_attempt_takes_no_longer_than_its_timeout() {
    let bounds = LookingUp::SPEC.bounds();
    assert_eq!(
        bounds.time,
        Some(std::time::Duration::from_secs(2 * 20 + 1))
    );
    assert!(
        bounds
            .to_string()
            .ends_with("ends         at most 0 calls, 41 s"),
        "{bounds}"
    );
}
