//! Runs that wait for people.

use super::crash::World;
use crate::support::*;
use adk_build::engine::MemoryJournal;
use adk_build::{Error, ErrorKind, Event, Flow, RunEnd, Runner};

fn asks(name: &'static str) -> By {
    by(name, |cx| {
        Box::pin(async move {
            let yes: bool = cx.wait("decision").await?;
            cx.emit(Event::new().with_text(format!("it says {yes}")))
                .await?;
            Ok(Flow::Continue)
        })
    })
}

fn tree() -> Tree {
    Tree::new(
        "w",
        vec![
            run(say("a")),
            parallel("p", vec![run(asks("b")), run(asks("c"))]),
            run(say("d")),
        ],
    )
}

async fn texts(stream: &mut adk_build::RunStream<'_, ()>) -> Vec<String> {
    let mut all = Vec::new();
    while let Some(event) = stream.next().await {
        all.push(event.unwrap().text());
    }
    all
}

#[tokio::test]
async fn a_run_pauses_and_continues_in_another_process_after_its_answer() {
    let world = World::new();
    let runner = || -> Runner {
        let builder = Runner::builder()
            .session_store(world.sessions.clone())
            .engine(world.journal.clone());
        builder.workflow(tree()).build().unwrap()
    };
    let first = tree();
    let mut stream = runner().run(&first, "go").stream();
    assert_eq!(texts(&mut stream).await, ["go", "a"]);
    let RunEnd::Paused(waiting) = stream.end() else {
        panic!()
    };
    let other = runner();
    assert_eq!(other.waiting().await.unwrap(), waiting);
    assert_eq!(waiting.len(), 2);
    assert!(
        other.recover().await.unwrap().is_empty(),
        "no question is answered"
    );

    let kind = |result: Result<(), Error>| result.unwrap_err().kind();
    assert_eq!(
        kind(other.answer("e-1/w/x:y@0", true).await),
        ErrorKind::UnknownWait
    );
    other.answer(&waiting[1].id, true).await.unwrap();
    assert_eq!(
        kind(other.answer(&waiting[1].id, false).await),
        ErrorKind::Answered
    );
    let recovered = other.recover().await.unwrap();
    assert_eq!(recovered.len(), 1);
    assert_eq!(
        recovered[0].result.as_ref().unwrap().len(),
        1,
        "the other still waits"
    );

    other.answer(&waiting[0].id, false).await.unwrap();
    let second = tree();
    let mut stream = other.resume(&second, waiting[0].run_id).stream();
    assert_eq!(
        texts(&mut stream).await,
        ["it says false", "d"],
        "delivered events are not delivered again"
    );
    assert!(matches!(stream.end(), RunEnd::Finished(_)));
    assert!(other.waiting().await.unwrap().is_empty() && other.recover().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_runner_without_a_wait_registry_reports_it() {
    let runner: Runner = Runner::builder().build().unwrap();
    let error = runner.answer("x", 1).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert!(
        error
            .help()
            .is_some_and(|help| help.contains("InMemoryStore")),
        "{error}"
    );
    let with: Runner = Runner::builder()
        .engine(MemoryJournal::new())
        .build()
        .unwrap();
    assert_eq!(
        with.answer("x", 1).await.unwrap_err().kind(),
        ErrorKind::UnknownWait
    );
}
