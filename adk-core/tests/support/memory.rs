//! What every memory service has to do, asked of one through its trait. The stores of other crates are asked the same.
#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses a part, and fails by it")]

use super::store::stored;
use adk_core::memory::{MAX_MEMORIES, MemoryEntry, MemoryMark, MemoryService};
use adk_core::session::{SessionKey, SessionStore};
use adk_core::{
    Content, Event, FunctionCall, FunctionResponse, Part, Role, StateDelta, StoreErrorKind, Thought,
};
use serde_json::{Map, json};
use std::sync::Arc;

/// A service, and the sessions that are added to it.
#[derive(Clone)]
pub struct Remembering {
    pub memory: Arc<dyn MemoryService>,
    pub sessions: Arc<dyn SessionStore>,
}

impl Remembering {
    /// Of a store that is both.
    pub fn of<S: SessionStore + MemoryService + Clone>(store: &S) -> Self {
        Self { memory: Arc::new(store.clone()), sessions: Arc::new(store.clone()) }
    }

    async fn session(&self, user: &str, id: &str) -> SessionKey {
        let key = SessionKey::new("memory", user, id);
        self.sessions.create(key.clone(), StateDelta::default()).await.unwrap();
        key
    }

    async fn say(&self, key: &SessionKey, events: Vec<Event>) {
        self.sessions.append(key, events).await.unwrap();
        self.add(key).await;
    }

    async fn add(&self, key: &SessionKey) {
        self.memory.add_session_to_memory(&*self.sessions, key).await.unwrap();
    }

    async fn search(&self, user: &str, query: &str) -> Vec<MemoryEntry> {
        self.memory.search_memory("memory", user, query).await.unwrap()
    }

    async fn texts(&self, user: &str, query: &str) -> Vec<String> {
        self.search(user, query).await.iter().map(|entry| entry.content.text()).collect()
    }
}

/// All that is asked of a service.
pub async fn keeps(of: &Remembering) {
    what_is_new(of).await;
    words(of).await;
    scopes(of).await;
    text_alone(of).await;
    long_sessions(of).await;
}

/// Adding a session once more adds what is new, and nothing twice; what was said stays when the session goes.
async fn what_is_new(of: &Remembering) {
    let key = of.session("new", "s").await;
    of.add(&key).await;
    assert_eq!(of.memory.added_until(&key).await.unwrap(), None);
    of.say(&key, vec![stored(1, "I have a cat"), stored(2, "It sleeps")]).await;
    of.add(&key).await;
    assert_eq!(of.texts("new", "cat").await, ["I have a cat"]);
    of.say(&key, vec![stored(3, "My cat is old")]).await;
    let mark = of.memory.added_until(&key).await.unwrap().unwrap();
    assert_eq!((mark.events, &*mark.last), (3, &*stored(3, "").id.to_string()));
    assert_eq!(of.texts("new", "old cat").await, ["My cat is old", "I have a cat"]);
    // Another process has read the same, and comes later.
    let entry = MemoryEntry::of_event(&stored(1, "I have a cat")).unwrap();
    of.memory.add_events_to_memory(&key, vec![entry], mark).await.unwrap();
    assert_eq!(of.texts("new", "cat").await.len(), 2);

    assert!(of.sessions.delete(&key).await.unwrap());
    let error = of.memory.add_session_to_memory(&*of.sessions, &key).await.unwrap_err();
    assert_eq!(error.kind(), adk_core::ErrorKind::Store(StoreErrorKind::Missing), "{error}");
    // A session of its key is another one, however long it is.
    let key = of.session("new", "s").await;
    of.say(&key, (10..14).map(|n| stored(n, &format!("cat number {n}"))).collect()).await;
    assert_eq!(of.texts("new", "cat").await.len(), 6);
    assert_eq!(of.memory.added_until(&key).await.unwrap().unwrap().events, 4);
}

/// Words are found as they are, in any case and script; a query is only words.
async fn words(of: &Remembering) {
    let key = of.session("words", "s").await;
    let all = [
        "We met in Zürich, near the O'Neill bar.",
        "ΣΊΣΥΦΟΣ rolls a stone",
        "私は猫が好きです",
        "\"NEAR(a b)\" AND * OR words:x - ^y ; DROP TABLE adkw_memory --",
        "nul \0 inside, 100% \\ of {it}",
        "of of of of of of of of of of",
    ];
    of.say(&key, all.iter().enumerate().map(|(n, text)| stored(n as u64 + 1, text)).collect()).await;
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
        assert_eq!(of.texts("words", query).await.first().map(|text| &**text), Some(all[at]), "{query:?}");
    }
    for query in ["", " ", "*", "\"", "zurich dogs", "\0", "ston", "stones", "' OR 1=1 --1"] {
        assert!(!of.texts("words", query).await.iter().any(|text| text == all[0]), "{query:?}");
    }
    let long = "wörd".repeat(2_000);
    let many: String = (0..9_000).map(|n| format!("w{n}x ")).collect();
    of.say(&key, vec![stored(20, &long), stored(21, &many)]).await;
    assert_eq!(of.texts("words", &long).await, [long]);
    assert_eq!(of.texts("words", &many).await, [many]);
    // More words of the query come first.
    of.say(&key, vec![stored(30, "blue"), stored(31, "blue green"), stored(32, "green red blue")]).await;
    let found = of.texts("words", "red green blue").await;
    assert_eq!(found, ["green red blue", "blue green", "blue"]);
}

/// A user of an app has a memory of its own.
async fn scopes(of: &Remembering) {
    for (user, id) in [("one", "s"), ("one", "t"), ("two", "s")] {
        let key = of.session(user, id).await;
        of.say(&key, vec![stored(1, &format!("{user} {id} secretword"))]).await;
    }
    let mut one = of.texts("one", "secretword").await;
    one.sort();
    assert_eq!(one, ["one s secretword", "one t secretword"]);
    assert_eq!(of.texts("two", "secretword").await, ["two s secretword"]);
    for (app, user) in [("memor", "one"), ("memory", "on"), ("memoryo", "ne"), ("secretword", "x")] {
        assert!(of.memory.search_memory(app, user, "secretword").await.unwrap().is_empty());
    }
}

/// Only text is kept: no calls, results, thoughts, bytes or state.
async fn text_alone(of: &Remembering) {
    let key = of.session("text", "s").await;
    let args = Map::from_iter([("token".to_owned(), json!("hidden"))]);
    let call = FunctionCall { name: "hidden".to_owned(), args: args.clone(), ..FunctionCall::default() };
    let result = FunctionResponse { id: String::new(), name: "hidden".to_owned(), response: args };
    let parts = vec![
        Part::from(Thought { text: "hidden".to_owned(), signature: None }),
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
        stored(n, "").with_content(Content::new(Role::User, vec![part])).with_state("key", "hidden")
    });
    of.say(&key, [said.clone()].into_iter().chain(silent).collect()).await;
    assert_eq!(of.texts("text", "hidden key token").await, [""; 0]);
    let mut wanted = MemoryEntry::new(
        said.id.to_string(),
        Content::new(Role::Model, vec![Part::text("the visible"), Part::text(" part")]),
    );
    wanted.author = "clerk".to_owned();
    wanted.timestamp = "2025-11-26T11:36:45Z".to_owned();
    assert_eq!(of.search("text", "VISIBLE").await, [wanted]);
    assert_eq!(of.memory.added_until(&key).await.unwrap().unwrap().events, 4);
}

/// A long session is added page by page, and a search gives a few of what it finds.
async fn long_sessions(of: &Remembering) {
    let key = of.session("long", "s").await;
    let some = |range: std::ops::Range<u64>| range.map(|n| stored(n, &format!("line line{n}"))).collect();
    of.say(&key, some(1..1_204)).await;
    of.say(&key, some(1_204..1_206)).await;
    assert_eq!(of.memory.added_until(&key).await.unwrap().unwrap().events, 1_205);
    for n in [1, 499, 500, 501, 1_000, 1_203, 1_204, 1_205] {
        assert_eq!(of.texts("long", &format!("line{n}")).await, [format!("line line{n}")]);
    }
    assert_eq!(of.search("long", "line").await.len(), MAX_MEMORIES);
}

/// Two that add the same session at the same time add nothing twice.
pub async fn together(one: &Remembering, two: &Remembering) {
    let key = one.session("together", "s").await;
    one.sessions.append(&key, (1..600).map(|n| stored(n, &format!("thing{n}"))).collect()).await.unwrap();
    tokio::join!(one.add(&key), two.add(&key), two.add(&key));
    for n in [1, 250, 599] {
        assert_eq!(two.texts("together", &format!("thing{n}")).await.len(), 1);
    }
    let mark = MemoryMark { events: 599, last: stored(599, "").id.to_string() };
    assert_eq!(one.memory.added_until(&key).await.unwrap(), Some(mark));
}
