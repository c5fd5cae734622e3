//! Promises about obsolete questions: a question that lost is withdrawn when its block ends, and a
//! retry repeats an expired one.

use crate::place::DynPlace;
use crate::trees::{
    By, Node, Tree, attempts, by, each, first, parallel, repeat, run, say, sequence,
};
use adk_build::engine::{RunFilter, RunStatus};
use adk_build::llm::LlmAgent;
use adk_build::runner::SessionHandle;
use adk_build::spec::Attempts;
use adk_build::testing::{Reply, ScriptedModel};
use adk_build::tool::FunctionTool;
use adk_build::{Await, DynAgent as _, Error, ErrorKind, Event, Flow, Outcome, Result, Waiting};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinHandle;

/// The signals with which a test controls a run, one event after the other, and counts of what
/// happened.
#[derive(Clone)]
pub struct Signals {
    /// Lets the block around the question end.
    ends: Arc<Semaphore>,
    /// Signals that the run is after the block.
    reached: Arc<Notify>,
    /// Lets the run continue after it has signalled `reached`.
    goes: Arc<Semaphore>,
    /// The number of executions of the agent that needs the answer.
    answered: Arc<AtomicUsize>,
}

impl Signals {
    fn new() -> Self {
        Self {
            ends: Arc::new(Semaphore::new(0)),
            reached: Arc::default(),
            goes: Arc::new(Semaphore::new(0)),
            answered: Arc::default(),
        }
    }

    /// Returns a stage that lets everything happen at once.
    pub fn open() -> Self {
        let stage = Self::new();
        stage.ends.add_permits(Semaphore::MAX_PERMITS);
        stage.goes.add_permits(Semaphore::MAX_PERMITS);
        stage
    }

    /// Returns how often the agent that needs the answer was executed.
    pub fn answer_count(&self) -> usize {
        self.answered.load(SeqCst)
    }

    /// Makes the question and an agent that needs its answer.
    fn asks(&self) -> Node {
        let answered = self.answered.clone();
        let needs = by("needs", move |cx| {
            answered.fetch_add(1, SeqCst);
            Box::pin(async move {
                cx.emit(Event::new().with_text("needs"))
                    .await
                    .map(|_| Flow::Continue)
            })
        });
        sequence(
            "s",
            vec![
                run(Await::builder::<bool>("lost").question("Go on?").build()),
                run(needs),
            ],
        )
    }

    /// Makes a call that ends on a signal of the test, and fails if `fails`.
    fn ends(&self, name: &'static str, fails: bool) -> By {
        let ends = self.ends.clone();
        by(name, move |cx| {
            let call = cx.step("call", ended(ends.clone(), fails));
            Box::pin(async move {
                call.await?;
                cx.emit(Event::new().with_text(name)).await?;
                Ok(Flow::Continue)
            })
        })
    }

    /// Breaks out of the enclosing loop.
    fn breaks(&self) -> Node {
        sequence("t", vec![run(self.ends("quick", false)), Node::Break(None)])
    }

    /// Makes the step after the block: a call that ends on a signal of the test.
    fn after(&self) -> By {
        let stage = self.clone();
        by("after", move |cx| {
            let (reached, goes) = (stage.reached.clone(), stage.goes.clone());
            let call = cx.step("call", async move {
                reached.notify_one();
                goes.acquire().await.unwrap().forget();
                Ok(())
            });
            Box::pin(async move {
                call.await?;
                cx.emit(Event::new().with_text("after")).await?;
                Ok(Flow::Continue)
            })
        })
    }

    /// Makes a question beside a call that fails.
    fn fails(&self) -> Node {
        parallel("q", vec![self.asks(), run(self.ends("fails", true))])
    }

    /// Makes an agent that drops its own wait.
    fn drops(&self) -> By {
        let stage = self.clone();
        by("drops", move |cx| {
            let (ends, answered) = (stage.ends.clone(), stage.answered.clone());
            let call = cx.step("call", ended(ends, false));
            Box::pin(async move {
                tokio::select! {
                    biased;
                    yes = cx.wait::<bool>("lost") => {
                        answered.fetch_add(usize::from(yes?), SeqCst);
                    }
                    ended = call => ended?,
                }
                cx.emit(Event::new().with_text("dropped")).await?;
                Ok(Flow::Continue)
            })
        })
    }

    /// Makes an agent that handles the error of a block with a question, and makes no call itself.
    fn handles(&self) -> By {
        let stage = self.clone();
        by("handles", move |cx| {
            let inner = Tree::with_keys("inner", &[], &[], vec![stage.fails()]);
            Box::pin(async move {
                let failed = inner.run_dyn(cx).await.unwrap_err();
                assert!(failed.to_string().contains("not today"), "{failed}");
                Ok(Flow::Continue)
            })
        })
    }

    /// Makes an agent whose model calls a tool that needs confirmation, or is long-running.
    fn calls(&self, is_confirmed: bool) -> LlmAgent {
        let answered = self.answered.clone();
        let pay = FunctionTool::new("pay", "Pays.", move |(), _| {
            if is_confirmed {
                answered.fetch_add(1, SeqCst);
            }
            "paid"
        });
        let pay = if is_confirmed {
            pay.confirm(true)
        } else {
            pay.long_running(true)
        };
        let model = ScriptedModel::new()
            .reply(Reply::new().call("pay", json!({})))
            .reply(Reply::new().text("So be it."));
        LlmAgent::builder("payer")
            .model(model)
            .tool(pay)
            .build()
            .unwrap()
    }
}

async fn ended(ends: Arc<Semaphore>, fails: bool) -> Result<()> {
    ends.acquire().await.unwrap().forget();
    if fails {
        Err(Error::other("not today"))
    } else {
        Ok(())
    }
}

/// A block that ends with an open question inside.
pub type Lost = (&'static str, fn(&Signals) -> Node);

/// Returns all blocks that end with an open question inside. Each ends on a signal of the test.
pub fn blocks() -> Vec<Lost> {
    vec![
        ("a race that the question loses", |stage| {
            first("p", vec![stage.asks(), run(stage.ends("quick", false))])
        }),
        ("a break", |stage| {
            repeat(
                "l",
                Some(2),
                vec![parallel("p", vec![stage.asks(), stage.breaks()])],
            )
        }),
        ("a break out of elements", |stage| {
            let inside = vec![parallel("p", vec![stage.asks(), stage.breaks()])];
            repeat("l", Some(2), vec![each("e", "item", "items", inside)])
        }),
        ("an attempt that fails", |stage| {
            attempts(
                "t",
                Attempts::new(Some(1)),
                vec![stage.fails()],
                vec![run(say("else"))],
            )
        }),
        ("a skipped branch", |stage| {
            parallel("skip", vec![stage.fails(), run(say("other"))])
        }),
        ("a skipped element", |stage| {
            each("skip", "item", "items", vec![stage.fails()])
        }),
        ("an agent that handles an error", |stage| {
            run(stage.handles())
        }),
        ("an agent that drops its wait", |stage| run(stage.drops())),
        ("a call that needs confirmation", |stage| {
            first(
                "p",
                vec![run(stage.calls(true)), run(stage.ends("quick", false))],
            )
        }),
        ("a long-running call", |stage| {
            first(
                "p",
                vec![run(stage.calls(false)), run(stage.ends("quick", false))],
            )
        }),
        ("blocks in blocks", |stage| {
            let inner = sequence(
                "i",
                vec![parallel("q", vec![stage.asks(), run(say("other"))])],
            );
            first(
                "p",
                vec![sequence("o", vec![inner]), run(stage.ends("quick", false))],
            )
        }),
    ]
}

/// Builds the workflow around a block of [`blocks`]: a long call, then a question that stays open.
pub fn around(block: Node, stage: &Signals) -> Tree {
    let kept = Await::builder::<bool>("kept").question("And now?").build();
    Tree::new(
        "w",
        vec![block, run(stage.after()), run(kept), run(say("end"))],
    )
    .lets("items", json!([1]))
}

fn kind<T: std::fmt::Debug>(result: Result<T, Error>) -> ErrorKind {
    result.unwrap_err().kind()
}

fn ends_with(waits: &[Waiting], name: &str) -> bool {
    waits.len() == 1 && *waits[0].path.name() == *name
}

/// Returns the question of a run.
async fn question_of(handle: &SessionHandle) -> Waiting {
    loop {
        match handle.waiting().await.unwrap().pop() {
            Some(asked) => break asked,
            None => tokio::task::yield_now().await,
        }
    }
}

/// Waits for `wanted`, and panics if the run ends first.
async fn unless_ended<T>(
    begun: &mut JoinHandle<Result<Outcome<()>>>,
    wanted: impl Future<Output = T>,
) -> T {
    tokio::select! {
        ended = begun => panic!("the run has ended: {ended:?}"),
        wanted = tokio::time::timeout(Duration::from_secs(60), wanted) => {
            wanted.expect("the event happens in time")
        }
    }
}

/// Questions are withdrawn when their block ends, while the run continues.
pub async fn lost_questions_are_withdrawn(place: &dyn DynPlace) {
    let open = async |tree| place.knows(tree).await;
    for (name, block) in blocks() {
        for is_answered in [false, true] {
            let stage = Signals::new();
            let tree = || around(block(&stage), &stage);
            let runner = open(tree()).await;
            let handle = runner.session("u", format!("{name} {is_answered}"));
            let mut begun = tokio::spawn(handle.run(Arc::new(tree()), "go").into_future());
            let lost = unless_ended(&mut begun, question_of(&handle)).await;
            if is_answered {
                runner.answer(&lost.id, true).await.unwrap();
            }
            stage.ends.add_permits(1);
            unless_ended(&mut begun, stage.reached.notified()).await;
            assert!(handle.waiting().await.unwrap().is_empty(), "{name}");
            let late = if is_answered {
                ErrorKind::Answered
            } else {
                ErrorKind::UnknownWait
            };
            assert_eq!(kind(runner.answer(&lost.id, true).await), late, "{name}");
            stage.goes.add_permits(1);
            assert_eq!(kind(begun.await.unwrap()), ErrorKind::Paused, "{name}");

            // The late answer neither wakes the run nor changes it.
            let other = open(tree()).await;
            assert!(other.recover().await.unwrap().is_empty(), "{name}");
            for _ in 0..2 {
                other.resume(&tree(), lost.run_id).await.unwrap_err();
                let kept = handle.waiting().await.unwrap();
                assert!(ends_with(&kept, "kept"), "{name}: {kept:?}");
                assert_eq!(kind(other.answer(&lost.id, true).await), late, "{name}");
            }
            let kept = handle.waiting().await.unwrap();
            other.answer(&kept[0].id, true).await.unwrap();
            let ended = other.recover().await.unwrap().remove(0).result;
            assert!(ended.as_ref().is_ok_and(Vec::is_empty), "{name}: {ended:?}");
            assert_eq!(stage.answer_count(), 0, "{name}");
        }
    }
}

/// A question is withdrawn while the race around its failed branch continues.
pub async fn a_question_is_withdrawn_during_a_race(place: &dyn DynPlace) {
    let open = async |tree| place.knows(tree).await;
    let stage = Signals::new();
    let tree = || around(first("p", vec![stage.fails(), run(stage.after())]), &stage);
    let runner = open(tree()).await;
    let handle = runner.session("u", "race");
    let mut begun = tokio::spawn(handle.run(Arc::new(tree()), "go").into_future());
    unless_ended(&mut begun, stage.reached.notified()).await;
    let lost = unless_ended(&mut begun, question_of(&handle)).await;
    stage.ends.add_permits(1);
    let withdrawn = async {
        while !handle.waiting().await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    unless_ended(&mut begun, withdrawn).await;
    assert_eq!(
        kind(runner.answer(&lost.id, true).await),
        ErrorKind::UnknownWait
    );
    stage.goes.add_permits(2);
    assert_eq!(kind(begun.await.unwrap()), ErrorKind::Paused);
    assert!(ends_with(&handle.waiting().await.unwrap(), "kept"));
}

/// A retry repeats a question in a block whose error ended the run.
pub async fn a_retry_asks_a_withdrawn_question_again(place: &dyn DynPlace) {
    let open = async |tree| place.knows(tree).await;
    let (stage, mended) = (Signals::open(), Signals::open());
    let failing = parallel("q", vec![stage.asks(), run(stage.ends("call", true))]);
    let tree = || {
        Tree::new(
            "w",
            vec![parallel(
                "q",
                vec![mended.asks(), run(mended.ends("call", false))],
            )],
        )
    };
    let failing = Tree::new("w", vec![failing]);
    let runner = open(tree()).await;
    let handle = runner.session("u", "failed");
    assert_eq!(kind(handle.run(&failing, "go").await), ErrorKind::Agent);
    assert!(handle.waiting().await.unwrap().is_empty());
    let failed = runner
        .runs(&RunFilter::failed().session(handle.key()))
        .await
        .unwrap();
    let asked = runner
        .retry(failed[0].run_id)
        .await
        .unwrap()
        .result
        .unwrap();
    assert!(ends_with(&asked, "lost"), "{asked:?}");
    runner.answer(&asked[0].id, true).await.unwrap();
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
    assert_eq!(mended.answer_count(), 1);
}

/// Makes an agent with a call that is paid once.
fn pays(paid: &Arc<AtomicUsize>) -> By {
    let paid = paid.clone();
    by("pays", move |cx| {
        let paid = paid.clone();
        let call = cx.step("call", async move { Ok(paid.fetch_add(1, SeqCst)) });
        Box::pin(async move {
            call.await?;
            cx.emit(Event::new().with_text("paid")).await?;
            Ok(Flow::Continue)
        })
    })
}

/// A place of a question that expires, beside a paid call.
type Asking = (&'static str, fn(Await, By) -> Vec<Node>);

const EXPIRES: &[Asking] = &[
    ("a sequence", |ask, pays| vec![run(pays), run(ask)]),
    ("parallel branches", |ask, pays| {
        vec![parallel("p", vec![run(ask), run(pays)])]
    }),
    ("elements", |ask, pays| {
        vec![run(pays), each("e", "item", "items", vec![run(ask)])]
    }),
    ("a race", |ask, pays| {
        vec![run(pays), first("p", vec![run(ask)])]
    }),
    ("an agent", |ask, pays| {
        let ask = Arc::new(ask);
        let asks = by("asks", move |cx| {
            let ask = ask.clone();
            Box::pin(async move { ask.run_dyn(cx).await })
        });
        vec![run(pays), run(asks)]
    }),
];

fn ask(timeout: Duration) -> Await {
    Await::builder::<bool>("yes")
        .question("Go on?")
        .timeout(timeout)
        .build()
}

const AT_ONCE: Duration = Duration::from_micros(1);
const LATER: Duration = Duration::from_secs(3600);

/// A retry of a run whose question expired asks again, but does not pay again.
pub async fn a_retry_asks_an_expired_question_again(place: &dyn DynPlace) {
    let open = async |tree| place.knows(tree).await;
    for (name, steps) in EXPIRES {
        let paid = Arc::<AtomicUsize>::default();
        let tree = |timeout| {
            let mut steps = steps(ask(timeout), pays(&paid));
            steps.push(run(say("end")));
            Tree::new("w", steps).lets("items", json!([1]))
        };
        let (hasty, patient) = (open(tree(AT_ONCE)).await, open(tree(LATER)).await);
        let handle = hasty.session("u", *name);
        assert_eq!(
            kind(handle.run(&tree(AT_ONCE), "go").await),
            ErrorKind::Paused
        );
        let asked = handle.waiting().await.unwrap().remove(0);
        for retried in [false, true] {
            if retried {
                let again = hasty.retry(asked.run_id).await.unwrap().result.unwrap();
                assert_eq!((again.len(), &again[0].id), (1, &asked.id), "{name}");
                assert!(again[0].deadline > asked.deadline, "{name}");
            }
            let failed = hasty.recover().await.unwrap().remove(0).result.unwrap_err();
            assert_eq!(failed.kind(), ErrorKind::Expired, "{name}: {failed}");
            assert!(handle.waiting().await.unwrap().is_empty(), "{name}");
            let late = kind(patient.answer(&asked.id, true).await);
            assert!(
                matches!(late, ErrorKind::Answered | ErrorKind::Expired),
                "{name}: {late:?}"
            );
            assert!(
                hasty.recover().await.unwrap().is_empty(),
                "{name}: nothing retries by itself"
            );
        }
        let again = patient.retry(asked.run_id).await.unwrap().result.unwrap();
        assert_eq!(handle.waiting().await.unwrap(), again, "{name}");
        let repeated = (&again[0].id, &again[0].path, &again[0].question);
        assert_eq!(
            repeated,
            (&asked.id, &asked.path, &asked.question),
            "{name}"
        );
        let hour = asked
            .deadline
            .map(|deadline| deadline + LATER.as_micros() as u64);
        assert!(again.len() == 1 && again[0].deadline > hour, "{name}");
        // The process ends, and another one resumes the run: the question is the same.
        assert!(patient.recover().await.unwrap().is_empty(), "{name}");
        assert_eq!(
            kind(patient.resume(&tree(LATER), asked.run_id).await),
            ErrorKind::Paused,
            "{name}"
        );
        assert_eq!(handle.waiting().await.unwrap(), again, "{name}");
        hasty.answer(&asked.id, true).await.unwrap();
        assert_eq!(
            kind(hasty.answer(&asked.id, false).await),
            ErrorKind::Answered,
            "{name}"
        );
        let ended = patient.recover().await.unwrap().remove(0).result;
        assert!(ended.as_ref().is_ok_and(Vec::is_empty), "{name}: {ended:?}");
        assert_eq!(paid.load(SeqCst), 1, "{name}");
    }
}

/// A way to continue after an expired question.
type Handling = (&'static str, fn(Await) -> Node);

const HANDLES: &[Handling] = &[
    ("else", |ask| {
        attempts(
            "t",
            Attempts::new(Some(1)),
            vec![run(ask)],
            vec![run(say("otherwise"))],
        )
    }),
    ("skip", |ask| {
        parallel("skip", vec![run(ask), run(say("otherwise"))])
    }),
    ("race", |ask| {
        first(
            "p",
            vec![run(ask), run(Await::builder::<bool>("other").build())],
        )
    }),
    ("agent", |ask| {
        let ask = Arc::new(ask);
        run(by("handles", move |cx| {
            let ask = ask.clone();
            Box::pin(async move {
                if ask.run_dyn(cx).await.is_err() {
                    cx.emit(Event::new().with_text("otherwise")).await?;
                }
                Ok(Flow::Continue)
            })
        }))
    }),
];

/// An expired question is not repeated if its run continued without an answer.
pub async fn a_handled_question_is_not_asked_again(place: &dyn DynPlace) {
    let open = async |tree| place.knows(tree).await;
    for (name, handles) in HANDLES {
        let mended = Arc::new(AtomicUsize::new(0));
        let tree = || {
            let mended = mended.clone();
            let fails = by("fails", move |cx| {
                let mended = mended.clone();
                let call = cx.step("call", async move {
                    if mended.load(SeqCst) == 0 {
                        Err(Error::other("not today"))
                    } else {
                        Ok(())
                    }
                });
                Box::pin(async move { call.await.map(|()| Flow::Continue) })
            });
            Tree::new(
                "w",
                vec![handles(ask(AT_ONCE)), run(fails), run(say("end"))],
            )
        };
        let runner = open(tree()).await;
        let handle = runner.session("u", *name);
        assert_eq!(kind(handle.run(&tree(), "go").await), ErrorKind::Paused);
        let mut recovered = runner.recover().await.unwrap().remove(0);
        if let Ok(open) = &recovered.result {
            assert!(ends_with(open, "other"), "{name}: {open:?}");
            runner.answer(&open[0].id, true).await.unwrap();
            recovered = runner.recover().await.unwrap().remove(0);
        }
        let failed = recovered.result.unwrap_err();
        assert!(failed.to_string().contains("not today"), "{name}: {failed}");
        mended.store(1, SeqCst);
        let ended = runner.retry(recovered.run_id).await.unwrap().result;
        assert!(ended.as_ref().is_ok_and(Vec::is_empty), "{name}: {ended:?}");
        let run = runner
            .runs(&RunFilter::of_run(recovered.run_id))
            .await
            .unwrap()
            .remove(0);
        assert_eq!(run.status, RunStatus::Finished, "{name}");
    }
}
