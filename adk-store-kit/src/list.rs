//! The list of all promises, by suite.

use crate::place::{DynPlace, LocalFuture};

/// A property that every store must have.
pub struct Promise {
    /// The suite.
    pub suite: &'static str,
    /// The name within the suite.
    pub name: &'static str,
    /// The function that checks it.
    pub(crate) check: for<'a> fn(&'a dyn DynPlace) -> LocalFuture<'a, ()>,
    /// The source of the suite, from which a report takes the words of the promise.
    pub(crate) source: &'static str,
    /// The part of the documentation that describes the promise.
    pub(crate) read: &'static str,
}

/// Suites whose promises run on a runtime of two threads; all others run on one thread.
pub(crate) const THREADS: &[&str] = &["artifacts", "memory", "keys", "updates", "driven"];

macro_rules! table {
    ([$read:literal] $suite:ident: $($name:ident,)*) => {
        &[$(Promise {
            suite: stringify!($suite),
            name: stringify!($name),
            check: |place| Box::pin(crate::$suite::$name(place)),
            source: include_str!(concat!(stringify!($suite), ".rs")),
            read: $read,
        }),*]
    };
}

/// All promises, by suite.
pub static PROMISES: &[&[Promise]] = &[
    __suite!(sessions[table]["`adk_journal::session::SessionStore`"]),
    __suite!(artifacts[table]["`adk_journal::ArtifactStore`"]),
    __suite!(memory[table]["`adk_journal::memory::MemoryService`"]),
    __suite!(limits[table]["`SessionKey::check` and `Event::check_depth` in `adk_journal`"]),
    __suite!(values[table]["`adk_journal::engine::Journal`: values come back unchanged"]),
    __suite!(runs[table]["`Journal::commit` and `RunRegistry::claim` in `adk_journal::engine`"]),
    __suite!(updates[table]["`Journal::commit` and `Body::Update` in `adk_journal::engine`"]),
    __suite!(
        lists[table]["`RunRegistry::runs`, `RunInfo` and `RunFilter` in `adk_journal::engine`"]
    ),
    __suite!(cancel[table]["`RunRegistry::cancel` and `close` in `adk_journal::engine`"]),
    __suite!(retries[table]["`Journal::step` and `RunRegistry::claim` in `adk_journal::engine`"]),
    __suite!(keys[table]["`adk_journal::engine::RequestKeys`; `RunRegistry::enqueue`"]),
    __suite!(queue[table]["`RunRegistry::enqueue` and `claim` in `adk_journal::engine`"]),
    __suite!(people[table]["`Journal::answer` and `WaitRegistry` in `adk_journal::engine`"]),
    __suite!(
        questions[table]["`WaitRegistry::withdraw` and `RunRegistry::claim` in `adk_journal::engine`"]
    ),
    __suite!(tenants[table]["`runs_of_tenants` and `due_of_tenants` in `adk_journal::engine`"]),
    __suite!(changes[table]["`Journal::step` and `RunRegistry::claim` in `adk_journal::engine`"]),
    __suite!(
        driven[table]["`ClaimId::driven_above` and `RunRegistry::driven` in `adk_journal::engine`"]
    ),
    __suite!(kills[table]["`Journal::commit`: the transaction is durable before the answer"]),
];
