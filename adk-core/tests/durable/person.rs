//! `await`: a person is asked, and answers in another process or not in time.

use super::crash::World;
use crate::support::*;
use adk_build::{Await, Error, ErrorKind, InMemoryStore, RunEnd, RunId, Runner, Waiting};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(crate = "adk_build::__private::schemars")]
enum Decision {
    Publish,
    Revise(String),
}

fn asks(key: &'static str) -> Await {
    Await::builder::<Decision>(key)
        .question("Publish {draft}?")
        .build()
}

/// Builds a tree of a draft, the nodes that ask, and a last agent.
fn asking(inside: Vec<Node>) -> Tree {
    let mut body = vec![run(put("writer", "draft", |_| "a cat"))];
    body.extend(inside);
    body.push(run(say("end")));
    Tree::new("w", body)
}

fn runner(world: &World, tree: Option<Tree>) -> Runner {
    let builder = Runner::builder()
        .session_store(world.sessions.clone())
        .engine(world.journal.clone());
    match tree {
        Some(tree) => builder.workflow(tree).build().unwrap(),
        None => builder.build().unwrap(),
    }
}

/// Runs to the first pause and returns the waits.
async fn pause(world: &World, tree: &Tree) -> Vec<Waiting> {
    let runner = runner(world, None);
    let mut stream = runner.run(tree, "go").stream();
    while let Some(event) = stream.next().await {
        event.unwrap();
    }
    let RunEnd::Paused(waiting) = stream.end() else {
        panic!("the run does not wait")
    };
    waiting
}

async fn value(world: &World, run: RunId, key: &str) -> Option<serde_json::Value> {
    for listed in world.sessions.list("app", None, "").await.unwrap() {
        let session = world.sessions.get(&listed.key).await.unwrap().unwrap();
        if session
            .event(0)
            .is_some_and(|event| event.invocation_id == run)
        {
            return session.get(key).map(|value| (*value).clone());
        }
    }
    None
}

fn kind<T: std::fmt::Debug>(result: Result<T, Error>) -> ErrorKind {
    result.unwrap_err().kind()
}

#[tokio::test]
async fn a_question_is_listed_and_its_answer_written_in_another_process() {
    let (world, tree) = (World::new(), || asking(vec![run(asks("decision"))]));
    let waiting = pause(&world, &tree()).await;
    let [one] = &waiting[..] else {
        panic!("{waiting:?}")
    };
    assert_eq!(
        (&*one.question, one.path.to_string(), one.deadline),
        ("Publish a cat?", "w/decision".to_owned(), None)
    );
    assert!(
        one.schema["oneOf"].is_array() || one.schema["anyOf"].is_array(),
        "{}",
        one.schema
    );

    for known in [None, Some(tree())] {
        let other = runner(&world, known);
        assert_eq!(other.waiting().await.unwrap(), waiting);
        let error = other
            .answer(&one.id, json!({"Revise": 1}))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AnswerInvalid);
        assert_eq!(
            error.path().map(ToString::to_string).as_deref(),
            Some("w/decision")
        );
        assert_eq!(
            kind(other.answer("e-1/w/decision:await@0", "Publish").await),
            ErrorKind::UnknownWait
        );
    }
    let other = runner(&world, Some(tree()));
    assert!(
        other.recover().await.unwrap().is_empty(),
        "nothing has changed"
    );
    other
        .answer(&one.id, Decision::Revise("shorter".into()))
        .await
        .unwrap();
    assert_eq!(
        kind(other.answer(&one.id, Decision::Publish).await),
        ErrorKind::Answered
    );
    let recovered = other.recover().await.unwrap();
    assert!(
        recovered[0].result.as_ref().unwrap().is_empty(),
        "{recovered:?}"
    );
    assert_eq!(
        value(&world, one.run_id, "decision").await,
        Some(json!({"Revise": "shorter"}))
    );
    let session = &world.sessions.list("app", None, "").await.unwrap()[0];
    let session = world.sessions.get(&session.key).await.unwrap().unwrap();
    let event = session
        .events()
        .find(|event| event.author == "decision")
        .unwrap();
    assert_eq!(
        (event.path.to_string(), event.content.is_none()),
        ("w/decision".to_owned(), true)
    );
}

#[tokio::test]
async fn answers_are_checked_by_the_type_or_without_the_workflow_by_the_schema() {
    /// A type that accepts fewer values than its schema.
    #[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
    #[schemars(crate = "adk_build::__private::schemars")]
    #[serde(try_from = "String", into = "String")]
    #[schemars(with = "String")]
    struct Short(String);
    impl TryFrom<String> for Short {
        type Error = String;
        fn try_from(text: String) -> Result<Self, String> {
            if text.len() < 4 {
                Ok(Self(text))
            } else {
                Err(format!("`{text}` is too long"))
            }
        }
    }
    impl From<Short> for String {
        fn from(short: Short) -> Self {
            short.0
        }
    }
    impl Clone for Short {
        fn clone(&self) -> Self {
            Self(self.0.clone())
        }
    }
    let (world, tree) = (World::new(), || {
        asking(vec![run(Await::builder::<Short>("name")
            .name("who")
            .build())])
    });
    let waiting = pause(&world, &tree()).await;
    let known = runner(&world, Some(tree()));
    let error = known.answer(&waiting[0].id, "too long").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AnswerInvalid);
    assert!(
        error.to_string().contains("`too long` is too long"),
        "{error}"
    );
    // A process that does not know the type records any answer that fits the schema; the run then
    // reports the fault.
    runner(&world, None)
        .answer(&waiting[0].id, "too long")
        .await
        .unwrap();
    let recovered = known.recover().await.unwrap();
    let error = recovered[0].result.as_ref().unwrap_err();
    assert_eq!(
        (error.kind(), error.path().unwrap().to_string()),
        (ErrorKind::AnswerInvalid, "w/who".into())
    );
}

#[tokio::test]
async fn an_answer_is_parsed_like_that_of_a_model() {
    #[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
    #[schemars(crate = "adk_build::__private::schemars")]
    struct Grade {
        score: u8,
    }
    let grade = || {
        asking(vec![run(Await::builder::<Grade>("grade")
            .question("How good?")
            .build())])
    };
    for answer in [
        json!({"score": 3}),
        json!({"score": 3.0}),
        json!("\u{feff}{\"score\": 3}"),
        json!("```json\n{\"score\": 3.0}\n```"),
        json!("I say {\"score\": 3}."),
    ] {
        for is_known in [true, false] {
            let world = World::new();
            let waiting = pause(&world, &grade()).await;
            let other = runner(&world, is_known.then(grade));
            other
                .answer(&waiting[0].id, &answer)
                .await
                .unwrap_or_else(|error| panic!("{answer}: {error}"));
            runner(&world, Some(grade())).recover().await.unwrap();
            let kept = value(&world, waiting[0].run_id, "grade").await;
            assert_eq!(kept, Some(json!({"score": 3})), "{answer}");
        }
    }
}

#[tokio::test]
async fn an_answer_with_alternatives_is_parsed_like_that_of_a_model() {
    #[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
    #[schemars(crate = "adk_build::__private::schemars")]
    enum Verdict {
        Refuse,
        Approve {
            amount: u64,
            price: f64,
            note: Option<String>,
        },
    }
    let verdict = || {
        asking(vec![run(Await::builder::<Verdict>("verdict")
            .question("Well?")
            .build())])
    };
    // The value is stored in the form that the type serializes.
    let approved = json!({"Approve": {"amount": 3, "price": 1.0, "note": null}});
    for (answer, kept) in [
        (json!({"Approve": {"amount": 3.0, "price": 1}}), &approved),
        (
            json!({"Approve": {"amount": 3.0, "price": 1, "note": null}}),
            &approved,
        ),
        (
            json!("\u{feff}{\"Approve\": {\"amount\": 3, \"price\": 1}}"),
            &approved,
        ),
        (
            json!("```json\n{\"Approve\": {\"amount\": 3.0, \"price\": 1}}\n```"),
            &approved,
        ),
        (json!("Refuse"), &json!("Refuse")),
    ] {
        let world = World::new();
        let waiting = pause(&world, &verdict()).await;
        let known = runner(&world, Some(verdict()));
        known
            .answer(&waiting[0].id, &answer)
            .await
            .unwrap_or_else(|error| panic!("{answer}: {error}"));
        known.recover().await.unwrap();
        let found = value(&world, waiting[0].run_id, "verdict").await;
        assert_eq!(found.as_ref(), Some(kept), "{answer}");
    }
}

#[tokio::test]
async fn an_answer_must_have_the_type_of_its_question() {
    let world = World::new();
    let (then, now) = (
        || asking(vec![run(asks("decision"))]),
        || asking(vec![run(Await::builder::<bool>("decision").build())]),
    );
    let waiting = pause(&world, &then()).await;
    // The new program knows the workflow, but its question now has another type.
    let newer = runner(&world, Some(now()));
    let error = newer.answer(&waiting[0].id, true).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AnswerInvalid, "{error}");
    newer
        .answer(&waiting[0].id, Decision::Publish)
        .await
        .unwrap();
    let error = newer.recover().await.unwrap().remove(0).result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TopologyChanged, "{error}");
    let recovered = runner(&world, Some(then())).recover().await.unwrap();
    assert!(
        recovered[0].result.as_ref().unwrap().is_empty(),
        "{recovered:?}"
    );
    assert_eq!(
        value(&world, waiting[0].run_id, "decision").await,
        Some(json!("Publish"))
    );
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_is_refused_even_before_the_timeout_was_noticed() {
    let world = World::new();
    let tree = || {
        let late = Await::builder::<Decision>("decision")
            .timeout(72 * HOUR)
            .default(Decision::Publish);
        asking(vec![run(late.build())])
    };
    let waiting = pause(&world, &tree()).await;
    tokio::time::advance(72 * HOUR + Duration::from_secs(1)).await;
    for known in [None, Some(tree())] {
        let error = runner(&world, known)
            .answer(&waiting[0].id, Decision::Revise("no".into()))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Expired, "{error}");
        assert!(
            error.help().is_some_and(|help| help.contains("default")),
            "{error}"
        );
    }
    let recovered = runner(&world, Some(tree())).recover().await.unwrap();
    assert!(
        recovered[0].result.as_ref().unwrap().is_empty(),
        "{recovered:?}"
    );
    assert_eq!(
        value(&world, waiting[0].run_id, "decision").await,
        Some(json!("Publish"))
    );
}

#[tokio::test]
async fn each_branch_and_element_waits_for_its_own_answer() {
    let world = World::new();
    let tree = || {
        let both = parallel("p", vec![run(asks("one")), run(asks("two"))]);
        asking(vec![
            both,
            each("e", "item", "items", vec![run(asks("each"))]),
        ])
        .lets("items", json!([1, 2, 3]))
    };
    let waiting = pause(&world, &tree()).await;
    assert_eq!(waiting.len(), 2);
    let other = runner(&world, Some(tree()));
    other
        .answer(&waiting[1].id, Decision::Publish)
        .await
        .unwrap();
    let recovered = other.recover().await.unwrap();
    assert_eq!(recovered[0].result.as_ref().unwrap().len(), 1);
    assert!(
        other.recover().await.unwrap().is_empty(),
        "a used answer does not wake the run again"
    );
    other
        .answer(&waiting[0].id, Decision::Publish)
        .await
        .unwrap();
    let recovered = other.recover().await.unwrap();
    let open = recovered[0].result.as_ref().unwrap();
    let paths: Vec<_> = open
        .iter()
        .map(|waiting| waiting.path.to_string())
        .collect();
    assert_eq!(paths, ["w/e[0]/each", "w/e[1]/each", "w/e[2]/each"]);
    for (number, waiting) in open.iter().enumerate().rev() {
        assert_eq!(
            kind(other.answer(&waiting.id, 5).await),
            ErrorKind::AnswerInvalid
        );
        other
            .answer(&waiting.id, Decision::Revise(number.to_string()))
            .await
            .unwrap();
    }
    assert!(
        other.recover().await.unwrap()[0]
            .result
            .as_ref()
            .unwrap()
            .is_empty()
    );
    let all = json!([{"Revise": "0"}, {"Revise": "1"}, {"Revise": "2"}]);
    assert_eq!(value(&world, waiting[0].run_id, "each").await, Some(all));
}

#[tokio::test(start_paused = true)]
async fn recover_resumes_runs_whose_questions_timed_out() {
    let (world, other) = (World::new(), World::new());
    let with = || {
        let late = Await::builder::<Decision>("decision").timeout(72 * HOUR);
        asking(vec![run(late
            .default(Decision::Revise("late".into()))
            .build())])
    };
    let without = || {
        asking(vec![run(Await::builder::<Decision>("decision")
            .name("board")
            .timeout(72 * HOUR)
            .build())])
    };
    let waiting = [
        pause(&world, &with()).await,
        pause(&other, &without()).await,
    ];
    tokio::time::advance(71 * HOUR).await;
    assert!(
        runner(&world, Some(with()))
            .recover()
            .await
            .unwrap()
            .is_empty(),
        "an hour remains"
    );
    let listed = runner(&world, None).waiting().await.unwrap();
    assert_eq!(listed, waiting[0], "the deadline does not move");
    tokio::time::advance(HOUR + Duration::from_secs(1)).await;
    let recovered = runner(&world, Some(with())).recover().await.unwrap();
    assert!(recovered[0].result.as_ref().unwrap().is_empty());
    let decision = value(&world, waiting[0][0].run_id, "decision").await;
    assert_eq!(decision, Some(json!({"Revise": "late"})));

    let late = runner(&other, Some(without()));
    let recovered = late.recover().await.unwrap();
    let error = recovered[0].result.as_ref().unwrap_err();
    assert_eq!(
        (error.kind(), error.path().unwrap().to_string()),
        (ErrorKind::Expired, "w/board".to_owned())
    );
    assert!(
        error.to_string().contains("no answer arrived in time"),
        "{error}"
    );
    let id = &waiting[1][0].id;
    assert!(matches!(
        kind(late.answer(id, Decision::Publish).await),
        ErrorKind::Answered | ErrorKind::UnknownWait
    ));
}

#[tokio::test(start_paused = true)]
async fn a_watcher_handles_answers_and_deadlines_on_time() {
    let world = World::new();
    let tree = || {
        let second = Await::builder::<Decision>("second")
            .timeout(72 * HOUR)
            .default(Decision::Publish);
        asking(vec![run(asks("first")), run(second.build())])
    };
    let resumptions = Arc::new(Mutex::new(Vec::new()));
    let into = resumptions.clone();
    let watching = runner(&world, Some(tree()));
    let watch = watching.watch().every(MINUTE).inspect(move |run| {
        into.lock()
            .unwrap()
            .push((tokio::time::Instant::now(), run.result.unwrap()));
    });
    let begin = tokio::time::Instant::now();
    let person = async {
        tokio::time::sleep(HOUR).await;
        // This wait started while it was watched.
        let waiting = pause(&world, &tree()).await;
        tokio::time::sleep(HOUR).await;
        runner(&world, None)
            .answer(&waiting[0].id, Decision::Publish)
            .await
            .unwrap();
        tokio::time::sleep(100 * HOUR).await;
        value(&world, waiting[0].run_id, "second").await
    };
    let second = tokio::select! {
        error = watch.into_future() => panic!("{error}"),
        second = person => second,
    };
    assert_eq!(second, Some(json!("Publish")));
    let resumptions = resumptions.lock().unwrap();
    let [(answered, then), (late, end)] = &resumptions[..] else {
        panic!("{resumptions:?}")
    };
    let after = |at: &tokio::time::Instant| at.duration_since(begin);
    assert!(after(answered) >= 2 * HOUR && after(answered) <= 2 * HOUR + MINUTE);
    // The second wait started with the first answer; its deadline is not found by polling each
    // minute.
    let waited = late.duration_since(*answered);
    assert!(
        waited.abs_diff(72 * HOUR) < Duration::from_secs(1),
        "{waited:?}"
    );
    assert_eq!((then.len(), end.len()), (1, 0));
}

#[tokio::test]
async fn a_cancelled_branch_no_longer_waits() {
    let world = World::new();
    let tree = || {
        let inside = parallel("p", vec![run(asks("lost")), run(exit("leaver"))]);
        asking(vec![repeat("l", Some(3), vec![inside]), run(asks("kept"))])
    };
    let waiting = pause(&world, &tree()).await;
    let paths = |all: &[Waiting]| {
        all.iter()
            .map(|one| one.path.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(paths(&waiting), ["w/kept"]);
    let other = runner(&world, Some(tree()));
    assert_eq!(paths(&other.waiting().await.unwrap()), ["w/kept"]);
    other
        .answer(&waiting[0].id, Decision::Publish)
        .await
        .unwrap();
    assert!(
        other.recover().await.unwrap()[0]
            .result
            .as_ref()
            .unwrap()
            .is_empty()
    );
    assert!(other.waiting().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_dropped_resume_releases_its_run() {
    let world = World::new();
    let tree = asking(vec![run(asks("decision"))]);
    let waiting = pause(&world, &tree).await;
    let runner = runner(&world, None);
    let id = waiting[0].run_id;
    for polls in 0..20 {
        let mut stream = runner.resume(&tree, id).stream();
        let mut left = polls;
        let next = std::pin::pin!(stream.next());
        let mut next = next;
        std::future::poll_fn(|task| {
            while left > 0 {
                left -= 1;
                if next.as_mut().poll(task).is_ready() {
                    break;
                }
            }
            std::task::Poll::Ready(())
        })
        .await;
    }
    let mut stream = runner.resume(&tree, id).stream();
    assert!(stream.next().await.is_none());
    assert!(
        matches!(stream.end(), RunEnd::Paused(_)),
        "no process drives the run"
    );
}

/// A watch offers a run again later if its `resume_by` refuses the run as busy. Other runs continue
/// in the meantime.
#[tokio::test(start_paused = true)]
async fn a_refused_run_does_not_block_others() {
    let builder = Runner::builder()
        .app_name("app")
        .store(InMemoryStore::new());
    let asking_tree = asking(vec![run(asks("answer"))]);
    let runner: Runner = builder.workflow(asking_tree).build().unwrap();
    for tenant in ["greedy", "greedy", "greedy", "modest"] {
        let runner = runner.for_app(tenant);
        let paused = runner
            .run(&asking(vec![run(asks("answer"))]), "go")
            .await
            .unwrap_err();
        assert_eq!(paused.kind(), ErrorKind::Paused);
        for wait in runner.waiting().await.unwrap() {
            runner.answer(&wait.id, Decision::Publish).await.unwrap();
        }
    }
    let (sender, mut received) = tokio::sync::mpsc::unbounded_channel();
    let watch = runner.watch().at_most(2).every(HOUR).resume_by(move |run| {
        sender.send(run.session.app.clone()).unwrap();
        async move {
            match &*run.session.app {
                "greedy" => Err(Error::new(ErrorKind::RunBusy, "no room")),
                _ => std::future::pending().await,
            }
        }
    });
    let offered = async {
        let mut offered = Vec::new();
        while offered.len() < 7 {
            offered.push(received.recv().await.unwrap());
        }
        offered
    };
    let begun = tokio::time::Instant::now();
    let offered = tokio::select! {
        error = watch.into_future() => panic!("{error}"),
        offered = offered => offered,
    };
    assert_eq!(
        offered[..4].iter().filter(|app| *app == "modest").count(),
        1,
        "{offered:?}"
    );
    assert!(
        offered[4..].iter().all(|app| app == "greedy"),
        "{offered:?}"
    );
    let passed = begun.elapsed();
    assert!(
        passed >= Duration::from_secs(1) && passed < MINUTE,
        "{passed:?}"
    );
}
