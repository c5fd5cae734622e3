//! Long conversations: summaries and windows of the last turns.

use super::*;
use crate::support::{Tree, parallel, run, say};
use adk_build::llm::{COMPACTION_KEY, Compaction, IncludeContents, LlmAgent};
use adk_build::model::{ModelErrorKind, ModelRequest, Usage};
use adk_build::session::EventFilter;
use adk_build::testing::Reply;
use adk_build::{ErrorKind, EventCompaction};

/// Returns the texts of a request, each reduced to its last line.
fn texts(request: &ModelRequest) -> Vec<String> {
    let text =
        |content: &adk_build::Content| content.text().lines().last().unwrap_or_default().to_owned();
    request.contents.iter().map(text).collect()
}

fn chat(compaction: Compaction) -> adk_build::build::LlmAgentBuilder {
    LlmAgent::builder("chat").compact(compaction)
}

async fn says(runner: &Runner, agent: &LlmAgent, texts: &[&str]) {
    let session = runner.session("user", "s");
    for text in texts {
        session.run(agent, *text).await.unwrap();
    }
}

#[tokio::test]
async fn a_summary_replaces_the_events_that_it_covers() {
    let summary = |text: &str| Reply::new().text(text).usage(70, 7);
    let model = ScriptedModel::new()
        .on("chat")
        .text("A")
        .text("B")
        .reply(summary("S1"))
        .text("C")
        .reply(summary("S2"))
        .text("D");
    let agent = chat(Compaction::new().after(3).keep(2)).build().unwrap();
    let runner = runner(&model);
    says(&runner, &agent, &["a", "b", "c", "d"]).await;
    let requests = model.requests();
    let asked: Vec<_> = requests.iter().map(|request| texts(request)).collect();
    assert_eq!(asked[1], ["a", "A", "b"]);
    assert!(requests[2].info.is_summary && requests[2].tools.is_empty());
    assert_eq!(
        requests[2].contents[0].text(),
        "user: a\nchat: A\nuser: b\n"
    );
    assert_eq!(asked[3], ["S1", "B", "c"]);
    // The second summary covers the first one and the conversation after it.
    assert_eq!(
        requests[4].contents[0].text(),
        "Summary of what came before:\nS1\n\nchat: B\nuser: c\n"
    );
    assert_eq!(asked[5], ["S2", "C", "d"]);

    // The log is complete and contains each summary in ADK's form.
    let session = runner
        .session("user", "s")
        .get(&EventFilter::new())
        .await
        .unwrap()
        .unwrap();
    let said: Vec<_> = session.events.iter().map(|event| event.text()).collect();
    assert_eq!(said, ["a", "A", "b", "B", "c", "", "C", "d", "", "D"]);
    let event = &session.events[5];
    let expected = EventCompaction::until(session.events[2].timestamp, "S1");
    assert_eq!(event.actions.compaction.as_deref(), Some(&expected));
    assert_eq!(
        (&*event.author, event.usage()),
        ("chat", Some(&Usage::new(70, 7)))
    );
    let wire = serde_json::to_value(&**event).unwrap()["actions"]["compaction"].clone();
    let end = session.events[2].timestamp as f64 / 1e6;
    let content = json!({"parts": [{"text": "S1"}], "role": "model"});
    assert_eq!(
        wire,
        json!({"startTimestamp": 0.0, "endTimestamp": end, "compactedContent": content})
    );
    let stored = event.to_stored().unwrap();
    assert!(stored.contains("\"compacted_content\":{"), "{stored}");
    assert_eq!(Event::from_stored(&stored).unwrap(), **event);
}

#[tokio::test]
async fn a_call_and_its_result_are_never_separated() {
    // With two calls in one turn, the cut would fall between the second call and its result.
    let model = ScriptedModel::new()
        .on("chat")
        .call("search", json!({"query": "one"}))
        .call("search", json!({"query": "two"}))
        .text("S")
        .text("done");
    let agent = chat(Compaction::new().after(4).keep(1))
        .tool(gives("search", json!(1)))
        .build()
        .unwrap();
    says(&runner(&model), &agent, &["go"]).await;
    let requests = model.requests();
    let transcript = requests[2].contents[0].text();
    assert_eq!(transcript.lines().next(), Some("user: go"));
    assert!(
        transcript.contains("chat called `search` with {\"query\":\"one\"}\n`search` gave "),
        "{transcript}"
    );
    assert!(!transcript.contains("two"), "{transcript}");
    let calls: Vec<_> = requests[3]
        .contents
        .iter()
        .flat_map(|content| content.function_calls())
        .collect();
    let results = requests[3]
        .contents
        .iter()
        .flat_map(|content| content.function_responses())
        .count();
    assert_eq!(
        (calls.len(), results, &calls[0].args["query"]),
        (1, 1, &json!("two"))
    );
}

#[tokio::test]
async fn tokens_of_the_last_call_trigger_a_summary_by_another_model() {
    let model = ScriptedModel::new()
        .on("chat")
        .reply(Reply::new().text("A").usage(90, 20))
        .reply(Reply::new().text("B").usage(90, 1));
    let cheap = ScriptedModel::new().text("S");
    let agent = chat(Compaction::new().after_tokens(100).keep(1))
        .compact_by(cheap.clone())
        .build()
        .unwrap();
    says(&runner(&model), &agent, &["a", "b"]).await;
    assert_eq!(cheap.requests().len(), 1);
    assert_eq!(texts(&model.requests()[1]), ["S", "b"]);
}

#[tokio::test]
async fn a_failed_summary_keeps_the_complete_conversation() {
    let model = ScriptedModel::new().on("chat").text("A").text("B");
    let cheap = ScriptedModel::new().error(ModelErrorKind::InvalidRequest, "too long");
    let agent = chat(Compaction::new().after(2).keep(1))
        .compact_by(cheap)
        .build()
        .unwrap();
    let runner = runner(&model);
    let session = runner.session("user", "s");
    session.run(&agent, "a").await.unwrap();
    let mut stream = session.run(&agent, "b").stream();
    let mut failed = Vec::new();
    while let Some(event) = stream.next().await {
        failed.extend(
            event
                .unwrap()
                .metadata(COMPACTION_KEY)
                .map(|data| data["error"].to_string()),
        );
    }
    assert!(
        matches!(&*failed, [error] if error.contains("too long")),
        "{failed:?}"
    );
    assert_eq!(texts(&model.requests()[1]), ["a", "A", "b"]);
}

#[tokio::test]
async fn a_summary_counts_as_a_model_call() {
    let model = ScriptedModel::new()
        .on("chat")
        .text("A")
        .text("S")
        .text("B");
    let agent = chat(Compaction::new().after(2).keep(1)).build().unwrap();
    let runner = runner(&model);
    says(&runner, &agent, &["a"]).await;
    let again = runner
        .session("user", "s")
        .run(&agent, "b")
        .config(RunConfig::new().max_llm_calls(1));
    assert_eq!(again.await.unwrap_err().kind(), ErrorKind::LlmCallsExceeded);
    let outcome = runner.session("user", "s").run(&agent, "c").await.unwrap();
    assert_eq!(
        outcome.usage.calls, 1,
        "summarized events are not summarized again"
    );
}

#[tokio::test]
async fn a_branch_reads_its_own_summaries_and_shared_ones() {
    let model = ScriptedModel::new()
        .on("left")
        .text("L")
        .text("S of left")
        .text("L2")
        .on("right")
        .text("R")
        .text("R2")
        .on("end")
        .text("S of all")
        .text("E")
        .text("S2")
        .text("E2");
    let llm = |name| {
        run(LlmAgent::builder(name)
            .compact(Compaction::new().after(2).keep(1))
            .build()
            .unwrap())
    };
    let right = run(LlmAgent::builder("right").build().unwrap());
    let tree = Tree::new(
        "w",
        vec![
            parallel("p", vec![llm("left"), right]),
            run(say("x")),
            llm("end"),
        ],
    );
    let runner = runner(&model);
    let session = runner.session("user", "s");
    session.run(&tree, "first").await.unwrap();
    session.run(&tree, "second").await.unwrap();
    let asked = |agent| {
        let requests = model.requests_of(agent).into_iter();
        requests
            .map(|request| (request.info.is_summary, texts(&request).join("|"), request))
            .collect::<Vec<_>>()
    };
    let (left, end) = (asked("left"), asked("end"));
    let said =
        |asked: &[(bool, String, Arc<ModelRequest>)], at: usize| asked[at].2.contents[0].text();
    assert_eq!(
        left.iter()
            .map(|(is_summary, ..)| *is_summary)
            .collect::<Vec<_>>(),
        [false, true, false]
    );
    assert_eq!(
        end.iter()
            .map(|(is_summary, ..)| *is_summary)
            .collect::<Vec<_>>(),
        [true, false, true, false]
    );
    assert!(said(&end, 0).contains("left: L\n") && said(&end, 0).contains("right: R\n"));
    // The branch summarizes its own conversation. After the join, the conversation of all branches
    // is summarized again.
    assert_eq!(
        said(&left, 1),
        "Summary of what came before:\nS of all\n\nx: x\nend: E\n"
    );
    assert_eq!(left[2].1, "S of left|second");
    let all = said(&end, 2);
    assert!(
        all.starts_with("Summary of what came before:\nS of all\n") && all.contains("left: L2\n"),
        "{all}"
    );
}

#[tokio::test]
async fn a_window_shows_the_last_turns() {
    let model = ScriptedModel::new()
        .on("chat")
        .text("A")
        .text("B")
        .text("C");
    let agent = LlmAgent::builder("chat")
        .include_contents(IncludeContents::Last(2))
        .build()
        .unwrap();
    says(&runner(&model), &agent, &["a", "b", "c"]).await;
    assert_eq!(texts(&model.requests()[1]), ["a", "A", "b"]);
    assert_eq!(texts(&model.requests()[2]), ["b", "B", "c"]);
}

#[test]
fn contradictory_settings_are_faults() {
    let faults = |agent: adk_build::build::LlmAgentBuilder| agent.build().unwrap_err().to_string();
    let both = chat(Compaction::new().after(40)).include_contents(IncludeContents::None);
    for (agent, fault) in [
        (
            chat(Compaction::new()),
            "agent `chat`: `compact` has no condition",
        ),
        (
            chat(Compaction::new().after(5)),
            "`after` is not more than `keep`, which is 10",
        ),
        (chat(Compaction::new().after(5).keep(0)), "`keep` is 0"),
        (both, "`include_contents` shows only the newest turns"),
        (
            LlmAgent::builder("a").include_contents(IncludeContents::Last(0)),
            "the last 0 turns",
        ),
    ] {
        let message = faults(agent);
        assert!(message.contains(fault), "{message}");
    }
    let agent = chat(Compaction::new().after(40)).build().unwrap();
    assert!(
        adk_build::DynAgent::meta(&agent).compacts,
        "bounds count the summary"
    );
}

#[tokio::test]
async fn a_long_result_becomes_an_artifact_with_a_preview_in_the_request() {
    let text = "é".repeat(40);
    let model = ScriptedModel::new()
        .on("a")
        .calls([("long", json!({})), ("short", json!({}))])
        .text("done");
    let agent = LlmAgent::builder("a")
        .tool(gives("long", json!(text)))
        .tool(gives("short", json!([1])));
    let agent = agent
        .tool(gives("load_artifacts", json!(1)))
        .build()
        .unwrap();
    let config = config().max_tool_result(41);
    let runner: Runner = Runner::builder()
        .model(model.clone())
        .config(config)
        .build()
        .unwrap();
    let session = runner.session("user", "s");
    session.run(&agent, "go").await.unwrap();
    let results: Vec<_> = model.requests()[1]
        .contents
        .iter()
        .flat_map(|content| content.function_responses())
        .cloned()
        .collect();
    assert_eq!(
        results[1].response,
        json!({"result": [1]}).as_object().unwrap().clone()
    );
    assert_eq!(results[0].response["result"], json!("é".repeat(20)));
    let note = results[0].response["truncated"].as_str().unwrap();
    assert!(
        note.starts_with("These are the first 40 of 80 bytes. ")
            && note.contains("`load_artifacts`"),
        "{note}"
    );
    let name = note.split('`').nth(1).unwrap();
    let events = session
        .get(&EventFilter::new())
        .await
        .unwrap()
        .unwrap()
        .events;
    assert!(
        events
            .iter()
            .any(|event| event.actions.artifact_delta == [(adk_build::Name::shared(name), 0)])
    );
    let saved = session.load_artifact(name).await.unwrap();
    assert_eq!(saved, Some(adk_build::Part::text(&*text)));
}
