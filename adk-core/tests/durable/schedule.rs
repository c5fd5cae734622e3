//! A run has one driver, regardless of dropped tasks: a scheduler tries the orders in which two or
//! three tasks and a store execute one run.
//!
//! The tasks start, resume, recover and watch the run, and each task may be dropped between any two
//! of its polls. The store executes requests later, one after the other, like a writer thread, and
//! a reply may arrive long before it is read. A schedule is the default order with a few
//! deviations. The test tries all schedules with at most two deviations, or `ADK_SCHEDULES`.

use super::engine::Ops;
use crate::support::*;
use adk_build::engine::{
    Body, Claim, ClaimCheck, ClaimId, ClaimedRun, Done, DrivenRun, DueWaits, Engine, Journal,
    MemoryJournal, Reply, Retention, Roles, RunFilter, RunInfo, RunRecord, RunRegistry, RunStatus,
    Slot, StepKey, Stored, Wait, WaitRegistry, Waiting,
};
use adk_build::model::UsageByAgent;
use adk_build::session::{Location, MemoryStore, SessionStore};
use adk_build::{BoxFuture, ErrorKind, Event, Flow, Result, RunId, Runner};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Context as Task, Poll, Wake, Waker};
use std::time::Duration;
use tokio::sync::oneshot;

/// A store that executes requests on a signal of the scheduler, and checks which claim drives the
/// run.
#[derive(Clone)]
struct Later {
    inner: MemoryJournal,
    ops: Ops,
    seen: Arc<Mutex<Seen>>,
    /// Whether a release frees its run from any claim, as an old version did.
    by_run: bool,
}

#[derive(Default)]
struct Seen {
    /// The latest claim of the run.
    held: Option<ClaimId>,
    /// Claims that their holders released.
    ended: BTreeSet<ClaimId>,
    wrong: Vec<String>,
}

impl Seen {
    fn granted(&mut self, claim: ClaimId) {
        if let Some(held) = self
            .held
            .filter(|held| *held != claim && !self.ended.contains(held))
        {
            self.wrong
                .push(format!("{claim:?} was granted while {held:?} is held"));
        }
        self.held = Some(claim);
    }

    fn written(&mut self, claim: ClaimId) {
        if self.held.is_some_and(|held| held.epoch > claim.epoch) {
            self.wrong.push(format!(
                "{claim:?} has written, while {:?} drives",
                self.held
            ));
        }
    }
}

impl Later {
    fn new(by_run: bool) -> Self {
        Self {
            inner: MemoryJournal::new(),
            ops: Ops::default(),
            seen: Arc::default(),
            by_run,
        }
    }

    /// Requests an operation and returns a future of its result.
    fn ask<T: Send + 'static>(
        &self,
        op: impl FnOnce(&Self) -> BoxFuture<'_, Result<T>> + Send + 'static,
    ) -> BoxFuture<'static, Result<T>> {
        let (reply, answer) = oneshot::channel();
        let own = self.clone();
        self.ops.push(move || {
            // In memory, the result is ready at once.
            let done = ready_now(op(&own));
            let _ = reply.send(done);
        });
        Box::pin(async move { answer.await.expect("the store lives") })
    }

    fn noted<T>(&self, claim: ClaimId, done: Result<T>) -> Result<T> {
        if done.is_ok() {
            self.seen.lock().unwrap().written(claim);
        }
        done
    }

    fn release_claim(&self, claim: ClaimId) {
        let own = self.clone();
        self.ops.push(move || {
            own.seen.lock().unwrap().ended.insert(claim);
            let held = own.seen.lock().unwrap().held;
            own.inner.release(if own.by_run {
                held.unwrap_or(claim)
            } else {
                claim
            });
        });
    }
}

fn ready_now<T>(future: BoxFuture<'_, T>) -> T {
    let mut future = future;
    match future.as_mut().poll(&mut Task::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => panic!("memory is ready at once"),
    }
}

impl Journal for Later {
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Stored>> {
        Reply::Later(Box::pin(async move {
            let draft = body.draft().await?;
            let claim = slot.claim();
            self.ask(move |own| {
                if slot.begins.is_some() {
                    own.seen.lock().unwrap().granted(claim);
                }
                let stored = match own.inner.commit(slot, Body::Ready(draft)) {
                    Reply::Ready(stored) => stored,
                    Reply::Later(stored) => ready_now(stored),
                };
                let stored = own.noted(claim, stored);
                Box::pin(async { stored })
            })
            .await
        }))
    }
    fn step(
        &self,
        claim: ClaimId,
        key: StepKey,
        work: BoxFuture<'static, Result<Value>>,
    ) -> BoxFuture<'_, Result<Value>> {
        Box::pin(async move {
            let value = work.await?;
            self.ask(move |own| {
                let done = ready_now(own.inner.step(claim, key, Box::pin(async { Ok(value) })));
                let done = own.noted(claim, done);
                Box::pin(async { done })
            })
            .await
        })
    }
    fn answer(&self, claim: ClaimId, wait: Wait) -> BoxFuture<'_, Result<Option<Value>>> {
        self.ask(move |own| own.inner.answer(claim, wait))
    }
}

impl Engine for Later {
    fn retention(&self) -> Retention {
        Retention::Durable
    }
    fn location(&self) -> Location {
        Location::Memory
    }
    fn roles(&self) -> Roles<'_> {
        Roles {
            registry: Some(self),
            waits: Some(self),
            keys: None,
            driver: None,
            remote: None,
            timers: None,
        }
    }
}

impl RunRegistry for Later {
    fn enqueue(&self, claim: ClaimId, record: RunRecord) -> BoxFuture<'_, Result<Claim>> {
        self.ask(move |own| {
            let queued = ready_now(own.inner.enqueue(claim, record)).map(|queued| {
                own.seen.lock().unwrap().granted(claim);
                std::mem::forget(queued);
                let own = own.clone();
                Claim::new(claim, move |claim| own.release_claim(claim))
            });
            Box::pin(async { queued })
        })
    }
    fn claim(&self, run: RunId, check: ClaimCheck) -> BoxFuture<'_, Result<ClaimedRun>> {
        self.ask(move |own| {
            let claimed = ready_now(own.inner.claim(run, check)).map(|mut claimed| {
                let id = claimed.claim.id();
                own.seen.lock().unwrap().granted(id);
                let own = own.clone();
                let later = Claim::new(id, move |id| own.release_claim(id));
                std::mem::forget(std::mem::replace(&mut claimed.claim, later));
                claimed
            });
            Box::pin(async { claimed })
        })
    }
    /// A store may lose these records; the agents are then executed again.
    fn finished(&self, _: ClaimId, _: Vec<Done>) -> BoxFuture<'_, Result<()>> {
        Box::pin(async { Ok(()) })
    }
    fn close(
        &self,
        claim: ClaimId,
        status: RunStatus,
        usage: UsageByAgent,
    ) -> BoxFuture<'_, Result<()>> {
        self.ask(move |own| {
            let closed = own.noted(claim, ready_now(own.inner.close(claim, status, usage)));
            own.seen.lock().unwrap().ended.insert(claim);
            Box::pin(async { closed })
        })
    }
    fn cancel<'a>(&'a self, app: &'a str, run: RunId) -> BoxFuture<'a, Result<RunStatus>> {
        let app = app.to_owned();
        self.ask(move |own| {
            let cancelled = ready_now(own.inner.cancel(&app, run));
            Box::pin(async { cancelled })
        })
    }
    fn release(&self, claim: ClaimId) {
        self.release_claim(claim);
    }
    fn runs<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        let (app, filter) = (app.to_owned(), filter.clone());
        self.ask(move |own| {
            let runs = ready_now(own.inner.runs(&app, &filter));
            Box::pin(async { runs })
        })
    }
    fn runs_of_tenants<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<RunInfo>>> {
        self.inner.runs_of_tenants(app, filter)
    }

    fn driven(&self, run: RunId, from: u64) -> BoxFuture<'_, Result<Option<DrivenRun>>> {
        self.inner.driven(run, from)
    }
}

impl WaitRegistry for Later {
    fn waiting<'a>(
        &'a self,
        app: &'a str,
        filter: &'a RunFilter,
    ) -> BoxFuture<'a, Result<Vec<Waiting>>> {
        self.inner.waiting(app, filter)
    }
    fn open_wait<'a>(&'a self, app: &'a str, wait: &'a str) -> BoxFuture<'a, Result<Waiting>> {
        self.inner.open_wait(app, wait)
    }
    fn due<'a>(&'a self, app: &'a str, now: u64, most: usize) -> BoxFuture<'a, Result<DueWaits>> {
        self.inner.due(app, now, most)
    }
    fn due_of_tenants<'a>(
        &'a self,
        app: &'a str,
        now: u64,
        most: usize,
    ) -> BoxFuture<'a, Result<DueWaits>> {
        self.inner.due_of_tenants(app, now, most)
    }
    fn withdraw(&self, claim: ClaimId, waits: Vec<String>) -> BoxFuture<'_, Result<()>> {
        self.inner.withdraw(claim, waits)
    }
    fn resolve<'a>(
        &'a self,
        app: &'a str,
        wait: &'a str,
        answer: Value,
    ) -> BoxFuture<'a, Result<()>> {
        self.inner.resolve(app, wait, answer)
    }
}

/// The action of a task on the run.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Does {
    Runs,
    Resumes,
    Recovers,
    Watches,
}

/// A possible next step of a schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Next {
    Poll(usize),
    Store,
    Drop(usize),
}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, SeqCst);
    }
}

struct Running {
    future: Option<BoxFuture<'static, ()>>,
    woken: Arc<Flag>,
    /// Whether the task ends by itself. A watch does not.
    ends: bool,
}

/// Builds a tree that optionally asks, pays in a slow step, and reports it.
fn pays(asks: bool, paid: &Arc<AtomicUsize>) -> Tree {
    let paid = paid.clone();
    let pays = by("pays", move |cx| {
        let paid = paid.clone();
        Box::pin(async move {
            if asks {
                cx.wait::<bool>("answer").await?;
            }
            cx.step("pay", async move {
                paid.fetch_add(1, SeqCst);
                tokio::task::yield_now().await;
                Ok(())
            })
            .await?;
            cx.emit(Event::new().with_text("paid")).await?;
            Ok(Flow::Continue)
        })
    });
    Tree::new("w", vec![run(pays)])
}

/// The result of one schedule: the choice and the number of options at each point, and the faults.
struct Played {
    choices: Vec<(usize, usize)>,
    trace: Vec<Next>,
    wrong: Vec<String>,
}

/// Plays the default order with these deviations. A deviation selects another option than the first
/// at a point.
#[allow(clippy::too_many_lines, reason = "one schedule, from start to end")]
async fn play(
    tasks: &[Does],
    turns: bool,
    by_run: bool,
    deviations: &BTreeMap<usize, usize>,
) -> Played {
    let store = Later::new(by_run);
    let sessions: Arc<dyn SessionStore> = Arc::new(MemoryStore::new());
    let paid = Arc::new(AtomicUsize::new(0));
    let asks = !tasks.contains(&Does::Runs);
    let tree = || pays(asks, &paid);
    let runner = || -> Runner {
        let builder = Runner::builder()
            .session_store(sessions.clone())
            .engine(store.clone());
        builder.workflow::<Tree>(tree()).build().unwrap()
    };
    let mut id = None;
    if asks {
        let paused = store
            .ops
            .through(runner().session("u", "s").run(&tree(), "go").into_future())
            .await;
        assert_eq!(paused.unwrap_err().kind(), ErrorKind::Paused);
        let waits = runner().waiting().await.unwrap();
        runner().answer(&waits[0].id, true).await.unwrap();
        id = Some(waits[0].run_id);
    }
    let mut running: Vec<Running> = tasks
        .iter()
        .map(|does| {
            let (runner, tree) = (runner(), Arc::new(tree()));
            let does = *does;
            let future: BoxFuture<'static, ()> = Box::pin(async move {
                match does {
                    Does::Runs => drop(runner.session("u", "s").run(tree, "go").await),
                    Does::Resumes => {
                        drop(runner.resume(tree, id.expect("the run has started")).await)
                    }
                    Does::Recovers => drop(runner.recover().await),
                    Does::Watches => drop(runner.watch().every(Duration::from_millis(2)).await),
                }
            });
            let woken = Arc::new(Flag(AtomicBool::new(true)));
            Running {
                future: Some(future),
                woken,
                ends: does != Does::Watches,
            }
        })
        .collect();
    let mut played = Played {
        choices: Vec::new(),
        trace: Vec::new(),
        wrong: Vec::new(),
    };
    let (mut last, mut drops) = (0, 0);
    loop {
        tokio::time::advance(Duration::from_millis(1)).await;
        let alive = |task: &Running| task.future.is_some();
        if !running.iter().any(|task| alive(task) && task.ends) || played.choices.len() > 400 {
            break;
        }
        let count = running.len();
        let order = (0..count).map(|n| if turns { (last + 1 + n) % count } else { n });
        let mut next: Vec<_> = order
            .filter(|n| alive(&running[*n]) && running[*n].woken.0.load(SeqCst))
            .map(Next::Poll)
            .collect();
        if !store.ops.is_empty() {
            next.insert(0, Next::Store);
        }
        next.extend((0..count).filter(|n| alive(&running[*n])).map(Next::Drop));
        let chosen = deviations.get(&played.choices.len()).copied().unwrap_or(0);
        let default_is_a_drop = matches!(next.first(), Some(Next::Drop(_)));
        // No task can continue until time passes.
        if default_is_a_drop && chosen == 0 {
            played.choices.push((0, 1));
            continue;
        }
        played.choices.push((chosen, next.len()));
        let Some(next) = next.get(chosen).copied() else {
            break;
        };
        played.trace.push(next);
        match next {
            Next::Store => store.ops.next(),
            Next::Drop(n) => {
                running[n].future = None;
                drops += 1;
            }
            Next::Poll(n) => {
                last = n;
                let task = &mut running[n];
                task.woken.0.store(false, SeqCst);
                let waker = Waker::from(task.woken.clone());
                let future = task.future.as_mut().expect("it lives");
                if future
                    .as_mut()
                    .poll(&mut Task::from_waker(&waker))
                    .is_ready()
                {
                    task.future = None;
                }
            }
        }
    }
    if played.choices.len() > 400 {
        played.wrong.push("the run does not end".to_owned());
    }
    // Watches are dropped at the end.
    drops += running.iter().filter(|task| task.future.is_some()).count();
    drop(running);
    store.ops.all();
    // No task drives the run any more, so it can be resumed, and it ends.
    let id = id.or(store.seen.lock().unwrap().held.map(|held| held.run_id));
    if let Some(id) = id {
        let ended = store
            .ops
            .through(runner().resume(&tree(), id).into_future())
            .await;
        if let Err(error) = ended {
            played
                .wrong
                .push(format!("the run is left locked: {error}"));
        }
        // Each drop may repeat one call in flight.
        let paid = paid.load(SeqCst);
        if paid == 0 || paid > 1 + drops {
            played
                .wrong
                .push(format!("the tool paid {paid} times with {drops} drops"));
        }
    }
    played.wrong.append(&mut store.seen.lock().unwrap().wrong);
    played
}

/// Plays all schedules with at most `most` deviations, each after the previous one. Returns the
/// number of schedules.
fn explore(tasks: &[Does], most: usize, by_run: bool) -> Result<usize, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    let runtime = runtime.unwrap();
    let mut count = 0;
    for turns in [false, true] {
        let mut open = vec![BTreeMap::new()];
        while let Some(deviations) = open.pop() {
            let played = runtime.block_on(play(tasks, turns, by_run, &deviations));
            count += 1;
            if let Some(wrong) = played.wrong.first() {
                return Err(format!(
                    "{tasks:?}, {deviations:?}: {wrong}\n{:?}",
                    played.trace
                ));
            }
            if deviations.len() == most {
                continue;
            }
            let first = deviations.last_key_value().map_or(0, |(at, _)| at + 1);
            for (at, (_, among)) in played.choices.iter().enumerate().skip(first) {
                open.extend((1..*among).map(|other| {
                    let mut more = deviations.clone();
                    more.insert(at, other);
                    more
                }));
            }
        }
    }
    Ok(count)
}

#[test]
fn one_task_drives_a_run_regardless_of_dropped_tasks() {
    use Does::*;
    let most = std::env::var("ADK_SCHEDULES").map_or(2, |text| text.parse().unwrap());
    let two: [&[Does]; 5] = [
        &[Resumes, Resumes],
        &[Resumes, Recovers],
        &[Resumes, Watches],
        &[Runs, Recovers],
        &[Recovers, Watches],
    ];
    let three: [&[Does]; 4] = [
        &[Resumes, Resumes, Resumes],
        &[Resumes, Recovers, Watches],
        &[Runs, Recovers, Watches],
        &[Recovers, Resumes, Recovers],
    ];
    let mut count = 0;
    for tasks in two.iter().chain(&three) {
        match explore(tasks, most, false) {
            Ok(played) => count += played,
            Err(wrong) => panic!("{wrong}"),
        }
    }
    println!("{count} schedules with up to {most} deviations");
    assert!(count > 10_000, "only {count}");
}

/// Reproduces an old bug: a stream that was dropped while its end was written released the claim of
/// its successor.
#[test]
fn the_scheduler_finds_a_release_of_another_claim() {
    let wrong = explore(&[Does::Resumes, Does::Resumes, Does::Resumes], 3, true);
    assert!(wrong.is_err_and(|wrong| wrong.contains("was granted while")));
}
