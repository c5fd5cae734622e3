//! Promises about artifacts: versions, scopes and names of files, and the files of runs.
use crate::place::DynPlace;
use crate::random::Random;
use crate::trees::{By, Tree, by, run};
use adk_build::engine::Retention;
use adk_build::session::{SessionKey, SessionStore};
use adk_build::{
    ArtifactStore, Await, Blob, ErrorKind, Event, FileData, Flow, FunctionCall, FunctionResponse,
    MemoryArtifacts, Part, RunEnd, Runner, StateDelta, Thought,
};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// An artifact store, and the sessions that own its files.
#[derive(Clone)]
struct Stores {
    artifacts: Arc<dyn ArtifactStore>,
    sessions: Arc<dyn SessionStore>,
}

impl Stores {
    async fn open(place: &dyn DynPlace) -> Self {
        let store = place.open_dyn().await;
        Self {
            artifacts: store.artifacts(),
            sessions: store.sessions,
        }
    }

    async fn session(&self, user: &str, id: &str) -> SessionKey {
        let key = SessionKey::new("artifacts", user, id);
        self.sessions
            .create(key.clone(), StateDelta::default())
            .await
            .unwrap();
        key
    }

    async fn save(&self, key: &SessionKey, name: &str, text: &str) -> u32 {
        self.artifacts
            .save(key, name, Part::text(text))
            .await
            .unwrap()
    }

    async fn text(&self, key: &SessionKey, name: &str, version: Option<u32>) -> Option<String> {
        let part = self.artifacts.load(key, name, version).await.unwrap();
        part.map(|part| part.as_text().unwrap().to_owned())
    }

    async fn versions(&self, key: &SessionKey, name: &str) -> Vec<u32> {
        self.artifacts.versions(key, name).await.unwrap()
    }

    async fn list(&self, key: &SessionKey) -> Vec<String> {
        self.artifacts.list(key).await.unwrap()
    }
}

/// Versions count from 0 in each file; a deleted file starts again.
pub async fn versions_count_from_zero(place: &dyn DynPlace) {
    let stores = &Stores::open(place).await;
    let key = stores.session("versions", "s").await;
    assert_eq!(stores.list(&key).await, [""; 0]);
    assert_eq!(stores.text(&key, "a", None).await, None);
    for (version, text) in ["zero", "one", "two"].into_iter().enumerate() {
        assert_eq!(stores.save(&key, "a", text).await as usize, version);
        assert_eq!(stores.text(&key, "a", None).await.as_deref(), Some(text));
    }
    assert_eq!(stores.save(&key, "b", "other").await, 0);
    assert_eq!(
        stores.text(&key, "a", Some(0)).await.as_deref(),
        Some("zero")
    );
    for version in [3, u32::MAX] {
        assert_eq!(stores.text(&key, "a", Some(version)).await, None);
    }
    // Version 10 is later than version 2, so versions are not compared as text.
    for version in 3..12 {
        assert_eq!(stores.save(&key, "a", &version.to_string()).await, version);
    }
    assert_eq!(stores.text(&key, "a", None).await.as_deref(), Some("11"));
    assert!(stores.versions(&key, "a").await.into_iter().eq(0..12));
    assert_eq!(stores.versions(&key, "b").await, [0]);
    assert_eq!(stores.versions(&key, "c").await, [0; 0]);
    for _ in 0..2 {
        stores.artifacts.delete(&key, "a").await.unwrap();
        assert_eq!(stores.list(&key).await, ["b"]);
        assert_eq!(stores.text(&key, "a", Some(0)).await, None);
    }
    assert_eq!(stores.save(&key, "a", "again").await, 0);
    assert_eq!(stores.list(&key).await, ["a", "b"]);
}

/// User files belong to all sessions of the user and need none; other files belong to one session.
pub async fn user_files_belong_to_the_user(place: &dyn DynPlace) {
    let stores = &Stores::open(place).await;
    let early = SessionKey::new("artifacts", "scopes", "none");
    assert_eq!(stores.save(&early, "user:photo", "of the user").await, 0);
    let (one, two) = (
        stores.session("scopes", "one").await,
        stores.session("scopes", "two").await,
    );
    let other = stores.session("scopes2", "one").await;
    assert_eq!(stores.save(&one, "user:photo", "again").await, 1);
    for (key, text) in [(&one, "one"), (&two, "two"), (&other, "other")] {
        assert_eq!(stores.save(key, text, text).await, 0);
        assert_eq!(stores.save(key, "notes", text).await, 0);
    }
    for (key, text) in [(&one, "one"), (&two, "two")] {
        let mut all = ["notes", text, "user:photo"];
        all.sort_unstable();
        assert_eq!(stores.list(key).await, all);
        assert_eq!(stores.text(key, "notes", None).await.as_deref(), Some(text));
        assert_eq!(
            stores.text(key, "user:photo", None).await.as_deref(),
            Some("again")
        );
    }
    assert_eq!(stores.list(&other).await, ["notes", "other"]);
    assert_eq!(stores.text(&other, "user:photo", None).await, None);
    assert_eq!(stores.list(&early).await, ["user:photo"]);
    stores.artifacts.delete(&two, "user:photo").await.unwrap();
    assert_eq!(stores.list(&one).await, ["notes", "one"]);
}

/// Names have no special characters. A store may refuse a NUL, with an error that says so.
pub async fn any_name_is_a_name(place: &dyn DynPlace) {
    let stores = &Stores::open(place).await;
    let key = stores
        .session("names/../o'neil; --", "a/b \u{1F408} \"q\" \\")
        .await;
    let long = "long/".repeat(200);
    let mut all = vec![
        "",
        ".",
        "..",
        "/",
        "../x",
        "/etc/x",
        "a",
        "A",
        "a.",
        "a ",
        "a/b",
        "a\\b",
        "\u{e9}",
        "e\u{301}",
        "con",
        "%41",
        "it's",
        "100%",
        "_",
        "user",
        "user:",
        "user:a",
        "User:a",
        "\u{1F408}",
        "0",
        "\n",
        &long,
    ];
    let nul = "a\0b";
    match stores.artifacts.save(&key, nul, Part::text(nul)).await {
        Ok(version) => {
            assert_eq!(version, 0);
            all.push(nul);
        }
        Err(error) => assert!(
            error.message().contains("NUL") && error.help().is_some(),
            "{error}"
        ),
    }
    for name in all.iter().filter(|name| **name != nul) {
        assert_eq!(stores.save(&key, name, name).await, 0, "{name:?}");
    }
    all.sort_unstable();
    assert_eq!(stores.list(&key).await, all);
    for name in all {
        assert_eq!(stores.text(&key, name, None).await.as_deref(), Some(name));
    }
}

/// Parts of every kind are returned unchanged: text, bytes, signatures, the order of keys.
pub async fn parts_are_returned_unchanged(place: &dyn DynPlace) {
    let stores = &Stores::open(place).await;
    let key = stores.session("parts", "s").await;
    let mut random = RandomParts(Random::new(7));
    let all: Vec<_> = (0..105).map(|n| random.part(n)).collect();
    for (n, part) in all.iter().enumerate() {
        assert_eq!(
            stores
                .artifacts
                .save(&key, "part", part.clone())
                .await
                .unwrap() as usize,
            n
        );
    }
    for (n, part) in all.iter().enumerate() {
        let found = stores
            .artifacts
            .load(&key, "part", u32::try_from(n).ok())
            .await
            .unwrap()
            .unwrap();
        assert_eq!(found, *part);
        assert_eq!(
            format!("{found:?}"),
            format!("{part:?}"),
            "keys keep their order"
        );
    }
    let large = Part::inline_data("image/png", vec![0xa5; 4 << 20]);
    stores
        .artifacts
        .save(&key, "large", large.clone())
        .await
        .unwrap();
    assert_eq!(
        stores.artifacts.load(&key, "large", None).await.unwrap(),
        Some(large)
    );
}

/// A part whose values are nested too deep to be read again is refused before any write. A store in
/// memory may keep it.
pub async fn unreadable_parts_are_refused(place: &dyn DynPlace) {
    let stores = &Stores::open(place).await;
    let key = stores.session("depth", "s").await;
    let deep = (0..200).fold(json!(1), |inside, _| json!([inside]));
    let part = Part::Other(Box::new(Map::from_iter([("deep".to_owned(), deep)])));
    let Err(error) = stores.artifacts.save(&key, "deep", part.clone()).await else {
        let kept = stores.artifacts.load(&key, "deep", None).await.unwrap();
        assert_eq!(kept, Some(part), "a part that is accepted is returned");
        return;
    };
    assert!(
        error.help().is_some_and(|help| help.contains("less deep")),
        "{error}"
    );
    assert_eq!(stores.list(&key).await, [""; 0]);
}

/// Concurrent saves of two processes get separate versions.
pub async fn concurrent_saves_get_separate_versions(place: &dyn DynPlace) {
    let stores = [Stores::open(place).await, Stores::open(place).await];
    let key = stores[0].session("together", "s").await;
    let (each, rounds) = (stores.len(), 8);
    let tasks: Vec<_> = (0..each * rounds)
        .map(|n| {
            let (stores, key) = (stores[n % each].clone(), key.clone());
            tokio::spawn(async move { (stores.save(&key, "a", &n.to_string()).await, n) })
        })
        .collect();
    let mut saved = Vec::new();
    for task in tasks {
        saved.push(task.await.unwrap());
    }
    saved.sort_unstable();
    for (version, (found, n)) in saved.into_iter().enumerate() {
        assert_eq!(
            found as usize, version,
            "each number is used once, without gaps"
        );
        assert_eq!(
            stores[0].text(&key, "a", Some(found)).await,
            Some(n.to_string())
        );
    }
}

/// Files are deleted with their session, except user files; a missing session has no files. A store
/// without [`ArtifactStore::session_location`] knows no sessions, and keeps all files.
pub async fn files_are_deleted_with_their_session(place: &dyn DynPlace) {
    let stores = &Stores::open(place).await;
    if stores.artifacts.session_location().is_none() {
        return;
    }
    let (key, other) = (
        stores.session("goes", "s").await,
        stores.session("goes", "t").await,
    );
    for key in [&key, &other] {
        stores.save(key, "a", "of the session").await;
    }
    stores.save(&key, "user:a", "of the user").await;
    assert!(stores.sessions.delete(&key).await.unwrap());
    assert_eq!(stores.list(&key).await, ["user:a"]);
    assert_eq!(stores.list(&other).await, ["a", "user:a"]);
    let error = stores
        .artifacts
        .save(&key, "a", Part::text("late"))
        .await
        .unwrap_err();
    assert_eq!(
        error.kind(),
        ErrorKind::Store(adk_build::StoreErrorKind::Missing),
        "{error}"
    );
    stores.session("goes", "s").await;
    assert_eq!(stores.list(&key).await, ["user:a"]);
    assert_eq!(stores.save(&key, "a", "anew").await, 0);
}

/// Random parts that are the same on every machine.
struct RandomParts(Random);

impl RandomParts {
    fn below(&mut self, end: u64) -> u64 {
        self.0.below(end)
    }

    fn text(&mut self) -> String {
        let pieces = [
            "",
            "a",
            "\0",
            "\n",
            "\"",
            "\\",
            "\u{1F408}",
            "e\u{301}",
            "{",
            "\u{feff}",
            "\u{2028}",
            "\r",
        ];
        (0..self.below(6))
            .map(|_| pieces[self.below(12) as usize])
            .collect()
    }

    fn maybe(&mut self) -> Option<String> {
        (self.below(2) == 0).then(|| self.text())
    }

    fn value(&mut self, depth: u64) -> Value {
        match self.below(if depth == 0 { 7 } else { 9 }) {
            0 => Value::Null,
            1 => json!(self.below(2) == 0),
            2 => json!(i64::MIN + self.below(9) as i64),
            3 => json!(u64::MAX - self.below(9)),
            4 => json!([0.1, -0.0, 1e16, 1e300, 5e-324, 1.5][self.below(6) as usize]),
            5 => json!(self.text()),
            // Any float; floats that JSON cannot express become null.
            6 => json!(f64::from_bits(
                self.below(1 << 31) << 33 | self.below(1 << 31)
            )),
            7 => (0..self.below(4)).map(|_| self.value(depth - 1)).collect(),
            _ => Value::Object(self.fields(depth - 1)),
        }
    }

    /// Fields may also have the names of other kinds of parts.
    fn fields(&mut self, depth: u64) -> Map<String, Value> {
        let names = [
            "z",
            "a",
            "text",
            "thought",
            "inlineData",
            "functionCall",
            "file_data",
            "other",
            "\0",
        ];
        (0..self.below(4))
            .map(|_| (names[self.below(9) as usize].to_owned(), self.value(depth)))
            .collect()
    }

    /// Makes parts of each kind in turn.
    fn part(&mut self, n: usize) -> Part {
        match n % 7 {
            0 => Part::Text(self.text()),
            1 => Part::from(Thought {
                text: self.text(),
                signature: self.maybe(),
            }),
            2 => Part::from(FunctionCall {
                id: self.text(),
                name: self.text(),
                args: self.fields(3),
                signature: self.maybe(),
                malformed: self.maybe(),
            }),
            3 => Part::from(FunctionResponse {
                id: self.text(),
                name: self.text(),
                response: self.fields(3),
            }),
            4 => Part::from(Blob {
                mime_type: self.text(),
                data: (0..self.below(300))
                    .map(|_| self.below(256) as u8)
                    .collect(),
                display_name: self.maybe(),
            }),
            5 => Part::from(FileData {
                file_uri: self.text(),
                mime_type: self.text(),
            }),
            _ => Part::Other(Box::new(self.fields(3))),
        }
    }
}

/// Makes an agent that saves a text as `draft.txt`.
fn saves() -> By {
    by("saves", |cx| {
        Box::pin(async move {
            cx.artifacts().save("draft.txt", Part::text("kept")).await?;
            cx.emit(Event::new().with_text("saved"))
                .await
                .map(|_| Flow::Continue)
        })
    })
}

/// Makes an agent that emits the content of `draft.txt`.
fn loads() -> By {
    by("loads", |cx| {
        Box::pin(async move {
            let part = cx.artifacts().load("draft.txt").await?;
            let text = part
                .and_then(|part| part.as_text().map(str::to_owned))
                .unwrap_or_default();
            cx.emit(Event::new().with_text(text))
                .await
                .map(|_| Flow::Continue)
        })
    })
}

/// Builds a tree that saves `draft.txt`, waits for a person, and loads it.
fn drafting() -> Tree {
    Tree::new(
        "w",
        vec![
            run(saves()),
            run(Await::builder::<bool>("approved").build()),
            run(loads()),
        ],
    )
}

/// A runner with a durable engine and no artifact store refuses to save, and names what is missing.
pub async fn a_durable_run_needs_durable_files(place: &dyn DynPlace) {
    let store = place.open_dyn().await.without_artifacts();
    if store.engine.retention() != Retention::Durable {
        return;
    }
    let runner = store.runner("app");
    let error = runner
        .session("u", "s")
        .run(&drafting(), "go")
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoArtifactStore, "{error}");
    assert!(
        error.message().contains("`draft.txt`") && error.message().contains("durable"),
        "{error}"
    );
    assert!(
        error
            .help()
            .is_some_and(|help| help.contains(".store(store)")),
        "{error}"
    );
    let session = runner.session("u", "s");
    assert_eq!(session.artifacts().await.unwrap(), [""; 0]);
    let error = session.load_artifact("draft.txt").await.unwrap_err();
    assert_eq!(
        error.kind(),
        ErrorKind::NoArtifactStore,
        "the existence of the file is unknown: {error}"
    );
    // An explicit store in memory is accepted.
    let builder = Runner::builder().app_name("app").store(store);
    let runner: Runner = builder
        .artifact_store(MemoryArtifacts::new())
        .build()
        .unwrap();
    let error = runner
        .session("u", "t")
        .run(&drafting(), "go")
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Paused, "{error}");
}

/// A resumed run in another process finds its saved artifacts.
pub async fn a_resumed_run_finds_its_files(place: &dyn DynPlace) {
    let open = async || place.open_dyn().await.runner("app");
    let (runner, tree) = (open().await, drafting());
    let mut stream = runner.session("u", "s").run(&tree, "go").stream();
    while let Some(event) = stream.next().await {
        event.unwrap();
    }
    let RunEnd::Paused(waiting) = stream.end() else {
        panic!("the run does not wait")
    };
    drop(runner);

    let runner = open().await;
    runner.answer(&waiting[0].id, true).await.unwrap();
    let outcome = runner.resume(&tree, waiting[0].run_id).await.unwrap();
    assert_eq!(outcome.session().events().last().unwrap().text(), "kept");
    assert_eq!(
        runner.session("u", "s").artifacts().await.unwrap(),
        ["draft.txt"]
    );
}
