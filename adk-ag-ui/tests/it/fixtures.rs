//! The workflows of the tests, their requests, and parts of their events.

use crate::support::{self, Served, send, sse};
use adk::prelude::*;
use adk::testing::ScriptedModel;
use reqwest::StatusCode;
use serde_json::{Value, json};

/// Deletes a file.
#[adk::tool(confirm)]
fn delete(path: String) -> String {
    format!("{path} is gone")
}

/// Counts words.
#[adk::tool]
fn count(text: String) -> usize {
    text.split_whitespace().count()
}

workflow! {
    /// Writes, and counts what it has written.
    pub Writing(topic: String, tone: String = "plain") -> draft: String {
        state user:motto: String;
        state app:limit: Option<u32>;

        /// Writes.
        agent writer -> draft: String {
            instruction: "Write about {topic}, {tone}, as {user:motto}.",
            tools: [count],
        }
        writer
    }
}

workflow! {
    /// Writes in rounds, and asks two critics.
    pub Refining(topic: String) -> draft: String {
        /// Writes.
        agent writer -> draft: String { instruction: "Write about {topic}." }
        /// Looks at the style.
        agent style -> style_notes: String { instruction: "Is {draft} well written?" }
        /// Looks at the facts.
        agent facts -> fact_notes: String { instruction: "Is {draft} true?" }

        refinement: loop(max = 2) <
            writer;
            critics: parallel < style; facts >
        >
    }
}

workflow! {
    /// Deletes files.
    pub Cleaning(wish: String) -> done: String {
        /// Deletes.
        agent cleaner -> done: String { instruction: "Do this: {wish}", tools: [delete] }
        cleaner
    }
}

workflow! {
    /// Hands over and back in nested loops, with a branch that is cancelled and a branch that
    /// fails.
    pub Mixing(topic: String) -> draft: String {
        /// Sorts.
        agent triage -> draft: String {
            instruction: "Sort {topic}.",
            transfer: [billing],
            max_turns: 9,
        }
        /// Knows money.
        agent billing -> draft: String { instruction: "Bill {topic}.", max_turns: 9 }
        /// Looks.
        agent critic { instruction: "Look at {draft}." }

        outer: loop(max = 2) <
            triage;
            inner: loop(max = 2) < parallel(first) < critic; support::hangs > >
        >;
        support::Shouting as loudly;
        parallel(on_error = skip) < critic as again; support::fails >
    }
}

workflow! {
    /// Fails while another branch streams a reply.
    pub Breaking(topic: String) -> draft: String {
        /// Writes.
        agent writer -> draft: String { instruction: "Write about {topic}." }

        parallel < writer; support::fails >
    }
}

/// Starts a server with all workflows and a scripted model.
pub async fn served(model: ScriptedModel) -> Served {
    let runner = adk::Runner::builder().model(model).build().unwrap();
    with(&runner, |server| server).await
}

pub async fn with(
    runner: &adk::Runner,
    more: impl FnOnce(
        adk::server::Server<adk::DefaultProvider, adk::NoResources>,
    ) -> adk::server::Server<adk::DefaultProvider, adk::NoResources>,
) -> Served {
    Served::new(runner, |server| {
        let server = server
            .workflow(Writing::default())
            .workflow(Refining::default());
        let server = server
            .workflow(Cleaning::default())
            .workflow(Mixing::default());
        more(server.workflow(Breaking::default()))
    })
    .await
}

pub fn message(thread: &str, text: &str) -> Value {
    let messages = json!([{"id": "m1", "role": "user", "content": text}]);
    json!({
        "threadId": thread,
        "runId": "r1",
        "messages": messages,
        "state": {},
        "tools": [],
        "context": [],
        "forwardedProps": {},
    })
}

/// Sends a request and returns its events.
pub async fn run(served: &Served, path: &str, body: &Value) -> Vec<Value> {
    let response = served.post(path, body).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    sse(&response.text().await.unwrap())
        .into_iter()
        .map(|(_, _, data)| data)
        .collect()
}

/// Returns a field of all events of a type.
pub fn fields<'e>(events: &'e [Value], kind: &str, field: &str) -> Vec<&'e str> {
    let of_kind = events.iter().filter(|event| event["type"] == kind);
    of_kind
        .map(|event| event[field].as_str().unwrap())
        .collect()
}

pub fn outcome(events: &[Value]) -> &Value {
    &events.last().unwrap()["outcome"]
}

/// Returns the error code of a failed run.
pub fn code(events: &[Value]) -> &str {
    let last = events.last().unwrap();
    assert_eq!(
        (&events[0]["type"], &last["type"]),
        (&json!("RUN_STARTED"), &json!("RUN_ERROR")),
        "{last}"
    );
    last["code"].as_str().unwrap()
}

pub fn resume(thread: &str, entries: Value) -> Value {
    json!({"threadId": thread, "runId": "r2", "messages": [], "resume": entries})
}

/// Waits until the run of a thread has ended or waits, and returns its status.
pub async fn final_status(served: &Served, thread: &str) -> Value {
    let (_, runs) = send(served.get(&format!("/v1/runs?session={thread}"))).await;
    let path = format!(
        "/v1/runs/{}/events?until=pause",
        runs["runs"][0]["run"].as_str().unwrap()
    );
    let rest = served
        .get(&path)
        .header("accept", "text/event-stream")
        .send()
        .await
        .unwrap();
    sse(&rest.text().await.unwrap()).pop().unwrap().2["status"].clone()
}
