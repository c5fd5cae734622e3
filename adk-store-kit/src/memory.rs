//! Promises about memory across sessions: what is added, and how it is found.
use crate::place::DynPlace;
use crate::sessions::stored;
use adk_build::memory::{MAX_MEMORIES, MemoryEntry, MemoryMark, MemoryService};
use adk_build::session::{SessionKey, SessionStore};
use adk_build::{
    Content, Event, FunctionCall, FunctionResponse, Part, Role, StateDelta, StoreErrorKind, Thought,
};
use serde_json::{Map, json};
use std::sync::Arc;

/// A service, and the sessions that are added to it.
#[derive(Clone)]
struct Remembering {
    memory: Arc<dyn MemoryService>,
    sessions: Arc<dyn SessionStore>,
}

impl Remembering {
    async fn open(place: &dyn DynPlace) -> Self {
        let store = place.open_dyn().await;
        Self {
            memory: store.memory(),
            sessions: store.sessions,
        }
    }

    async fn session(&self, user: &str, id: &str) -> SessionKey {
        let key = SessionKey::new("memory", user, id);
        self.sessions
            .create(key.clone(), StateDelta::default())
            .await
            .unwrap();
        key
    }

    async fn say(&self, key: &SessionKey, events: Vec<Event>) {
        self.sessions.append(key, events).await.unwrap();
        self.add(key).await;
    }

    async fn add(&self, key: &SessionKey) {
        self.memory
            .add_session_to_memory(&*self.sessions, key)
            .await
            .unwrap();
    }

    async fn search(&self, user: &str, query: &str) -> Vec<MemoryEntry> {
        self.memory
            .search_memory("memory", user, query)
            .await
            .unwrap()
    }

    async fn texts(&self, user: &str, query: &str) -> Vec<String> {
        self.search(user, query)
            .await
            .iter()
            .map(|entry| entry.content.text())
            .collect()
    }
}

/// Adding a session again adds only new events; memories outlive the session.
pub async fn only_new_events_are_added(place: &dyn DynPlace) {
    let service = &Remembering::open(place).await;
    let key = service.session("new", "s").await;
    service.add(&key).await;
    assert_eq!(service.memory.added_until(&key).await.unwrap(), None);
    service
        .say(
            &key,
            vec![stored(1, "I have a cat"), stored(2, "It sleeps")],
        )
        .await;
    service.add(&key).await;
    assert_eq!(service.texts("new", "cat").await, ["I have a cat"]);
    service.say(&key, vec![stored(3, "My cat is old")]).await;
    let mark = service.memory.added_until(&key).await.unwrap().unwrap();
    assert_eq!(
        (mark.events, &*mark.last),
        (3, &*stored(3, "").id.to_string())
    );
    assert_eq!(
        service.texts("new", "old cat").await,
        ["My cat is old", "I have a cat"]
    );
    // Another process has read the same events, and adds them later.
    let entry = MemoryEntry::of_event(&stored(1, "I have a cat")).unwrap();
    service
        .memory
        .add_events_to_memory(&key, vec![entry], mark)
        .await
        .unwrap();
    assert_eq!(service.texts("new", "cat").await.len(), 2);

    assert!(service.sessions.delete(&key).await.unwrap());
    let error = service
        .memory
        .add_session_to_memory(&*service.sessions, &key)
        .await
        .unwrap_err();
    assert_eq!(
        error.kind(),
        adk_build::ErrorKind::Store(StoreErrorKind::Missing),
        "{error}"
    );
    // A new session with the same key is another session, regardless of its length.
    let key = service.session("new", "s").await;
    service
        .say(
            &key,
            (10..14)
                .map(|n| stored(n, &format!("cat number {n}")))
                .collect(),
        )
        .await;
    assert_eq!(service.texts("new", "cat").await.len(), 6);
    assert_eq!(
        service
            .memory
            .added_until(&key)
            .await
            .unwrap()
            .unwrap()
            .events,
        4
    );
}

/// Words are found unchanged, in any case and script; a query has no special syntax.
pub async fn words_are_found_in_any_script(place: &dyn DynPlace) {
    let service = &Remembering::open(place).await;
    let key = service.session("words", "s").await;
    let all = [
        "We met in Zürich, near the O'Neill bar.",
        "ΣΊΣΥΦΟΣ rolls a stone",
        "私は猫が好きです",
        "\"NEAR(a b)\" AND * OR words:x - ^y ; DROP TABLE adkw_memory --",
        "nul \0 inside, 100% \\ of {it}",
        "of of of of of of of of of of",
    ];
    service
        .say(
            &key,
            all.iter()
                .enumerate()
                .map(|(n, text)| stored(n as u64 + 1, text))
                .collect(),
        )
        .await;
    for (query, at) in [
        ("zürich?", 0),
        ("neill", 0),
        ("σίσυφοσ", 1),
        ("猫", 2),
        ("drop-table", 3),
        ("AND NEAR(a", 3),
        ("'{it}'", 4),
        ("\"inside\0", 4),
    ] {
        assert_eq!(
            service
                .texts("words", query)
                .await
                .first()
                .map(|text| &**text),
            Some(all[at]),
            "{query:?}"
        );
    }
    for query in [
        "",
        " ",
        "*",
        "\"",
        "zurich dogs",
        "\0",
        "ston",
        "stones",
        "' OR 1=1 --1",
    ] {
        assert!(
            !service
                .texts("words", query)
                .await
                .iter()
                .any(|text| text == all[0]),
            "{query:?}"
        );
    }
    let long = "wörd".repeat(2_000);
    let many: String = (0..9_000).map(|n| format!("w{n}x ")).collect();
    let both = vec![stored(20, &long), stored(21, &many)];
    service.say(&key, both).await;
    assert_eq!(service.texts("words", &long).await, [long]);
    assert_eq!(service.texts("words", &many).await, [many]);
    // Entries with more words of the query come first.
    let blues = (30..).zip(["blue", "blue green", "green red blue"]);
    let blues = blues.map(|(n, text)| stored(n, text)).collect();
    service.say(&key, blues).await;
    let found = service.texts("words", "red green blue").await;
    assert_eq!(found, ["green red blue", "blue green", "blue"]);
}

/// Each user of an app has a separate memory.
pub async fn users_have_separate_memories(place: &dyn DynPlace) {
    let service = &Remembering::open(place).await;
    for (user, id) in [("one", "s"), ("one", "t"), ("two", "s")] {
        let key = service.session(user, id).await;
        service
            .say(&key, vec![stored(1, &format!("{user} {id} secretword"))])
            .await;
    }
    let mut one = service.texts("one", "secretword").await;
    one.sort();
    assert_eq!(one, ["one s secretword", "one t secretword"]);
    assert_eq!(
        service.texts("two", "secretword").await,
        ["two s secretword"]
    );
    for (app, user) in [
        ("memor", "one"),
        ("memory", "on"),
        ("memoryo", "ne"),
        ("secretword", "x"),
    ] {
        assert!(
            service
                .memory
                .search_memory(app, user, "secretword")
                .await
                .unwrap()
                .is_empty()
        );
    }
}

/// Only text is kept: no calls, results, thoughts, bytes or state.
pub async fn only_text_is_kept(place: &dyn DynPlace) {
    let service = &Remembering::open(place).await;
    let key = service.session("text", "s").await;
    let args = Map::from_iter([("token".to_owned(), json!("hidden"))]);
    let call = FunctionCall {
        name: "hidden".to_owned(),
        args: args.clone(),
        ..FunctionCall::default()
    };
    let result = FunctionResponse {
        id: String::new(),
        name: "hidden".to_owned(),
        response: args,
    };
    let parts = vec![
        Part::from(Thought {
            text: "hidden".to_owned(),
            signature: None,
        }),
        Part::text("the visible"),
        Part::from(call.clone()),
        Part::inline_data("text/plain", *b"hidden"),
        Part::text(" part"),
    ];
    let mut said = stored(1, "").with_content(Content::new(Role::Model, parts));
    said.author = "clerk".into();
    said.timestamp = 1_764_157_005_000_001;
    let silent = [Part::from(call), Part::from(result), Part::text(" \n")];
    let silent = (2..).zip(silent).map(|(n, part)| {
        stored(n, "")
            .with_content(Content::new(Role::User, vec![part]))
            .with_state("key", "hidden")
    });
    service
        .say(&key, [said.clone()].into_iter().chain(silent).collect())
        .await;
    assert_eq!(service.texts("text", "hidden key token").await, [""; 0]);
    let mut wanted = MemoryEntry::new(
        said.id.to_string(),
        Content::new(
            Role::Model,
            vec![Part::text("the visible"), Part::text(" part")],
        ),
    );
    wanted.author = "clerk".to_owned();
    wanted.timestamp = "2025-11-26T11:36:45Z".to_owned();
    assert_eq!(service.search("text", "VISIBLE").await, [wanted]);
    assert_eq!(
        service
            .memory
            .added_until(&key)
            .await
            .unwrap()
            .unwrap()
            .events,
        4
    );
}

/// A long session is added page by page, and a search returns a limited number of entries.
pub async fn a_search_returns_few_entries_of_many(place: &dyn DynPlace) {
    let service = &Remembering::open(place).await;
    let key = service.session("long", "s").await;
    let some =
        |range: std::ops::Range<u64>| range.map(|n| stored(n, &format!("line line{n}"))).collect();
    service.say(&key, some(1..1_204)).await;
    service.say(&key, some(1_204..1_206)).await;
    assert_eq!(
        service
            .memory
            .added_until(&key)
            .await
            .unwrap()
            .unwrap()
            .events,
        1_205
    );
    for n in [1, 499, 500, 501, 1_000, 1_203, 1_204, 1_205] {
        assert_eq!(
            service.texts("long", &format!("line{n}")).await,
            [format!("line line{n}")]
        );
    }
    assert_eq!(service.search("long", "line").await.len(), MAX_MEMORIES);
}

/// Concurrent additions of one session add each event once.
pub async fn concurrent_additions_add_each_event_once(place: &dyn DynPlace) {
    let one = &Remembering::open(place).await;
    let two = &Remembering::open(place).await;
    let key = one.session("together", "s").await;
    one.sessions
        .append(
            &key,
            (1..600).map(|n| stored(n, &format!("thing{n}"))).collect(),
        )
        .await
        .unwrap();
    tokio::join!(one.add(&key), two.add(&key), two.add(&key));
    for n in [1, 250, 599] {
        assert_eq!(two.texts("together", &format!("thing{n}")).await.len(), 1);
    }
    let mark = MemoryMark {
        events: 599,
        last: stored(599, "").id.to_string(),
    };
    assert_eq!(one.memory.added_until(&key).await.unwrap(), Some(mark));
}
