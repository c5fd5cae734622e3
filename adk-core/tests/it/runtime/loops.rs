//! Loops and the reasons for their end.

use super::*;

#[tokio::test]
async fn a_loop_reports_round_iteration_and_reason() {
    let tree = Tree::new(
        "writing",
        vec![
            run(say("writer")),
            repeat("refinement", Some(2), vec![run(say("critic"))]),
        ],
    );
    let runner = runner();
    let mut stream = runner.run(&tree, "a cat").stream();
    let mut seen = Vec::new();
    while let Some(event) = stream.next().await {
        let event = event.unwrap();
        seen.push((
            event.author.to_string(),
            event.path.to_string(),
            event.loop_iteration(),
            event.text(),
        ));
    }
    let expected = [
        ("user", "writing", None, "a cat"),
        ("writer", "writing/writer", None, "writer"),
        ("critic", "writing/refinement#1/critic", Some(0), "critic"),
        ("critic", "writing/refinement#2/critic", Some(1), "critic"),
    ];
    assert_eq!(
        seen,
        expected.map(|(a, p, i, t)| (a.to_owned(), p.to_owned(), i, t.to_owned()))
    );
    let RunEnd::Finished(outcome) = stream.end() else {
        panic!()
    };
    assert_eq!(outcome.loops.len(), 1);
    assert_eq!(outcome.loops[0].path.to_string(), "writing/refinement");
    assert_eq!(
        (outcome.loops[0].rounds, &outcome.loops[0].reason),
        (2, &LoopEndReason::Max)
    );
    assert_eq!(
        outcome.get::<String>("topic").unwrap().as_deref(),
        Some("a cat")
    );
}

#[tokio::test]
async fn an_exit_ends_only_the_innermost_loop() {
    let inner = repeat(
        "inner",
        Some(9),
        vec![sequence("both", vec![run(exit("stop")), run(say("never"))])],
    );
    let tree = Tree::new(
        "w",
        vec![repeat("outer", Some(2), vec![inner, run(say("after"))])],
    );
    assert_eq!(
        paths(&tree).await,
        [
            "w/outer#1/inner#1/both/stop",
            "w/outer#1/after",
            "w/outer#2/inner#1/both/stop",
            "w/outer#2/after"
        ]
    );
    let outcome = runner().run(&tree, "go").await.unwrap();
    let ends: Vec<_> = outcome
        .loops
        .iter()
        .map(|end| (end.path.to_string(), end.rounds))
        .collect();
    assert_eq!(
        ends,
        [
            ("w/outer#1/inner".into(), 1),
            ("w/outer#2/inner".into(), 1),
            ("w/outer".into(), 2)
        ]
    );
    let LoopEndReason::Escalated { by } = &outcome.loops[0].reason else {
        panic!()
    };
    assert_eq!(by.to_string(), "w/outer#1/inner#1/both/stop");
}

#[tokio::test]
async fn an_exit_by_name_ends_an_outer_loop() {
    let mut leave = by("leave", |_| {
        Box::pin(async { Ok(Flow::ExitTo("outer".into())) })
    });
    leave.meta = leave.meta.exits(&["outer"]);
    let inner = repeat("inner", Some(9), vec![run(leave), run(say("never"))]);
    let tree = Tree::new(
        "w",
        vec![
            repeat("outer", Some(2), vec![inner, run(say("never2"))]),
            run(say("last")),
        ],
    );
    assert_eq!(paths(&tree).await, ["w/last"]);
}

#[tokio::test]
async fn break_and_until_end_loops() {
    let tree = Tree::new(
        "w",
        vec![
            repeat(
                "a",
                None,
                vec![run(say("x")), Node::Break(None), run(say("never"))],
            ),
            repeat(
                "b",
                None,
                vec![
                    repeat("c", None, vec![Node::Break(Some("b"))]),
                    run(say("never2")),
                ],
            ),
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
    let ends: Vec<_> = outcome
        .loops
        .iter()
        .map(|e| (e.path.to_string(), e.rounds, e.reason.clone()))
        .collect();
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
async fn an_until_that_is_not_a_bool_is_reported() {
    let tree = || Tree::new("w", vec![until("l", "done", vec![run(say("a"))])]);
    let error = runner().run(&tree(), "go").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyMissing);
    assert_eq!(
        error.to_string(),
        "agent `l` (at w/l#1): `until = done` reads a key that nothing has written; help: let a \
         step before it write `done`, or pass it as an input"
    );
    let error = runner()
        .run(&tree().lets("done", "yes"), "go")
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyType);
    assert_eq!(
        error.to_string(),
        "agent `l` (at w/l#1): `until = done` needs a `bool`, but the key holds the string \
         \"yes\"; help: write `done` as a `bool`"
    );
}

#[tokio::test]
async fn an_emitted_escalate_is_an_exit_even_on_a_partial_event() {
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
        let tree = Tree::new(
            "w",
            vec![repeat("l", None, vec![run(quiet), run(say("never"))])],
        );
        assert_eq!(paths(&tree).await, ["w/l#1/quiet", "w/l#1/quiet"]);
    }
}
