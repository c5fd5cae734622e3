//! One database, opened by a store and by the real google-adk for Python, in both directions. The
//! program is `tests/peers/adk_python.py`, and `tests/peers/run-adk-python.sh` starts it.

use adk_build::session::{EventFilter, SessionKey, SessionSnapshot, SessionStore};
use adk_build::{Content, Event, Flow, FunctionCall, FunctionResponse, Part, Role, Thought};
use adk_store_kit::DynPlace;
use adk_store_kit::sessions::{delta, state};
use adk_store_kit::trees::{Tree, by, parallel, repeat, run, say};
use serde_json::{Value, json};
use std::process::Command;

/// Runs a command of google-adk on the database at this URL, and returns its report.
fn python(url: &str, command: &str, session: &str) -> Value {
    let set = |name| std::env::var(name).expect("start it by tests/peers/run-adk-python.sh");
    let mut python = Command::new(set("ADK_PYTHON"));
    let output = python
        .arg(set("ADK_PYTHON_SCRIPT"))
        .args([url, command, session])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

/// Checks equality, except for the empty values that Python writes.
fn assert_same(here: &SessionSnapshot, there: &Value) {
    assert_eq!(state(here), there["state"]);
    let there = there["events"].as_array().unwrap();
    assert_eq!(here.events.len(), there.len());
    for (here, there) in here.events.iter().zip(there) {
        let here: Value = serde_json::from_str(&here.to_stored().unwrap()).unwrap();
        assert_within(&here, there, &format!("{}", here["author"]));
    }
}

/// Checks that Python's JSON has every value of this crate's JSON, and that its other values are
/// empty.
fn assert_within(here: &Value, there: &Value, place: &str) {
    match (here, there) {
        (Value::Object(here), Value::Object(there)) => {
            for (key, value) in here {
                let found = there
                    .get(key)
                    .unwrap_or_else(|| panic!("{place}.{key} is not in {there:?}"));
                assert_within(value, found, &format!("{place}.{key}"));
            }
            for (key, value) in there {
                assert!(
                    here.contains_key(key) || *value == json!({}),
                    "{place}.{key} is only there: {value}"
                );
            }
        }
        (Value::Array(here), Value::Array(there)) => {
            assert_eq!(here.len(), there.len(), "{place}");
            here.iter()
                .zip(there)
                .for_each(|(here, there)| assert_within(here, there, place));
        }
        (Value::Number(here), Value::Number(there)) if place.ends_with(".timestamp") => {
            let micros = |n: &serde_json::Number| (n.as_f64().unwrap() * 1e6).round();
            assert_eq!(micros(here), micros(there), "{place}");
        }
        _ => assert_eq!(here, there, "{place}"),
    }
}

/// Builds a tree with every kind of part and action that this crate writes.
fn everything() -> Tree {
    let speaks = by("speaks", |cx| {
        Box::pin(async move {
            let thought = Thought {
                text: "hm".into(),
                signature: Some("//4B".into()),
            };
            let other = Thought {
                text: "hm".into(),
                signature: Some("no base64".into()),
            };
            let args = json!({"camelKey": {"aB": null}})
                .as_object()
                .cloned()
                .unwrap_or_default();
            let call = FunctionCall {
                id: "c".into(),
                name: "f".into(),
                args,
                ..Default::default()
            };
            let malformed = Some("{\"q\": ".to_owned());
            let broken = FunctionCall {
                id: "d".into(),
                name: "g".into(),
                malformed,
                ..Default::default()
            };
            let response = json!({"result": null})
                .as_object()
                .cloned()
                .unwrap_or_default();
            let response = FunctionResponse {
                id: "c".into(),
                name: "f".into(),
                response,
            };
            let parts = vec![
                Part::text("\u{fc} \u{1F408} \"q\" \n"),
                Part::from(thought),
                Part::from(other),
                Part::from(call),
                Part::from(broken),
                Part::from(response),
                Part::inline_data("image/png", vec![0xff_u8, 0xfe, 1, 0xfb]),
                Part::file_data("gs://a", "x/y"),
            ];
            let mut event = Event::new()
                .with_content(Content::new(Role::Model, parts))
                .with_metadata("my", 1);
            event.actions.escalate = Some(false);
            event.actions.skip_summarization = Some(true);
            event.actions.artifact_delta.push(("a.png".into(), 2));
            event.actions.state_delta = delta(json!({
                "own": {"b": 1, "a": null},
                "none": null,
                "user:n": "Bob",
                "app:v": [1],
                "temp:t": 1,
            }));
            event.details_mut().long_running_tool_ids = vec!["c".into(), "d".into()];
            event.details_mut().error_code = Some("X".into());
            event.details_mut().error_message = Some("words".into());
            event.details_mut().model_version = Some("m".into());
            event.details_mut().usage = Some(adk_build::model::Usage::new(3, 4));
            cx.emit(event).await?;
            Ok(Flow::Continue)
        })
    });
    let both = parallel("p", vec![run(say("left")), run(say("right"))]);
    Tree::new(
        "w",
        vec![run(speaks), repeat("rounds", Some(2), vec![both])],
    )
}

async fn all(store: &dyn SessionStore, key: &SessionKey) -> SessionSnapshot {
    store.read(key, &EventFilter::new()).await.unwrap().unwrap()
}

/// Python reads sessions of this crate and appends events, which this crate then reads. Python
/// opens the database by `url`.
pub async fn reads_ours(place: &dyn DynPlace, url: &str) {
    let store = place.open_dyn().await;
    let runner = store.runner("app");
    let handle = runner.session("u", "s");
    let session = handle
        .create(delta(json!({"k": 1, "user:n": "Ann", "temp:x": 1})))
        .await
        .unwrap();
    let tree = everything();
    handle.run(&tree, "go").await.unwrap();
    assert_same(
        &all(&*store.sessions, handle.key()).await,
        &python(url, "read", "s"),
    );
    assert_eq!(session.len(), 6);

    // Python appends while the session is open here.
    let theirs = python(url, "append", "s");
    let ours = all(&*store.sessions, handle.key()).await;
    assert_same(&ours, &theirs);
    assert_eq!(ours.events[7].text(), "python 1");
    assert_eq!(ours.state["user:python"], json!(1).into());

    // A run sees the events and continues after them, and Python continues after the run.
    let outcome = handle.run(&tree, "again").await.unwrap();
    assert_eq!(outcome.get::<u32>("app:python").unwrap(), Some(1));
    assert_eq!(session.len(), 14);
    assert_eq!(session.event(6).unwrap().text(), "python 0");
    let theirs = python(url, "append", "s");
    let ours = all(&*store.sessions, handle.key()).await;
    assert_same(&ours, &theirs);
    let texts: Vec<_> = ours
        .events
        .iter()
        .map(|event| event.author.to_string())
        .collect();
    assert_eq!(texts[6..9], ["python", "python", "user"]);
    assert_eq!((texts.len(), &*texts[15]), (16, "python"));

    // A session that Python deletes is gone here, with all its data.
    python(url, "delete", "s");
    assert!(handle.get(&EventFilter::new()).await.unwrap().is_none());
    let again = handle.open().await.unwrap();
    assert!(again.is_empty() && again.get("user:n").as_deref() == Some(&json!("Bob")));
}

/// A database that Python made is read and written here.
pub async fn makes_it(place: &dyn DynPlace, url: &str) {
    let theirs = python(url, "make", "s");
    let store = place.open_dyn().await;
    let key = SessionKey::new("app", "u", "s");
    let ours = all(&*store.sessions, &key).await;
    assert_same(&ours, &theirs);
    assert_eq!(
        state(&ours),
        json!({"k": 1, "none": null, "draft": {"b": 1, "a": null}, "user:n": "Bob", "app:v": 2})
    );

    let runner = store.runner("app");
    runner
        .session("u", "s")
        .run(&everything(), "go")
        .await
        .unwrap();
    runner
        .session("u", "other")
        .run(&Tree::new("w", vec![run(say("a"))]), "go")
        .await
        .unwrap();
    let theirs = python(url, "append", "s");
    assert_same(&all(&*store.sessions, &key).await, &theirs);
    let listed: Vec<_> = runner
        .sessions(None)
        .await
        .unwrap()
        .iter()
        .map(|s| json!([s.key.user, s.key.id, state(s)]))
        .collect();
    assert_eq!(Value::from(listed), python(url, "list", ""));
}
