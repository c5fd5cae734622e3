//! The promises that every store of `adk-workflow` keeps, as tests for the author of a store.
//!
//! The author depends on this crate in `[dev-dependencies]`, implements [`Place`] for the place
//! where the store keeps its data, and calls [`promises!`] in a test file. Each promise is a test:
//!
//! ```
//! use adk_build::InMemoryStore;
//! use adk_store_kit::Place;
//!
//! struct Memory(InMemoryStore);
//!
//! impl Place for Memory {
//!     type Store = InMemoryStore;
//!
//!     async fn new() -> Self {
//!         Self(InMemoryStore::new())
//!     }
//!     async fn open(&self) -> InMemoryStore {
//!         self.0.clone()
//!     }
//! }
//!
//! adk_store_kit::promises!(Memory: sessions, artifacts, memory);
//! ```
//!
//! `cargo test sessions::` runs one suite, and `cargo test a_key_exists_once` one promise. A store
//! that breaks a promise gets a report: what was promised, what was seen, and what to read.
//!
//! | suite | promises about |
//! |---|---|
//! | `sessions`, `artifacts`, `memory` | the parts of a store, without runs |
//! | `limits`, `values` | what is refused, and what comes back unchanged |
//! | `runs`, `updates`, `lists`, `cancel`, `retries` | runs of several processes |
//! | `keys`, `queue` | repeated requests, and runs that wait for their session |
//! | `people`, `questions`, `tenants` | questions to people, with their deadlines |
//! | `changes` | programs that change while their runs wait |
//! | `driven` | runs that an engine above the store drives, as Restate does |
//! | `kills` | processes that are killed in the middle of runs; `ADK_KILLS` sets their number |
//!
//! A store that ends with its process leaves out `kills`, and a store without
//! [`RunRegistry::driven`](adk_build::engine::RunRegistry::driven) leaves out `driven`.
//!
//! Some promises need a way to look at the data or to damage it, which only the author has:
//! [`sessions::unreadable_rows_are_reported`], [`tenants::resumes_abandoned_runs`] and
//! [`upgrades::earlier_format`] take it as an argument. [`measure`] has benchmarks for all stores.
#![allow(
    clippy::unwrap_used,
    missing_debug_implementations,
    reason = "a promise is a test, and fails by a panic"
)]

#[macro_use]
mod __private;
pub mod artifacts;
pub mod cancel;
pub mod changes;
pub mod driven;
pub mod keys;
pub mod kills;
pub mod limits;
mod list;
pub mod lists;
pub mod measure;
pub mod memory;
pub mod people;
pub mod place;
pub mod questions;
pub mod queue;
pub mod random;
mod report;
pub mod retries;
pub mod runs;
pub mod sessions;
pub mod tenants;
pub mod trees;
pub mod updates;
pub mod upgrades;
pub mod values;
pub mod victim;

pub use list::{PROMISES, Promise};
pub use place::{DynPlace, OpenStore, Place};
pub use report::keep;

/// Makes a test of each promise, for a type that implements [`Place`].
///
/// Attributes before the type apply to each test. A list of suites after the type selects them.
///
/// ```
/// # mod postgres {
/// # use adk_build::InMemoryStore as Database;
/// # struct Server;
/// # impl adk_store_kit::Place for Server {
/// #     type Store = Database;
/// #     async fn new() -> Self { Self }
/// #     async fn open(&self) -> Database { Database::new() }
/// # }
/// adk_store_kit::promises! {
///     #[ignore = "needs a server"]
///     Server: sessions, kills
/// }
/// # }
/// ```
#[macro_export]
macro_rules! promises {
    ($(#[$attribute:meta])* $place:ty) => {
        $crate::promises! {
            $(#[$attribute])* $place: sessions, artifacts, memory, limits, values, runs, updates,
            lists, cancel, retries, keys, queue, people, questions, tenants, changes, driven, kills
        }
    };
    ($(#[$attribute:meta])* $place:ty: $($suite:ident),* $(,)?) => {
        $crate::__suites! { [$place] [$(#[$attribute])*] $($suite)* }

        #[test]
        #[ignore = "is started and killed by a promise"]
        fn victim() {
            $crate::victim::execute::<$place>();
        }
    };
}
