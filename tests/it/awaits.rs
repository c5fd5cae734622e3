//! `await` in the language: the questions to a person, and the effect of the answers.
#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

use adk::engine::MemoryJournal;
use adk::prelude::*;
use adk::session::MemoryStore;
use adk::spec::NodeKind;
use adk::testing::ScriptedModel;
use adk::{AnsweredBy, Answerer, ErrorKind, RunEnd, Runner, Waiting};
use std::sync::Arc;
use std::time::Duration;

/// The decision of an editor.
#[adk::data]
#[derive(PartialEq)]
pub enum Decision {
    /// Publish the draft unchanged.
    Publish,
    /// Do not publish the draft.
    Revise {
        /// The requested change.
        note: String,
    },
}

/// Writes the first line.
#[agent(writes = draft)]
fn write(topic: &str) -> String {
    format!("About {topic}")
}

/// Applies the change.
#[agent(writes = draft)]
fn revise(draft: &str, decision: &Decision) -> String {
    match decision {
        Decision::Publish => draft.to_owned(),
        Decision::Revise { note } => format!("{draft}, {note}"),
    }
}

/// Prints the draft.
#[agent(writes = line)]
fn print(draft: &str, team: &str) -> String {
    format!("{draft} by {team}")
}

const WEEK: Duration = Duration::from_hours(7 * 24);

workflow! {
    /// Publishes a draft that an editor accepts.
    pub Publishing(topic: String) -> line: String {
        write;
        refinement: loop(max = 3) <
            /// May `{draft}` be published?
            await(timeout = "72h", default = Decision::Publish) decision: Decision;
            match decision < Decision::Publish => break, Decision::Revise { .. } => revise >
        >
        /// Who signs?
        signing: await(timeout = WEEK, default = "us") user:team: String;
        print(team = user:team);
    }
}

workflow! {
    /// Asks the same question about each name, and asks another team about the whole.
    pub Magazine(topics: Vec<String>) -> (line: String, all: Vec<bool>) {
        let topic: String = "dogs";
        each name in topics <
            /// Is {name} fit for print?
            all_of: await all: bool
        >
        Publishing as second -> line;
    }
}

/// The stores, which outlive a process.
#[derive(Default)]
struct World {
    journal: MemoryJournal,
    sessions: Arc<MemoryStore>,
}

impl World {
    fn builder(&self) -> adk::runner::RunnerBuilder<adk::DefaultProvider> {
        let sessions: Arc<dyn adk::session::SessionStore> = self.sessions.clone();
        Runner::builder()
            .engine(self.journal.clone())
            .session_store(sessions)
    }
}

async fn open_waits<T: Send + 'static>(mut stream: adk::RunStream<'_, T>) -> Vec<Waiting> {
    while let Some(event) = stream.next().await {
        event.unwrap();
    }
    match stream.end() {
        RunEnd::Paused(waiting) => waiting,
        _ => panic!("the run does not wait"),
    }
}

fn questions(waiting: &[Waiting]) -> Vec<&str> {
    waiting.iter().map(|one| &*one.question).collect()
}

#[test]
fn an_await_is_a_step_that_writes_its_key() {
    let decision = Publishing::SPEC.find("decision").unwrap();
    assert_eq!(
        (decision.kind, decision.description),
        (NodeKind::Await, "May `{draft}` be published?")
    );
    assert_eq!(
        (decision.reads[0].name, decision.writes[0].name),
        ("draft", "decision")
    );
    assert_eq!(
        Publishing::SPEC.find("signing").unwrap().writes[0].name,
        "user:team"
    );
    assert_eq!(
        Publishing::SPEC.to_string(),
        "\
publishing(topic: String) -> line: String
├─ write -> draft
├─ refinement: loop(max = 3)
│  ├─ await decision
│  └─ match decision
│     ├─ Decision::Publish => break
│     └─ Decision::Revise { .. } => revise -> draft
├─ signing: await user:team
└─ print(team = user:team) -> line"
    );
    let (mermaid, dot) = (Publishing::SPEC.mermaid(), Publishing::SPEC.dot());
    assert!(
        mermaid.contains("[/\"await decision\"/]") && mermaid.contains("class n3,n9 await"),
        "{mermaid}"
    );
    assert!(dot.contains("shape=parallelogram"), "{dot}");
    assert_eq!(Publishing::SPEC.bounds().model_calls, Some(0));
    assert!(
        Publishing::SPEC.lints().is_empty(),
        "{:?}",
        Publishing::SPEC.lints()
    );
}

#[tokio::test]
async fn a_person_decides_in_each_round_and_another_process_resumes() {
    let world = World::default();
    let workflow = Publishing::default();
    let runner = world.builder().build().unwrap();
    let waiting = open_waits(runner.run(&workflow, "cats").stream()).await;
    assert_eq!(questions(&waiting), ["May `About cats` be published?"]);
    assert_eq!(
        waiting[0].path.to_string(),
        "publishing/refinement#1/decision"
    );
    assert!(waiting[0].deadline.is_some());

    let known = world
        .builder()
        .workflow(Publishing::default())
        .build()
        .unwrap();
    for wrong in [
        adk::json!("publish"),
        adk::json!({"Revise": {}}),
        adk::json!(true),
        adk::json!(null),
    ] {
        for runner in [&runner, &known] {
            let error = runner.answer(&waiting[0].id, &wrong).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::AnswerInvalid, "{wrong}");
            assert_eq!(error.path(), Some(&waiting[0].path));
        }
    }
    let revise = Decision::Revise {
        note: "shorter".into(),
    };
    known.answer(&waiting[0].id, revise).await.unwrap();
    assert_eq!(
        known
            .answer(&waiting[0].id, Decision::Publish)
            .await
            .unwrap_err()
            .kind(),
        ErrorKind::Answered
    );
    let again = known.recover().await.unwrap().remove(0).result.unwrap();
    assert_eq!(
        questions(&again),
        ["May `About cats, shorter` be published?"]
    );
    assert_eq!(
        again[0].path.to_string(),
        "publishing/refinement#2/decision"
    );
    known.answer(&again[0].id, Decision::Publish).await.unwrap();
    let signing = known.recover().await.unwrap().remove(0).result.unwrap();
    assert_eq!(questions(&signing), ["Who signs?"]);
    known.answer(&signing[0].id, "the team").await.unwrap();
    let outcome = known.resume(&workflow, signing[0].run_id).await.unwrap();
    assert_eq!(outcome.output, "About cats, shorter by the team");
    let event = outcome
        .session()
        .events()
        .find(|event| event.author == "signing")
        .unwrap();
    assert_eq!(event.actions.state_delta.iter().count(), 1);
}

#[tokio::test(start_paused = true)]
async fn defaults_apply_after_the_timeout() {
    let world = World::default();
    let runner = world
        .builder()
        .workflow(Publishing::default())
        .build()
        .unwrap();
    let workflow = Publishing::default();
    let waiting = open_waits(runner.run(&workflow, "cats").stream()).await;
    let done = async {
        loop {
            tokio::time::sleep(Duration::from_hours(1)).await;
            if runner.waiting().await.unwrap().is_empty() {
                break tokio::time::Instant::now();
            }
        }
    };
    let begin = tokio::time::Instant::now();
    let end = tokio::select! {
        error = runner.watch().every(Duration::from_mins(30)).into_future() => panic!("{error}"),
        end = done => end,
    };
    let hours = end.duration_since(begin).as_secs() / 3600;
    assert!((72 + 168..=72 + 168 + 2).contains(&hours), "{hours}");
    let outcome = runner.resume(&workflow, waiting[0].run_id).await.unwrap();
    assert_eq!(outcome.output, "About cats by us");
}

#[tokio::test(start_paused = true)]
async fn a_watch_skips_runs_that_another_process_drives() {
    let world = World::default();
    let runner = world
        .builder()
        .workflow(Publishing::default())
        .build()
        .unwrap();
    let workflow = Publishing::default();
    let [left, other] = [0, 1].map(|_| runner.run(&workflow, "cats").stream());
    let (left, other) = (open_waits(left).await, open_waits(other).await);
    for waiting in [&left, &other] {
        runner
            .answer(&waiting[0].id, Decision::Publish)
            .await
            .unwrap();
    }
    let (mine, (told, mut went_on)) = (left[0].run_id, tokio::sync::mpsc::unbounded_channel());
    let watch = runner
        .watch()
        .leave(move |run| run == mine)
        .inspect(move |run| told.send(run.run_id).unwrap());
    tokio::select! {
        error = watch.into_future() => panic!("{error}"),
        // The watch looks many times in this period.
        () = tokio::time::sleep(Duration::from_hours(1)) => {}
    }
    assert_eq!(
        (went_on.recv().await, went_on.recv().await),
        (Some(other[0].run_id), None)
    );
    assert!(
        runner
            .runs(&adk::engine::RunFilter::of_run(mine))
            .await
            .unwrap()[0]
            .is_ready
    );
}

#[tokio::test]
async fn answers_of_elements_and_instances_have_their_own_types() {
    let world = World::default();
    let runner = world
        .builder()
        .workflow(Magazine::default())
        .build()
        .unwrap();
    let workflow = Magazine::default();
    let waiting = open_waits(
        runner
            .run(&workflow, vec!["a".to_owned(), "b".to_owned()])
            .stream(),
    )
    .await;
    assert_eq!(
        questions(&waiting),
        ["Is a fit for print?", "Is b fit for print?"]
    );
    assert_eq!(
        runner
            .answer(&waiting[1].id, "yes")
            .await
            .unwrap_err()
            .kind(),
        ErrorKind::AnswerInvalid
    );
    for (one, yes) in waiting.iter().zip([true, false]) {
        runner.answer(&one.id, yes).await.unwrap();
    }
    let inner = runner.recover().await.unwrap().remove(0).result.unwrap();
    assert_eq!(
        inner[0].path.to_string(),
        "magazine/second/refinement#1/decision"
    );
    assert_eq!(
        runner.answer(&inner[0].id, true).await.unwrap_err().kind(),
        ErrorKind::AnswerInvalid
    );
    runner
        .answer(&inner[0].id, Decision::Publish)
        .await
        .unwrap();
    let signing = runner.recover().await.unwrap().remove(0).result.unwrap();
    runner.answer(&signing[0].id, "us").await.unwrap();
    let outcome = runner.resume(&workflow, signing[0].run_id).await.unwrap();
    assert_eq!(
        (&*outcome.output.line, &*outcome.output.all),
        ("About dogs by us", &[true, false][..])
    );
}

workflow! {
    /// Waits for an answer in time.
    pub Voting() -> vote: bool {
        /// Yes or no?
        await(timeout = "1s") vote: bool
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_default_the_run_fails_at_the_timeout() {
    let world = World::default();
    let runner = world.builder().workflow(Voting::default()).build().unwrap();
    let workflow = Voting::default();
    open_waits(runner.run(&workflow, ()).stream()).await;
    tokio::time::advance(Duration::from_secs(2)).await;
    let error = runner
        .recover()
        .await
        .unwrap()
        .remove(0)
        .result
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.path().unwrap().to_string()),
        (ErrorKind::Expired, "voting/vote".to_owned())
    );
    assert!(
        error.help().is_some_and(|help| help.contains("default")),
        "{error}"
    );
}

workflow! {
    /// Asks a model, then a person.
    pub Asking(topic: String) -> text: String {
        agent drafter -> draft: String { instruction: "Draft {topic}." }
        agent writer -> text: String { instruction: "Write {draft}. Be {tone}, {length}." }

        drafter;
        await tone: String;
        await length: String;
        writer
    }
}

/// The usage of an agent counts once, even when its run is resumed many times.
#[tokio::test]
async fn a_run_that_is_resumed_twice_counts_its_usage_once() {
    let world = World::default();
    let reply = adk::testing::Reply::new().text("Tea.").usage(10, 2);
    let model = adk::testing::ScriptedModel::new()
        .reply(reply)
        .repeat_last();
    let runner = world.builder().model(model).build().unwrap();
    let workflow = Asking::default();
    let mut waiting = open_waits(runner.run(&workflow, "tea").stream()).await;
    let run = waiting[0].run_id;
    runner.answer(&waiting[0].id, "kind").await.unwrap();
    waiting = open_waits(runner.resume(&workflow, run).stream()).await;
    runner.answer(&waiting[0].id, "short").await.unwrap();
    let outcome = runner.resume(&workflow, run).await.unwrap();
    let told = runner
        .runs(&adk::engine::RunFilter::of_run(run))
        .await
        .unwrap();
    for usage in [outcome.usage, told[0].usage.unwrap()] {
        assert_eq!(
            (usage.calls, usage.input_tokens, usage.output_tokens),
            (2, 20, 4)
        );
    }
}

/// Pays an amount.
#[tool(confirm = |amount: u32| amount > 10, by = "staff")]
fn pay(amount: u32) -> String {
    format!("paid {amount}")
}

workflow! {
    /// Pays the amount that an agent of the shop requests, with the consent of other people.
    pub Refund() -> (told: String, checked: bool) {
        agent payer -> told: String { instruction: "Pay.", tools: [pay] }
        payer;
        /// Was it right?
        await(by = other) checked: bool;
    }
}

#[tokio::test]
async fn a_question_that_names_a_role_is_answered_by_a_user_with_the_role() {
    let world = World::default();
    let amount = |amount: u32| adk::json!({"amount": amount});
    let model = ScriptedModel::new()
        .call("pay", amount(5))
        .call("pay", amount(49))
        .text("done");
    let runner = world
        .builder()
        .model(model)
        .workflow(Refund::default())
        .build()
        .unwrap();
    let workflow = Refund::default();
    let waiting = open_waits(runner.session("ann", "s").run(&workflow, ()).stream()).await;
    assert_eq!(
        questions(&waiting),
        ["May the tool `pay` be called with {\"amount\":49}?"]
    );
    assert_eq!(waiting[0].by, Some(AnsweredBy::Role("staff".into())));
    for caller in [
        Answerer::default(),
        Answerer::user("ann"),
        Answerer::user("bob").role("editor"),
    ] {
        let error = runner
            .answer_as(&waiting[0].id, true, &caller)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WrongAnswerer, "{caller:?}");
        assert!(error.to_string().contains("the role `staff`"), "{error}");
    }
    assert!(runner.recover().await.unwrap().is_empty());
    let (ann, bob) = (
        Answerer::user("ann").role("staff"),
        Answerer::user("bob").role("staff"),
    );
    runner.answer_as(&waiting[0].id, true, &bob).await.unwrap();
    let check = runner.recover().await.unwrap().remove(0).result.unwrap();
    assert_eq!(
        (questions(&check), check[0].by.clone()),
        (vec!["Was it right?"], Some(AnsweredBy::Other))
    );
    assert_eq!(
        runner
            .answer_as(&check[0].id, true, &ann)
            .await
            .unwrap_err()
            .kind(),
        ErrorKind::WrongAnswerer,
        "a role does not make her another user"
    );
    runner.answer_as(&check[0].id, true, &bob).await.unwrap();
    assert!(
        runner
            .recover()
            .await
            .unwrap()
            .remove(0)
            .result
            .unwrap()
            .is_empty()
    );
}
