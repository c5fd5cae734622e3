//! Combinations of stores in a runner. Each combination either keeps the data of its runs, or
//! `build` rejects it and names the missing call.

use crate::support::Folder;
use adk_build::engine::{MemoryJournal, Retention};
use adk_build::memory::InMemoryMemoryService;
use adk_build::model::NoProvider;
use adk_build::runner::RunnerBuilder;
use adk_build::session::{EventFilter, MemoryStore, SessionKey, SessionStore};
use adk_build::{
    Error, ErrorKind, Event, Flow, FolderArtifacts, InMemoryStore, MemoryArtifacts, Part, Runner,
};
use adk_sqlite::{Durability, Options, SqliteStore};
use adk_store_kit::trees::{By, Tree, by, run};
use std::sync::Arc;

/// Argument of a call: `-` for no call, `m` for memory, `f` for a folder, `a` and `b` for two
/// files.
type Given = char;

/// The arguments of `.store`, `.session_store`, `.engine`, `.artifact_store` and `.memory_service`.
struct Calls([Given; 5]);

impl Calls {
    fn of(row: &str) -> Self {
        let mut given = row.chars();
        Self(std::array::from_fn(|_| given.next().unwrap()))
    }

    /// Returns all combinations.
    fn all() -> impl Iterator<Item = Self> {
        let product = |rows: Vec<String>, values: &str| -> Vec<String> {
            rows.iter()
                .flat_map(|row| values.chars().map(move |value| format!("{row}{value}")))
                .collect()
        };
        let rows = ["-ma", "-mab", "-mab", "-mfab", "-ma"]
            .into_iter()
            .fold(vec![String::new()], product);
        rows.into_iter().map(|row| Self::of(&row))
    }

    /// Returns the session id of a combination.
    fn id(&self) -> String {
        self.0.iter().collect()
    }
}

struct Files {
    folder: Folder,
    a: SqliteStore,
    b: SqliteStore,
}

impl Files {
    async fn new() -> Self {
        let folder = Folder::new();
        let options = Options::default().durability(Durability::Process);
        let open = async |name: &str| {
            SqliteStore::open_with(folder.path().join(name), options)
                .await
                .unwrap()
        };
        let (a, b) = (open("a.db").await, open("b.db").await);
        Self { folder, a, b }
    }

    fn file(&self, given: Given) -> SqliteStore {
        if given == 'a' {
            self.a.clone()
        } else {
            self.b.clone()
        }
    }

    fn build(&self, calls: &Calls) -> adk_build::Result<Runner> {
        let [store, sessions, engine, artifacts, memory] = calls.0;
        let mut builder: RunnerBuilder<NoProvider> = Runner::builder().app_name("app");
        builder = match sessions {
            '-' => builder,
            'm' => builder.session_store(Arc::new(MemoryStore::new()) as Arc<dyn SessionStore>),
            file => builder.session_store(self.file(file)),
        };
        builder = match store {
            '-' => builder,
            'm' => builder.store(InMemoryStore::new()),
            file => builder.store(self.file(file)),
        };
        builder = match engine {
            '-' => builder,
            'm' => builder.engine(MemoryJournal::new()),
            file => builder.engine(self.file(file)),
        };
        builder = match artifacts {
            '-' => builder,
            'm' => builder.artifact_store(MemoryArtifacts::new()),
            'f' => builder
                .artifact_store(FolderArtifacts::open(self.folder.path().join("files")).unwrap()),
            file => builder.artifact_store(self.file(file)),
        };
        builder = match memory {
            '-' => builder,
            'm' => builder.memory_service(InMemoryMemoryService::new()),
            file => builder.memory_service(self.file(file)),
        };
        builder.build()
    }
}

/// An agent that saves an artifact, and emits whether the save succeeded.
fn saves() -> By {
    by("saves", |cx| {
        Box::pin(async move {
            match cx.artifacts().save("draft.txt", Part::text("kept")).await {
                Err(error) if error.kind() != ErrorKind::NoArtifactStore => return Err(error),
                saved => {
                    cx.emit(Event::new().with_text(format!("saved {}", saved.is_ok())))
                        .await?
                }
            };
            Ok(Flow::Continue)
        })
    })
}

fn help(error: &Error) -> &str {
    error.help().unwrap_or_default()
}

const BUILDS: &str = "";
const BOTH: &str = "the same store to `.session_store(...)` and `.engine(...)`";
const SESSIONS: &str = "the missing `.session_store(...)` with the store of the runs";
const ENGINE: &str = "the missing `.engine(...)` with the store of the sessions";
const ARTIFACTS: &str = "the missing `.artifact_store(...)` with the store of the sessions";
const STORED: &str = "the missing `.session_store(...)` with the store of the artifacts";
const MEMORY: &str = "the missing `.memory_service(...)` with the store of the sessions";

/// Calls, and the help if they do not build. Columns: store, sessions, engine, artifacts, memory.
const COMBINATIONS: &[(&str, &str)] = &[
    // One store for everything.
    ("-----", BUILDS),
    ("m----", BUILDS),
    ("a----", BUILDS),
    ("aaaaa", BUILDS),
    ("-aaaa", BUILDS),
    // Only sessions.
    ("-m---", BUILDS),
    ("-a---", ENGINE),
    ("-a-a-", ENGINE),
    ("-a-aa", ENGINE),
    ("am---", ENGINE),
    ("ab---", ENGINE),
    ("ma---", ENGINE),
    // Only an engine.
    ("--m--", BUILDS),
    ("--a--", SESSIONS),
    ("--aaa", SESSIONS),
    ("a-m--", SESSIONS),
    ("a-b--", SESSIONS),
    ("m-a--", SESSIONS),
    // Sessions and an engine.
    ("-mm--", BUILDS),
    ("-aa--", BUILDS),
    ("-am--", BOTH),
    ("-ma--", BOTH),
    ("-ab--", BOTH),
    ("aab--", BOTH),
    // Artifacts.
    ("---m-", BUILDS),
    ("---f-", BUILDS),
    ("---a-", STORED),
    ("m--a-", STORED),
    ("a--b-", STORED),
    (
        "-aab-",
        "the same store to `.session_store(...)` and `.artifact_store(...)`",
    ),
    ("a--f-", BUILDS),
    // Artifacts in memory on request.
    ("a--m-", BUILDS),
    ("-aam-", BUILDS),
    // Memory may be in another store than the sessions.
    ("----a", BUILDS),
    ("a---m", BUILDS),
    // The first store keeps artifacts and memory after sessions and runs were replaced.
    ("abb--", ARTIFACTS),
    ("amm--", ARTIFACTS),
    ("maa--", ARTIFACTS),
    ("maaf-", MEMORY),
    ("abbb-", MEMORY),
    ("abbbm", BUILDS),
    ("maaaa", BUILDS),
];

#[tokio::test]
async fn a_combination_is_built_or_the_missing_call_is_named() {
    let files = Files::new().await;
    for &(row, missing) in COMBINATIONS {
        match files.build(&Calls::of(row)) {
            Ok(_) => assert_eq!(missing, BUILDS, "{row} is built"),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Config, "{row}: {error}");
                assert!(
                    missing != BUILDS && help(&error).contains(missing),
                    "{row}: {error}"
                );
            }
        }
    }
    let error = files.build(&Calls::of("-a---")).unwrap_err();
    let message = format!(
        "sessions are kept in `{}`, but runs in memory: a session would lack the events of its \
         runs",
        files.a.path().display()
    );
    assert_eq!(error.message(), message);
    assert_eq!(
        help(&error),
        format!("pass one store for all with `.store(...)`, or add {ENGINE}")
    );
}

#[tokio::test]
async fn combinations_that_build_keep_the_data_of_their_runs() {
    let (files, tree) = (Files::new().await, Tree::new("w", vec![run(saves())]));
    let (mut durable, mut refused) = (Vec::new(), 0);
    for calls in Calls::all() {
        let id = calls.id();
        let runner = match files.build(&calls) {
            Ok(runner) => runner,
            Err(error) => {
                assert!(help(&error).contains("`.store(...)`"), "{id}: {error}");
                refused += 1;
                continue;
            }
        };
        let session = runner.session("ann", &id);
        for _ in 0..2 {
            session
                .run(&tree, "go")
                .await
                .unwrap_or_else(|error| panic!("{id}: {error}"));
        }
        let kept = session
            .get(&EventFilter::new())
            .await
            .unwrap()
            .unwrap()
            .events;
        assert_eq!(kept.len(), 4, "{id}: events of two turns");
        if kept[1].text() == "saved true" {
            assert_eq!(
                session.load_artifact("draft.txt").await.unwrap(),
                Some(Part::text("kept")),
                "{id}"
            );
        }
        if let Err(error) = session.add_to_memory().await {
            assert_eq!(error.kind(), ErrorKind::NoMemoryService, "{id}: {error}");
        }
        if runner.engine().retention() == Retention::Durable {
            durable.push((runner.engine().location(), id));
        }
    }
    assert!(
        durable.len() > 20 && refused > 100,
        "{} are durable, {refused} refused",
        durable.len()
    );
    // Reopen the files as another process would.
    let paths = [files.a.path().to_owned(), files.b.path().to_owned()];
    let folder = files.folder;
    drop((files.a, files.b));
    for path in paths {
        let store = SqliteStore::open(path).await.unwrap();
        let here = SessionStore::location(&store);
        for (_, id) in durable.iter().filter(|(location, _)| *location == here) {
            let key = SessionKey::new("app", "ann", id);
            let kept = store.read(&key, &EventFilter::new()).await.unwrap();
            assert_eq!(kept.map(|kept| kept.events.len()), Some(4), "{id}");
        }
    }
    drop(folder);
}
