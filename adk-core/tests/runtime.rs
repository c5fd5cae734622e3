//! The runtime contract (DESIGN, section 7), over trees wired by hand.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod support;

use adk_core::spec::{InputSpec, KeySpec};
use adk_core::{
    Content, Context, ErrorKind, Event, Flow, LoopEndReason, Part, Result, RunEnd, RunStream, Runner,
    Workflow,
};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Poll, Waker};
use support::*;

fn runner() -> Runner {
    Runner::builder().build().unwrap()
}

/// Paths of all events but the user's, then the error if there was one.
async fn paths(tree: &Tree) -> Vec<String> {
    let runner = runner();
    let mut stream = runner.run(tree, "go").stream();
    let mut all = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) if event.author == "user" => {}
            Ok(event) => all.push(event.path.to_string()),
            Err(error) => all.push(error.to_string()),
        }
    }
    all
}

fn now<T>(stream: &mut RunStream<'_, T>) -> Poll<Option<Result<Arc<Event>>>>
where
    T: Send + 'static,
{
    let next = std::pin::pin!(stream.next());
    next.poll(&mut std::task::Context::from_waker(Waker::noop()))
}

#[tokio::test]
async fn a_loop_repeats_and_tells_round_iteration_and_reason() {
    let tree = Tree::new(
        "writing",
        vec![run(say("writer")), repeat("refinement", Some(2), vec![run(say("critic"))])],
    );
    let runner = runner();
    let mut stream = runner.run(&tree, "a cat").stream();
    let mut seen = Vec::new();
    while let Some(event) = stream.next().await {
        let event = event.unwrap();
        seen.push((event.author.to_string(), event.path.to_string(), event.loop_iteration(), event.text()));
    }
    let expected = [
        ("user", "writing", None, "a cat"),
        ("writer", "writing/writer", None, "writer"),
        ("critic", "writing/refinement#1/critic", Some(0), "critic"),
        ("critic", "writing/refinement#2/critic", Some(1), "critic"),
    ];
    assert_eq!(seen, expected.map(|(a, p, i, t)| (a.to_owned(), p.to_owned(), i, t.to_owned())));
    let RunEnd::Finished(outcome) = stream.end() else { panic!() };
    assert_eq!(outcome.loops.len(), 1);
    assert_eq!(outcome.loops[0].path.to_string(), "writing/refinement");
    assert_eq!((outcome.loops[0].rounds, &outcome.loops[0].reason), (2, &LoopEndReason::Max));
    assert_eq!(outcome.get::<String>("topic").unwrap().as_deref(), Some("a cat"));
}

#[tokio::test]
async fn an_exit_ends_the_innermost_loop_alone() {
    let inner = repeat("inner", Some(9), vec![sequence("both", vec![run(exit("stop")), run(say("never"))])]);
    let tree = Tree::new("w", vec![repeat("outer", Some(2), vec![inner, run(say("after"))])]);
    assert_eq!(
        paths(&tree).await,
        ["w/outer#1/inner#1/both/stop", "w/outer#1/after", "w/outer#2/inner#1/both/stop", "w/outer#2/after"]
    );
    let outcome = runner().run(&tree, "go").await.unwrap();
    let ends: Vec<_> = outcome.loops.iter().map(|end| (end.path.to_string(), end.rounds)).collect();
    assert_eq!(ends, [("w/outer#1/inner".into(), 1), ("w/outer#2/inner".into(), 1), ("w/outer".into(), 2)]);
    let LoopEndReason::Escalated { by } = &outcome.loops[0].reason else { panic!() };
    assert_eq!(by.to_string(), "w/outer#1/inner#1/both/stop");
}

#[tokio::test]
async fn an_exit_by_name_ends_an_outer_loop() {
    let mut leave = by("leave", |_| Box::pin(async { Ok(Flow::ExitTo("outer".into())) }));
    leave.meta = leave.meta.exits(&["outer"]);
    let inner = repeat("inner", Some(9), vec![run(leave), run(say("never"))]);
    let tree =
        Tree::new("w", vec![repeat("outer", Some(2), vec![inner, run(say("never2"))]), run(say("last"))]);
    assert_eq!(paths(&tree).await, ["w/last"]);
}

#[tokio::test]
async fn break_and_until_end_loops() {
    let tree = Tree::new(
        "w",
        vec![
            repeat("a", None, vec![run(say("x")), Node::Break(None), run(say("never"))]),
            repeat("b", None, vec![repeat("c", None, vec![Node::Break(Some("b"))]), run(say("never2"))]),
            until(
                "d",
                "done",
                vec![run(by("count", |cx| {
                    Box::pin(async move {
                        let n = cx.state().get::<u32>("n")?.unwrap_or(0) + 1;
                        cx.state().set("n", n)?;
                        cx.state().set("done", n == 3)?;
                        Ok(Flow::Continue)
                    })
                }))],
            ),
        ],
    );
    let outcome = runner().run(&tree, "go").await.unwrap();
    let ends: Vec<_> =
        outcome.loops.iter().map(|e| (e.path.to_string(), e.rounds, e.reason.clone())).collect();
    assert_eq!(
        ends,
        [
            ("w/a".into(), 1, LoopEndReason::Break),
            ("w/b#1/c".into(), 1, LoopEndReason::Break),
            ("w/b".into(), 1, LoopEndReason::Break),
            ("w/d".into(), 3, LoopEndReason::Until),
        ]
    );
    assert_eq!(outcome.get::<u32>("n").unwrap(), Some(3));
}

#[tokio::test]
async fn an_until_that_is_no_bool_says_so() {
    let tree = || Tree::new("w", vec![until("l", "done", vec![run(say("a"))])]);
    let error = runner().run(&tree(), "go").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyMissing);
    assert_eq!(
        error.to_string(),
        "agent `l` (at w/l#1): `until = done` reads a key that nothing has written; help: let a step before it write \
         `done`, or pass it as an input"
    );
    let error = runner().run(&tree().lets("done", "yes"), "go").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyType);
    assert_eq!(
        error.to_string(),
        "agent `l` (at w/l#1): `until = done` needs a `bool`, but the key holds the string \"yes\"; help: write `done` as \
         a `bool`"
    );
}

#[tokio::test]
async fn an_agent_goes_on_when_its_event_was_taken() {
    static EMITTED: AtomicUsize = AtomicUsize::new(0);
    let tree = Tree::new(
        "w",
        vec![run(by("three", |cx| {
            Box::pin(async move {
                for n in 1..=3 {
                    cx.emit(Event::new().with_state("n", n)).await?;
                    assert_eq!(cx.state().get::<i32>("n")?, Some(n), "the next line sees the state");
                    EMITTED.fetch_add(1, SeqCst);
                }
                Ok(Flow::Continue)
            })
        }))],
    );
    let runner = runner();
    let handle = runner.session("u", "s");
    let mut stream = handle.run(&tree, "go").stream();
    stream.next().await.unwrap().unwrap();
    stream.next().await.unwrap().unwrap();
    assert_eq!(EMITTED.load(SeqCst), 0, "the first event is not taken before the reader comes back");
    stream.next().await.unwrap().unwrap();
    assert_eq!(EMITTED.load(SeqCst), 1);
    drop(stream);
    assert_eq!(EMITTED.load(SeqCst), 1, "dropping the stream cancels");
    assert_eq!(handle.open().await.unwrap().len(), 3, "what was committed stays");
}

#[tokio::test]
async fn branches_have_names_and_see_what_is_theirs() {
    fn seen(cx: &Context) -> String {
        let all: Vec<_> = cx.history().iter().map(|event| event.author.to_string()).collect();
        all.join(",")
    }
    let look = |name| {
        by(name, |cx| {
            Box::pin(async move {
                cx.emit(Event::new().with_text("first")).await?;
                let text = seen(cx);
                cx.emit(Event::new().with_text(text)).await?;
                Ok(Flow::Continue)
            })
        })
    };
    let both = parallel("both", vec![run(look("a")), sequence("s", vec![run(look("b"))])]);
    let tree = Tree::new("w", vec![both, run(look("c"))]);
    let mut stream = runner().run(&tree, "go").stream();
    let mut seen = Vec::new();
    while let Some(event) = stream.next().await {
        let event = event.unwrap();
        seen.push(format!("{} {} {}", event.branch.as_deref().unwrap_or("-"), event.path, event.text()));
    }
    assert_eq!(
        seen,
        [
            "- w go",
            "both.a w/both/a first",
            "both.s w/both/s/b first",
            "both.a w/both/a user,a",
            "both.s w/both/s/b user,b",
            "- w/c first",
            "- w/c user,a,b,a,b,c",
        ]
    );
}

#[tokio::test]
async fn the_first_error_cancels_the_siblings_and_what_was_committed_is_delivered() {
    let slow = by("slow", |cx| {
        Box::pin(async move {
            cx.emit(Event::new().with_text("one")).await?;
            tokio::time::sleep(std::time::Duration::from_secs(3600)).await;
            unreachable!("cancelled")
        })
    });
    let fails = by("fails", |cx| {
        Box::pin(async move {
            cx.emit(Event::new().with_text("two")).await?;
            Err(adk_core::Error::other("no luck"))
        })
    });
    let tree = Tree::new("w", vec![parallel("p", vec![run(slow), run(fails)])]);
    assert_eq!(paths(&tree).await, ["w/p/slow", "w/p/fails", "agent `fails` (at w/p/fails): no luck"]);
}

#[tokio::test]
async fn an_exit_in_a_branch_cancels_the_siblings_and_ends_the_loop_around() {
    let slow = by("slow", |_| Box::pin(std::future::pending()));
    let tree =
        Tree::new("w", vec![repeat("l", None, vec![parallel("p", vec![run(slow), run(exit("stop"))])])]);
    let outcome = runner().run(&tree, "go").await.unwrap();
    assert_eq!(outcome.loops[0].rounds, 1);
}

#[tokio::test]
async fn max_concurrency_limits_the_branches_that_run() {
    static RUNNING: AtomicUsize = AtomicUsize::new(0);
    static MOST: AtomicUsize = AtomicUsize::new(0);
    let work = |name| {
        by(name, |cx| {
            Box::pin(async move {
                MOST.fetch_max(RUNNING.fetch_add(1, SeqCst) + 1, SeqCst);
                cx.emit(Event::new()).await?;
                RUNNING.fetch_sub(1, SeqCst);
                Ok(Flow::Continue)
            })
        })
    };
    let all = ["a", "b", "c", "d", "e"].map(|name| run(work(name))).into();
    runner().run(&Tree::new("w", vec![limited("p", 2, all)]), "go").await.unwrap();
    assert_eq!(MOST.load(SeqCst), 2);
}

#[tokio::test]
async fn a_nested_workflow_has_keys_of_its_own() {
    let inner = Tree::with_keys(
        "drafting",
        const { &[InputSpec::new("topic", "String", false), InputSpec::new("tone", "String", true)] },
        const { &[KeySpec::new("draft", "String")] },
        vec![run(by("drafter", |cx| {
            Box::pin(async move {
                let topic = cx.state().get::<String>("topic")?.unwrap();
                let tone = cx.state().get::<String>("tone")?.unwrap();
                cx.state().set("notes", "own")?;
                cx.state().set("user:seen", true)?;
                cx.emit(Event::new().with_state("draft", format!("{topic}, {tone}"))).await?;
                Ok(Flow::Continue)
            })
        }))],
    )
    .default_of("tone", "plain")
    .lets("limit", 3);
    let tree = Tree::new("w", vec![named("first", inner)]);
    let outcome = runner().run(&tree, "cats").state("tone", "stale").await.unwrap();
    let state: Vec<_> =
        outcome.session().state().iter().map(|(key, value)| format!("{key}={value}")).collect();
    assert_eq!(
        state,
        [
            "draft=\"cats, plain\"",
            "first/limit=3",
            "first/notes=\"own\"",
            "first/tone=\"plain\"",
            "first/topic=\"cats\"",
            "tone=\"stale\"",
            "topic=\"cats\"",
            "user:seen=true",
        ]
    );
}

#[tokio::test]
async fn a_missing_input_of_a_nested_workflow_is_named() {
    let inner = Tree::with_keys(
        "inner",
        const { &[InputSpec::new("plan", "String", false)] },
        &[],
        vec![run(say("x"))],
    );
    let error = runner().run(&Tree::new("w", vec![run(inner)]), "go").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyMissing);
    assert_eq!(
        error.to_string(),
        "agent `inner` (at w/inner): the workflow's input `plan` reads a key that nothing has written; \
         help: write `plan` before it, or give the input a default"
    );
}

#[tokio::test]
async fn what_an_agent_did_not_promise_is_an_error_that_names_it() {
    let mut secret = exit("secret");
    secret.meta = secret.meta.may_exit(false);
    let mut lazy = say("lazy");
    lazy.meta = lazy.meta.writes(const { &[KeySpec::new("draft", "String")] });
    let panics = by("panics", |_| Box::pin(async { panic!("boom {}", 1) }));
    let cases = [
        (secret, ErrorKind::UnexpectedExit, "agent `secret` (at w/l#1/secret): it ended a loop without"),
        (
            lazy,
            ErrorKind::KeyNotWritten,
            "agent `lazy` (at w/l#1/lazy): it ended without having written its key `draft`",
        ),
        (panics, ErrorKind::Panic, "agent `panics` (at w/l#1/panics): it panicked: boom 1"),
    ];
    for (agent, kind, text) in cases {
        let error = runner()
            .run(&Tree::new("w", vec![repeat("l", Some(1), vec![run(agent)])]), "go")
            .await
            .unwrap_err();
        assert_eq!(error.kind(), kind);
        assert!(error.to_string().starts_with(text), "{error}");
        assert!(error.help().is_some());
    }
    let error = runner().run(&Tree::new("w", vec![run(exit("alone"))]), "go").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnexpectedExit);
    assert!(
        error.message().contains("agent `alone` (at w/alone) ends a loop, but stands in none"),
        "{error}"
    );
}

#[tokio::test]
async fn an_escalate_that_is_emitted_counts_as_exit_also_on_a_partial_event() {
    for partial in [false, true] {
        let quiet = by("quiet", move |cx| {
            Box::pin(async move {
                let mut event = Event::new().with_escalate();
                event.partial = partial;
                cx.emit(event).await?;
                cx.emit(Event::new().with_text("still to say")).await?;
                Ok(Flow::Continue)
            })
        });
        let tree = Tree::new("w", vec![repeat("l", None, vec![run(quiet), run(say("never"))])]);
        assert_eq!(paths(&tree).await, ["w/l#1/quiet", "w/l#1/quiet"]);
    }
}

#[tokio::test]
async fn temp_keys_live_in_the_run_and_never_in_an_event() {
    let write = by("write", |cx| {
        Box::pin(async move {
            cx.emit(Event::new().with_state("temp:t", 1).with_state("kept", 2)).await?;
            Ok(Flow::Continue)
        })
    });
    let read = by("read", |cx| {
        Box::pin(async move {
            let seen = cx.state().get::<i32>("temp:t")?;
            cx.emit(Event::new().with_state("seen", seen)).await?;
            Ok(Flow::Continue)
        })
    });
    let tree = Tree::new("w", vec![run(write), run(read)]);
    let outcome = runner().run(&tree, "go").await.unwrap();
    assert_eq!(outcome.get::<i32>("seen").unwrap(), Some(1));
    let stored = serde_json::to_string(&outcome.session().events().collect::<Vec<_>>()).unwrap();
    assert!(!stored.contains("temp:t") && stored.contains("kept"));
}

#[tokio::test]
async fn what_was_set_is_committed_with_the_next_event_or_at_the_end() {
    let tree = Tree::new(
        "w",
        vec![run(by("a", |cx| {
            Box::pin(async move {
                cx.state().set("k", 1)?;
                assert_eq!(cx.state().get::<i32>("k")?, Some(1), "its own writes are seen at once");
                cx.emit(Event::new().with_text("x").with_state("m", 2)).await?;
                cx.artifacts().save("a.txt", Part::text("v0")).await?;
                cx.artifacts().save("a.txt", Part::text("v1")).await?;
                Ok(Flow::Continue)
            })
        }))],
    );
    let outcome = runner().run(&tree, "go").await.unwrap();
    let actions: Vec<_> = outcome
        .session()
        .events()
        .map(|event| serde_json::to_value(event).unwrap()["actions"].clone())
        .collect();
    assert_eq!(actions[1], json!({"stateDelta": {"k": 1, "m": 2}, "artifactDelta": {}}));
    assert_eq!(actions[2], json!({"stateDelta": {}, "artifactDelta": {"a.txt": 1}}));
}

#[tokio::test]
async fn a_run_pauses_when_all_that_is_left_waits() {
    let waits = by("waits", |cx| {
        Box::pin(async move {
            let yes: bool = cx.wait("decision").await?;
            Ok(Flow::exit_if(yes))
        })
    });
    let tree = Tree::new("w", vec![parallel("p", vec![run(waits), run(say("other"))])]);
    let runner = runner();
    let mut stream = runner.run(&tree, "go").stream();
    while let Some(event) = stream.next().await {
        event.unwrap();
    }
    let RunEnd::Paused(waiting) = stream.end() else { panic!() };
    assert_eq!(waiting[0].id, format!("{}/w/p/waits:decision@0", waiting[0].run_id));
    let error = runner.run(&tree, "go").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Paused);
}

#[tokio::test]
async fn steps_are_joined_in_any_order() {
    let tree = Tree::new(
        "w",
        vec![run(by("a", |cx| {
            Box::pin(async move {
                let (one, two) = (cx.step("one", async { Ok(1) }), cx.step("two", async { Ok(2) }));
                let (two, one) = (two.await?, one.await?);
                cx.emit(Event::new().with_state("sum", one + two)).await?;
                Ok(Flow::Continue)
            })
        }))],
    );
    assert_eq!(runner().run(&tree, "go").await.unwrap().get::<i32>("sum").unwrap(), Some(3));
}

#[tokio::test]
async fn a_session_goes_on_over_runs_and_the_user_may_send_more_than_text() {
    let tree = Tree::new("w", vec![run(say("a"))]);
    let runner = runner();
    let handle = runner.session("u1", "s1");
    handle.run(&tree, "one").await.unwrap();
    let picture = Content::user("two").with(Part::inline_data("image/png", vec![1_u8]));
    handle.run(&tree, "two").message(picture.clone()).await.unwrap();
    let session = handle.open().await.unwrap();
    assert_eq!(
        session.events().map(|e| e.author.to_string()).collect::<Vec<_>>(),
        ["user", "a", "user", "a"]
    );
    assert_eq!(session.event(2).unwrap().content.as_ref(), Some(&picture));
    let times: Vec<_> = session.events().map(|e| (e.timestamp, e.id)).collect();
    assert!(times.is_sorted_by_key(|(time, _)| *time));
    assert_eq!(runner.sessions(Some("u1")).await.unwrap().len(), 1);
    assert!(handle.delete().await.unwrap());
}

#[tokio::test]
async fn a_stream_can_be_spawned_and_many_runs_share_one_workflow() {
    fn assert_all<T: Send + Sync + 'static>(_: &T) {}
    fn assert_send<T: Send>(value: T) -> T {
        value
    }
    let tree = Arc::new(Tree::new("w", vec![parallel("p", vec![run(say("a")), run(say("b"))])]));
    let runner = runner();
    assert_all(&runner);
    assert_all(&*tree);
    let tasks: Vec<_> = (0..8)
        .map(|n| {
            let mut stream = assert_send(runner.run(tree.clone(), n.to_string()).stream());
            tokio::spawn(async move {
                let mut count = 0;
                while let Some(event) = stream.next().await {
                    event.unwrap();
                    count += 1;
                }
                count
            })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap(), 3);
    }
    let outcome = assert_send(runner.run(&*tree, "x").into_future()).await.unwrap();
    assert_eq!(outcome.usage.calls, 0);
    let _: &dyn Workflow<Input = String, Output = ()> = &*tree;
}

#[tokio::test]
async fn an_end_is_an_end() {
    let tree = Tree::new("w", vec![run(say("a"))]);
    let mut stream = runner().run(&tree, "go").stream();
    assert!(matches!(stream.end(), RunEnd::Running));
    while stream.next().await.is_some() {}
    assert!(matches!(now(&mut stream), Poll::Ready(None)));
    assert!(matches!(stream.end(), RunEnd::Finished(_)));
}

#[tokio::test]
async fn an_empty_message_is_refused_before_anything_is_stored() {
    let tree = Tree::new("w", vec![run(say("a"))]);
    let handle = runner().session("u", "s");
    let error = handle.run(&tree, "  \n").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::EmptyInput);
    assert!(
        error.to_string().starts_with("agent `w` (at w): the message of the user is empty; help: "),
        "{error}"
    );
    assert!(handle.open().await.unwrap().is_empty());
}
