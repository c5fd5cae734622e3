//! The guards of a workflow at run time: what no check can see, such as tools that the program
//! adds, other workflows of the session, and contents of callbacks.

#![allow(unreachable_pub, clippy::unwrap_used)]

use super::killed::{ByTurn, kill_everywhere};
use adk::engine::MemoryJournal;
use adk::model::ModelRequest;
use adk::prelude::*;
use adk::session::{EventFilter, MemoryStore, SessionSnapshot, SessionStore};
use adk::testing::{Reply, ScriptedModel};
use adk::{CallbackContext, ErrorKind, Event, MARKS_KEY, Part, RunEnd, Waiting};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Fetches a page.
#[tool(untrusted)]
fn fetch_page() -> &'static str {
    "TAINT"
}

/// Finds an order.
#[tool(private)]
fn find_order() -> &'static str {
    "order 7"
}

/// Sends a mail.
#[tool(acts)]
fn send_mail(body: &str) -> String {
    format!("sent {body}")
}

/// How often [`count_mail`] has run.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Sends a mail and counts it.
#[tool(acts)]
fn count_mail() {
    COUNT.fetch_add(1, Ordering::Relaxed);
}

/// Sends a mail with the consent of a person.
#[tool(acts, confirm)]
fn send_letter(body: &str) -> String {
    format!("sent {body}")
}

/// Searches the web.
#[tool(sends)]
fn search_web(words: &str) -> String {
    format!("sent {words}")
}

/// Keeps one word.
#[agent(writes = word, trusts)]
fn glossary(page: &str) -> String {
    page.chars().take(1).collect()
}

/// Copies a page.
#[agent(writes = word)]
fn copy(page: &str) -> String {
    page.to_owned()
}

/// Publishes a word.
#[agent(writes = done, acts)]
fn publish(word: &str) -> String {
    format!("published {word}")
}

workflow! {
    /// Has only tools of the program.
    #[guards(private(topic))]
    pub Open(topic: String) -> answer: String {
        agent clerk -> answer: String { instruction: "{topic}", tools: [..], max_turns: 8 }
        clerk
    }
}

workflow! {
    /// Has only tools of the program, and no guards.
    pub Plain(topic: String) -> answer: String {
        agent clerk -> answer: String { instruction: "{topic}", tools: [..], max_turns: 8 }
        clerk
    }
}

workflow! {
    /// Everything in it has labels.
    #[guards(strict)]
    pub Strict(topic: String) -> answer: String {
        agent clerk -> answer: String { instruction: "{topic}", tools: [send_mail], max_turns: 8 }
        clerk
    }
}

workflow! {
    /// Reads a page, cleans it in each way, and acts on it.
    #[guards(private(topic))]
    pub Ways(topic: String) {
        agent reader -> page: String { include_contents: prompt, instruction: "{topic}", tools: [..], max_turns: 3 }
        agent judge -> fine: bool { include_contents: prompt, instruction: "Fine? {page}" }
        agent by_page { include_contents: prompt, instruction: "{page}", tools: [..], max_turns: 3 }
        agent by_fine { include_contents: prompt, instruction: "{fine}", tools: [..], max_turns: 3 }
        agent by_word { include_contents: prompt, instruction: "{word}", tools: [..], max_turns: 3 }
        agent by_seen { include_contents: prompt, instruction: "{page}", tools: [..], max_turns: 3 }

        reader; by_page; judge; by_fine; glossary; by_word; copy as copied;
        /// May {page} be used?
        await yes: bool;
        by_seen
    }
}

workflow! {
    /// A function acts on what a page says.
    #[guards(private(topic))]
    pub Functions(topic: String) -> done: String {
        agent reader -> page: String { instruction: "{topic}", tools: [..], max_turns: 3 }
        reader; copy; publish
    }
}

workflow! {
    /// Reads pages in elements and branches, and notes the last one for later sessions.
    #[guards(private(topics))]
    pub Many(topics: Vec<String>) -> all: Vec<String> {
        agent reader -> all: String { instruction: "{topic}", tools: [..], max_turns: 3 }
        agent keeper -> user:note: String { instruction: "Note {all}" }
        agent other -> side: String { instruction: "Say something." }
        each topic in topics < reader >;
        parallel < keeper; other >
    }
}

workflow! {
    /// Uses a note of the user.
    #[guards(private(user:note))]
    pub Later() -> answer: String {
        state user:note: String;
        agent clerk -> answer: String {
            include_contents: prompt, instruction: "{user:note}", tools: [..], max_turns: 3,
        }
        clerk
    }
}

struct World {
    sessions: Arc<dyn SessionStore>,
    journal: MemoryJournal,
}

impl World {
    fn new() -> Self {
        Self {
            sessions: Arc::new(MemoryStore::new()),
            journal: MemoryJournal::new(),
        }
    }

    /// A runner that keeps runs.
    fn keeping(&self, model: ScriptedModel) -> Runner {
        let builder = Runner::builder().model(model);
        let builder = builder.session_store(self.sessions.clone());
        builder.engine(self.journal.clone()).build().unwrap()
    }

    /// A runner that cannot ask anybody.
    fn forgetting(&self, model: ScriptedModel) -> Runner {
        let builder = Runner::builder().model(model);
        builder
            .session_store(self.sessions.clone())
            .build()
            .unwrap()
    }
}

/// What a run has shown.
struct Shown {
    events: Vec<Arc<Event>>,
    end: Result<Vec<Waiting>>,
}

impl Shown {
    async fn of<T: Send + 'static>(mut stream: adk::RunStream<'_, T>) -> Self {
        let (mut events, mut failed) = (Vec::new(), None);
        while let Some(event) = stream.next().await {
            match event {
                Ok(event) => events.push(event),
                Err(error) => failed = Some(error),
            }
        }
        let end = match (failed, stream.end()) {
            (Some(error), _) => Err(error),
            (None, RunEnd::Paused(waiting)) => Ok(waiting),
            (None, _) => Ok(Vec::new()),
        };
        Self { events, end }
    }

    /// The results of tools, in order.
    fn results(&self) -> Vec<String> {
        let parts = self
            .events
            .iter()
            .filter_map(|event| event.content.as_ref());
        let parts = parts.flat_map(|content| &content.parts);
        parts
            .filter_map(|part| match part {
                Part::FunctionResponse(response) => Some(json!(response.response).to_string()),
                _ => None,
            })
            .collect()
    }

    fn sent(&self) -> usize {
        self.results()
            .iter()
            .filter(|text| text.contains("sent "))
            .count()
    }

    fn waits(&self) -> &[Waiting] {
        self.end.as_ref().unwrap()
    }
}

fn state_of(session: &SessionSnapshot) -> Value {
    let state = session.state.iter();
    state
        .map(|(key, value)| (key.to_string(), Value::clone(value)))
        .collect()
}

/// A model that calls these tools in order and then answers.
fn calling(tools: &[&'static str]) -> ScriptedModel {
    let args = |tool: &str| match tool {
        "send_mail" | "send_letter" => json!({"body": "TAINT"}),
        "search_web" => json!({"words": "order 7"}),
        "sender" => json!({"request": "TAINT"}),
        _ => json!({}),
    };
    let mut model = ScriptedModel::new();
    for tool in tools {
        model = model.call(*tool, args(tool));
    }
    model.text("done")
}

fn open() -> Open {
    let mut open = Open::default();
    open.clerk.add_tool(fetch_page::default());
    open.clerk.add_tool(find_order::default());
    open.clerk.add_tool(send_mail::default());
    open.clerk.add_tool(send_letter::default());
    open.clerk.add_tool(search_web::default());
    open
}

#[tokio::test]
async fn an_added_tool_does_not_act_on_text_of_strangers() {
    let world = World::new();
    for (tools, sent) in [
        (&["send_mail"][..], 1),
        (&["send_mail", "fetch_page", "send_mail"], 1),
        (&["search_web"], 1),
        (&["fetch_page", "search_web"], 0),
        (&["find_order", "search_web", "send_mail"], 2),
        (&["find_order", "fetch_page", "search_web"], 0),
    ] {
        let runner = world.forgetting(calling(tools));
        let open = open();
        let shown = Shown::of(runner.run(&open, "Hi").stream()).await;
        assert!(shown.waits().is_empty());
        assert_eq!(shown.sent(), sent, "{tools:?}: {:?}", shown.results());
    }
    let runner = world.forgetting(calling(&["fetch_page", "send_mail"]));
    let open = open();
    let shown = Shown::of(runner.run(&open, "Hi").stream()).await;
    assert_eq!(
        shown.results()[1],
        "{\"error\":\"The call did not run: it acts, and text that strangers wrote may steer it, \
         from tool `fetch_page` of `clerk`, and this run cannot ask a person.\"}"
    );
}

#[tokio::test]
async fn a_run_that_is_kept_asks_a_person() {
    for (answer, sent) in [(true, 1), (false, 0)] {
        let world = World::new();
        let open = open();
        let runner = world.keeping(calling(&["fetch_page", "send_mail"]));
        let shown = Shown::of(runner.run(&open, "Hi").stream()).await;
        let [wait] = shown.waits() else {
            panic!("one wait: {:?}", shown.results())
        };
        assert!(
            wait.id.ends_with("/open/clerk:guard send_mail@0"),
            "{}",
            wait.id
        );
        assert_eq!(
            wait.question,
            "May the tool `send_mail` be called with {\"body\":\"TAINT\"}? It acts, and text that \
             strangers wrote may steer it, from tool `fetch_page` of `clerk`."
        );
        assert_eq!(
            wait.schema["properties"]["allowUntrusted"]["type"],
            "boolean"
        );
        // A rule that agrees to every confirmation does not fit.
        let error = runner.answer(&wait.id, json!(true)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AnswerInvalid);
        let (id, run) = (wait.id.clone(), wait.run_id);
        // Another process answers and continues.
        let runner = world.keeping(ScriptedModel::new().text("done"));
        runner
            .answer(&id, json!({"allowUntrusted": answer}))
            .await
            .unwrap();
        let shown = Shown::of(runner.resume(&open, run).stream()).await;
        assert_eq!(shown.sent(), sent, "{:?}", shown.results());
    }
}

#[tokio::test]
async fn a_confirmed_call_needs_no_second_question() {
    let world = World::new();
    let open = open();
    let runner = world.keeping(calling(&["fetch_page", "send_letter"]));
    let shown = Shown::of(runner.run(&open, "Hi").stream()).await;
    let [wait] = shown.waits() else {
        panic!("one wait")
    };
    assert!(wait.id.contains(":confirm send_letter@"), "{}", wait.id);
    runner.answer(&wait.id, json!(true)).await.unwrap();
    let shown = Shown::of(runner.resume(&open, wait.run_id).stream()).await;
    assert!(shown.waits().is_empty());
    assert_eq!(shown.sent(), 1);
}

#[tokio::test]
async fn workflows_of_one_session_share_their_marks() {
    let world = World::new();
    let reads = world.forgetting(calling(&["fetch_page"]));
    let open = open();
    reads.session("ann", "s").run(&open, "Hi").await.unwrap();
    for (session, sent) in [("s", 0), ("t", 1)] {
        let runner = world.forgetting(calling(&["send_mail"]));
        let other = runner.session("ann", session);
        let shown = Shown::of(other.run(&open, "Hi").stream()).await;
        assert_eq!(shown.sent(), sent, "{session}");
    }
    // Events of a workflow without guards have no marks, so they count under `strict`.
    let mut plain = Plain::default();
    plain.clerk.add_tool(fetch_page::default());
    let reads = world.forgetting(calling(&["fetch_page"]));
    reads.session("ann", "u").run(&plain, "Hi").await.unwrap();
    let strict = Strict::default();
    for (session, sent) in [("u", 0), ("v", 1)] {
        let runner = world.forgetting(calling(&["send_mail"]));
        let other = runner.session("ann", session);
        let shown = Shown::of(other.run(&strict, "Hi").stream()).await;
        assert_eq!(shown.sent(), sent, "{session}: {:?}", shown.results());
    }
}

#[tokio::test]
async fn only_workflows_with_guards_write_marks() {
    let world = World::new();
    let mut plain = Plain::default();
    plain.clerk.add_tool(fetch_page::default());
    let runner = world.keeping(calling(&["fetch_page"]));
    runner.session("ann", "s").run(&plain, "Hi").await.unwrap();
    let has_marks = |state: &Value| state.to_string().contains('#');
    let session = runner
        .session("ann", "s")
        .get(&EventFilter::new())
        .await
        .unwrap()
        .unwrap();
    assert!(!has_marks(&state_of(&session)));
    assert!(
        session
            .events
            .iter()
            .all(|event| event.metadata(MARKS_KEY).is_none())
    );
    let open = open();
    let runner = world.keeping(calling(&["fetch_page"]));
    runner.session("ann", "t").run(&open, "Hi").await.unwrap();
    let session = runner
        .session("ann", "t")
        .get(&EventFilter::new())
        .await
        .unwrap()
        .unwrap();
    let state = state_of(&session);
    assert_eq!(state["answer#untrusted"], "tool `fetch_page` of `clerk`");
    assert_eq!(state["topic#private"], "`topic`");
    assert_eq!(state.get("topic#untrusted"), None);
    let marks: Vec<_> = session
        .events
        .iter()
        .filter_map(|event| event.metadata(MARKS_KEY))
        .collect();
    let topic = json!({"private": "`topic`"});
    let page = json!({"private": "`topic`", "untrusted": "tool `fetch_page` of `clerk`"});
    assert_eq!(marks, [&topic, &topic, &page, &page]);
}

/// Gives an agent of [`Ways`] its tool.
fn ways() -> Ways {
    let mut ways = Ways::default();
    ways.reader.add_tool(fetch_page::default());
    ways.by_page.add_tool(send_mail::default());
    ways.by_fine.add_tool(send_mail::default());
    ways.by_word.add_tool(send_mail::default());
    ways.by_seen.add_tool(send_mail::default());
    ways
}

#[tokio::test]
async fn values_without_text_and_trusted_or_seen_ones_are_clean() {
    let world = World::new();
    let mail = || json!({"body": "Hello"});
    let mut model = ScriptedModel::new()
        .on("reader")
        .call("fetch_page", json!({}))
        .text("TAINT")
        .on("judge")
        .text("true");
    for agent in ["by_page", "by_fine", "by_word", "by_seen"] {
        model = model.on(agent).call("send_mail", mail()).text("done");
    }
    let runner = world.keeping(model);
    let ways = ways();
    let shown = Shown::of(runner.run(&ways, "Hi").stream()).await;
    let [guard] = shown.waits() else {
        panic!("one wait")
    };
    assert!(
        guard.id.contains("by_page:guard send_mail@"),
        "{}",
        guard.id
    );
    let answer = json!({"allowUntrusted": false});
    runner.answer(&guard.id, answer).await.unwrap();
    let shown = Shown::of(runner.resume(&ways, guard.run_id).stream()).await;
    let [seen] = shown.waits() else {
        panic!("one wait: {:?}", shown.results())
    };
    assert_eq!(seen.question, "May TAINT be used?");
    assert_eq!(
        shown.sent(),
        2,
        "by_fine and by_word: {:?}",
        shown.results()
    );
    runner.answer(&seen.id, json!(true)).await.unwrap();
    let shown = Shown::of(runner.resume(&ways, seen.run_id).stream()).await;
    assert!(shown.waits().is_empty(), "{:?}", shown.waits());
    assert_eq!(shown.sent(), 1, "{:?}", shown.results());
}

#[tokio::test]
async fn a_function_that_acts_waits_or_fails() {
    let world = World::new();
    let mut functions = Functions::default();
    functions.reader.add_tool(fetch_page::default());
    let model = || calling(&["fetch_page"]);
    let runner = world.forgetting(model());
    let error = runner.run(&functions, "Hi").await.unwrap_err();
    assert_eq!(
        error.message(),
        "`publish` did not run: it acts, and text that strangers wrote may steer it, from tool \
         `fetch_page` of `reader`, and this run cannot ask a person"
    );
    for (answer, ends) in [(true, true), (false, false)] {
        let world = World::new();
        let runner = world.keeping(model());
        let shown = Shown::of(runner.run(&functions, "Hi").stream()).await;
        let [wait] = shown.waits() else {
            panic!("one wait")
        };
        assert!(wait.id.contains("publish:guard publish@"), "{}", wait.id);
        let allows = json!({"allowUntrusted": answer});
        runner.answer(&wait.id, allows).await.unwrap();
        let ended = runner.resume(&functions, wait.run_id).await;
        assert_eq!(ended.is_ok(), ends);
    }
}

#[tokio::test]
async fn an_agent_as_a_tool_has_the_marks_of_its_caller() {
    let world = World::new();
    for (tools, sent) in [(&["sender"][..], 1), (&["fetch_page", "sender"], 0)] {
        let mut desk = Team::default();
        desk.clerk.add_tool(fetch_page::default());
        let model = tools
            .iter()
            .fold(ScriptedModel::new().on("clerk"), |model, tool| {
                model.call(*tool, json!({"request": "TAINT"}))
            });
        let model = model.text("done").on("sender");
        let model = model
            .call("send_mail", json!({"body": "TAINT"}))
            .text("tried");
        let runner = world.keeping(model.clone());
        let shown = Shown::of(runner.run(&desk, "Hi").stream()).await;
        assert!(shown.waits().is_empty());
        let seen: Vec<ModelRequest> = model
            .requests_of("sender")
            .iter()
            .map(|request| ModelRequest::clone(request))
            .collect();
        let last = format!("{:?}", seen.last().unwrap().contents);
        assert_eq!(last.contains("sent TAINT"), sent == 1, "{last}");
        assert_eq!(last.contains("this run cannot ask a person"), sent == 0);
    }
}

workflow! {
    /// Has an agent as a tool.
    #[guards(private(topic))]
    pub Team(topic: String) -> answer: String {
        /// Sends mails.
        agent sender { instruction: "Send.", tools: [send_mail, count_mail], max_turns: 3 }
        agent clerk -> answer: String { instruction: "{topic}", tools: [agent(sender), ..], max_turns: 4 }
        clerk
    }
}

#[tokio::test]
async fn what_a_callback_reads_marks_what_it_adds() {
    for (key, sent) in [("dirty", 0), ("clean", 1)] {
        let world = World::new();
        let mut desk = Quoting::default();
        desk.reader.add_tool(fetch_page::default());
        desk.clerk.add_tool(send_mail::default());
        desk.clerk.add_before_model(
            move |cx: &mut CallbackContext, request: &mut ModelRequest| -> Result<()> {
                let text = cx.state().get::<String>(key)?.unwrap_or_default();
                request.contents.push(adk::Content::user(text));
                Ok(())
            },
        );
        let model = ScriptedModel::new()
            .on("reader")
            .call("fetch_page", json!({}))
            .text("TAINT")
            .on("writer")
            .text("Hello")
            .on("clerk")
            .call("send_mail", json!({"body": "x"}))
            .text("done");
        let runner = world.forgetting(model);
        let shown = Shown::of(runner.run(&desk, "Hi").stream()).await;
        assert_eq!(shown.sent(), sent, "{key}: {:?}", shown.results());
    }
}

workflow! {
    /// A callback of the clerk quotes one of two keys.
    #[guards(private(topic))]
    pub Quoting(topic: String) {
        agent reader -> dirty: String { include_contents: prompt, instruction: "Read.", tools: [..], max_turns: 3 }
        agent writer -> clean: String { include_contents: prompt, instruction: "Write." }
        agent clerk { include_contents: prompt, instruction: "Send.", tools: [..], max_turns: 3 }
        reader; writer; clerk
    }
}

#[tokio::test]
async fn lists_branches_and_keys_of_users_keep_their_marks() {
    let world = World::new();
    let mut many = Many::default();
    many.reader.add_tool(fetch_page::default());
    let mut model = ScriptedModel::new()
        .when(
            |request| request.info.agent == "reader" && request.info.turn == 0,
            Reply::new().call("fetch_page", json!({})),
        )
        .when(|request| request.info.turn > 0, Reply::new().text("TAINT"));
    model = model.when(
        |request| request.info.agent == "keeper" || request.info.agent == "other",
        Reply::new().text("TAINT"),
    );
    let runner = world.keeping(model);
    let topics = vec!["a".to_owned(), "b".to_owned()];
    runner.session("ann", "s").run(&many, topics).await.unwrap();
    let session = runner
        .session("ann", "s")
        .get(&EventFilter::new())
        .await
        .unwrap()
        .unwrap();
    let state = state_of(&session);
    let source = "tool `fetch_page` of `reader`";
    assert_eq!(state["all#untrusted"], source, "{state}");
    assert_eq!(state["user:note#untrusted"], source);
    for (user, sent) in [("ann", 0), ("bob", 1)] {
        let runner = world.forgetting(calling(&["send_mail"]));
        let mut later = Later::default();
        later.clerk.add_tool(send_mail::default());
        let other = runner.session(user, "another");
        let request = other.run(&later, ());
        let request = if user == "bob" {
            request.state("user:note", "clean")
        } else {
            request
        };
        let shown = Shown::of(request.stream()).await;
        assert_eq!(shown.sent(), sent, "{user}: {:?}", shown.end);
    }
}

workflow! {
    /// Summarizes a page, and sends a mail.
    #[guards(private(topic))]
    pub Long(topic: String) -> answer: String {
        agent reader -> page: String { instruction: "{topic}", tools: [..], max_turns: 3 }
        agent clerk -> answer: String {
            instruction: "Send.", compact: { after: 3, keep: 1 }, tools: [..], max_turns: 4,
        }
        reader; clerk
    }
}

#[tokio::test]
async fn a_summary_has_the_marks_of_what_it_sums_up() {
    let world = World::new();
    let mut long = Long::default();
    long.reader.add_tool(fetch_page::default());
    long.clerk.add_tool(send_mail::default());
    let summary = |request: &ModelRequest| request.info.is_summary;
    let model = ScriptedModel::new()
        .when(summary, Reply::new().text("They read TAINT"))
        .on("reader")
        .call("fetch_page", json!({}))
        .text("TAINT")
        .on("clerk")
        .call("send_mail", json!({"body": "x"}))
        .text("done");
    let runner = world.forgetting(model);
    let session = runner.session("ann", "s");
    let shown = Shown::of(session.run(&long, "Hi").stream()).await;
    let summary = shown
        .events
        .iter()
        .find(|event| event.actions.compaction.is_some())
        .expect("a summary");
    assert_eq!(
        summary.metadata(MARKS_KEY),
        Some(&json!({"private": "`topic`", "untrusted": "tool `fetch_page` of `reader`"}))
    );
    assert_eq!(shown.sent(), 0, "{:?}", shown.results());
}

#[tokio::test]
async fn marks_survive_the_death_of_the_process_at_each_point() {
    let mut desk = Team::default();
    desk.clerk.add_tool(fetch_page::default());
    let model = ByTurn(|turn| match turn {
        0 => ScriptedModel::new().calls([("fetch_page", json!({})), ("count_mail", json!({}))]),
        1 => ScriptedModel::new().calls([("sender", json!({"request": "TAINT"}))]),
        _ => ScriptedModel::new().text("done"),
    });
    let check = |outcome: adk::Outcome<String>| assert_eq!(outcome.output, "done");
    let kills = kill_everywhere(&desk, "Hi", model, check).await;
    assert!(kills > 5, "{kills}");
    assert_eq!(COUNT.load(Ordering::Relaxed), 0);
}
