//! A2A with the official SDK: its client asks our server, and its server is a step of our workflow.

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

/// What the other agent counts.
#[adk::data]
#[derive(PartialEq)]
pub struct Counted {
    /// How many.
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

/// A program of Node.js that says a line, and is told one.
struct Program {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    stdin: ChildStdin,
}

impl Program {
    fn start(name: &str) -> Self {
        let folder = std::env::var_os("ADK_CLIENTS").expect("tests/peers/run-clients.sh sets it");
        let mut node = Command::new("node");
        node.arg(std::path::Path::new(&folder).join(name)).kill_on_drop(true);
        node.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = node.spawn().expect("node");
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let stdin = child.stdin.take().unwrap();
        Self { child, lines, stdin }
    }

    /// The next line; a panic with what it has complained of when there is none.
    async fn line(&mut self) -> String {
        if let Some(line) = self.lines.next_line().await.unwrap() {
            return line;
        }
        let mut words = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut words).await.unwrap();
        panic!("the program has ended: {words}");
    }

    /// All lines up to one.
    async fn until(&mut self, last: &str) -> Vec<String> {
        let mut lines = Vec::new();
        while lines.last().is_none_or(|line| line != last) {
            lines.push(self.line().await);
        }
        lines
    }

    async fn say(&mut self, line: &str) {
        self.stdin.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }
}

#[tokio::test]
#[ignore = "needs Node.js and `@a2a-js/sdk`: tests/peers/run-clients.sh"]
async fn the_official_client_asks_workflows() {
    let mut client = Program::start("a2a.mjs");
    let hook = format!("http://127.0.0.1:{}", client.line().await);
    let reply = Reply::new().text("A cat sat.").pieces(["A cat".to_owned(), " sat.".to_owned()]);
    let runner = adk::Runner::builder().model(ScriptedModel::new().reply(reply)).build().unwrap();
    let served = Served::new(&runner, |server| server.workflow(Telling::default()).push_to(hook)).await;
    client.say(&format!("http://{}", served.address)).await;
    for scenario in ["card", "send", "stream", "input", "cancel", "push"] {
        assert_eq!(client.line().await, scenario);
    }
    served.stop().await.unwrap();
}

fn other(port: &str) -> adk::a2a::RemoteAgentBuilder {
    remote(format!("http://127.0.0.1:{port}")).name("other")
}

fn asking(port: &str) -> Asking {
    let other = other(port).reads::<String>("question").writes::<String>("answer");
    Asking::new(Arc::new(other.build().unwrap())).unwrap()
}

#[tokio::test]
#[ignore = "needs Node.js and `@a2a-js/sdk`: tests/peers/run-clients.sh"]
async fn an_agent_of_the_official_sdk_is_a_step() {
    let mut server = Program::start("a2a_server.mjs");
    let port = server.line().await;
    let runner = Runner::builder().build().unwrap();
    let ask = async |question: &str| runner.run(&asking(&port), question).await.map(|outcome| outcome.output);
    assert_eq!(ask("hello").await.unwrap(), "You said hello.");
    assert_eq!(ask("say").await.unwrap(), "Said.");
    let error = ask("fail").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Remote(RemoteErrorKind::Failed));
    assert!(error.to_string().contains("no cats here"), "{error}");
    let counter = other(&port).reads::<String>("what").reads::<u32>("times").writes::<Counted>("counted");
    let counting = Counting::new(Arc::new(counter.build().unwrap())).unwrap();
    let input = CountingInput { what: "count".into(), times: 3 };
    assert_eq!(runner.run(&counting, input).await.unwrap().output, Counted { count: 3 });
    let lines = server.until("executes count").await;
    let sent = lines.iter().filter(|line| *line == "calls SendMessage").count();
    assert_eq!(sent, 4, "{lines:?}");
}

/// Runs that are stored in a file, as one process after the other has it.
async fn on_file(file: &std::path::Path, port: &str) -> Runner {
    let store = SqliteStore::open(file).await.unwrap();
    let runner = Runner::builder().store(store).workflow(asking(port));
    runner.build().unwrap()
}

#[tokio::test]
#[ignore = "needs Node.js and `@a2a-js/sdk`: tests/peers/run-clients.sh"]
async fn an_agent_of_the_official_sdk_is_asked_once() {
    let mut server = Program::start("a2a_server.mjs");
    let port = server.line().await;
    let folder = std::env::temp_dir().join(format!("adk-a2a-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("runs.db");

    let runner = on_file(&file, &port).await;
    let (begun, workflow) = (runner.session("ann", "s"), asking(&port));
    let mut stream = begun.run(&workflow, "hold").stream();
    // The process ends while the agent works, and after it was told that the agent does.
    tokio::select! {
        () = async { while stream.next().await.is_some() {} } => panic!("it has ended"),
        lines = server.until("calls SubscribeToTask") => {
            assert_eq!(lines, ["calls SendMessage", "executes hold", "calls SubscribeToTask"]);
        }
    }
    drop(stream);
    drop(begun);
    drop(runner);

    let runner = on_file(&file, &port).await;
    server.say("go").await;
    let recovered = runner.recover().await.unwrap();
    assert_eq!(recovered.len(), 1);
    recovered.into_iter().next().unwrap().result.unwrap();
    let session = runner.session("ann", "s").open().await.unwrap();
    assert_eq!(session.get("answer").unwrap().as_str(), Some("You said hold."));

    // What it asks is answered by a person, in a third process.
    let error = runner.session("ann", "t").run(&asking(&port), "ask").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Paused);
    drop(runner);
    let runner = on_file(&file, &port).await;
    let wait = runner.waiting().await.unwrap().remove(0);
    assert_eq!(wait.question, "Who are you?");
    runner.answer(&wait.id, "Ann").await.unwrap();
    runner.recover().await.unwrap().remove(0).result.unwrap();
    let session = runner.session("ann", "t").open().await.unwrap();
    assert_eq!(session.get("answer").unwrap().as_str(), Some("You said Ann."));
    let lines = server.until("executes Ann").await;
    let sent = lines.iter().filter(|line| *line == "calls SendMessage").count();
    assert_eq!(sent, 2, "the held one was sent no second time: {lines:?}");
    std::fs::remove_dir_all(&folder).unwrap();
}
