//! Promises about `State::update`: an update is atomic among all sessions and programs of the
//! store, happens once regardless of dropped runs, and changes nothing if it fails.

use crate::place::DynPlace;
use crate::trees::{By, Tree, by, parallel, run, say};
use adk_build::engine::Retention;
use adk_build::session::EventFilter;
use adk_build::spec::KeySpec;
use adk_build::testing::ScriptedModel;
use adk_build::{Context, Error, ErrorKind, Event, Flow, MAX_DEPTH, RunId, Runner};
use serde_json::{Value, json};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

const KEYS: [&str; 3] = ["user:n", "app:n", "n"];

/// Makes an agent that adds 1 to each of these keys.
pub fn adds(name: &'static str, keys: &'static [&'static str]) -> By {
    by(name, move |cx| {
        Box::pin(async move {
            for key in keys {
                cx.state()
                    .update(*key, |n: Option<u64>| n.unwrap_or(0) + 1)
                    .await?;
            }
            Ok(Flow::Continue)
        })
    })
}

/// Reads the stored value of a key through a session.
async fn stored(runner: &Runner, id: &str, key: &str) -> Value {
    let session = runner
        .session("u", id)
        .get(&EventFilter::new())
        .await
        .unwrap()
        .unwrap();
    session
        .state
        .get(key)
        .map_or(Value::Null, |value| (**value).clone())
}

/// Forty sessions in two programs each add 1; so do forty runs of one session, and the branches of
/// one run.
pub async fn concurrent_updates_all_count(place: &dyn DynPlace) {
    let model = ScriptedModel::new();
    let runners = [place.runner(model.clone()).await, place.runner(model).await];
    let [here, there] = &runners;
    let alone =
        Tree::new("w", vec![run(adds("a", &KEYS))]).states(const { &[KeySpec::new("n", "u64")] });
    let alone = Arc::new(alone);
    let of_each = async |session: fn(usize) -> String| {
        let tasks: Vec<_> = (0..40)
            .map(|n| {
                tokio::spawn(
                    runners[n % 2]
                        .session("u", session(n))
                        .run(alone.clone(), "go")
                        .into_future(),
                )
            })
            .collect();
        for task in tasks {
            task.await.unwrap().unwrap();
        }
    };
    of_each(|n| format!("s{n}")).await;
    assert_eq!(stored(here, "s0", "user:n").await, json!(40));
    assert_eq!(stored(there, "s1", "app:n").await, json!(40));
    assert_eq!(stored(there, "s1", "n").await, json!(1));
    // A program opens a session once: it neither sees nor undoes writes of others in the middle of
    // a run.
    for (n, runner) in runners.iter().enumerate() {
        for _ in 0..20 {
            runner
                .session("u", format!("one{n}"))
                .run(alone.clone(), "go")
                .await
                .unwrap();
        }
    }
    of_each(|n| format!("one{}", n % 2)).await;
    for (session, key, wanted) in [
        ("one0", "n", 40),
        ("one1", "n", 40),
        ("one0", "user:n", 120),
        ("s3", "app:n", 120),
    ] {
        assert_eq!(
            stored(here, session, key).await,
            json!(wanted),
            "{session} {key}"
        );
    }
    const ALL: &[&str] = &["user:n", "app:n", "n", "temp:n"];
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let branches = names.iter().map(|name| run(adds(name, ALL))).collect();
    let tells = by("z", |cx| {
        Box::pin(async move {
            let n: Option<u64> = cx.state().get("temp:n")?;
            cx.emit(
                Event::new()
                    .with_text(format!("{n:?}"))
                    .with_state("counted", n),
            )
            .await?;
            Ok(Flow::Continue)
        })
    });
    let branches = Tree::new("w", vec![parallel("p", branches), run(tells)]);
    here.session("u", "branches")
        .run(&branches, "go")
        .await
        .unwrap();
    for (key, wanted) in [("n", 8), ("counted", 8), ("user:n", 128), ("app:n", 128)] {
        assert_eq!(stored(there, "branches", key).await, json!(wanted), "{key}");
    }
}

/// A run whose stream is dropped at any poll is resumed until it ends, and has added once.
pub async fn an_update_happens_once(place: &dyn DynPlace) {
    let runner = place.runner(ScriptedModel::new()).await;
    let tree = || {
        let says = by("b", |cx| {
            Box::pin(async move {
                let n: Option<u64> = cx.state().get("user:n")?;
                cx.state().set("seen", n)?;
                Ok(Flow::Continue)
            })
        });
        Tree::new(
            "w",
            vec![run(adds("a", &["user:n", "n", "temp:n"])), run(says)],
        )
    };
    for polls in 0..24 {
        let tree = tree();
        let id = format!("s{polls}");
        let handle = runner.session("u", id.clone());
        let begun = async |mut stream: adk_build::RunStream<'_, ()>| {
            let mut left = polls;
            let mut read = pin!(async {
                while let Some(event) = stream.next().await {
                    event.unwrap();
                }
            });
            poll_fn(|task| {
                left -= 1;
                if left < 0 {
                    Poll::Ready(())
                } else {
                    read.as_mut().poll(task)
                }
            })
            .await;
        };
        begun(handle.run(&tree, "go").stream()).await;
        let there = handle.get(&EventFilter::new()).await.unwrap();
        let Some(run) = there.and_then(|there| Some(there.events.first()?.invocation_id)) else {
            continue;
        };
        begun(runner.resume(&tree, run).stream()).await;
        resumed(&runner, &tree, run).await;
        let added = stored(&runner, &id, "n").await;
        assert_eq!(added, json!(1), "after {polls} polls");
        assert_eq!(
            stored(&runner, &id, "seen").await,
            stored(&runner, &id, "user:n").await,
            "after {polls} polls"
        );
    }
    assert!(runner.recover().await.unwrap().is_empty());
}

/// Resumes a run after its release.
async fn resumed(runner: &Runner, tree: &Tree, run: RunId) {
    loop {
        match runner.resume(tree, run).await {
            Ok(_) => return,
            Err(error) if error.kind() == ErrorKind::RunBusy => {
                tokio::time::sleep(Duration::from_millis(1)).await
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// A failed update changes nothing, and the agent may continue; an update starts from the values
/// that were set before.
pub async fn a_failed_update_changes_nothing(place: &dyn DynPlace) {
    let runner = place.runner(ScriptedModel::new()).await;
    async fn fails(cx: &mut Context) -> Vec<ErrorKind> {
        let kind = |result: Result<Value, Error>| result.map(|_| ()).unwrap_err().kind();
        let deep = |_: Option<Value>| (0..=MAX_DEPTH).fold(json!(1), |value, _| json!([value]));
        let panics = |n: Option<Value>| -> Value { panic!("it had {n:?}") };
        let mut kinds = Vec::new();
        for key in KEYS {
            kinds.push(kind(
                cx.state().update(key, |n: Option<String>| json!(n)).await,
            ));
            kinds.push(kind(cx.state().update(key, deep).await));
            kinds.push(kind(cx.state().update(key, panics).await));
        }
        kinds
    }
    let tree = Tree::new(
        "w",
        vec![
            run(adds("a", &KEYS)),
            run(by("b", |cx| {
                Box::pin(async move {
                    cx.state().set("waits", 7)?;
                    let kinds = fails(cx).await;
                    let all = [ErrorKind::KeyType, ErrorKind::TooDeep, ErrorKind::Panic].repeat(3);
                    assert_eq!(kinds, all);
                    let waits: u64 = cx
                        .state()
                        .update("waits", |n: Option<u64>| n.unwrap_or(0) + 1)
                        .await?;
                    assert_eq!((waits, cx.state().get("waits")?), (8, Some(8)));
                    Ok(Flow::Continue)
                })
            })),
            run(by("c", |cx| {
                Box::pin(async move {
                    cx.state()
                        .update("user:n", |_: Option<u64>| -> u64 { panic!("no") })
                        .await?;
                    Ok(Flow::Continue)
                })
            })),
        ],
    );
    let error = runner.session("u", "s").run(&tree, "go").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Panic);
    assert!(
        error
            .to_string()
            .contains("agent `c` (at w/c): the update of state key `user:n` panicked (reference "),
        "{error}"
    );
    for key in KEYS {
        assert_eq!(stored(&runner, "s", key).await, json!(1), "{key}");
    }
    let session = runner
        .session("u", "s")
        .get(&EventFilter::new())
        .await
        .unwrap()
        .unwrap();
    let by = |name: &str| {
        session
            .events
            .iter()
            .filter(|event| event.author == *name)
            .count()
    };
    assert_eq!((by("a"), by("b"), by("c")), (3, 1, 0));
    // The resumed run takes the same path: the error that `b` handled is replayed.
    let run = session.events[0].invocation_id;
    let error = runner.resume(&tree, run).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Panic, "{error}");
    assert_eq!(stored(&runner, "s", "waits").await, json!(8));
}

/// A plain read returns the values that this program knows: its own writes in any session, and
/// writes of others at the last time a session of the user was opened here. Between a read and a
/// write, others may write.
pub async fn shared_keys_are_read_as_known(place: &dyn DynPlace) {
    let is_one_program = place.open_dyn().await.engine.retention() < Retention::Durable;
    let model = ScriptedModel::new();
    let (here, there) = (place.runner(model.clone()).await, place.runner(model).await);
    let reads = by("reads", |cx| {
        Box::pin(async move {
            let mut n = None;
            for _ in 0..5 {
                n = cx.state().get::<u64>("user:n")?;
                cx.emit(Event::new().with_text(format!("{n:?}"))).await?;
            }
            cx.state().set("user:n", n.unwrap_or_default() + 1)?;
            Ok(Flow::Continue)
        })
    });
    let tree = Tree::new("w", vec![run(reads)]);
    let mut stream = here.session("u", "reads").run(&tree, "go").stream();
    let mut next = async || stream.next().await.unwrap().unwrap().text();
    assert_eq!(
        (next().await, next().await),
        ("go".to_owned(), "None".to_owned())
    );
    let sets = |n: u64| {
        let sets = by("sets", move |cx| {
            Box::pin(async move {
                cx.state().set("user:n", n)?;
                Ok(Flow::Continue)
            })
        });
        Tree::new("w", vec![run(sets)])
    };
    here.session("u", "other")
        .run(&sets(1), "go")
        .await
        .unwrap();
    assert_eq!(
        next().await,
        "Some(1)",
        "a write of this program is seen at once"
    );
    there
        .session("u", "third")
        .run(&sets(7), "go")
        .await
        .unwrap();
    let known = if is_one_program { "Some(7)" } else { "Some(1)" };
    assert_eq!(next().await, known, "a write of another program is not");
    here.session("u", "other")
        .run(&Tree::new("w", vec![run(say("a"))]), "go")
        .await
        .unwrap();
    assert_eq!(
        next().await,
        "Some(7)",
        "until a session of the user is opened here"
    );
    // Another write happens between the last read of the agent and its write.
    let ten = by("ten", |cx| {
        Box::pin(async move {
            let n = cx
                .state()
                .update("user:n", |n: Option<u64>| n.unwrap_or(0) + 10)
                .await?;
            assert_eq!(n, 17, "an update starts from what the store holds");
            Ok(Flow::Continue)
        })
    });
    assert_eq!(next().await, "Some(7)");
    there
        .session("u", "third")
        .run(&Tree::new("w", vec![run(ten)]), "go")
        .await
        .unwrap();
    stream.finish().await.unwrap();
    assert_eq!(
        stored(&there, "third", "user:n").await,
        json!(8),
        "the write of the other program is lost"
    );
}
