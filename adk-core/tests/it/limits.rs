//! Deep trees, long paths, huge inputs, and values read from JSON.

use crate::support::*;
use adk_build::model::{FinishReason, Usage};
use adk_build::spec::InputSpec;
use adk_build::{At, Content, ErrorKind, Event, MAX_DEPTH, Part, Path, Runner, StateDelta};
use serde_json::json;

fn runner() -> Runner {
    Runner::builder().build().unwrap()
}

fn leak(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

/// Nests an agent in `depth` blocks of alternating kinds.
fn nested(depth: usize, agent: Node) -> Node {
    (0..depth).fold(agent, |inside, n| match n % 5 {
        0 => sequence(leak(format!("s{n}")), vec![inside]),
        1 => repeat(leak(format!("l{n}")), Some(1), vec![inside]),
        2 => select(leak(format!("m{n}")), "none", vec![vec![inside]]),
        3 => each(
            leak(format!("e{n}")),
            leak(format!("i{n}")),
            "one",
            vec![inside],
        ),
        _ => parallel(leak(format!("p{n}")), vec![inside]),
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn blocks_may_be_nested_as_deep_as_the_language_allows() {
    let tree = Tree::new("w", vec![nested(128, run(say("a")))])
        .lets("none", 0)
        .lets("one", json!([0]));
    let tree = std::sync::Arc::new(tree);
    // A worker thread has the smaller stack.
    let run = tokio::spawn(runner().run(tree, "go").into_future());
    let outcome = run.await.unwrap().unwrap();
    assert_eq!(outcome.session().len(), 2 + 25);
    assert_eq!(outcome.loops.len(), 26);
}

/// Results of elements are a list at each level, so the depth limit of values is reached first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn elements_may_be_nested_as_deep_as_values() {
    for (blocks, fits) in [(MAX_DEPTH, true), (128, false)] {
        let one = run(put("a", "note", |_| 1));
        let nested = (0..blocks).fold(one, |inside, n| {
            each(
                leak(format!("e{n}")),
                leak(format!("i{n}")),
                "one",
                vec![inside],
            )
        });
        let tree = std::sync::Arc::new(Tree::new("w", vec![nested]).lets("one", json!([0])));
        match tokio::spawn(runner().run(tree, "go").into_future())
            .await
            .unwrap()
        {
            Ok(outcome) => {
                let mut list = outcome.session().get("note").unwrap().to_string();
                assert_eq!(
                    (list.matches('[').count(), list.pop(), fits),
                    (blocks, Some(']'), true)
                );
            }
            Err(error) => assert!(!fits && error.kind() == ErrorKind::TooDeep, "{error}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workflows_may_be_nested_fifty_deep() {
    let innermost = by("stop", |cx| {
        Box::pin(async move {
            cx.emit(Event::new().with_state("note", "here")).await?;
            Ok(adk_build::Flow::Exit)
        })
    });
    let mut node = repeat("l", None, vec![run(innermost)]);
    for n in 0..50 {
        let around = nested(4, node);
        let tree = Tree::with_keys(
            leak(format!("w{n}")),
            const { &[] as &[InputSpec<'static>] },
            &[],
            vec![around],
        );
        node = run(tree.lets("none", 0).lets("one", json!([0])));
    }
    let tree = std::sync::Arc::new(Tree::new("root", vec![node]));
    let run = tokio::spawn(runner().run(tree, "go").into_future());
    let outcome = run.await.unwrap().unwrap();
    let last = outcome
        .session()
        .events()
        .find(|event| event.author == "stop")
        .unwrap()
        .clone();
    let (key, _) = last.actions.state_delta.iter().next().unwrap();
    assert!(
        key.starts_with("w49/e3[0]/w48/") && key.ends_with("/w1/e3[0]/w0/note"),
        "{key}"
    );
    assert_eq!(last.path.to_string().split('/').count(), 1 + 50 * 5 + 2);
}

#[test]
fn a_path_of_any_length_is_parsed_formatted_compared_and_dropped() {
    let segments = 200_000;
    let text = vec!["a#3"; segments].join("/");
    let path: Path = text.parse().unwrap();
    assert_eq!(path.to_string(), text);
    let again: Path = text.parse().unwrap();
    assert!(
        path == again
            && path != path.child("b".into(), At::Once)
            && path != *path.parent().unwrap()
    );
    let shared = path.child("b".into(), At::Item(2));
    drop(path);
    assert_eq!(shared.to_string().len(), text.len() + "/b[2]".len());
}

#[test]
fn an_event_survives_json() {
    let place = Path::root("w")
        .child("l".into(), At::Round(3))
        .child("a".into(), At::Once);
    let mut event = Event::new()
        .with_content(Content::model("hi").with(Part::inline_data("image/png", vec![1, 2])));
    event.author = "a".into();
    event.path = place;
    event.timestamp = 1_700_000_000_123_457;
    event.branch = Some("p.a".into());
    event.partial = true;
    event.actions.state_delta =
        StateDelta::from_iter([("b", json!(null)), ("a", json!({"z": 1, "y": 2.5}))]);
    event.actions.artifact_delta = vec![("z.png".into(), 0), ("a.png".into(), 7)];
    event.actions.escalate = Some(false);
    event.actions.skip_summarization = Some(true);
    event.actions.transfer_to_agent = Some("b".into());
    let again = |event: &Event| -> Event {
        serde_json::from_str(&serde_json::to_string(event).unwrap()).unwrap()
    };
    assert_eq!(
        again(&event),
        event,
        "the round does not become metadata of the agent"
    );
    let details = event.details_mut();
    details.custom_metadata.insert("own".into(), json!([1]));
    details.usage = Some(serde_json::from_value::<Usage>(json!({"promptTokenCount": 3})).unwrap());
    details.finish_reason = Some(FinishReason::Other("ODD".into()));
    details.model_version = Some("m-1".into());
    details.error_code = Some("E".into());
    details.error_message = Some("why".into());
    details.long_running_tool_ids = vec!["c1".into()];
    assert_eq!(again(&event), event);
    let other = Event {
        details: None,
        ..event
    }
    .with_metadata("loop_iteration", 9);
    assert_eq!(
        again(&other),
        other,
        "a round that the agent set itself is kept"
    );
}

#[test]
fn a_delta_of_many_keys_is_read_in_linear_time() {
    let keys = 200_000;
    let json = (0..keys)
        .map(|n| (format!("key_{n}"), json!(n)))
        .collect::<serde_json::Map<_, _>>();
    let delta: StateDelta = serde_json::from_value(json.into()).unwrap();
    assert_eq!(delta.len(), keys);
}

#[tokio::test]
async fn a_panic_in_a_let_is_an_error_of_the_run() {
    let tree = Tree::new("w", vec![run(say("a"))]).panics();
    let error = runner().run(&tree, "go").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Panic);
    assert!(
        error.to_string().starts_with("agent `w` (at w): "),
        "{error}"
    );
}
