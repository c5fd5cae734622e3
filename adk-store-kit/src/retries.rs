//! Failed runs that continue after their cause was fixed: earlier work is kept, and the failed call
//! is repeated.

use crate::place::DynPlace;
use crate::place::OpenStore;
use crate::trees::{By, Tree, by, run};
use adk_build::engine::{RunFilter, RunStatus};
use adk_build::model::ModelErrorKind;
use adk_build::session::{EventFilter, SessionKey};
use adk_build::{Error, ErrorKind, Event, Flow};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

/// The external state that an operator fixes, with its counts of calls.
#[derive(Clone, Default)]
struct World {
    mended: Arc<AtomicBool>,
    paid: Arc<AtomicUsize>,
    tried: Arc<AtomicUsize>,
}

/// Makes an agent that pays once, then makes a call that fails until the fix.
fn pays(world: &World, failure: ErrorKind) -> By {
    let world = world.clone();
    by("pays", move |cx| {
        let world = world.clone();
        Box::pin(async move {
            let own = world.clone();
            cx.step("pay", async move {
                own.paid.fetch_add(1, SeqCst);
                Ok(1)
            })
            .await?;
            cx.emit(Event::new().with_text("paid")).await?;
            let own = world.clone();
            cx.step("call", async move {
                own.tried.fetch_add(1, SeqCst);
                if own.mended.load(SeqCst) {
                    return Ok(2);
                }
                assert!(failure != ErrorKind::Panic, "an operator must fix this");
                Err(Error::new(failure, "an operator must fix this"))
            })
            .await?;
            cx.emit(Event::new().with_text("called")).await?;
            Ok(Flow::Continue)
        })
    })
}

/// Makes an agent that handles the error of one call, and makes another that fails until the fix.
fn handles(world: &World) -> By {
    let world = world.clone();
    by("handles", move |cx| {
        let world = world.clone();
        Box::pin(async move {
            let own = world.clone();
            let first = cx.step("first", async move {
                own.paid.fetch_add(1, SeqCst);
                if own.mended.load(SeqCst) {
                    Ok(1)
                } else {
                    Err(Error::other("no first"))
                }
            });
            let took = if first.await.is_ok() {
                "the first"
            } else {
                "the second"
            };
            cx.emit(Event::new().with_text(took)).await?;
            let own = world.clone();
            let second = cx.step("second", async move {
                own.tried.fetch_add(1, SeqCst);
                if own.mended.load(SeqCst) {
                    Ok(2)
                } else {
                    Err(Error::other("no second"))
                }
            });
            second.await?;
            cx.emit(Event::new().with_text("ended")).await?;
            Ok(Flow::Continue)
        })
    })
}

async fn texts(store: &OpenStore, session: &str) -> Vec<String> {
    let key = SessionKey::new("app", "u", session);
    let all = store
        .sessions
        .read(&key, &EventFilter::new())
        .await
        .unwrap()
        .unwrap();
    all.events.iter().map(|event| event.text()).collect()
}

/// Kinds of errors that an operator may fix.
const KINDS: [ErrorKind; 10] = [
    ErrorKind::Agent,
    ErrorKind::Panic,
    ErrorKind::NoModel,
    ErrorKind::Timeout,
    ErrorKind::Model(ModelErrorKind::Unauthorized),
    ErrorKind::Model(ModelErrorKind::MissingKey),
    ErrorKind::Model(ModelErrorKind::UnknownModel),
    ErrorKind::Model(ModelErrorKind::InvalidRequest),
    ErrorKind::Model(ModelErrorKind::InvalidResponse),
    ErrorKind::Model(ModelErrorKind::RateLimited),
];

/// A failed run continues after its cause was fixed: earlier work is kept, and the failed call is
/// repeated.
pub async fn a_failed_run_continues_after_a_fix(place: &dyn DynPlace) {
    for kind in KINDS {
        for by_retry in [false, true] {
            let world = World::default();
            let tree = || Tree::new("w", vec![run(pays(&world, kind))]);
            let store = place.open_dyn().await;
            let runner = store.knows("app", tree());
            let session = format!("{kind:?}-{by_retry}");
            let handle = runner.session("u", session.clone());
            let error = handle.run(&tree(), "go").await.unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
            // The failed run is listed with its error, and nothing resumes it automatically.
            let failed = runner
                .runs(&RunFilter::failed().session(handle.key()))
                .await
                .unwrap();
            assert_eq!(failed.len(), 1);
            assert!(!failed[0].is_ready);
            let RunStatus::Failed(why) = &failed[0].status else {
                panic!("{failed:?}")
            };
            // The text of a panic is only in the log.
            let text = match kind {
                ErrorKind::Panic => "it panicked (reference ",
                _ => "an operator must fix this",
            };
            assert!(why.message.contains(text), "{why}");
            assert!(runner.recover().await.unwrap().is_empty());
            let id = failed[0].run_id;
            // Before the fix, a retry fails again.
            let again = runner.retry(id).await.unwrap().result.unwrap_err();
            assert_eq!(
                (again.kind(), world.tried.load(SeqCst)),
                (kind, 2),
                "{again}"
            );
            world.mended.store(true, SeqCst);
            if by_retry {
                assert!(runner.retry(id).await.unwrap().result.unwrap().is_empty());
            } else {
                runner.resume(&tree(), id).await.unwrap();
            }
            assert_eq!((world.paid.load(SeqCst), world.tried.load(SeqCst)), (1, 3));
            assert_eq!(texts(&store, &session).await, ["go", "paid", "called"]);
            assert!(
                runner
                    .runs(&RunFilter::failed().session(handle.key()))
                    .await
                    .unwrap()
                    .is_empty()
            );
        }
    }
    // A handled error is a result: the run takes the same path again.
    let world = World::default();
    let tree = || Tree::new("w", vec![run(handles(&world))]);
    let store = place.open_dyn().await;
    let runner = store.knows("app", tree());
    runner
        .session("u", "handled")
        .run(&tree(), "go")
        .await
        .unwrap_err();
    let id = runner.runs(&RunFilter::failed()).await.unwrap()[0].run_id;
    world.mended.store(true, SeqCst);
    runner.resume(&tree(), id).await.unwrap();
    assert_eq!((world.paid.load(SeqCst), world.tried.load(SeqCst)), (1, 2));
    assert_eq!(
        texts(&store, "handled").await,
        ["go", "the second", "ended"]
    );
    let unknown = runner.retry("e-01890000-0000-7000-8000-000000000000".parse().unwrap());
    assert_eq!(unknown.await.unwrap_err().kind(), ErrorKind::UnknownRun);
    assert!(
        store.runner("elsewhere").retry(id).await.is_err(),
        "another app does not see the run"
    );
}
