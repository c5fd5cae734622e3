//! A2A with the official SDK: its client calls this server, and its server is a step of a workflow.

use crate::support::Served;
use adk::a2a::remote;
use adk::prelude::*;
use adk::sqlite::SqliteStore;
use adk::testing::{Reply, ScriptedModel};
use adk::{DynAgent, ErrorKind, RemoteErrorKind};
use std::process::Stdio;
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

workflow! {
    /// Tells a story.
    pub Telling(topic: String) -> story: String {
        agent teller -> story: String { instruction: "Tell of {topic}." }
        teller
    }
}

/// The result of the other agent.
#[adk::data]
#[derive(PartialEq)]
pub struct Counted {
    /// The number of words.
    pub count: u32,
}

workflow! {
    pub Asking(question: String) -> answer: String {
        agent other(question: String) -> answer: String as Arc<dyn DynAgent>;
        other
    }
}

workflow! {
    pub Counting(what: String, times: u32) -> counted: Counted {
        agent other(what: String, times: u32) -> counted: Counted as Arc<dyn DynAgent>;
        other
    }
}

/// A Node.js program with which the test exchanges lines.
struct Program {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    stdin: ChildStdin,
}

impl Program {
    fn start(name: &str) -> Self {
        let folder = std::env::var_os("ADK_CLIENTS").expect("tests/peers/run-clients.sh sets it");
        let mut node = Command::new("node");
        node.arg(std::path::Path::new(&folder).join(name))
            .kill_on_drop(true);
        node.stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = node.spawn().expect("node");
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let stdin = child.stdin.take().unwrap();
        Self {
            child,
            lines,
            stdin,
        }
    }

    /// Reads the next line. Panics with the error output if the program has ended.
    async fn line(&mut self) -> String {
        if let Some(line) = self.lines.next_line().await.unwrap() {
            return line;
        }
        let mut words = String::new();
        self.child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut words)
            .await
            .unwrap();
        panic!("the program has ended: {words}");
    }

    /// Reads all lines up to one.
    async fn until(&mut self, last: &str) -> Vec<String> {
        let mut lines = Vec::new();
        while lines.last().is_none_or(|line| line != last) {
            lines.push(self.line().await);
        }
        lines
    }

    async fn write_line(&mut self, line: &str) {
        self.stdin
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap();
    }
}

#[tokio::test]
#[ignore = "needs Node.js and `@a2a-js/sdk`: tests/peers/run-clients.sh"]
async fn the_official_client_calls_workflows() {
    let mut client = Program::start("a2a.mjs");
    let hook = format!("http://127.0.0.1:{}", client.line().await);
    let reply = Reply::new()
        .text("A cat sat.")
        .pieces(["A cat".to_owned(), " sat.".to_owned()]);
    let runner = adk::Runner::builder()
        .model(ScriptedModel::new().reply(reply))
        .build()
        .unwrap();
    let served = Served::new(&runner, |server| {
        server.workflow(Telling::default()).push_to(hook)
    })
    .await;
    client
        .write_line(&format!("http://{}", served.address))
        .await;
    for scenario in ["card", "send", "stream", "input", "cancel", "push"] {
        assert_eq!(client.line().await, scenario);
    }
    served.stop().await.unwrap();
}

fn other(port: &str) -> adk::a2a::RemoteAgentBuilder {
    remote(format!("http://127.0.0.1:{port}")).name("other")
}

fn asking(port: &str) -> Asking {
    let other = other(port)
        .reads::<String>("question")
        .writes::<String>("answer");
    Asking::new(Arc::new(other.build().unwrap())).unwrap()
}

#[tokio::test]
#[ignore = "needs Node.js and `@a2a-js/sdk`: tests/peers/run-clients.sh"]
async fn an_agent_of_the_official_sdk_is_a_step() {
    let mut server = Program::start("a2a_server.mjs");
    let port = server.line().await;
    let runner = Runner::builder().build().unwrap();
    let ask = async |question: &str| {
        runner
            .run(&asking(&port), question)
            .await
            .map(|outcome| outcome.output)
    };
    assert_eq!(ask("hello").await.unwrap(), "You said hello.");
    assert_eq!(ask("say").await.unwrap(), "Said.");
    let error = ask("fail").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Remote(RemoteErrorKind::Failed));
    assert!(error.to_string().contains("no cats here"), "{error}");
    let counter = other(&port)
        .reads::<String>("what")
        .reads::<u32>("times")
        .writes::<Counted>("counted");
    let counting = Counting::new(Arc::new(counter.build().unwrap())).unwrap();
    let input = CountingInput {
        what: "count".into(),
        times: 3,
    };
    assert_eq!(
        runner.run(&counting, input).await.unwrap().output,
        Counted { count: 3 }
    );
    let lines = server.until("executes count").await;
    let sent = lines
        .iter()
        .filter(|line| *line == "calls SendMessage")
        .count();
    assert_eq!(sent, 4, "{lines:?}");
}

/// Creates a runner on a file, as each new process does.
async fn on_file(file: &std::path::Path, port: &str) -> Runner {
    let store = SqliteStore::open(file).await.unwrap();
    let runner = Runner::builder().store(store).workflow(asking(port));
    runner.build().unwrap()
}

#[tokio::test]
#[ignore = "needs Node.js and `@a2a-js/sdk`: tests/peers/run-clients.sh"]
async fn an_agent_of_the_official_sdk_gets_one_message() {
    let mut server = Program::start("a2a_server.mjs");
    let port = server.line().await;
    let folder = std::env::temp_dir().join(format!("adk-a2a-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("runs.db");

    let runner = on_file(&file, &port).await;
    let (session, workflow) = (runner.session("ann", "s"), asking(&port));
    let mut stream = session.run(&workflow, "hold").stream();
    // The process ends while the agent works, after it has subscribed to the task.
    tokio::select! {
        () = async { while stream.next().await.is_some() {} } => panic!("the run has ended"),
        lines = server.until("calls SubscribeToTask") => {
            assert_eq!(lines, ["calls SendMessage", "executes hold", "calls SubscribeToTask"]);
        }
    }
    drop(stream);
    drop(session);
    drop(runner);

    let runner = on_file(&file, &port).await;
    server.write_line("go").await;
    let recovered = runner.recover().await.unwrap();
    assert_eq!(recovered.len(), 1);
    recovered.into_iter().next().unwrap().result.unwrap();
    let session = runner.session("ann", "s").open().await.unwrap();
    assert_eq!(
        session.get("answer").unwrap().as_str(),
        Some("You said hold.")
    );

    // A person answers the question of the agent in a third process.
    let error = runner
        .session("ann", "t")
        .run(&asking(&port), "ask")
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Paused);
    drop(runner);
    let runner = on_file(&file, &port).await;
    let wait = runner.waiting().await.unwrap().remove(0);
    assert_eq!(wait.question, "Who are you?");
    runner.answer(&wait.id, "Ann").await.unwrap();
    runner.recover().await.unwrap().remove(0).result.unwrap();
    let session = runner.session("ann", "t").open().await.unwrap();
    assert_eq!(
        session.get("answer").unwrap().as_str(),
        Some("You said Ann.")
    );
    let lines = server.until("executes Ann").await;
    let sent = lines
        .iter()
        .filter(|line| *line == "calls SendMessage")
        .count();
    assert_eq!(
        sent, 2,
        "the message of the held task was sent once: {lines:?}"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}
