//! Reads and writes of state keys.

use super::*;

#[tokio::test]
async fn a_nested_workflow_has_its_own_keys() {
    let inner = Tree::with_keys(
        "drafting",
        const {
            &[
                InputSpec::new("topic", "String", false),
                InputSpec::new("tone", "String", true),
            ]
        },
        const { &[KeySpec::new("draft", "String")] },
        vec![run(by("drafter", |cx| {
            Box::pin(async move {
                let topic = cx.state().get::<String>("topic")?.unwrap();
                let tone = cx.state().get::<String>("tone")?.unwrap();
                cx.state().set("notes", "own")?;
                cx.state().set("user:seen", true)?;
                cx.emit(Event::new().with_state("draft", format!("{topic}, {tone}")))
                    .await?;
                Ok(Flow::Continue)
            })
        }))],
    )
    .default_of("tone", "plain")
    .lets("limit", 3);
    let tree = Tree::new("w", vec![named("first", inner)]);
    let outcome = runner()
        .run(&tree, "cats")
        .state("tone", "stale")
        .await
        .unwrap();
    let state: Vec<_> = outcome
        .session()
        .state()
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
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
    let error = runner()
        .run(&Tree::new("w", vec![run(inner)]), "go")
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyMissing);
    assert_eq!(
        error.to_string(),
        "agent `inner` (at w/inner): the workflow's input `plan` reads a key that nothing has \
         written; help: write `plan` before it, or give the input a default"
    );
}

#[tokio::test]
async fn broken_promises_are_errors_that_name_the_agent() {
    let mut secret = exit("secret");
    secret.meta = secret.meta.may_exit(false);
    let mut lazy = say("lazy");
    lazy.meta = lazy
        .meta
        .writes(const { &[KeySpec::new("draft", "String")] });
    let panics = by("panics", |_| Box::pin(async { panic!("boom {}", 1) }));
    let cases = [
        (
            secret,
            ErrorKind::UnexpectedExit,
            "agent `secret` (at w/l#1/secret): it ended a loop without",
        ),
        (
            lazy,
            ErrorKind::KeyNotWritten,
            "agent `lazy` (at w/l#1/lazy): it ended without having written its key `draft`",
        ),
        (
            panics,
            ErrorKind::Panic,
            "agent `panics` (at w/l#1/panics): it panicked (reference ",
        ),
    ];
    for (agent, kind, text) in cases {
        let error = runner()
            .run(
                &Tree::new("w", vec![repeat("l", Some(1), vec![run(agent)])]),
                "go",
            )
            .await
            .unwrap_err();
        assert_eq!(error.kind(), kind);
        assert!(error.to_string().starts_with(text), "{error}");
        assert!(error.help().is_some());
    }
    let error = runner()
        .run(&Tree::new("w", vec![run(exit("alone"))]), "go")
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnexpectedExit);
    assert!(
        error
            .message()
            .contains("agent `alone` (at w/alone) ends a loop, but is not inside a loop"),
        "{error}"
    );
}

#[tokio::test]
async fn temp_keys_live_in_the_run_and_never_in_an_event() {
    let write = by("write", |cx| {
        Box::pin(async move {
            cx.emit(Event::new().with_state("temp:t", 1).with_state("kept", 2))
                .await?;
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
async fn set_keys_are_committed_with_the_next_event_or_at_the_end() {
    let tree = Tree::new(
        "w",
        vec![run(by("a", |cx| {
            Box::pin(async move {
                cx.state().set("k", 1)?;
                assert_eq!(
                    cx.state().get::<i32>("k")?,
                    Some(1),
                    "an agent sees its own writes at once"
                );
                cx.emit(Event::new().with_text("x").with_state("m", 2))
                    .await?;
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
    assert_eq!(
        actions[1],
        json!({"stateDelta": {"k": 1, "m": 2}, "artifactDelta": {}})
    );
    assert_eq!(
        actions[2],
        json!({"stateDelta": {}, "artifactDelta": {"a.txt": 1}})
    );
}
