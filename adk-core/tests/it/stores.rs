//! One store for a runner: the parts that it supplies and their replacement.

use crate::support::{By, Tree, by, run};
use adk_build::engine::{Engine, MemoryJournal, Retention, RunFilter};
use adk_build::memory::{InMemoryMemoryService, MemoryService};
use adk_build::session::{EventFilter, Location, SessionStore};
use adk_build::{
    ArtifactStore, Await, ErrorKind, Event, Flow, InMemoryStore, NoArtifacts, Part, Result, RunEnd,
    Runner, Store,
};
use std::sync::Arc;

/// Makes an agent that saves a text as `draft.txt`.
fn saves() -> By {
    by("saves", |cx| {
        Box::pin(async move {
            cx.artifacts().save("draft.txt", Part::text("kept")).await?;
            cx.emit(Event::new().with_text("a cat"))
                .await
                .map(|_| Flow::Continue)
        })
    })
}

/// Makes an agent that counts the memories of cats.
fn recalls() -> By {
    by("recalls", |cx| {
        Box::pin(async move {
            let found = cx.search_memory("cat").await?.len();
            cx.emit(Event::new().with_text(format!("{found} found")))
                .await
                .map(|_| Flow::Continue)
        })
    })
}

fn tree() -> Tree {
    Tree::new(
        "w",
        vec![
            run(saves()),
            run(Await::builder::<bool>("approved").build()),
            run(recalls()),
        ],
    )
}

#[tokio::test]
async fn runners_of_one_store_share_all_its_data() {
    let (store, tree) = (InMemoryStore::new(), tree());
    let runner = || -> Runner { Runner::builder().store(store.clone()).build().unwrap() };
    let first = runner();
    let mut stream = first.session("ann", "monday").run(&tree, "go").stream();
    while let Some(event) = stream.next().await {
        event.unwrap();
    }
    assert!(matches!(stream.end(), RunEnd::Paused(_)));
    first
        .session("ann", "monday")
        .add_to_memory()
        .await
        .unwrap();
    drop((stream, first));

    let second = runner();
    let waiting = second.waiting().await.unwrap().remove(0);
    second.answer(&waiting.id, true).await.unwrap();
    let outcome = second.resume(&tree, waiting.run_id).await.unwrap();
    assert_eq!(outcome.session().events().last().unwrap().text(), "1 found");
    let session = second.session("ann", "monday");
    assert_eq!(
        session.load_artifact("draft.txt").await.unwrap(),
        Some(Part::text("kept"))
    );
    let kept = session.get(&EventFilter::new()).await.unwrap().unwrap();
    assert_eq!(kept.events.len(), outcome.session().len());
}

/// A store of sessions and runs only. Other parts have defaults or are set separately.
struct Lean(InMemoryStore);

impl Store for Lean {
    fn session_store(&self) -> Arc<dyn SessionStore> {
        self.0.session_store()
    }
    fn engine(&self) -> Arc<dyn Engine> {
        self.0.engine()
    }
    fn artifact_store(&self) -> Option<Arc<dyn ArtifactStore>> {
        None
    }
    fn memory_service(&self) -> Option<Arc<dyn MemoryService>> {
        None
    }
}

#[tokio::test]
async fn artifacts_and_memory_may_come_from_other_stores() {
    let lean = || Runner::builder().store(Lean(InMemoryStore::new()));
    let runner: Runner = lean().build().unwrap();
    let session = runner.session("ann", "monday");
    session
        .run(&Tree::new("w", vec![run(saves())]), "go")
        .await
        .unwrap();
    assert_eq!(
        session.load_artifact("draft.txt").await.unwrap(),
        Some(Part::text("kept"))
    );
    let error = session.add_to_memory().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoMemoryService, "{error}");
    assert!(
        error
            .help()
            .is_some_and(|help| help.contains(".store(store)")),
        "{error}"
    );

    let runner: Runner = lean()
        .memory_service(InMemoryMemoryService::new())
        .build()
        .unwrap();
    let session = runner.session("ann", "monday");
    session
        .run(&Tree::new("w", vec![run(saves())]), "go")
        .await
        .unwrap();
    session.add_to_memory().await.unwrap();
}

#[tokio::test]
async fn a_setter_replaces_its_part_before_and_after_the_store() -> Result<()> {
    let tree = Tree::new("w", vec![run(saves())]);
    let before: Runner = Runner::builder()
        .artifact_store(NoArtifacts)
        .store(InMemoryStore::new())
        .build()?;
    let after: Runner = Runner::builder()
        .store(InMemoryStore::new())
        .artifact_store(NoArtifacts)
        .build()?;
    for runner in [before, after] {
        let error = runner.run(&tree, "go").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NoArtifactStore, "{error}");
        assert_eq!(
            runner.engine().retention(),
            Retention::Process,
            "the engine of the store is used"
        );
    }

    // A separate journal does not know the runs of the store.
    let store = InMemoryStore::new();
    let of_store: Runner = Runner::builder().store(store.clone()).build()?;
    let own: Runner = Runner::builder()
        .engine(MemoryJournal::new())
        .store(store)
        .build()?;
    of_store.session("ann", "monday").run(&tree, "go").await?;
    let any = RunFilter::any();
    assert_eq!(
        (
            of_store.runs(&any).await?.len(),
            own.runs(&any).await?.len()
        ),
        (1, 0)
    );
    assert_eq!(own.sessions(None).await?.len(), 1);
    assert_eq!(own.engine().location(), Location::Memory);
    Ok(())
}
