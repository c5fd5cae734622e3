//! Runs, their streams and their ends.

use super::*;

#[tokio::test]
async fn an_agent_continues_after_its_event_was_read() {
    static EMITTED: AtomicUsize = AtomicUsize::new(0);
    let tree = Tree::new(
        "w",
        vec![run(by("three", |cx| {
            Box::pin(async move {
                for n in 1..=3 {
                    cx.emit(Event::new().with_state("n", n)).await?;
                    assert_eq!(
                        cx.state().get::<i32>("n")?,
                        Some(n),
                        "the next line sees the state"
                    );
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
    assert_eq!(
        EMITTED.load(SeqCst),
        0,
        "the agent waits until the reader polls again"
    );
    stream.next().await.unwrap().unwrap();
    assert_eq!(EMITTED.load(SeqCst), 1);
    drop(stream);
    assert_eq!(EMITTED.load(SeqCst), 1, "dropping the stream cancels");
    assert_eq!(
        handle.open().await.unwrap().len(),
        3,
        "committed events stay"
    );
}

#[tokio::test]
async fn a_run_pauses_when_all_remaining_parts_wait() {
    let waits = by("waits", |cx| {
        Box::pin(async move {
            let yes: bool = cx.wait("decision").await?;
            Ok(Flow::exit_if(yes))
        })
    });
    let tree = Tree::new(
        "w",
        vec![parallel("p", vec![run(waits), run(say("other"))])],
    );
    let runner = runner();
    let mut stream = runner.run(&tree, "go").stream();
    while let Some(event) = stream.next().await {
        event.unwrap();
    }
    let RunEnd::Paused(waiting) = stream.end() else {
        panic!()
    };
    assert_eq!(
        waiting[0].id,
        format!("{}/w/p/waits:decision@0", waiting[0].run_id)
    );
    let error = runner.run(&tree, "go").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Paused);
}

#[tokio::test]
async fn steps_are_joined_in_any_order() {
    let tree = Tree::new(
        "w",
        vec![run(by("a", |cx| {
            Box::pin(async move {
                let (one, two) = (
                    cx.step("one", async { Ok(1) }),
                    cx.step("two", async { Ok(2) }),
                );
                let (two, one) = (two.await?, one.await?);
                cx.emit(Event::new().with_state("sum", one + two)).await?;
                Ok(Flow::Continue)
            })
        }))],
    );
    assert_eq!(
        runner()
            .run(&tree, "go")
            .await
            .unwrap()
            .get::<i32>("sum")
            .unwrap(),
        Some(3)
    );
}

#[tokio::test]
async fn a_session_spans_runs_and_messages_may_have_other_parts() {
    let tree = Tree::new("w", vec![run(say("a"))]);
    let runner = runner();
    let handle = runner.session("u1", "s1");
    handle.run(&tree, "one").await.unwrap();
    let picture = Content::user("two").with(Part::inline_data("image/png", vec![1_u8]));
    handle
        .run(&tree, "two")
        .message(picture.clone())
        .await
        .unwrap();
    let session = handle.open().await.unwrap();
    assert_eq!(
        session
            .events()
            .map(|e| e.author.to_string())
            .collect::<Vec<_>>(),
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
    let tree = Arc::new(Tree::new(
        "w",
        vec![parallel("p", vec![run(say("a")), run(say("b"))])],
    ));
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
    let outcome = assert_send(runner.run(&*tree, "x")).await.unwrap();
    assert_eq!(outcome.usage.calls, 0);
    let _: &dyn Workflow<Input = String, Output = ()> = &*tree;
}

#[tokio::test]
async fn runs_are_spawned_and_joined_like_other_futures() {
    let tree = Arc::new(Tree::new("w", vec![run(say("a"))]));
    let runner = runner();
    let spawned = tokio::spawn(runner.run(tree.clone(), "go"));
    let joined =
        futures_util::future::join_all((0..3).map(|n| runner.run(&*tree, n.to_string()))).await;
    assert!(joined.into_iter().all(|ended| ended.is_ok()));
    spawned.await.unwrap().unwrap();

    let mut request = runner.run(&*tree, "once");
    (&mut request).await.unwrap();
    let error = (&mut request).await.unwrap_err();
    assert!(
        error.to_string().contains("this run was awaited before"),
        "{error}"
    );
    assert!(request.stream().finish().await.is_err());
}

#[tokio::test]
async fn a_finished_stream_stays_finished() {
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
        error
            .to_string()
            .starts_with("agent `w` (at w): the message of the user is empty; help: "),
        "{error}"
    );
    assert!(handle.open().await.unwrap().is_empty());
}

/// Builds a tree with an agent that never ends after its one event.
fn hangs() -> Tree {
    let forever = by("forever", |cx| {
        Box::pin(async move {
            cx.emit(Event::new().with_state("seen", true)).await?;
            std::future::pending().await
        })
    });
    Tree::new(
        "w",
        vec![parallel("p", vec![run(forever), run(say("other"))])],
    )
}

#[tokio::test(start_paused = true)]
async fn a_run_ends_at_its_deadline_and_keeps_its_events() {
    let config = RunConfig::new().deadline(std::time::Duration::from_secs(300));
    let runner: Runner = Runner::builder().config(config).build().unwrap();
    let (tree, handle) = (hangs(), runner.session("u", "s"));
    let since = tokio::time::Instant::now();
    let error = handle.run(&tree, "go").await.unwrap_err();
    assert_eq!(
        (error.kind(), since.elapsed().as_secs()),
        (ErrorKind::DeadlineExceeded, 300)
    );
    assert!(
        error
            .to_string()
            .starts_with("agent `w` (at w): the run took longer than 300s"),
        "{error}"
    );
    assert!(!error.is_retryable());
    let session = handle.open().await.unwrap();
    assert_eq!(
        (session.len(), session.get("seen")),
        (3, Some(json!(true).into()))
    );
    // A run in time is unaffected, and so is one whose deadline overflows the clock.
    let quick = Tree::new("w", vec![run(say("a"))]);
    runner.run(&quick, "go").await.unwrap();
    let never = RunConfig::new().deadline(std::time::Duration::MAX);
    runner.run(&quick, "go").config(never).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_deadline_counts_from_the_first_start() {
    let waits = by("waits", |cx| {
        Box::pin(async move {
            let yes: bool = cx.wait("decision").await?;
            Ok(Flow::exit_if(yes))
        })
    });
    let tree = Tree::new("w", vec![run(waits)]);
    // The run waits before the test clock moves, and continues after real time has passed.
    let config = RunConfig::new().deadline(std::time::Duration::from_nanos(1));
    let runner: Runner = Runner::builder()
        .engine(adk_build::engine::MemoryJournal::new())
        .config(config)
        .build()
        .unwrap();
    let mut stream = runner.run(&tree, "go").stream();
    while let Some(event) = stream.next().await {
        event.unwrap();
    }
    let RunEnd::Paused(waiting) = stream.end() else {
        panic!()
    };
    let error = runner.resume(&tree, waiting[0].run_id).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DeadlineExceeded);
}
