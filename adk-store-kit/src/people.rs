//! Promises about durable stores with people: questions are listed and answered once, by any
//! process. Recovery handles passed deadlines, and a watch handles them on time.

use crate::place::DynPlace;
use crate::trees::{By, Tree, by, exit, parallel, repeat, run, say};
use adk_build::engine::{RunFilter, RunStatus};
use adk_build::session::EventFilter;
use adk_build::spec::{Guards, Labels};
use adk_build::{
    AnsweredBy, Answerer, Await, Error, ErrorKind, Event, Flow, MARKS_KEY, RunEnd, Runner, Waiting,
};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// Builds the runner of another process.
pub async fn process(place: &dyn DynPlace, tree: fn() -> Tree) -> Runner {
    place.knows(tree()).await
}

/// Runs to the first pause and returns the waits.
pub async fn pause(place: &dyn DynPlace, tree: fn() -> Tree) -> Vec<Waiting> {
    let (runner, tree) = (process(place, tree).await, tree());
    let mut stream = runner.session("u", "s").run(&tree, "go").stream();
    while let Some(event) = stream.next().await {
        event.unwrap();
    }
    let RunEnd::Paused(waiting) = stream.end() else {
        panic!("the run does not wait")
    };
    waiting
}

fn kind<T: std::fmt::Debug>(result: Result<T, Error>) -> ErrorKind {
    result.unwrap_err().kind()
}

/// Builds a tree with two concurrent questions, after an abandoned one.
pub fn two() -> Tree {
    let ask = |key| run(Await::builder::<bool>(key).question("Yes or no?").build());
    let round = parallel("p", vec![ask("lost"), run(exit("leaver"))]);
    let both = parallel("q", vec![ask("a"), ask("b")]);
    Tree::new(
        "w",
        vec![repeat("l", Some(2), vec![round]), both, run(say("end"))],
    )
}

/// Each question is answered once, by any process.
pub async fn each_question_is_answered_once(place: &dyn DynPlace) {
    let waiting = pause(place, two).await;
    let summary = |one: &Waiting| {
        (
            one.path.to_string(),
            one.question.clone(),
            one.schema.clone(),
            one.deadline,
        )
    };
    let question = |path: &str| {
        (
            path.to_owned(),
            "Yes or no?".to_owned(),
            waiting[0].schema.clone(),
            None,
        )
    };
    assert_eq!(
        waiting.iter().map(summary).collect::<Vec<_>>(),
        [question("w/q/a"), question("w/q/b")]
    );
    assert_eq!(waiting[0].schema["type"], json!("boolean"));
    assert!(waiting[0].run_id == waiting[1].run_id && waiting[0].id != waiting[1].id);
    let other = process(place, two).await;
    assert_eq!(other.waiting().await.unwrap(), waiting);

    assert_eq!(
        kind(other.answer(&waiting[1].id, "yes").await),
        ErrorKind::AnswerInvalid
    );
    assert_eq!(
        kind(other.answer("e-1/w/a:await@0", true).await),
        ErrorKind::UnknownWait
    );
    let stranger = place.open_dyn().await.runner("elsewhere");
    assert_eq!(
        kind(stranger.answer(&waiting[1].id, true).await),
        ErrorKind::UnknownWait
    );
    assert!(
        other.recover().await.unwrap().is_empty(),
        "nothing has changed"
    );
    other.answer(&waiting[1].id, true).await.unwrap();
    assert_eq!(
        kind(other.answer(&waiting[1].id, false).await),
        ErrorKind::Answered
    );
    assert_eq!(
        kind(stranger.answer(&waiting[1].id, true).await),
        ErrorKind::UnknownWait
    );
    drop((other, stranger));

    let third = process(place, two).await;
    let open = third.recover().await.unwrap().remove(0).result.unwrap();
    assert_eq!(open, waiting[..1], "the other still waits");
    assert!(
        third.recover().await.unwrap().is_empty(),
        "a used answer does not wake the run again"
    );
    // Exactly one of two concurrent answers wins.
    let (no, yes) = tokio::join!(
        third.answer(&waiting[0].id, false),
        third.answer(&waiting[0].id, true)
    );
    let won = yes.is_ok();
    assert!(no.is_ok() != won);
    assert_eq!(kind(if won { no } else { yes }), ErrorKind::Answered);
    let open = third.recover().await.unwrap().remove(0).result.unwrap();
    assert!(open.is_empty());
    let tree = two();
    let outcome = third.resume(&tree, waiting[0].run_id).await.unwrap();
    let answers: (Option<bool>, Option<bool>) =
        (outcome.get("a").unwrap(), outcome.get("b").unwrap());
    assert_eq!(answers, (Some(won), Some(true)));
    assert!(third.waiting().await.unwrap().is_empty());
}

/// Builds a tree with questions for a role, for another user, and for the user who started the run.
pub(crate) fn addressed() -> Tree {
    let staff = Await::builder::<bool>("staff")
        .by(AnsweredBy::Role("staff".into()))
        .build();
    let other = Await::builder::<bool>("other")
        .by(AnsweredBy::Other)
        .build();
    Tree::new(
        "w",
        vec![parallel(
            "p",
            vec![
                run(staff),
                run(other),
                run(Await::builder::<bool>("own").build()),
            ],
        )],
    )
}

/// Asserts that these callers, and the session itself, cannot answer a question.
async fn is_refused_to<'a>(
    runner: &Runner,
    wait: &Waiting,
    callers: impl Iterator<Item = &'a Answerer>,
) {
    for caller in callers {
        let error = runner.answer_as(&wait.id, true, caller).await.unwrap_err();
        let (kind, text) = match &wait.by {
            None => (ErrorKind::UnknownWait, &*wait.id),
            Some(AnsweredBy::Other) => (ErrorKind::WrongAnswerer, "another user"),
            Some(AnsweredBy::Role(_)) => (ErrorKind::WrongAnswerer, "the role `staff`"),
        };
        assert_eq!(error.kind(), kind, "{caller:?}");
        assert!(error.message().contains(text), "{error}");
    }
    let session = runner.session("u", "s");
    assert_eq!(
        session
            .answer(&wait.id, "no bool")
            .await
            .unwrap_err()
            .kind(),
        match wait.by {
            None => ErrorKind::AnswerInvalid,
            Some(_) => ErrorKind::WrongAnswerer,
        }
    );
}

/// Only the users that a question names may answer it.
pub async fn only_named_users_answer(place: &dyn DynPlace) {
    let waiting = pause(place, addressed).await;
    let by: Vec<_> = waiting.iter().map(|wait| wait.by.clone()).collect();
    assert_eq!(
        by,
        [
            Some(AnsweredBy::Role("staff".into())),
            Some(AnsweredBy::Other),
            None
        ]
    );
    let runner = process(place, addressed).await;
    assert_eq!(
        runner.waiting().await.unwrap(),
        waiting,
        "the store keeps who may answer"
    );
    callers_see_their_waits(&runner, &waiting).await;
    let [own, bob] = ["u", "bob"].map(Answerer::user);
    let staff = bob.clone().role("editor").role("staff");
    let callers = [
        Answerer::default(),
        own.clone(),
        own.role("editor"),
        bob.clone(),
        staff.clone(),
        Answerer::operator(),
    ];
    for (wait, may) in waiting.iter().zip([
        [false, false, false, false, true, true],
        [false, false, false, true, true, true],
        [true, true, true, false, false, true],
    ]) {
        assert_eq!(
            callers.each_ref().map(|caller| wait.may_answer(caller)),
            may,
            "{}",
            wait.path
        );
        let refused = callers.iter().zip(may).filter(|(_, may)| !may);
        is_refused_to(&runner, wait, refused.map(|(caller, _)| caller)).await;
    }
    assert_eq!(
        runner.waiting().await.unwrap(),
        waiting,
        "nothing has changed"
    );
    assert!(
        runner.recover().await.unwrap().is_empty(),
        "nothing has changed"
    );
    runner
        .answer_as(&waiting[0].id, true, &staff)
        .await
        .unwrap();
    runner.answer_as(&waiting[1].id, true, &bob).await.unwrap();
    runner
        .session("u", "s")
        .answer(&waiting[2].id, false)
        .await
        .unwrap();
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

/// A refused run is unchanged: a waiting run still waits, an answered one is still ready, and a
/// failed one is not recovered.
pub async fn a_refused_run_is_unchanged(place: &dyn DynPlace) {
    let waiting = pause(place, two).await;
    let (store, id) = (place.open_dyn().await, waiting[0].run_id);
    let (own, stranger) = (store.runner("app"), store.runner("elsewhere"));
    let (changed, other, same) = (
        Tree::new("w", vec![run(say("end"))]),
        Tree::new("v", vec![]),
        two(),
    );
    let refused = async |id| {
        let before = store
            .registry()
            .runs("app", &RunFilter::unfinished())
            .await
            .unwrap();
        for (runner, tree, wanted) in [
            (&own, &changed, ErrorKind::TopologyChanged),
            (&own, &other, ErrorKind::TopologyChanged),
            (&stranger, &same, ErrorKind::UnknownRun),
        ] {
            assert_eq!(kind(runner.resume(tree, id).await), wanted);
            assert_eq!(
                store
                    .registry()
                    .runs("app", &RunFilter::unfinished())
                    .await
                    .unwrap(),
                before
            );
        }
        before
    };
    let runs = refused(id).await;
    assert_eq!(
        (&runs[0].status, runs[0].is_ready),
        (&RunStatus::Paused, false)
    );
    own.answer(&waiting[1].id, true).await.unwrap();
    let runs = refused(id).await;
    assert_eq!(
        (&runs[0].status, runs[0].is_ready),
        (&RunStatus::Paused, true)
    );

    let fails = Tree::new("w", vec![run(fails())]);
    let mut stream = own.session("u", "failed").run(&fails, "go").stream();
    let failed = stream.next().await.unwrap().unwrap().invocation_id;
    while stream.next().await.is_some_and(|event| event.is_ok()) {}
    drop(stream);
    assert_eq!(refused(failed).await.len(), 1, "the one that waits");
}

fn fails() -> By {
    by("fails", |_| {
        Box::pin(async { Err(Error::new(ErrorKind::KeyMissing, "no")) })
    })
}

/// Builds a tree with questions with and without a default, whose deadlines pass at once.
fn late() -> Tree {
    let soon = Duration::from_micros(1);
    let default = Await::builder::<u32>("first")
        .timeout(soon)
        .default(7)
        .build();
    Tree::new(
        "w",
        vec![
            run(default),
            run(Await::builder::<u32>("second").timeout(soon).build()),
        ],
    )
}

/// Recovery resumes runs whose questions timed out.
pub async fn recovery_handles_deadlines(place: &dyn DynPlace) {
    let waiting = pause(place, late).await;
    assert!(waiting[0].deadline.is_some());
    let other = process(place, late).await;
    assert_eq!(
        kind(other.answer(&waiting[0].id, 8).await),
        ErrorKind::Expired,
        "no process has noticed the deadline yet"
    );
    let open = other.recover().await.unwrap().remove(0).result.unwrap();
    assert_eq!(open[0].path.to_string(), "w/second");
    let error = other.recover().await.unwrap().remove(0).result.unwrap_err();
    let failure = (error.kind(), error.path().unwrap().to_string());
    assert_eq!(failure, (ErrorKind::Expired, "w/second".to_owned()));
    assert_eq!(
        kind(other.answer(&waiting[0].id, 8).await),
        ErrorKind::Answered
    );
}

/// Builds a tree with a question that needs an answer, and one whose deadline passes soon.
pub(crate) fn soon() -> Tree {
    let unanswered = Await::builder::<u32>("late")
        .timeout(Duration::from_millis(30))
        .default(7)
        .build();
    Tree::new(
        "w",
        vec![
            run(Await::builder::<u32>("now").build()),
            run(unanswered),
            run(say("end")),
        ],
    )
}

/// A watch handles an answer of another process, and a deadline as soon as it passes.
pub async fn a_watch_handles_answers_and_deadlines(place: &dyn DynPlace) {
    let waiting = pause(place, soon).await;
    let (watching, person) = (process(place, soon).await, process(place, soon).await);
    person.answer(&waiting[0].id, 5).await.unwrap();
    let (tell, mut reports) = tokio::sync::mpsc::unbounded_channel();
    // The watch polls at once, and then at the deadline, long before its own interval is over.
    let watch = watching
        .watch()
        .every(Duration::from_secs(24 * 3600))
        .inspect(move |run| {
            let _ = tell.send(run.result.unwrap().len());
        });
    let both = async { (reports.recv().await, reports.recv().await) };
    let both = tokio::select! {
        error = watch.into_future() => panic!("{error}"),
        both = both => both,
    };
    assert_eq!(
        both,
        (Some(1), Some(0)),
        "the run waits for the second answer, then ends"
    );
    let tree = soon();
    let outcome = person.resume(&tree, waiting[0].run_id).await.unwrap();
    assert_eq!(
        (
            outcome.get::<u32>("now").unwrap(),
            outcome.get::<u32>("late").unwrap()
        ),
        (Some(5), Some(7))
    );
}

/// Asserts that callers see the waits of [`addressed`] that are theirs, or that they may answer.
pub(crate) async fn callers_see_their_waits(runner: &Runner, waiting: &[Waiting]) {
    let [own, bob] = ["u", "bob"].map(Answerer::user);
    let staff = bob.clone().role("editor").role("staff");
    for (caller, seen) in [
        (&own, waiting),
        (&bob, &waiting[1..2]),
        (&staff, &waiting[..2]),
        (&Answerer::operator(), waiting),
    ] {
        let filter = RunFilter::unfinished().answerer(caller);
        let found = runner.waiting_of(&filter).await.unwrap();
        assert_eq!(found, seen, "{filter:?}");
        let mut of_session = filter;
        of_session.session = Some(waiting[0].session.clone());
        let found = runner.waiting_of(&of_session).await.unwrap();
        assert_eq!(found, seen, "{of_session:?}");
        of_session.session = Some("other".to_owned());
        assert!(runner.waiting_of(&of_session).await.unwrap().is_empty());
    }
}

/// Users see and answer their own questions, and an app those of all users.
pub async fn users_see_their_own_questions(place: &dyn DynPlace) {
    let runner = process(place, two).await;
    for (user, session) in [("ann", "s1"), ("ann", "s2"), ("bob", "s1")] {
        let error = runner
            .session(user, session)
            .run(&two(), "go")
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Paused);
    }
    let keys = |waits: Vec<Waiting>| -> Vec<String> {
        waits
            .into_iter()
            .map(|wait| format!("{}/{}", wait.user, wait.session))
            .collect()
    };
    let all = runner.waiting().await.unwrap();
    assert_eq!(
        keys(all.clone()),
        ["ann/s1", "ann/s1", "ann/s2", "ann/s2", "bob/s1", "bob/s1"]
    );
    let ann = runner
        .waiting_of(&RunFilter::unfinished().user("ann"))
        .await
        .unwrap();
    assert_eq!(keys(ann), ["ann/s1", "ann/s1", "ann/s2", "ann/s2"]);
    let bob = runner.session("bob", "s1");
    assert_eq!(keys(bob.waiting().await.unwrap()), ["bob/s1", "bob/s1"]);
    for wait in &all {
        let answered = bob.answer(&wait.id, true).await;
        match &*wait.user {
            "bob" => answered.unwrap(),
            _ => assert_eq!(kind(answered), ErrorKind::UnknownWait),
        }
    }
    assert_eq!(
        keys(runner.waiting().await.unwrap()),
        ["ann/s1", "ann/s1", "ann/s2", "ann/s2"]
    );
    let ready = runner.runs(&RunFilter::ready()).await.unwrap();
    assert_eq!(ready.len(), 1);
    assert_eq!(
        (
            &*ready[0].session.user,
            &*ready[0].workflow,
            ready[0].is_ready
        ),
        ("bob", "w", true)
    );
    let of_ann = runner
        .runs(&RunFilter::unfinished().user("ann").limit(1))
        .await
        .unwrap();
    assert_eq!(of_ann.len(), 1);
    let after = RunFilter::unfinished().user("ann").after(of_ann[0].run_id);
    let rest = runner.runs(&after).await.unwrap();
    assert_eq!(rest.len(), 1);
    assert_eq!(rest[0].session.id, "s1", "the newest came first");
    assert!(
        runner
            .runs(&RunFilter::unfinished().workflows(["v"]))
            .await
            .unwrap()
            .is_empty()
    );
    assert!(
        place
            .open_dyn()
            .await
            .runner("elsewhere")
            .runs(&RunFilter::any())
            .await
            .unwrap()
            .is_empty()
    );
}

/// Builds a tree that asks, then makes calls that must all be stored, so that each run needs the
/// store often.
fn busy() -> Tree {
    let ask = run(Await::builder::<bool>("yes").question("Go on?").build());
    Tree::new(
        "w",
        vec![
            ask,
            repeat("l", Some(5), vec![run(say("a"))]),
            run(say("end")),
        ],
    )
}

/// Many runs that are answered at once continue while others read the store.
pub async fn many_answered_runs_continue(place: &dyn DynPlace) {
    let runs = 200;
    let store = place.open_dyn().await;
    let runner = store.knows("app", busy());
    let tree = Arc::new(busy());
    let mut asked = JoinSet::new();
    for n in 0..runs {
        asked.spawn(
            runner
                .session("u", format!("s{n}"))
                .run(tree.clone(), "go")
                .into_future(),
        );
    }
    for paused in asked.join_all().await {
        assert_eq!(kind(paused), ErrorKind::Paused);
    }
    let (sender, mut driven) = tokio::sync::mpsc::unbounded_channel();
    let watch = runner
        .watch()
        .every(Duration::from_millis(20))
        .inspect(move |run| {
            let _ = sender.send(run);
        });
    let watch = tokio::spawn(watch.into_future());
    let waits = runner.waiting().await.unwrap();
    assert_eq!(waits.len(), runs);
    let mut answers = JoinSet::new();
    for wait in waits {
        let runner = runner.clone();
        answers.spawn(async move { runner.answer(&wait.id, true).await.unwrap() });
    }
    answers.join_all().await;
    let mut ended = BTreeSet::new();
    while ended.len() < runs {
        let run = driven.recv().await.expect("the watch continues");
        assert!(run.result.unwrap().is_empty());
        assert!(ended.insert(run.run_id), "a run ends once");
        if ended.len() % 50 == 0 {
            assert!(runner.waiting().await.unwrap().is_empty());
        }
    }
    watch.abort();
    assert!(
        runner
            .runs(&RunFilter::unfinished())
            .await
            .unwrap()
            .is_empty()
    );
}

/// Builds a tree whose second agent acts on what the first one has read.
pub fn guarded() -> Tree {
    let mut reader = by("reader", |cx| {
        Box::pin(async move {
            let count = |n: Option<u64>| n.unwrap_or(0) + 1;
            cx.state().update("user:n", count).await?;
            let event = Event::new().with_text("a page");
            cx.emit(event.with_state("user:note", "a page")).await?;
            Ok(Flow::Continue)
        })
    });
    reader.meta = reader.meta.labels(Labels::UNTRUSTED);
    let mut sender = say("sender");
    sender.meta = sender.meta.labels(Labels::ACTS);
    Tree::new("w", vec![run(reader), run(sender)]).guards(const { &Guards::NONE })
}

/// In a workflow with guards, marks are stored in the transaction of what they mark, and reach
/// other processes and sessions. A call that strangers may have steered waits, and continues in
/// another process.
pub async fn guarded_calls_wait_with_their_marks(place: &dyn DynPlace) {
    let waiting = pause(place, guarded).await;
    let [wait] = &waiting[..] else {
        panic!("one question: {waiting:?}")
    };
    assert!(wait.id.ends_with("w/sender:guard sender@0"), "{}", wait.id);
    let other = process(place, guarded).await;
    assert_eq!(other.waiting().await.unwrap(), waiting);
    let session = other
        .session("u", "s")
        .get(&EventFilter::new())
        .await
        .unwrap()
        .unwrap();
    for key in ["user:n", "user:note"] {
        let mark = format!("{key}#untrusted");
        let marked = session.state.get(mark.as_str()).map(|value| &**value);
        assert_eq!(marked, Some(&json!("`reader`")));
        let writes = session
            .events
            .iter()
            .map(|event| &event.actions.state_delta)
            .filter(|delta| delta.contains_key(key));
        let both: Vec<_> = writes.map(|delta| delta.contains_key(&mark)).collect();
        assert_eq!(both, [true], "{key}: one event writes the key and its mark");
    }
    let shown = session
        .events
        .iter()
        .find(|event| event.author == "reader" && event.content.is_some());
    let marks = shown.and_then(|event| event.metadata(MARKS_KEY));
    assert_eq!(marks, Some(&json!({"untrusted": "`reader`"})));

    assert_eq!(
        kind(other.answer(&wait.id, true).await),
        ErrorKind::AnswerInvalid
    );
    other
        .answer(&wait.id, json!({"allowUntrusted": true}))
        .await
        .unwrap();
    other.resume(&guarded(), wait.run_id).await.unwrap();
    // Another session of the user.
    let tree = guarded();
    let mut stream = other.session("u", "t").run(&tree, "go").stream();
    while let Some(event) = stream.next().await {
        event.unwrap();
    }
    let session = other
        .session("u", "t")
        .get(&EventFilter::new())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        session
            .state
            .get("user:note#untrusted")
            .map(|value| &**value),
        Some(&json!("`reader`"))
    );
}
