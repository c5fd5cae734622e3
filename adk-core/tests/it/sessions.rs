//! Sessions: the store in memory, runs that write to it, and logs that are loaded in parts.

use crate::support::*;
use adk_build::session::{EventFilter, Opening, PAGE, Pages, Session, SessionKey};
use adk_build::{BoxFuture, Error, ErrorKind, Event, Flow, Result, Runner, StoreErrorKind};
use adk_store_kit::sessions::{delta, state, stored};
use serde_json::json;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Emits the visible value of each key, one event per key.
fn tells(name: &'static str, keys: &'static [&'static str]) -> By {
    by(name, move |cx| {
        Box::pin(async move {
            for key in keys {
                let value = cx.state().value(key);
                let text = serde_json::to_string(&value).unwrap();
                cx.emit(Event::new().with_text(format!("{key}={text}")))
                    .await?;
            }
            Ok(Flow::Continue)
        })
    })
}

#[tokio::test]
async fn the_initial_state_is_part_of_the_event_of_the_user() {
    let runner: Runner = Runner::builder().build().unwrap();
    let tree = Tree::new("w", vec![run(tells("a", &["k", "user:k", "temp:k"]))]);
    let handle = runner.session("u", "s");
    handle
        .create(delta(json!({"k": "old", "temp:k": 1})))
        .await
        .unwrap();
    let request = handle
        .run(&tree, "go")
        .state("k", json!(null))
        .state("user:k", 2)
        .state("temp:k", 3);
    request.await.unwrap();
    let after = handle.get(&EventFilter::new()).await.unwrap().unwrap();
    assert_eq!(
        state(&after),
        json!({"topic": "go", "k": null, "user:k": 2})
    );
    let texts: Vec<_> = after.events.iter().map(|event| event.text()).collect();
    assert_eq!(texts, ["go", "k=null", "user:k=2", "temp:k=3"]);
    let delta_of_user = serde_json::to_value(&after.events[0].actions.state_delta).unwrap();
    assert_eq!(
        delta_of_user,
        json!({"topic": "go", "k": null, "user:k": 2})
    );
    assert_eq!(after.events[0].author, "user");

    // The next run does not see the `temp:` key.
    let outcome = handle.run(&tree, "again").await.unwrap();
    assert_eq!(
        outcome.session().events().last().unwrap().text(),
        "temp:k=null"
    );
}

#[tokio::test]
async fn sessions_of_a_user_share_user_keys() {
    let runner: Runner = Runner::builder().app_name("shop").build().unwrap();
    let writes = by("a", |cx| {
        Box::pin(async move {
            let event = Event::new()
                .with_state("own", 1)
                .with_state("user:n", "Ann")
                .with_state("app:v", 2);
            cx.emit(event).await.map(|_| Flow::Continue)
        })
    });
    let tree = Tree::new("w", vec![run(writes)]);
    let reads = Tree::new("r", vec![run(tells("b", &["own", "user:n", "app:v"]))]);
    let last = async |user: &str, id: &str| {
        let outcome = runner.session(user, id).run(&reads, "go").await.unwrap();
        outcome
            .session()
            .events()
            .skip(1)
            .map(|event| event.text())
            .collect::<Vec<_>>()
    };
    runner.session("u", "s1").run(&tree, "go").await.unwrap();
    assert_eq!(
        last("u", "s2").await,
        ["own=null", "user:n=\"Ann\"", "app:v=2"]
    );
    assert_eq!(
        last("v", "s3").await,
        ["own=null", "user:n=null", "app:v=2"]
    );
    let keys = |all: Vec<adk_build::session::SessionSnapshot>| {
        all.into_iter()
            .map(|session| session.key.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        keys(runner.sessions(Some("u")).await.unwrap()),
        ["shop/u/s1", "shop/u/s2"]
    );
    assert_eq!(
        keys(runner.sessions(None).await.unwrap()),
        ["shop/u/s1", "shop/u/s2", "shop/v/s3"]
    );

    let handle = runner.session("u", "s1");
    let error = handle.create(delta(json!({}))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Store(StoreErrorKind::Exists));
    assert!(handle.delete().await.unwrap() && !handle.delete().await.unwrap());
    assert!(handle.get(&EventFilter::new()).await.unwrap().is_none());
    assert_eq!(
        handle.open().await.unwrap().get("user:n").as_deref(),
        Some(&json!("Ann"))
    );
    let fresh = (runner.new_session("u"), runner.new_session("u"));
    assert_ne!(fresh.0.key(), fresh.1.key());
}

/// A log of `len` events that remembers the ranges that were read.
struct Shelf {
    len: usize,
    read: Mutex<Vec<Range<usize>>>,
}

impl Pages for Shelf {
    fn load(&self, places: Range<usize>) -> BoxFuture<'_, Result<Vec<Arc<Event>>>> {
        self.read.lock().unwrap().push(places.clone());
        let missing = places.end > self.len;
        Box::pin(async move {
            if missing {
                Err(Error::other("past the end"))
            } else {
                Ok(places
                    .map(|n| Arc::new(stored(n as u64, &n.to_string())))
                    .collect())
            }
        })
    }
}

#[tokio::test]
async fn a_long_session_is_read_in_requested_ranges_only() {
    let earlier = 100 * PAGE + 7;
    let shelf = Arc::new(Shelf {
        len: earlier,
        read: Mutex::default(),
    });
    let newest = (earlier..earlier + 3)
        .map(|n| Arc::new(stored(n as u64, &n.to_string())))
        .collect();
    let opening = Opening {
        earlier,
        newest,
        ..Opening::default()
    };
    let session = Session::open(SessionKey::new("a", "u", "s"), opening, Some(shelf.clone()));
    assert_eq!(session.len(), earlier + 3);
    assert_eq!(session.events().count(), 3, "the loaded events");
    assert!(!session.is_loaded() && session.event(earlier - 1).is_none());
    assert_eq!(session.event(earlier).unwrap().text(), earlier.to_string());

    session.load(PAGE + 1..PAGE + 2).await.unwrap();
    session.load(PAGE..2 * PAGE).await.unwrap();
    session.load(earlier - 1..earlier + 3).await.unwrap();
    let read = [
        PAGE + 1..PAGE + 2,
        PAGE..PAGE + 1,
        PAGE + 2..2 * PAGE,
        earlier - 1..earlier,
    ];
    assert_eq!(*shelf.read.lock().unwrap(), read);
    assert_eq!(session.event(PAGE).unwrap().text(), PAGE.to_string());
    assert_eq!(
        session.event(earlier - 1).unwrap().text(),
        (earlier - 1).to_string()
    );

    // Loaded events are not read again, and adjacent ones are read together.
    shelf.read.lock().unwrap().clear();
    session.load(0..session.len()).await.unwrap();
    assert_eq!(
        *shelf.read.lock().unwrap(),
        [0..PAGE, 2 * PAGE..earlier - 1]
    );
    assert!(session.is_loaded());
    assert!(
        session
            .events()
            .enumerate()
            .all(|(n, event)| event.text() == n.to_string())
    );
}
