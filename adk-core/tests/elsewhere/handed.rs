//! Runs that another process drives, followed in the store that both processes share.

use super::client::client;
use super::log::Log;
use super::runs::{all, comparable, in_process, shape};
use crate::support::*;
use adk_build::engine::MemoryJournal;
use adk_build::{Error, ErrorKind, Event, Flow, LiveQueue, RunEnd, Runner};
use std::future::pending;
use std::sync::Arc;

#[test]
fn a_follower_sees_the_events_of_the_driver() {
    for (name, tree, _) in all() {
        let (expected, loops) = in_process(async move {
            let runner: Runner = Runner::builder()
                .engine(MemoryJournal::new())
                .build()
                .unwrap();
            let outcome = runner.run(&tree(), "go").await.unwrap();
            (shape(outcome.session().events()), outcome.loops)
        });
        in_process(async move {
            let (log, workflow) = (Log::default(), tree());
            let mut stream = client(tree, &log).run(&workflow, "go").stream();
            let mut events: Vec<Arc<Event>> = Vec::new();
            while let Some(event) = stream.next().await {
                events.push(event.unwrap());
            }
            let outcome = stream.finish().await.unwrap();
            assert_eq!(
                comparable(shape(&events), name),
                comparable(expected, name),
                "{name}: the stream"
            );
            assert_eq!(outcome.loops, loops, "{name}");
            assert!(
                outcome.session().events().eq(&log.events()),
                "{name}: the session equals the log"
            );
            assert!(
                events.iter().eq(&log.events()),
                "{name}: in the order of the log"
            );
        });
    }
}

#[test]
fn a_transferred_run_is_followed_from_its_current_position() {
    fn tree() -> Tree {
        Tree::new(
            "w",
            vec![run(say("a")), repeat("l", Some(2), vec![run(say("b"))])],
        )
    }
    in_process(async {
        let (log, workflow) = (Log::default(), tree());
        let mut stream = client(tree, &log).run(&workflow, "go").stream();
        let first = stream.next().await.unwrap().unwrap();
        drop(stream);
        let outcome = client(tree, &log)
            .resume(&workflow, first.invocation_id)
            .await
            .unwrap();
        assert!(outcome.session().events().eq(&log.events()));
        assert_eq!((log.events().len(), outcome.loops.len()), (4, 1));
        // A finished run can be followed as well.
        let again = client(tree, &log)
            .resume(&workflow, first.invocation_id)
            .await
            .unwrap();
        assert_eq!(again.loops, outcome.loops);
    });
}

#[test]
fn a_waiting_run_pauses_for_its_follower_and_continues_with_the_answer() {
    fn tree() -> Tree {
        let asks = by("a", |cx| {
            Box::pin(async move {
                let yes: bool = cx.wait("decision").await?;
                cx.emit(Event::new().with_text(format!("a {yes}"))).await?;
                Ok(Flow::Continue)
            })
        });
        Tree::new("w", vec![run(asks), run(say("z"))])
    }
    in_process(async {
        let (log, workflow) = (Log::default(), tree());
        let runner = client(tree, &log);
        let mut stream = runner.run(&workflow, "go").stream();
        while let Some(event) = stream.next().await {
            event.unwrap();
        }
        let RunEnd::Paused(waiting) = stream.end() else {
            panic!("it waits")
        };
        assert_eq!(runner.waiting().await.unwrap(), waiting);
        runner.answer(&waiting[0].id, true).await.unwrap();
        let outcome = runner.resume(&workflow, waiting[0].run_id).await.unwrap();
        let said: Vec<_> = outcome
            .session()
            .events()
            .map(|event| event.text())
            .collect();
        assert_eq!(said, ["go", "a true", "z"]);
    });
}

#[test]
fn failures_in_the_driving_process_reach_the_follower() {
    fn fails() -> Tree {
        let agent = by("a", |_| {
            Box::pin(async { Err(Error::new(ErrorKind::Timeout, "too slow")) })
        });
        Tree::new("w", vec![run(say("b")), run(agent)])
    }
    fn other() -> Tree {
        Tree::new("w", vec![run(say("c"))])
    }
    fn unknown() -> Tree {
        Tree::new("v", vec![run(say("b"))])
    }
    fn hangs() -> Tree {
        Tree::new(
            "w",
            vec![
                run(say("b")),
                run(by("a", |cx| Box::pin(cx.step("hangs", pending())))),
            ],
        )
    }
    for (asked, drives, wanted, said) in [
        (
            fails as fn() -> Tree,
            fails as fn() -> Tree,
            ErrorKind::Timeout,
            "too slow",
        ),
        (
            fails,
            other,
            ErrorKind::TopologyChanged,
            "no longer has the shape with which",
        ),
        (
            fails,
            unknown,
            ErrorKind::Config,
            "no workflow `w` is known to this runner; known: `v`",
        ),
        (hangs, hangs, ErrorKind::Cancelled, "was cancelled"),
    ] {
        in_process(async move {
            let (log, workflow) = (Log::default(), asked());
            let runner = client(drives, &log);
            let mut stream = runner.run(&workflow, "go").stream();
            let error = loop {
                match stream.next().await.expect("an error") {
                    Ok(event) if event.author == "b" && wanted == ErrorKind::Cancelled => {
                        runner.cancel(event.invocation_id).await.unwrap();
                    }
                    Ok(_) => {}
                    Err(error) => break error,
                }
            };
            assert_eq!(error.kind(), wanted, "{error}");
            assert!(error.to_string().contains(said), "{error}");
            let begun = log.events().first().map(|event| event.invocation_id);
            if let Some(run) = begun {
                assert_eq!(
                    runner.retry(run).await.unwrap_err().kind(),
                    ErrorKind::Config
                );
            }
        });
    }
}

#[test]
fn a_live_run_is_not_transferred() {
    fn tree() -> Tree {
        Tree::new("w", vec![run(say("a"))])
    }
    in_process(async {
        let (log, queue) = (Log::default(), LiveQueue::new());
        let workflow = tree();
        let error = client(tree, &log)
            .run_live(&workflow, "hi", &queue)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        assert!(error.message().contains("live run"), "{error}");
    });
}
