//! Remote agents as steps. Each test defines the replies of the remote agent.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod support;

use adk::a2a::{RemoteAgentBuilder, remote};
use adk::engine::{MemoryJournal, RunFilter};
use adk::prelude::*;
use adk::session::{MemoryStore, SessionStore};
use adk::{DynAgent, Error, ErrorKind, RemoteErrorKind};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use support::{Agent, Reply, artifact, task, waiting};

workflow! {
    pub Writing(topic: String) -> text: String {
        agent writer(topic: String) -> text: String as Arc<dyn DynAgent>;
        writer
    }
}

/// The verdict of an agent on a text.
#[adk::data]
#[derive(PartialEq)]
pub struct Verdict {
    /// From 0 to 1.
    pub score: f64,
}

workflow! {
    pub Judging(topic: String, times: u32) -> verdict: Verdict {
        agent judge(topic: String, times: u32) -> verdict: Verdict as Arc<dyn DynAgent>;
        judge
    }
}

fn writer(agent: &Agent) -> RemoteAgentBuilder {
    remote(agent.url())
        .name("writer")
        .reads::<String>("topic")
        .writes::<String>("text")
}

fn writing(agent: RemoteAgentBuilder) -> Writing {
    Writing::new(Arc::new(agent.build().unwrap())).unwrap()
}

async fn run(agent: RemoteAgentBuilder) -> adk::Result<String> {
    let runner = Runner::builder().build()?;
    Ok(runner.run(&writing(agent), "cats").await?.output)
}

#[tokio::test]
async fn an_agent_sends_a_text_and_writes_the_answer() {
    let agent = Agent::new(false, |_, _| {
        let parts = json!([{"text": "A cat "}, {"text": "sat."}]);
        let message = json!({"messageId": "r", "role": "ROLE_AGENT", "parts": parts});
        Reply::Result(json!({ "message": message }))
    });
    let agent = agent.await;
    assert_eq!(
        run(writer(&agent).bearer("sesame")).await.unwrap(),
        "A cat sat."
    );
    let calls = agent.calls();
    assert_eq!(calls.len(), 1);
    let (method, params, headers) = &calls[0];
    assert_eq!(method, "SendMessage");
    assert_eq!(
        params["message"]["parts"],
        json!([{"text": "cats", "mediaType": "text/plain"}])
    );
    assert_eq!(
        (&params["message"]["role"], &params["tenant"]),
        (&json!("ROLE_USER"), &json!("t"))
    );
    assert_eq!(
        params["configuration"],
        json!({"historyLength": 0, "returnImmediately": true})
    );
    assert_eq!(
        (&headers["a2a-version"], &headers["authorization"]),
        (&"1.0".parse().unwrap(), &"Bearer sesame".parse().unwrap())
    );
}

#[tokio::test]
async fn several_keys_are_sent_as_data() {
    let agent = Agent::new(false, |method, _| match method {
        "SendMessage" => Reply::Result(json!({"task": task("TASK_STATE_SUBMITTED")})),
        _ => {
            let mut done = task("TASK_STATE_COMPLETED");
            let data = json!({"score": 0.5});
            done["artifacts"] =
                json!([{"artifactId": "a", "parts": [{"text": "It is fair."}, {"data": data}]}]);
            Reply::Result(done)
        }
    });
    let agent = agent.await;
    let judge = remote(agent.url())
        .name("judge")
        .reads::<String>("topic")
        .reads::<u32>("times");
    let judge = judge.writes::<Verdict>("verdict").build().unwrap();
    let runner = Runner::builder().build().unwrap();
    let input = JudgingInput {
        topic: "cats".into(),
        times: 3,
    };
    let output = runner
        .run(&Judging::new(Arc::new(judge)).unwrap(), input)
        .await
        .unwrap()
        .output;
    assert_eq!(output, Verdict { score: 0.5 });
    assert_eq!(agent.methods(), ["SendMessage", "GetTask"]);
    assert_eq!(
        agent.calls()[0].1["message"]["parts"][0]["data"],
        json!({"topic": "cats", "times": 3})
    );
}

#[tokio::test]
async fn text_is_emitted_as_it_arrives() {
    let agent = Agent::new(true, |method, _| match method {
        "SendMessage" => Reply::Result(json!({"task": task("TASK_STATE_WORKING")})),
        "SubscribeToTask" => Reply::Stream(vec![
            json!({"task": task("TASK_STATE_WORKING")}),
            artifact("A cat", false),
            artifact(" sat.", true),
            artifact("A cat sat.", false),
            json!({"statusUpdate": {"taskId": "t1", "status": {"state": "TASK_STATE_COMPLETED"}}}),
        ]),
        _ => {
            let mut done = task("TASK_STATE_COMPLETED");
            done["artifacts"] = json!([{"artifactId": "a", "parts": [{"text": "A cat sat."}]}]);
            Reply::Result(done)
        }
    });
    let agent = agent.await;
    let (runner, writing) = (Runner::builder().build().unwrap(), writing(writer(&agent)));
    let mut stream = runner.run(&writing, "cats").stream();
    let mut texts = Vec::new();
    while let Some(event) = stream.next().await {
        let event = event.unwrap();
        if &*event.author == "writer" {
            texts.push((event.partial, event.text()));
        }
    }
    assert_eq!(
        texts,
        [
            (true, "A cat".into()),
            (true, " sat.".into()),
            (false, "A cat sat.".into())
        ]
    );
    assert_eq!(
        agent.methods(),
        ["SendMessage", "SubscribeToTask", "GetTask"]
    );
}

#[tokio::test]
async fn a_lost_connection_is_reestablished() {
    let (subscribed, asked) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let agent = Agent::new(true, move |method, _| match method {
        "SendMessage" => Reply::Result(json!({"task": task("TASK_STATE_WORKING")})),
        "SubscribeToTask" => {
            let mut now = task("TASK_STATE_WORKING");
            if subscribed.fetch_add(1, Relaxed) == 0 {
                return Reply::Stream(vec![json!({ "task": now }), artifact("A cat", false)]);
            }
            now["artifacts"] = json!([{"artifactId": "a", "parts": [{"text": "A cat"}]}]);
            Reply::Stream(vec![json!({ "task": now }), artifact(" sat.", true)])
        }
        "GetTask" => match asked.fetch_add(1, Relaxed) {
            0 => Reply::Status(503),
            _ => {
                let mut done = task("TASK_STATE_COMPLETED");
                done["artifacts"] = json!([{"artifactId": "a", "parts": [{"text": "A cat sat."}]}]);
                Reply::Result(done)
            }
        },
        _ => Reply::Hang,
    });
    let agent = agent.await;
    let (runner, writing) = (Runner::builder().build().unwrap(), writing(writer(&agent)));
    let mut stream = runner.run(&writing, "cats").stream();
    let mut pieces = Vec::new();
    while let Some(event) = stream.next().await {
        let event = event.unwrap();
        if event.partial {
            pieces.push(event.text());
        }
    }
    assert_eq!(pieces, ["A cat", " sat."]);
    assert_eq!(
        agent.methods(),
        [
            "SendMessage",
            "SubscribeToTask",
            "GetTask",
            "SubscribeToTask",
            "GetTask"
        ]
    );
}

/// Returns the error for an agent with these replies. The address and the token of the client are
/// secret.
async fn failure(answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Error {
    let agent = Agent::new(false, move |method, _| answer(method)).await;
    let url = agent.url().replace("http://", "http://ann:sesame-1@") + "?key=sesame-2";
    let agent = remote(url)
        .bearer("sesame-3")
        .header("x-key", "sesame-4")
        .name("writer");
    run(agent.reads::<String>("topic").writes::<String>("text"))
        .await
        .unwrap_err()
}

/// Asserts that an error of the agent `writer` has a kind, words and a help, and no secret.
fn is_explained(error: &Error, kind: RemoteErrorKind, words: &str) {
    let text = format!("{error:?}");
    assert_eq!(error.kind(), ErrorKind::Remote(kind), "{text}");
    let is_retryable = kind == RemoteErrorKind::Unavailable;
    assert_eq!(error.is_retryable(), is_retryable, "{text}");
    let agent =
        "agent `writer` (at writing/writer): the remote agent `writer` at http://127.0.0.1:";
    assert!(text.contains(agent), "{text}");
    assert!(text.contains(words) && text.contains("help: "), "{text}");
    assert!(!text.contains("sesame"), "{text}");
}

#[tokio::test]
async fn errors_name_the_agent_and_a_remedy_and_contain_no_secret() {
    use RemoteErrorKind::{Failed, Refused, Unauthorized, Unavailable};
    let ended = |state: &'static str| {
        move |_: &str| {
            let mut ended = task(state);
            let text = "no: sesame-3 at ?key=sesame-2";
            ended["status"]["message"] =
                json!({"messageId": "r", "role": "ROLE_AGENT", "parts": [{"text": text}]});
            Reply::Result(json!({ "task": ended }))
        }
    };
    let status = |code: u16| move |_: &str| Reply::Status(code);
    let rpc = |code: i64| move |_: &str| Reply::Error(code, "sesame-4 and Bearer sesame-3");
    for (error, kind, words) in [
        (
            failure(ended("TASK_STATE_FAILED")).await,
            Failed,
            "has failed: no:",
        ),
        (
            failure(ended("TASK_STATE_CANCELED")).await,
            Failed,
            "cancelled",
        ),
        (
            failure(ended("TASK_STATE_REJECTED")).await,
            Refused,
            "rejected the task",
        ),
        (
            failure(ended("TASK_STATE_AUTH_REQUIRED")).await,
            Unauthorized,
            "`.bearer(...)`",
        ),
        (failure(status(401)).await, Unauthorized, "`.bearer(...)`"),
        (failure(status(503)).await, Unavailable, "503"),
        (failure(status(429)).await, Unavailable, "429"),
        (failure(status(404)).await, Refused, "it has no agent"),
        (
            failure(status(302)).await,
            Refused,
            "does not follow redirects",
        ),
        (failure(rpc(-32602)).await, Refused, "code -32602"),
        (failure(rpc(-32603)).await, Failed, "code -32603"),
    ] {
        is_explained(&error, kind, words);
    }
}

#[tokio::test]
async fn invalid_answers_and_cards_are_explained() {
    use RemoteErrorKind::{Invalid, Refused};
    let result = |value: Value| move |_: &str| Reply::Result(value.clone());
    let status = json!({"statusUpdate": {"taskId": "t", "status": {"state": "x"}}});
    for (error, kind, words) in [
        (
            failure(|_| Reply::Text("<html>sesame-1")).await,
            Invalid,
            "invalid JSON-RPC",
        ),
        (
            failure(result(json!({"other": 1}))).await,
            Invalid,
            "not valid A2A",
        ),
        (failure(result(status)).await, Invalid, "neither a task"),
        (
            failure(|_| Reply::Card(json!({"name": "x", "supportedInterfaces": []}))).await,
            Refused,
            "no interface of A2A 1.0",
        ),
        (
            failure(|_| Reply::Card(json!([]))).await,
            Invalid,
            "has an invalid card",
        ),
        (
            failure(|_| {
                let there = json!({
                    "url": "http://evil.example/",
                    "protocolBinding": "JSONRPC",
                    "protocolVersion": "1.0",
                });
                Reply::Card(json!({"name": "x", "supportedInterfaces": [there]}))
            })
            .await,
            Refused,
            "`evil.example`",
        ),
    ] {
        is_explained(&error, kind, words);
    }
}

#[tokio::test]
async fn errors_of_addresses_and_headers_contain_no_secret() {
    let gone = remote("http://ann:sesame-1@127.0.0.1:1/?key=sesame-2").name("writer");
    let error = run(gone.reads::<String>("topic").writes::<String>("text"))
        .await
        .unwrap_err();
    assert_eq!(
        error.kind(),
        ErrorKind::Remote(RemoteErrorKind::Unavailable)
    );
    assert!(
        format!("{error:?}").contains("cannot be reached")
            && !format!("{error:?}").contains("sesame"),
        "{error:?}"
    );

    for (url, header) in [("writer", "x"), ("ftp://h/", "x"), ("http://h/", "a b")] {
        let error = remote(url).header(header, "sesame-1").build().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        assert!(
            error.help().is_some() && !format!("{error:?}").contains("sesame"),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn an_answer_of_another_type_is_refused() {
    let answer = |_: &str, _: &Value| {
        let message = json!({"messageId": "r", "role": "ROLE_AGENT", "parts": [{"text": "fair"}]});
        Reply::Result(json!({ "message": message }))
    };
    let agent = Agent::new(false, answer).await;
    let judge = remote(agent.url())
        .name("judge")
        .reads::<String>("topic")
        .reads::<u32>("times");
    let judge = judge.writes::<Verdict>("verdict").build().unwrap();
    let runner = Runner::builder().build().unwrap();
    let input = JudgingInput {
        topic: "cats".into(),
        times: 3,
    };
    let error = runner
        .run(&Judging::new(Arc::new(judge)).unwrap(), input)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutputInvalid, "{error}");
    assert!(error.to_string().contains("for `verdict`"), "{error}");
}

#[tokio::test]
async fn a_task_that_exceeds_its_timeout_is_cancelled() {
    let agent = Agent::new(false, |method, _| match method {
        "SendMessage" => Reply::Result(json!({"task": task("TASK_STATE_WORKING")})),
        "CancelTask" => Reply::Result(task("TASK_STATE_CANCELED")),
        _ => Reply::Hang,
    });
    let mut agent = agent.await;
    let timeout = Duration::from_secs(20);
    let run = run(writer(&agent).timeout(timeout));
    let passes = async {
        agent.wait_for("GetTask").await;
        tokio::time::pause();
        tokio::time::advance(timeout).await;
        tokio::time::resume();
    };
    let error = tokio::join!(run, passes).0.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert!(
        error.is_retryable() && error.to_string().contains("`.timeout(...)`"),
        "{error}"
    );
    assert_eq!(agent.methods(), ["SendMessage", "GetTask", "CancelTask"]);
}

#[tokio::test]
async fn a_resumed_run_asks_for_its_task() {
    let mut agent = Agent::new(true, |method, params| match method {
        "SendMessage" => Reply::Result(json!({"task": task("TASK_STATE_WORKING")})),
        "SubscribeToTask" | "card" => Reply::Hang,
        _ => {
            assert_eq!(params["id"], "t1");
            let mut done = task("TASK_STATE_COMPLETED");
            done["artifacts"] = json!([{"artifactId": "a", "parts": [{"text": "A cat sat."}]}]);
            Reply::Result(done)
        }
    })
    .await;
    let (journal, sessions): (_, Arc<dyn SessionStore>) =
        (MemoryJournal::new(), Arc::new(MemoryStore::new()));
    let runner = || {
        let runner = Runner::builder()
            .session_store(sessions.clone())
            .engine(journal.clone())
            .workflow(writing(writer(&agent)));
        runner.build().unwrap()
    };
    let (first, second) = (runner(), runner());
    let session = first.session("ann", "s");
    let workflow = writing(writer(&agent));
    let killed = tokio::spawn(async move {
        session
            .run(&workflow, "cats")
            .await
            .map(|outcome| outcome.output)
    });
    // The run records the task before it subscribes to it.
    agent.wait_for("SubscribeToTask").await;
    killed.abort();
    assert!(killed.await.unwrap_err().is_cancelled());
    agent.stop_hanging();
    drop(first);
    let recovered = second.recover().await.unwrap();
    assert_eq!(recovered.len(), 1);
    recovered.into_iter().next().unwrap().result.unwrap();
    let sent = agent
        .methods()
        .into_iter()
        .filter(|method| method == "SendMessage")
        .count();
    assert_eq!(sent, 1, "{:?}", agent.methods());
    let run = &second.runs(&RunFilter::finished()).await.unwrap()[0];
    assert_eq!(run.workflow, "writing");
}

#[tokio::test]
async fn a_retried_run_sends_the_message_of_a_failed_task_again() {
    let agent = Agent::new(false, |method, params| {
        match (method, params["id"].as_str()) {
            ("SendMessage", _) => Reply::Result(json!({"task": task("TASK_STATE_WORKING")})),
            _ => Reply::Count(Box::new(|count| {
                // The task has failed, and still has when the run is resumed. After the repeated
                // message it completes.
                let mut now = task(if count < 2 {
                    "TASK_STATE_FAILED"
                } else {
                    "TASK_STATE_COMPLETED"
                });
                now["status"]["message"] =
                    json!({"messageId": "r", "role": "ROLE_AGENT", "parts": [{"text": "done"}]});
                now
            })),
        }
    });
    let agent = agent.await;
    let runner = Runner::builder()
        .engine(MemoryJournal::new())
        .workflow(writing(writer(&agent)))
        .build()
        .unwrap();
    let error = runner
        .run(&writing(writer(&agent)), "cats")
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Remote(RemoteErrorKind::Failed));
    let run = runner.runs(&RunFilter::failed()).await.unwrap()[0].run_id;
    runner.retry(run).await.unwrap().result.unwrap();
    assert_eq!(
        agent.methods(),
        [
            "SendMessage",
            "GetTask",
            "GetTask",
            "SendMessage",
            "GetTask"
        ]
    );
    let ids: Vec<_> = agent
        .calls()
        .iter()
        .filter(|call| call.0 == "SendMessage")
        .map(|call| call.1["message"]["messageId"].clone())
        .collect();
    assert_eq!(ids[0], ids[1], "the agent can detect the repeated message");
}

#[tokio::test]
async fn a_question_of_a_task_is_a_wait_of_the_run() {
    answer_a_question(|| Reply::Result(json!({"task": task("TASK_STATE_WORKING")}))).await;
}

#[tokio::test]
async fn an_answer_that_an_earlier_process_sent_counts() {
    answer_a_question(|| Reply::Error(-32004, "the task does not wait for a message")).await;
}

/// Runs a task that asks a question, and answers it in another process. `reply` is the agent's
/// reply to the answer.
async fn answer_a_question(reply: fn() -> Reply) {
    let agent = Agent::new(false, move |method, params| match method {
        "SendMessage" if params["message"].get("taskId").is_none() => {
            Reply::Result(json!({"task": waiting()}))
        }
        "SendMessage" => reply(),
        _ => {
            let mut done = task("TASK_STATE_COMPLETED");
            done["status"]["message"] =
                json!({"messageId": "r", "role": "ROLE_AGENT", "parts": [{"text": "Yours."}]});
            Reply::Result(done)
        }
    });
    let agent = agent.await;
    let (journal, sessions): (_, Arc<dyn SessionStore>) =
        (MemoryJournal::new(), Arc::new(MemoryStore::new()));
    let runner = || {
        Runner::builder()
            .session_store(sessions.clone())
            .engine(journal.clone())
            .workflow(writing(writer(&agent)))
            .build()
            .unwrap()
    };
    let error = runner()
        .run(&writing(writer(&agent)), "cats")
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Paused);
    let later = runner();
    let wait = later.waiting().await.unwrap().remove(0);
    assert_eq!(
        (&*wait.question, &wait.schema),
        ("Which cat?", &json!({"type": "string", "minLength": 3}))
    );
    later.answer(&wait.id, 7).await.unwrap_err();
    later.answer(&wait.id, "Tom").await.unwrap();
    later.recover().await.unwrap().remove(0).result.unwrap();
    assert_eq!(agent.methods(), ["SendMessage", "SendMessage", "GetTask"]);
    let calls = agent.calls();
    let (first, second) = (&calls[0].1["message"], &calls[1].1["message"]);
    assert_eq!(
        (&second["taskId"], &second["contextId"]),
        (&json!("t1"), &json!("c1"))
    );
    assert_eq!(second["parts"][0]["text"], "Tom");
    assert_ne!(first["messageId"], second["messageId"]);
}
