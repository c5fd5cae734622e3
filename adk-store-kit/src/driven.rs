//! Promises about runs that an engine above the store drives: each slot is filled once, regardless
//! of the executing process, and no other process resumes such a run.

mod above;
mod detached;
mod interleaved;

use self::above::Above;
use self::detached::Detached;
use crate::place::{DynPlace, OpenStore, key, kind};
use crate::trees::{By, Node, Tree, by, parallel, repeat, run, say};
use adk_build::engine::{
    CallKind, ClaimId, Done, DrivenRun, RunFilter, RunInfo, RunRecord, RunRegistry, RunStatus,
    RunTask, StepKey, Stored, WaitRegistry,
};
use adk_build::model::{Usage, UsageByAgent};
use adk_build::session::{EventFilter, SessionKey, SessionSnapshot};
use adk_build::spec::{KeySpec, Topology};
use adk_build::{
    Await, Content, Error, ErrorKind, Event, Flow, Path, Result, RunEnd, RunId, RunRequest,
    RunStream, Runner, StateDelta, StoreErrorKind, Waiting, Workflow,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

fn registry(store: &OpenStore) -> &dyn RunRegistry {
    store.registry()
}

/// Returns the open waits of a run.
async fn waits_of(store: &OpenStore, run: RunId) -> Vec<Waiting> {
    let filter = RunFilter::of_run(run);
    waits(store).waiting("app", &filter).await.unwrap()
}

fn waits(store: &OpenStore) -> &dyn WaitRegistry {
    store.waits()
}

/// Builds a process that executes runs for an engine above the store.
fn above(store: &OpenStore, tree: Tree, other: Option<Runner>) -> Runner {
    let engine = Above {
        store: store.clone(),
        other,
        offers: AtomicUsize::new(0),
    };
    store
        .knows("app", tree)
        .driven_by(Arc::new(engine), Arc::new(Detached(store.sessions.clone())))
}

/// Makes the task of a run in a session, as it is transferred.
fn task(tree: &Tree, run: RunId, session: &str) -> RunTask {
    let topology = Topology::of(tree.as_agent().meta());
    serde_json::from_value(json!({
        "run_id": run,
        "session": SessionKey::new("app", "u", session),
        "takes_turn": true,
        "workflow": "w",
        "topology": topology,
        "message": Content::from("go"),
        "delta": {},
        "config": null,
    }))
    .expect("a task")
}

fn begin(runner: &Runner, tree: &Tree, run: RunId, session: &str) -> RunRequest<'static, Value> {
    runner
        .begin(task(tree, run, session))
        .expect("the runner knows the workflow")
}

/// Executes the run once more.
fn again(runner: &Runner, run: RunId) -> RunRequest<'static, Value> {
    let info = RunInfo::new(run, key(), "w", RunStatus::Running, false);
    runner
        .resume_by_name(&info)
        .expect("the runner knows the workflow")
}

/// Reads a stream to its end, which must be a pause or a finish.
async fn read(stream: &mut RunStream<'_, Value>) -> Vec<Arc<Event>> {
    let mut all = Vec::new();
    while let Some(event) = stream.next().await {
        all.push(event.unwrap());
    }
    all
}

async fn pauses(request: RunRequest<'static, Value>) -> Vec<Arc<Event>> {
    let mut stream = request.stream();
    let all = read(&mut stream).await;
    assert!(matches!(stream.end(), RunEnd::Paused(_)), "it waits");
    all
}

/// Starts a run of one event that stays open, and returns its id.
pub async fn open_run(store: &OpenStore) -> RunId {
    let tree = || Tree::new("w", vec![run(waits_for("asks"))]);
    let run = RunId::new();
    pauses(begin(&above(store, tree(), None), &tree(), run, "s")).await;
    run
}

async fn log(store: &OpenStore, session: &str) -> SessionSnapshot {
    let key = SessionKey::new("app", "u", session);
    store
        .sessions
        .read(&key, &EventFilter::new())
        .await
        .unwrap()
        .unwrap()
}

async fn driven(store: &OpenStore, run: RunId, from: u64) -> DrivenRun {
    registry(store).driven(run, from).await.unwrap().unwrap()
}

async fn info(store: &OpenStore, run: RunId) -> RunInfo {
    registry(store)
        .runs("app", &RunFilter::of_run(run))
        .await
        .unwrap()
        .remove(0)
}

/// Returns the comparable parts of the events with their slots.
fn slots(driven: &DrivenRun) -> Vec<(u64, String, Arc<Event>, StateDelta)> {
    let comparable = |(slot, stored): &(String, Stored)| {
        (
            stored.place,
            slot.clone(),
            stored.event.clone(),
            stored.temp.clone(),
        )
    };
    driven.events.iter().map(comparable).collect()
}

fn is_fenced<T: std::fmt::Debug>(result: Result<T>) {
    assert_eq!(kind(&result.unwrap_err()), StoreErrorKind::Fenced);
}

const ROUNDS: u32 = 4;

/// The texts of each round.
const EACH: [&str; 4] = ["says", "temp", "calls", "adds"];

fn says() -> By {
    by("says", |cx| {
        Box::pin(async move {
            cx.emit(Event::new().with_text("says")).await?;
            cx.emit(
                Event::new()
                    .with_text("temp")
                    .with_state("temp:t", cx.path().to_string()),
            )
            .await?;
            let kept: Option<String> = cx.state().get("temp:t")?;
            assert_eq!(kept, Some(cx.path().to_string()));
            Ok(Flow::Continue)
        })
    })
}

/// Makes an agent whose event is the record of its call.
fn calls(made: &Arc<AtomicUsize>) -> By {
    let made = made.clone();
    by("calls", move |cx| {
        let made = made.clone();
        Box::pin(async move {
            let call = async move {
                made.fetch_add(1, SeqCst);
                Ok(Event::new().with_text("calls"))
            };
            cx.emit_call(call).await?;
            Ok(Flow::Continue)
        })
    })
}

fn adds() -> By {
    by("adds", |cx| {
        Box::pin(async move {
            for key in ["user:n", "n"] {
                cx.state()
                    .update(key, |n: Option<u64>| n.unwrap_or(0) + 1)
                    .await?;
            }
            Ok(Flow::Continue)
        })
    })
}

fn waits_for(name: &'static str) -> By {
    by(name, move |cx| {
        Box::pin(async move {
            let yes: bool = cx.wait("decision").await?;
            cx.emit(Event::new().with_text(format!("{name} {yes}")))
                .await?;
            Ok(Flow::Continue)
        })
    })
}

/// Builds a tree with all kinds of commits, and a wait at the end.
fn kinds(made: &Arc<AtomicUsize>) -> Tree {
    let round = vec![run(says()), run(calls(made)), run(adds())];
    Tree::new(
        "w",
        vec![repeat("l", Some(ROUNDS), round), run(waits_for("asks"))],
    )
    .states(const { &[KeySpec::new("n", "u64")] })
}

/// Returns the texts of [`kinds`] until it waits.
fn kinds_texts() -> Vec<&'static str> {
    let each = [EACH[0], EACH[1], EACH[2], "", ""];
    std::iter::once("go")
        .chain(std::iter::repeat_n(each, ROUNDS as usize).flatten())
        .collect()
}

fn texts(events: &[Arc<Event>]) -> Vec<String> {
    events.iter().map(|event| event.text()).collect()
}

/// Several attempts execute the same run concurrently in two processes, and later a third process
/// does. Each slot is filled once, and all see the same events in log order.
pub async fn each_slot_is_filled_once(place: &dyn DynPlace) {
    let made = Arc::default();
    let (one, two, three) = (
        place.open_dyn().await,
        place.open_dyn().await,
        place.open_dyn().await,
    );
    // Two attempts in one process share a transaction.
    let runners = [&one, &two, &two].map(|store| above(store, kinds(&made), None));
    one.sessions
        .create(key(), StateDelta::default())
        .await
        .unwrap();
    let run = RunId::new();
    let tasks = runners
        .each_ref()
        .map(|runner| tokio::spawn(pauses(begin(runner, &kinds(&made), run, "s"))));
    let mut seen = Vec::new();
    for task in tasks {
        seen.push(task.await.unwrap());
    }
    let calls = made.load(SeqCst);
    assert!(
        (ROUNDS as usize..=3 * ROUNDS as usize).contains(&calls),
        "{calls}"
    );
    seen.push(pauses(again(&above(&three, kinds(&made), None), run)).await);
    assert_eq!(made.load(SeqCst), calls, "a filled slot makes no call");
    let stored = log(&one, "s").await;
    assert_eq!(texts(&stored.events), kinds_texts());
    for seen in seen {
        assert_eq!(seen, stored.events);
    }
    assert_eq!(
        (&*stored.state["user:n"], &*stored.state["n"]),
        (&json!(ROUNDS), &json!(ROUNDS))
    );
    let all = driven(&two, run, 0).await;
    let names: BTreeSet<_> = all.events.iter().map(|(slot, _)| slot).collect();
    assert_eq!(names.len(), stored.len);
    assert_eq!(
        (
            all.record.run_id,
            all.record.session.clone(),
            all.record.begins
        ),
        (run, key(), 0)
    );
    for from in 0..=stored.len as u64 {
        let part = driven(&three, run, from).await;
        assert_eq!(
            slots(&part),
            slots(&all)[usize::try_from(from).unwrap()..],
            "from {from}"
        );
    }
    for (slot, stored) in &all.events {
        let path = stored.event.path.to_string();
        let temp = (stored.event.text() == "temp").then(|| json!(path));
        assert_eq!(
            stored.temp.get("temp:t").map(|value| (**value).clone()),
            temp,
            "{slot}"
        );
    }
    // Steps are not stored here.
    let step = StepKey::new(run, Path::root("w"), CallKind::Step, "late", 0);
    for n in [1, 2] {
        let work = Box::pin(async move { Ok(json!(n)) });
        assert_eq!(
            one.engine
                .step(ClaimId::driven_above(run), step.clone(), work)
                .await
                .unwrap(),
            json!(n)
        );
    }
}

/// Two processes execute the branches of one run, and their events come from the log.
pub async fn two_processes_execute_branches(place: &dyn DynPlace) {
    fn tree() -> Tree {
        let branch = |name| {
            run(by(name, move |cx| {
                Box::pin(async move {
                    for n in 0..6 {
                        cx.emit(
                            Event::new()
                                .with_text(format!("{name} {n}"))
                                .with_state("temp:n", n),
                        )
                        .await?;
                    }
                    cx.emit(Event::new().with_state(name, true)).await?;
                    Ok(Flow::Continue)
                })
            }))
        };
        let both = parallel("p", ["a", "b", "c", "d"].map(branch).into());
        Tree::new("w", vec![run(say("first")), both, run(say("last"))])
    }
    let (one, two) = (place.open_dyn().await, place.open_dyn().await);
    // An earlier run has events that do not belong to this run.
    one.runner("app")
        .session("u", "s")
        .run(&Tree::new("other", vec![run(say("before"))]), "go")
        .await
        .unwrap();
    let id = RunId::new();
    let here = above(&one, tree(), Some(above(&two, tree(), None)));
    let mut stream = begin(&here, &tree(), id, "s").stream();
    let seen = read(&mut stream).await;
    assert!(matches!(stream.end(), RunEnd::Finished(_)));
    let stored = log(&two, "s").await;
    assert_eq!(stored.len, 2 + 1 + 1 + 4 * 7 + 1);
    let ids = |events: &[Arc<Event>]| events.iter().map(|event| event.id).collect::<BTreeSet<_>>();
    assert_eq!(ids(&seen), ids(&stored.events[2..]));
    let all = driven(&two, id, 0).await;
    assert_eq!((all.record.begins, &all.status), (2, &RunStatus::Finished));
    assert_eq!(
        slots(&all)
            .iter()
            .map(|(.., event, _)| event.clone())
            .collect::<Vec<_>>(),
        stored.events[2..]
    );
    for from in 0..=stored.len as u64 {
        let wanted: Vec<_> = slots(&all)
            .into_iter()
            .filter(|(place, ..)| *place >= from)
            .collect();
        assert_eq!(slots(&driven(&one, id, from).await), wanted, "from {from}");
    }
    for name in ["a", "b", "c", "d"] {
        let said = texts(&stored.events)
            .into_iter()
            .filter(|text| text.starts_with(&format!("{name} ")));
        assert!(said.eq((0..6).map(|n| format!("{name} {n}"))), "{name}");
        assert_eq!(&*stored.state[name], &json!(true));
    }
}

fn asking() -> Tree {
    let ask = |key| Await::builder::<bool>(key).question("Yes or no?");
    let soon = ask("b").timeout(Duration::from_millis(1)).build();
    Tree::new(
        "w",
        vec![
            parallel("q", vec![run(ask("a").build()), run(soon)]),
            run(say("end")),
        ],
    )
}

/// One process opens waits, another withdraws them, and a third answers them. The answer does not
/// make the run ready for recovery.
pub async fn waits_are_kept_until_they_are_answered(place: &dyn DynPlace) {
    let (one, two, person) = (
        place.open_dyn().await,
        place.open_dyn().await,
        place.open_dyn().await,
    );
    let run = RunId::new();
    pauses(begin(&above(&one, asking(), None), &asking(), run, "s")).await;
    let open = waits_of(&person, run).await;
    let [a, b] = &open[..] else {
        panic!("{open:?}")
    };
    assert!(b.deadline.is_some(), "people see the deadline");
    // The engine above the store keeps the deadlines, so the store reports no due wait.
    let due = waits(&person).due("app", u64::MAX, 10).await.unwrap();
    assert_eq!((due.waits, due.next), (vec![], None));
    let filter = RunFilter::unfinished().user("u");
    assert_eq!(waits(&two).waiting("app", &filter).await.unwrap(), open);
    assert_eq!(waits(&two).open_wait("app", &a.id).await.unwrap(), *a);
    let claim = ClaimId::driven_above(run);
    waits(&two)
        .withdraw(claim, vec![b.id.clone()])
        .await
        .unwrap();
    let gone = waits(&person)
        .resolve("app", &b.id, json!(true))
        .await
        .unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::UnknownWait);
    waits(&person)
        .resolve("app", &a.id, json!(true))
        .await
        .unwrap();
    let twice = waits(&one)
        .resolve("app", &a.id, json!(false))
        .await
        .unwrap_err();
    assert_eq!(twice.kind(), ErrorKind::Answered);
    for store in [&one, &two, &person] {
        let info = info(store, run).await;
        assert_eq!((info.status, info.is_ready), (RunStatus::Paused, false));
        assert_eq!(
            registry(store)
                .runs("app", &RunFilter::ready())
                .await
                .unwrap(),
            []
        );
    }
    // Another process continues, asks the withdrawn question again, and waits.
    let other = above(&two, asking(), None);
    let seen = pauses(again(&other, run)).await;
    assert_eq!(seen, log(&one, "s").await.events);
    let open = waits_of(&person, run).await;
    assert_eq!(
        open.iter().map(|wait| &wait.id).collect::<Vec<_>>(),
        [&b.id]
    );
    waits(&one)
        .resolve("app", &b.id, json!(true))
        .await
        .unwrap();
    registry(&one)
        .close(claim, RunStatus::Running, UsageByAgent::default())
        .await
        .unwrap();
    assert_eq!(info(&person, run).await.status, RunStatus::Running);
    again(&other, run).await.unwrap();
    assert_eq!(info(&person, run).await.status, RunStatus::Finished);
    assert_eq!(
        texts(&log(&one, "s").await.events)
            .last()
            .map(String::as_str),
        Some("end")
    );
}

/// Any process may close the run. When the run has ended, its claim is over.
pub async fn any_process_closes_the_run(place: &dyn DynPlace) {
    let made = Arc::default();
    let (one, two) = (place.open_dyn().await, place.open_dyn().await);
    let usage = |n: u64| {
        let mut usage = UsageByAgent::default();
        usage.add(&"writer".into(), Usage::new(n, 0));
        usage
    };
    for (session, end) in [
        ("s", RunStatus::Finished),
        ("t", RunStatus::Failed("it broke".into())),
    ] {
        let (run, here) = (RunId::new(), above(&one, kinds(&made), None));
        let claim = ClaimId::driven_above(run);
        // Before its first event, the run is unknown.
        assert!(registry(&two).driven(run, 0).await.unwrap().is_none());
        registry(&two)
            .close(claim, end.clone(), usage(1))
            .await
            .unwrap();
        pauses(begin(&here, &kinds(&made), run, session)).await;
        let open = waits_of(&two, run).await;
        for (n, status) in (2..).zip([RunStatus::Running, RunStatus::Paused, RunStatus::Running]) {
            registry(&two)
                .close(claim, status.clone(), usage(n))
                .await
                .unwrap();
            let info = info(&one, run).await;
            assert_eq!(
                (info.status, info.is_ready, info.usage),
                (status.clone(), false, Some(usage(n).total()))
            );
            let driven = driven(&one, run, 0).await;
            assert_eq!((driven.status, driven.usage), (status, Some(usage(n))));
        }
        // The shared claim stays valid for all processes.
        let done = Done::new(Path::root("w"), Flow::Continue, UsageByAgent::default());
        registry(&two)
            .finished(claim, vec![done.clone()])
            .await
            .unwrap();
        pauses(again(&above(&two, kinds(&made), None), run)).await;
        registry(&two)
            .close(claim, end.clone(), usage(9))
            .await
            .unwrap();
        // An engine may write the end again if it does not know of the first write.
        registry(&one)
            .close(claim, end.clone(), usage(9))
            .await
            .unwrap();
        for status in [RunStatus::Running, RunStatus::Paused] {
            is_fenced(registry(&two).close(claim, status, usage(10)).await);
        }
        is_fenced(registry(&one).finished(claim, vec![done]).await);
        is_fenced(waits(&two).withdraw(claim, vec![open[0].id.clone()]).await);
        is_fenced(again(&here, run).await);
        is_fenced(begin(&here, &kinds(&made), run, session).await);
        let answer = waits(&one)
            .resolve("app", &open[0].id, json!(true))
            .await
            .unwrap_err();
        assert_eq!(answer.kind(), ErrorKind::UnknownWait);
        let all = driven(&two, run, 0).await;
        assert_eq!((&all.status, all.usage), (&end, Some(usage(9))));
        assert_eq!(all.events.len(), log(&one, session).await.len);
        let plain = two.knows("app", kinds(&made));
        let refused = plain
            .resume_by_name(&info(&two, run).await)
            .unwrap()
            .await
            .unwrap_err();
        assert_eq!(
            refused.kind(),
            ErrorKind::RunBusy,
            "the results of its steps are not in this store"
        );
    }
    refuses_plain_runs(&one, &two).await;
}

/// A run that a process drives itself is not driven by an engine.
async fn refuses_plain_runs(one: &OpenStore, two: &OpenStore) {
    let tree = Tree::new("w", vec![run(say("a"))]);
    let own = one
        .runner("app")
        .session("u", "own")
        .run(&tree, "go")
        .await
        .unwrap()
        .run_id;
    assert_eq!(
        registry(two).driven(own, 0).await.unwrap_err().kind(),
        ErrorKind::RunBusy
    );
    is_fenced(
        begin(
            &above(two, tree, None),
            &Tree::new("w", vec![run(say("a"))]),
            own,
            "own",
        )
        .await,
    );
    assert_eq!(log(two, "own").await.len, 2);
}

/// A run that any process cancelled writes nothing more, and neither does a run whose session is
/// deleted.
pub async fn a_cancel_fences_all_processes(place: &dyn DynPlace) {
    let made = Arc::default();
    let (one, two) = (place.open_dyn().await, place.open_dyn().await);
    let (run, here) = (RunId::new(), above(&one, kinds(&made), None));
    let claim = ClaimId::driven_above(run);
    let mut stream = begin(&here, &kinds(&made), run, "s").stream();
    for _ in 0..5 {
        stream.next().await.unwrap().unwrap();
    }
    assert_eq!(
        two.runner("app").cancel(run).await.unwrap(),
        RunStatus::Cancelled
    );
    let error = loop {
        if let Err(error) = stream.next().await.unwrap() {
            break error;
        }
    };
    assert_eq!(error.kind(), ErrorKind::Cancelled, "{error}");
    let there = log(&two, "s").await.len;
    is_fenced(
        registry(&two)
            .close(claim, RunStatus::Paused, UsageByAgent::default())
            .await,
    );
    is_cancelled(again(&above(&two, kinds(&made), None), run).await);
    let all = driven(&two, run, 0).await;
    assert_eq!(
        (all.status, all.usage, all.events.len()),
        (RunStatus::Cancelled, Some(UsageByAgent::default()), there)
    );
    assert_eq!(log(&one, "s").await.len, there);
    is_cancelled(
        two.knows("app", kinds(&made))
            .resume_by_name(&info(&two, run).await)
            .unwrap()
            .await,
    );

    let waiting = RunId::new();
    pauses(begin(&here, &kinds(&made), waiting, "t")).await;
    assert_eq!(
        two.runner("app").cancel(waiting).await.unwrap(),
        RunStatus::Cancelled
    );
    assert_eq!(waits_of(&one, waiting).await, []);
    is_cancelled(again(&here, waiting).await);

    let deleted = RunId::new();
    let mut stream = begin(&here, &kinds(&made), deleted, "d").stream();
    stream.next().await.unwrap().unwrap();
    let key = SessionKey::new("app", "u", "d");
    assert!(two.sessions.delete(&key).await.unwrap());
    two.sessions
        .create(key, StateDelta::default())
        .await
        .unwrap();
    let error = loop {
        if let Err(error) = stream.next().await.unwrap() {
            break error;
        }
    };
    assert_eq!(error.kind(), ErrorKind::UnknownRun, "{error}");
    assert_eq!(log(&one, "d").await.len, 0);
}

fn is_cancelled<T: std::fmt::Debug>(result: Result<T, Error>) {
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Cancelled);
}

/// Processes on the plain store do not resume a run that an engine above drives, even after all its
/// processes have died.
pub async fn plain_processes_leave_the_run_alone(place: &dyn DynPlace) {
    let (run, half) = (RunId::new(), RunId::new());
    let tree = || Tree::new("w", vec![run_asks(), crate::trees::run(say("z"))]);
    {
        let one = place.open_dyn().await;
        let here = above(&one, tree(), None);
        pauses(begin(&here, &tree(), run, "s")).await;
        // This process is in the middle of the run.
        let mut stream = begin(&here, &tree(), half, "half").stream();
        stream.next().await.unwrap().unwrap();
    }
    let (two, three) = (place.open_dyn().await, place.open_dyn().await);
    let (plain, watching) = (two.knows("app", tree()), three.knows("app", tree()));
    let wait = waits_of(&two, run).await.remove(0);
    plain.answer(&wait.id, true).await.unwrap();
    // A run of the plain store must be recovered.
    let own = plain
        .session("u", "own")
        .run(&tree(), "go")
        .await
        .unwrap_err();
    assert_eq!(own.kind(), ErrorKind::Paused);
    let all = waits(&two)
        .waiting("app", &RunFilter::unfinished())
        .await
        .unwrap();
    let own = all.into_iter().find(|wait| wait.session == "own").unwrap();
    plain.answer(&own.id, true).await.unwrap();
    let (tell, mut reports) = tokio::sync::mpsc::unbounded_channel();
    let watch = watching
        .watch()
        .every(Duration::from_millis(5))
        .inspect(move |run| {
            let _ = tell.send((run.run_id, run.result.is_ok()));
        });
    tokio::select! {
        error = watch.into_future() => panic!("{error}"),
        taken = reports.recv() => assert_eq!(taken, Some((own.run_id, true))),
    }
    assert!(plain.recover().await.unwrap().is_empty());
    for id in [run, half] {
        assert!(!info(&two, id).await.is_ready);
        let refused = plain
            .resume_by_name(&info(&two, id).await)
            .unwrap()
            .await
            .unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::RunBusy);
    }
    assert_eq!(
        registry(&three)
            .runs("app", &RunFilter::ready())
            .await
            .unwrap(),
        []
    );
    let other = above(&three, tree(), None);
    again(&other, run).await.unwrap();
    pauses(again(&other, half)).await;
    assert_eq!(
        texts(&log(&two, "s").await.events),
        ["go", "asks true", "z"]
    );
}

/// A queued run is in the registry before its first event, however often it is entered, and starts
/// with that event. A run that is cancelled in the queue never starts.
pub async fn a_queued_run_begins_with_its_first_event(place: &dyn DynPlace) {
    let (one, two) = (place.open_dyn().await, place.open_dyn().await);
    let made = Arc::default();
    let (run, cancelled) = (RunId::new(), RunId::new());
    one.sessions
        .create(key(), StateDelta::default())
        .await
        .unwrap();
    for run in [run, cancelled] {
        let topology = Topology::of(kinds(&made).as_agent().meta());
        let mut record = RunRecord::new(run, key(), "w", topology);
        record.is_queued = true;
        for store in [&one, &two, &one] {
            let claim = ClaimId::driven_above(run);
            let _ = registry(store)
                .enqueue(claim, record.clone())
                .await
                .unwrap();
        }
        let info = info(&two, run).await;
        assert_eq!((&info.status, info.is_ready), (&RunStatus::Queued, false));
        let queued = driven(&two, run, 0).await;
        assert!(
            queued.status == RunStatus::Queued
                && queued.record.is_queued
                && queued.events.is_empty()
        );
    }
    assert_eq!(
        registry(&two).cancel("app", cancelled).await.unwrap(),
        RunStatus::Cancelled
    );
    let here = above(&one, kinds(&made), None);
    is_cancelled(begin(&here, &kinds(&made), cancelled, "s").await);
    assert_eq!(log(&one, "s").await.len, 0, "the run has not started");
    pauses(begin(&here, &kinds(&made), run, "s")).await;
    let begun = driven(&two, run, 0).await;
    assert_eq!(
        (begun.record.is_queued, begun.status),
        (false, RunStatus::Paused)
    );
    assert_eq!(begun.events.len(), log(&two, "s").await.len);
}

fn run_asks() -> Node {
    run(waits_for("asks"))
}

/// A reader with an open session of the store sees the events as they come, beside those of runs of
/// this process.
pub async fn open_sessions_see_events_of_other_processes(place: &dyn DynPlace) {
    let made = Arc::default();
    let (one, two) = (place.open_dyn().await, place.open_dyn().await);
    one.sessions
        .create(key(), StateDelta::default())
        .await
        .unwrap();
    let (reader, far) = (
        one.sessions.get(&key()).await.unwrap().unwrap(),
        two.sessions.get(&key()).await.unwrap().unwrap(),
    );
    let (plain, other) = (
        one.runner("app"),
        Tree::new("other", vec![run(say("other"))]),
    );
    let (run, here, there) = (
        RunId::new(),
        above(&one, kinds(&made), None),
        above(&two, kinds(&made), None),
    );
    let mut stream = begin(&here, &kinds(&made), run, "s").stream();
    for n in 1..=6 {
        stream.next().await.unwrap().unwrap();
        let stored = log(&one, "s").await;
        assert!(reader.len() >= 3 * n - 2);
        assert!(reader.events().eq(&stored.events[..reader.len()]));
        plain.session("u", "s").run(&other, "go").await.unwrap();
        let stored = log(&one, "s").await;
        assert!(
            reader.events().take(stored.len).eq(&stored.events),
            "after {n}"
        );
    }
    drop(stream);
    // Another process continues the run; its own reader sees existing events at once.
    pauses(again(&there, run)).await;
    let stored = log(&one, "s").await;
    assert_eq!(
        texts(&stored.events)
            .iter()
            .filter(|text| *text != "other")
            .count(),
        kinds_texts().len() + 6
    );
    let far_again = two.sessions.get(&key()).await.unwrap().unwrap();
    assert!(Arc::ptr_eq(&far, &far_again) && far.events().eq(&stored.events));
    // This process learns of the events at its next commit.
    plain.session("u", "s").run(&other, "go").await.unwrap();
    let stored = log(&two, "s").await;
    assert!(reader.events().eq(&stored.events));
    for key in ["n", "user:n"] {
        assert_eq!(reader.get(key).as_deref(), Some(&json!(ROUNDS)), "{key}");
        assert_eq!(far.get(key).as_deref(), Some(&json!(ROUNDS)), "{key}");
    }
}

/// Two processes execute the same slots in random interleavings, stop anywhere and start again.
/// Each slot is in the log once, in the order of the run.
pub async fn interleaved_attempts_fill_each_slot_once(place: &dyn DynPlace) {
    interleaved::interleaves(place, 8).await;
}
