//! Promises about sessions: scopes of state, order and paging of events, lists, exports, and limits
//! of keys and values.
use crate::place::{DynPlace, kind};
use adk_build::session::{EventFilter, PAGE, SessionKey, SessionSnapshot, SessionStore};
use adk_build::{
    Content, Error, ErrorKind, Event, FunctionCall, FunctionResponse, MAX_DEPTH, Part, Role, RunId,
    StateDelta, StoreErrorKind,
};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

/// Makes a change of state from a JSON object.
pub fn delta(state: Value) -> StateDelta {
    state
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// Returns the state of a session as a JSON object.
pub fn state(session: &SessionSnapshot) -> Value {
    session
        .state
        .iter()
        .map(|(key, value)| (key.to_string(), (**value).clone()))
        .collect()
}

/// The base time of events, in microseconds.
pub const START: u64 = 1_700_000_000_000_000;

/// Makes an event as a store would, `micros` microseconds after the base time.
pub fn stored(micros: u64, text: &str) -> Event {
    let mut event = Event::new().with_content(Content::user(text));
    event.author = "user".into();
    event.timestamp = START + micros;
    event.id = format!("01890000-0000-7000-8000-{:012x}", micros + 1)
        .parse()
        .unwrap();
    event.invocation_id = "e-01890000-0000-7000-8000-000000000000"
        .parse::<RunId>()
        .unwrap();
    event
}

fn texts(session: &SessionSnapshot) -> Vec<String> {
    session.events.iter().map(|event| event.text()).collect()
}

async fn read(store: &dyn SessionStore, key: &SessionKey, filter: EventFilter) -> SessionSnapshot {
    store.read(key, &filter).await.unwrap().unwrap()
}

/// Initial state is split by prefix and shared by scope. Null is kept, `temp:` is not.
pub async fn state_is_shared_by_scope(place: &dyn DynPlace) {
    let store = place.open_dyn().await.sessions;
    let store = &*store;
    let key = |user: &str, id: &str| SessionKey::new("scopes", user, id);
    let initial = json!({
        "k": 1,
        "user:k": 2,
        "app:k": 3,
        "temp:k": 4,
        "none": null,
        "deep": {"b": 1, "a": [null]},
    });
    let session = store.create(key("u", "s1"), delta(initial)).await.unwrap();
    assert_eq!(session.get("k").as_deref(), Some(&json!(1)));
    assert_eq!(session.get("user:k").as_deref(), Some(&json!(2)));
    assert_eq!(session.get("app:k").as_deref(), Some(&json!(3)));
    assert_eq!(session.get("temp:k"), None);
    let read_back = read(store, &key("u", "s1"), EventFilter::new()).await;
    let all = json!({"k": 1, "user:k": 2, "app:k": 3, "none": null, "deep": {"b": 1, "a": [null]}});
    assert_eq!(state(&read_back), all);

    // Another session of the user, another user of the app, and another app.
    store
        .create(key("u", "s2"), delta(json!({"app:k": 30})))
        .await
        .unwrap();
    store
        .create(key("v", "s1"), StateDelta::default())
        .await
        .unwrap();
    let other = SessionKey::new("scopes2", "u", "s1");
    store
        .create(other.clone(), StateDelta::default())
        .await
        .unwrap();
    let state_of = async |key: SessionKey| state(&read(store, &key, EventFilter::new()).await);
    assert_eq!(
        state_of(key("u", "s2")).await,
        json!({"user:k": 2, "app:k": 30})
    );
    assert_eq!(state_of(key("v", "s1")).await, json!({"app:k": 30}));
    assert_eq!(state_of(other).await, json!({}));
    assert_eq!(
        session.get("app:k").as_deref(),
        Some(&json!(30)),
        "a session that is open sees it too"
    );
}

/// A key exists once; a missing one is `None` or an error.
pub async fn a_key_exists_once(place: &dyn DynPlace) {
    let store = place.open_dyn().await.sessions;
    let store = &*store;
    let key = SessionKey::new("keys", "u", "s");
    assert!(store.get(&key).await.unwrap().is_none());
    assert!(
        store
            .read(&key, &EventFilter::new())
            .await
            .unwrap()
            .is_none()
    );
    assert!(!store.delete(&key).await.unwrap());
    let error = store.append(&key, vec![stored(1, "a")]).await.unwrap_err();
    assert_eq!(
        error.kind(),
        ErrorKind::Store(StoreErrorKind::Missing),
        "{error}"
    );
    store
        .create(key.clone(), delta(json!({"k": 1})))
        .await
        .unwrap();
    let error = store
        .create(key.clone(), delta(json!({"k": 2, "app:k": 2})))
        .await
        .unwrap_err();
    assert_eq!(
        error.kind(),
        ErrorKind::Store(StoreErrorKind::Exists),
        "{error}"
    );
    assert!(error.to_string().contains("keys/u/s"), "{error}");
    assert_eq!(
        state(&read(store, &key, EventFilter::new()).await),
        json!({"k": 1}),
        "no state was written"
    );
    // Names have no special characters.
    let odd = SessionKey::new("keys", "o'neil; --", "a/b \u{1F408} \"q\" \\");
    store
        .create(
            odd.clone(),
            delta(json!({"it's": 1, "a\"b.c[0]": "x\u{0}y"})),
        )
        .await
        .unwrap();
    let found = read(store, &odd, EventFilter::new()).await;
    assert_eq!(
        (&found.key, state(&found)),
        (&odd, json!({"it's": 1, "a\"b.c[0]": "x\u{0}y"}))
    );
}

/// Events are returned unchanged, filtered and paged, and their changes are applied.
pub async fn events_are_returned_unchanged(place: &dyn DynPlace) {
    let store = place.open_dyn().await.sessions;
    let store = &*store;
    let key = SessionKey::new("events", "u", "s");
    store
        .create(key.clone(), delta(json!({"a": 0, "keep": true})))
        .await
        .unwrap();
    let mut all: Vec<_> = (0..10).map(|n| stored(n, &n.to_string())).collect();
    all[3].actions.state_delta =
        delta(json!({"a": {"b": null}, "user:n": "Ann", "app:v": 7, "temp:t": 1}));
    store.append(&key, all[..4].to_vec()).await.unwrap();
    store.append(&key, all[4..].to_vec()).await.unwrap();

    let session = read(store, &key, EventFilter::new()).await;
    assert_eq!((session.first, session.len), (0, 10));
    // The session was created just now, not in 2023.
    assert!(session.updated >= START + 9);
    assert_eq!(
        state(&session),
        json!({"a": {"b": null}, "keep": true, "user:n": "Ann", "app:v": 7})
    );
    let mut wanted = all.clone();
    wanted[3].actions.state_delta = delta(json!({"a": {"b": null}, "user:n": "Ann", "app:v": 7}));
    assert_eq!(
        session
            .events
            .iter()
            .map(|event| (**event).clone())
            .collect::<Vec<_>>(),
        wanted
    );

    check_filters(store, &key).await;

    let error = store
        .append(&key, vec![stored(20, "new"), stored(4, "again")])
        .await
        .unwrap_err();
    assert_eq!(
        error.kind(),
        ErrorKind::Store(StoreErrorKind::Exists),
        "{error}"
    );
    assert_eq!(
        read(store, &key, EventFilter::new()).await.len,
        10,
        "an append is atomic"
    );
}

/// Reads parts of a session of ten events, whose texts are their places.
async fn check_filters(store: &dyn SessionStore, key: &SessionKey) {
    let since =
        |micros| EventFilter::new().since(UNIX_EPOCH + Duration::from_micros(START + micros));
    for (filter, found) in [
        (EventFilter::new().last(3), &["7", "8", "9"][..]),
        (EventFilter::new().last(0), &[]),
        (
            EventFilter::new().last(99),
            &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"],
        ),
        (since(8), &["8", "9"]),
        (since(8).last(1), &["9"]),
        (since(8).last(5), &["8", "9"]),
        (since(10), &[]),
        (EventFilter::new().places(4..6), &["4", "5"]),
        (EventFilter::new().places(8..60), &["8", "9"]),
        (EventFilter::new().places(50..60), &[]),
        (EventFilter::new().places(0..5).last(2), &["3", "4"]),
        (since(3).places(2..5), &["3", "4"]),
        (EventFilter::new().first(2), &["0", "1"]),
        (EventFilter::new().first(0), &[]),
        (since(8).first(1), &["8"]),
        (since(8).first(5), &["8", "9"]),
        (since(0).first(1), &["0"]),
        (since(10).first(5), &[]),
        (since(3).places(2..5).first(1), &["3"]),
        (since(3).places(5..9).first(2), &["5", "6"]),
        (EventFilter::new().places(4..9).first(2), &["4", "5"]),
        (since(2).first(4).last(2), &["4", "5"]),
    ] {
        let part = read(store, key, filter.clone()).await;
        assert_eq!(texts(&part), found, "{filter:?}");
        assert_eq!(part.len, 10);
        if let Some(first) = found.first() {
            assert_eq!(part.first.to_string(), *first, "{filter:?}");
        }
    }
}

/// Lists are by app and user, oldest change first. A deleted session leaves the state of its user
/// and app.
pub async fn sessions_are_listed_by_change(place: &dyn DynPlace) {
    let store = place.open_dyn().await.sessions;
    let store = &*store;
    let key = |user: &str, id: &str| SessionKey::new("lists", user, id);
    for (user, id) in [("u", "b"), ("v", "c"), ("u", "a")] {
        store
            .create(
                key(user, id),
                delta(json!({"id": id, "user:n": user, "app:v": id})),
            )
            .await
            .unwrap();
        // The clock must advance, or the order is by name.
        let now = || {
            std::time::SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap()
                .as_micros()
        };
        let then = now();
        while now() == then {}
    }
    let list = async |user: Option<&'static str>| store.list("lists", user, "").await.unwrap();
    let ids = |all: &[SessionSnapshot]| all.iter().map(|s| s.key.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&list(None).await), ["b", "c", "a"]);
    assert_eq!(ids(&list(Some("u")).await), ["b", "a"]);
    assert_eq!(ids(&list(Some("w")).await), [""; 0]);
    let first = list(Some("u")).await.swap_remove(0);
    assert_eq!(
        state(&first),
        json!({"id": "b", "user:n": "u", "app:v": "a"})
    );
    assert!(first.events.is_empty() && store.list("nothing", None, "").await.unwrap().is_empty());

    store
        .append(&key("u", "b"), vec![stored(1, "x")])
        .await
        .unwrap();
    assert!(store.delete(&key("u", "b")).await.unwrap());
    assert!(store.get(&key("u", "b")).await.unwrap().is_none());
    assert_eq!(ids(&list(None).await), ["c", "a"]);
    // The id is free again, and only shared state remains.
    let again = store
        .create(key("u", "b"), StateDelta::default())
        .await
        .unwrap();
    assert!(again.is_empty() && again.get("id").is_none());
    assert_eq!(again.get("user:n").as_deref(), Some(&json!("u")));
}

/// A list with a prefix has the sessions whose ids begin with exactly these characters.
pub async fn sessions_are_listed_by_prefix(place: &dyn DynPlace) {
    let store = place.open_dyn().await.sessions;
    let last = "\u{10ffff}";
    let all = [
        "w",
        "w/",
        "w/a",
        "w/\u{10ffff}",
        "w0",
        "W/a",
        "w%/",
        "wx/",
        last,
        "\u{10ffff}a",
    ];
    for (user, ids) in [("u", &all[..]), ("v", &["w/b", "x"]), ("t", &["w/c"])] {
        for id in ids {
            let key = SessionKey::new("prefixes", user, *id);
            store.create(key, StateDelta::default()).await.unwrap();
        }
    }
    for prefix in [
        "w/", "w", "w%", "w_", "W", "x", "\u{d7ff}", last, "none", "",
    ] {
        for user in [None, Some("t"), Some("u"), Some("v")] {
            let found = store.list("prefixes", user, prefix).await.unwrap();
            let mut found: Vec<_> = found.iter().map(|s| s.key.id.as_str()).collect();
            let mut wanted = match user {
                None => [&all[..], &["w/b", "x", "w/c"]].concat(),
                Some("u") => all.to_vec(),
                Some("v") => vec!["w/b", "x"],
                Some(_) => vec!["w/c"],
            };
            wanted.retain(|id| id.starts_with(prefix));
            wanted.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, wanted, "{user:?} {prefix:?}");
        }
    }
}

/// An exported session is imported unchanged, or not at all.
pub async fn exports_are_imported_unchanged(place: &dyn DynPlace) {
    let store = place.open_dyn().await.sessions;
    let store = &*store;
    let key = |id: &str| SessionKey::new("transfer", "u", id);
    store
        .create(
            key("s"),
            delta(json!({"k": null, "own": [1], "user:n": "Ann"})),
        )
        .await
        .unwrap();
    let events = (0..2500).map(|n| stored(n, &n.to_string()).with_state("own", n));
    store.append(&key("s"), events.collect()).await.unwrap();
    let mut lines = Vec::new();
    let push = |line: &str| {
        lines.push(line.to_owned());
        Ok(())
    };
    assert!(
        adk_build::session::export(store, &key("s"), push)
            .await
            .unwrap()
    );
    assert_eq!(lines.len(), 2501);
    assert!(
        !adk_build::session::export(store, &key("none"), |_| Ok(()))
            .await
            .unwrap()
    );

    let all = |lines: &[String]| lines.iter().cloned().map(Ok).collect::<Vec<_>>();
    adk_build::session::import(store, key("t"), all(&lines))
        .await
        .unwrap();
    let (one, two) = (
        read(store, &key("s"), EventFilter::new()).await,
        read(store, &key("t"), EventFilter::new()).await,
    );
    assert_eq!((&one.events, state(&one)), (&two.events, state(&two)));
    assert_eq!(state(&two)["own"], json!(2499));

    let error = adk_build::session::import(store, key("t"), all(&lines))
        .await
        .unwrap_err();
    assert_eq!(
        error.kind(),
        ErrorKind::Store(StoreErrorKind::Exists),
        "{error}"
    );
    refuses_bad_lines(store, &lines).await;
}

/// An import of damaged lines fails with the number of the line, and stores nothing.
async fn refuses_bad_lines(store: &dyn SessionStore, lines: &[String]) {
    let key = |id: &str| SessionKey::new("transfer", "u", id);
    let all = |lines: &[String]| lines.iter().cloned().map(Ok).collect::<Vec<_>>();
    let cut = lines[40][..lines[40].len() / 2].to_owned();
    for (at, bad, kind, said) in [
        (0, lines[1].clone(), StoreErrorKind::Corrupt, "line 1 "),
        (0, String::new(), StoreErrorKind::Corrupt, "line 1 "),
        (
            2000,
            "{\"author\": 1}".to_owned(),
            StoreErrorKind::Corrupt,
            "line 2001 ",
        ),
        (40, cut, StoreErrorKind::Corrupt, "line 41 "),
        (2500, String::new(), StoreErrorKind::Corrupt, "line 2501 "),
        (
            2400,
            lines[2300].clone(),
            StoreErrorKind::Exists,
            "lines 2002 to 2501 ",
        ),
    ] {
        let mut lines = lines.to_vec();
        lines[at] = bad;
        let error = adk_build::session::import(store, key("v"), all(&lines))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Store(kind), "{error}");
        assert!(
            error.to_string().contains(said) && error.help().is_some(),
            "{error}"
        );
        assert!(
            store.get(&key("v")).await.unwrap().is_none(),
            "an import is atomic"
        );
    }
    let nothing = adk_build::session::import(store, key("v"), Vec::new())
        .await
        .unwrap_err();
    assert!(nothing.to_string().contains("line 1 "), "{nothing}");
    assert!(
        store.get(&key("v")).await.unwrap().is_none(),
        "an import is atomic"
    );
}

/// State and events are there after a store is closed and opened again.
pub async fn data_survives_a_reopened_store(place: &dyn DynPlace) {
    let key = SessionKey::new("a", "u", "s");
    let initial = json!({"k": null, "user:n": "Ann", "app:v": [1]});
    let events: Vec<_> = (0..3).map(|n| stored(n, &n.to_string())).collect();
    {
        let store = place.open_dyn().await.sessions;
        store
            .create(key.clone(), delta(initial.clone()))
            .await
            .unwrap();
        store.append(&key, events.clone()).await.unwrap();
    }
    let store = place.open_dyn().await.sessions;
    let found = read(&*store, &key, EventFilter::new()).await;
    assert_eq!(state(&found), initial);
    assert!(found.events.iter().map(|event| &**event).eq(&events));
    let session = store.get(&key).await.unwrap().unwrap();
    assert_eq!(session.get("app:v").as_deref(), Some(&json!([1])));
    session.load_newest(1).await.unwrap();
    assert_eq!(
        session.event(2).map(|event| event.text()).as_deref(),
        Some("2")
    );
}

/// All users of a store have one value of an open session. It loads earlier events on request, and
/// gets the events that any process appends: at once, or when it is opened again.
pub async fn an_open_session_is_shared(place: &dyn DynPlace) {
    let key = SessionKey::new("a", "u", "s");
    let store = place.open_dyn().await.sessions;
    store.create(key.clone(), delta(json!({}))).await.unwrap();
    let many = 4 * PAGE + 10;
    let texts =
        |range: std::ops::Range<usize>| range.map(|n| stored(n as u64, &n.to_string())).collect();
    store.append(&key, texts(0..many)).await.unwrap();
    let session = store.get(&key).await.unwrap().unwrap();
    let again = async || store.get(&key).await.unwrap().unwrap();
    assert!(Arc::ptr_eq(&session, &again().await));
    assert_eq!(session.len(), many);
    session.load(0..1).await.unwrap();
    session.load_newest(2).await.unwrap();
    for place in [0, many - 2, many - 1] {
        assert_eq!(session.event(place).unwrap().text(), place.to_string());
    }
    // Events that this process or another one appends reach the open session.
    let new = |n: usize| stored(n as u64, &n.to_string());
    store
        .append(&key, vec![new(many).with_state("k", 1)])
        .await
        .unwrap();
    assert_eq!(session.event(many).unwrap().text(), many.to_string());
    assert_eq!(session.get("k").as_deref(), Some(&json!(1)));
    let other = place.open_dyn().await.sessions;
    other
        .append(&key, vec![new(many + 1).with_state("user:k", 2)])
        .await
        .unwrap();
    assert!(Arc::ptr_eq(&session, &again().await));
    assert_eq!(session.get("user:k").as_deref(), Some(&json!(2)));
    session.load(0..session.len()).await.unwrap();
    let loaded: Vec<_> = session.events().map(|event| event.text()).collect();
    let wanted: Vec<_> = (0..many + 2).map(|n| n.to_string()).collect();
    assert_eq!(loaded, wanted);
}

/// Returns `depth` nested lists.
pub fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(1), |value, _| Value::Array(vec![value]))
}

/// Returns an object of this depth.
pub fn nested_object(depth: usize) -> Map<String, Value> {
    Map::from_iter([("x".to_owned(), nested(depth - 1))])
}

/// Returns events with a value of this depth, with the place that an error names.
pub fn deep_events(depth: usize) -> Vec<(&'static str, Event)> {
    let event = |part| stored(1, "").with_content(Content::new(Role::User, vec![part]));
    let (value, object) = (|| nested(depth), || nested_object(depth));
    let call = FunctionCall {
        id: "c".into(),
        name: "tool".into(),
        args: object(),
        ..FunctionCall::default()
    };
    let answer = |response| FunctionResponse {
        id: "c".into(),
        name: "tool".into(),
        response,
    };
    let mut checkpoint = stored(1, "");
    checkpoint.actions.agent_state = Some(value().into());
    vec![
        ("state key `k`", stored(1, "").with_state("k", value())),
        (
            "state key `user:k`",
            stored(1, "").with_state("user:k", value()),
        ),
        (
            "state key `app:k`",
            stored(1, "").with_state("app:k", value()),
        ),
        (
            "state key `temp:k`",
            stored(1, "").with_state("temp:k", value()),
        ),
        ("call of `tool`", event(Part::from(call))),
        // A result that is not an object is wrapped in one.
        (
            "answer to a call of `tool`",
            event(Part::from(answer(nested_object(depth + 1)))),
        ),
        ("part", event(Part::Other(Box::new(object())))),
        ("metadata `m`", stored(1, "").with_metadata("m", value())),
        ("agent state", checkpoint),
    ]
}

/// Checks that a value was refused, and that the error names place and limit.
pub fn is_too_deep(error: &Error, what: &str) {
    assert_eq!(error.kind(), ErrorKind::TooDeep, "{error}");
    let said = error.to_string();
    assert!(
        said.contains(what) && said.contains("levels deep, above the limit of 100"),
        "{what}: {said}"
    );
    assert!(
        error.help().is_some_and(|help| help.contains("flatter")),
        "{said}"
    );
}

/// Values at the depth limit are returned, also by an export. Deeper values are refused, and
/// nothing is written.
pub async fn deep_values_are_refused(place: &dyn DynPlace) {
    let store = place.open_dyn().await.sessions;
    let store = &*store;
    let key = |id: &str| SessionKey::new("depth", "u", id);
    let states = |depth| ["k", "user:k", "app:k"].map(|key| (key, nested(depth)));
    let all: StateDelta = states(MAX_DEPTH).into_iter().collect();
    store.create(key("s"), all.clone()).await.unwrap();
    let events = deep_events(MAX_DEPTH)
        .into_iter()
        .enumerate()
        .map(|(n, (_, mut event))| {
            (event.id, event.timestamp) = (stored(n as u64, "").id, START + n as u64);
            event
        });
    let mut events: Vec<_> = events.collect();
    store.append(&key("s"), events.clone()).await.unwrap();
    adk_build::session::forget_temp(&mut events);
    let found = read(store, &key("s"), EventFilter::new()).await;
    assert!(found.events.iter().map(|event| &**event).eq(&events));
    assert!(all.iter().all(|(key, value)| found.state[&**key] == *value));
    let mut lines = Vec::new();
    let push = |line: &str| {
        lines.push(line.to_owned());
        Ok(())
    };
    adk_build::session::export(store, &key("s"), push)
        .await
        .unwrap();
    let import = async |lines: &[String]| {
        let lines: Vec<_> = lines.iter().cloned().map(Ok).collect();
        adk_build::session::import(store, key("t"), lines).await
    };
    import(&lines).await.unwrap();
    assert_eq!(
        read(store, &key("t"), EventFilter::new()).await.events,
        found.events
    );
    store.delete(&key("t")).await.unwrap();

    let deepest = nested(MAX_DEPTH).to_string();
    let deeper = nested(MAX_DEPTH + 1).to_string();
    for line in [0, 1, 2] {
        let mut lines = lines.clone();
        assert!(lines[line].contains(&deepest));
        lines[line] = lines[line].replace(&deepest, &deeper);
        let error = import(&lines).await.unwrap_err();
        is_too_deep(&error, &format!("line {} of the import", line + 1));
        assert!(
            store.get(&key("t")).await.unwrap().is_none(),
            "an import is atomic"
        );
    }
    for depth in [MAX_DEPTH + 1, 5_000] {
        for (name, value) in states(depth) {
            let error = store
                .create(key("t"), [(name, value)].into_iter().collect())
                .await
                .unwrap_err();
            is_too_deep(&error, &format!("`{name}`"));
            assert!(store.get(&key("t")).await.unwrap().is_none(), "{name}");
        }
        for (what, mut event) in deep_events(depth) {
            event.id = stored(999, "").id;
            is_too_deep(
                &store
                    .append(&key("s"), vec![stored(998, ""), event])
                    .await
                    .unwrap_err(),
                what,
            );
            let now = read(store, &key("s"), EventFilter::new()).await;
            assert_eq!(
                (now.events, now.state),
                (found.events.clone(), found.state.clone()),
                "{what}"
            );
        }
    }
}

/// Returns keys that no store can keep, each with a part of its error.
pub fn impossible_keys(app: &str) -> Vec<(SessionKey, &'static str)> {
    let long = |letter: &str| letter.repeat(129);
    vec![
        (SessionKey::new(app, "u", ""), "session id \"\" is empty"),
        (SessionKey::new(app, "", "s"), "user id \"\" is empty"),
        (
            SessionKey::new(app, "u", "a\0b"),
            "session id \"a\\0b\" holds a NUL",
        ),
        (
            SessionKey::new(app, "a\0b", "s"),
            "user id \"a\\0b\" holds a NUL",
        ),
        (
            SessionKey::new(app, "u", long("x")),
            "has 129 characters, above the limit of 128",
        ),
        (
            SessionKey::new(app, long("\u{1F408}"), "s"),
            "has 129 characters, above the limit of 128",
        ),
    ]
}

/// All stores refuse ids that some store cannot keep, in the same words and before any write.
pub async fn impossible_ids_are_refused(place: &dyn DynPlace) {
    let store = place.open_dyn().await.sessions;
    let store = &*store;
    let mut keys = impossible_keys("ids");
    keys.push((SessionKey::new("", "u", "s"), "app name \"\" is empty"));
    keys.push((
        SessionKey::new("a\0b", "u", "s"),
        "app name \"a\\0b\" holds a NUL",
    ));
    keys.push((
        SessionKey::new("x".repeat(129), "u", "s"),
        "has 129 characters, above the limit of 128",
    ));
    for (key, said) in keys {
        let error = store
            .create(key.clone(), delta(json!({"app:k": 1})))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::IdInvalid, "{error}");
        assert!(
            error.to_string().contains(said) && error.to_string().len() < 250,
            "{error}"
        );
        assert!(
            error.help().is_some_and(|help| help.contains("128")),
            "{error}"
        );
        // No operation finds such a session.
        assert!(store.get(&key).await.unwrap().is_none());
        assert!(
            store
                .read(&key, &EventFilter::new())
                .await
                .unwrap()
                .is_none()
        );
        assert!(!store.delete(&key).await.unwrap());
        assert!(
            store
                .list(&key.app, Some(&key.user), "")
                .await
                .unwrap()
                .is_empty()
        );
        let error = store.append(&key, vec![stored(1, "a")]).await.unwrap_err();
        assert_eq!(
            error.kind(),
            ErrorKind::Store(StoreErrorKind::Missing),
            "{error}"
        );
        let lines = vec![Ok(
            r#"{"session":{"app":"a","user":"u","id":"s"},"state":{}}"#.to_owned(),
        )];
        let error = adk_build::session::import(store, key, lines)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::IdInvalid, "{error}");
    }
    assert!(store.list("ids", None, "").await.unwrap().is_empty());
    // The longest allowed ids, counted in characters.
    let longest = "\u{1F408}".repeat(128);
    let key = SessionKey::new(&*longest, &*longest, &*longest);
    store
        .create(key.clone(), delta(json!({"k": 1})))
        .await
        .unwrap();
    assert_eq!(read(store, &key, EventFilter::new()).await.key, key);
}

/// A row that another program, or an earlier version of this crate, left in an unreadable form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Broken {
    /// The state of the session `broken/u/bad`.
    Session,
    /// The second of its three events.
    Event,
    /// The state of the user `u` of the app `broken`.
    User,
    /// The state of the app `broken`.
    App,
}

impl Broken {
    /// Returns the row in the words of its error.
    fn row(self) -> &'static str {
        match self {
            Self::Session => "the state of session `broken/u/bad`",
            Self::Event => {
                "the event 01890000-0000-7000-8000-000000000002 at place 1 of session \
                 `broken/u/bad`"
            }
            Self::User => "the state of user `u` of app `broken`",
            Self::App => "the state of app `broken`",
        }
    }

    /// Returns whether a session needs the row.
    fn hits(self, key: &SessionKey) -> bool {
        let (is_app, is_user) = (key.app == "broken", key.user == "u");
        match self {
            Self::Session | Self::Event => is_app && is_user && key.id == "bad",
            Self::User => is_app && is_user,
            Self::App => is_app,
        }
    }
}

/// The list contains all sessions, with their readable data, and reports the unreadable one.
async fn lists_all(store: &dyn SessionStore, broken: Broken) {
    let mut all = store.list("broken", None, "").await.unwrap();
    all.sort_by(|a, b| a.key.cmp(&b.key));
    assert_eq!(
        all.iter().map(|one| &*one.key.id).collect::<Vec<_>>(),
        ["bad", "good", "other"]
    );
    for (n, one) in all.iter().enumerate() {
        let is_told = broken.hits(&one.key) && broken != Broken::Event;
        assert_eq!(one.unreadable.is_some(), is_told, "{:?}", one.unreadable);
        assert!(
            one.unreadable.iter().all(|why| why.contains(broken.row())),
            "{:?}",
            one.unreadable
        );
        let mut wanted = json!({"k": n, "user:n": one.key.user, "app:a": "broken"});
        let gone = match broken {
            Broken::Session => "k",
            Broken::User => "user:n",
            Broken::App => "app:a",
            Broken::Event => "",
        };
        if is_told {
            wanted.as_object_mut().unwrap().shift_remove(gone);
        }
        assert_eq!((state(one), one.len), (wanted, 3), "{}", one.key);
    }
}

/// Creates a session with three events, whose state has the number `n`.
async fn fill(store: &dyn SessionStore, key: &SessionKey, n: usize) {
    let state = json!({"k": n, "user:n": key.user, "app:a": key.app});
    store.create(key.clone(), delta(state)).await.unwrap();
    let events = (0..3).map(|at| stored(10 * n as u64 + at, &at.to_string()));
    store.append(key, events.collect()).await.unwrap();
}

/// An unreadable row is reported individually, and all other data is readable: sessions of other
/// users and apps, lists, other events of the session. `break_row` makes a value of that row 200
/// levels deep, through another connection. Deleting and creating it again works.
pub async fn unreadable_rows_are_reported(
    place: &dyn DynPlace,
    broken: Broken,
    break_row: impl AsyncFnOnce(),
) {
    let open = async || place.open_dyn().await.sessions;
    let key = |app: &str, user: &str, id: &str| SessionKey::new(app, user, id);
    let bad = key("broken", "u", "bad");
    let others = [
        key("broken", "u", "good"),
        key("broken", "v", "other"),
        key("elsewhere", "u", "far"),
    ];
    let store = open().await;
    for (n, key) in [&bad].into_iter().chain(&others).enumerate() {
        fill(&*store, key, n).await;
    }
    drop(store);
    break_row().await;
    let store = open().await;
    let row = broken.row();
    let is_hit = |key: &SessionKey| broken.hits(key);
    let check_error = |error: Error| {
        assert_eq!(kind(&error), StoreErrorKind::Corrupt, "{error}");
        let is_helpful = error.message().contains(row) && error.help().is_some();
        assert!(is_helpful, "{error}");
    };
    for key in [&bad].into_iter().chain(&others) {
        if is_hit(key) {
            check_error(store.read(key, &EventFilter::new()).await.unwrap_err());
            match broken {
                // Every reader of the event gets the error.
                Broken::Event => {
                    let session = store.get(key).await.unwrap().unwrap();
                    check_error(session.load(0..3).await.unwrap_err());
                }
                _ => check_error(store.get(key).await.unwrap_err()),
            }
        } else {
            assert_eq!(
                read(&*store, key, EventFilter::new()).await.events.len(),
                3,
                "{key}"
            );
            store.get(key).await.unwrap().unwrap();
        }
    }
    lists_all(&*store, broken).await;
    assert_eq!(
        store.list("elsewhere", None, "").await.unwrap()[0].unreadable,
        None
    );
    if broken == Broken::Event {
        // The neighbours of the event can be read, and exported in a session without it.
        let around = |places| EventFilter::new().places(places);
        assert_eq!(texts(&read(&*store, &bad, around(0..1)).await), ["0"]);
        assert_eq!(texts(&read(&*store, &bad, around(2..3)).await), ["2"]);
        check_error(store.read(&bad, &around(1..2)).await.unwrap_err());
    }
    if matches!(broken, Broken::Session | Broken::Event) {
        assert!(store.delete(&bad).await.unwrap());
        store
            .create(bad.clone(), delta(json!({"k": 0})))
            .await
            .unwrap();
        assert_eq!(
            state(&read(&*store, &bad, EventFilter::new()).await)["k"],
            0
        );
    }
}
