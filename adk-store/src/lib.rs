//! What the author of an SQL store for `adk-workflow` needs: the decisions, statements and rows
//! that the stores in SQLite and Postgres share.
//!
//! A store implements [`Connection`] for its database, and describes the SQL of the database in a
//! [`Dialect`]. The functions of [`runs`], [`waits`], [`artifacts`] and [`memory`] then execute the
//! statements of the registry of runs, of artifacts and of memory. A store without SQL uses
//! [`decide`], which needs no database.
//!
//! What a store must do for speed or for its locks stays in the store: appends of events, its
//! transactions, and the proof that a process lives.
//!
//! A [`Connection`] is asynchronous. If a database answers without waiting, as SQLite does,
//! [`complete`] turns each function into a synchronous one.

pub mod artifacts;
pub mod decide;
pub mod memory;
pub mod runs;
pub mod sessions;
mod sql;
pub mod waits;

pub use sql::{
    Columns, Connection, Dialect, Parameter, Query, Sql, Visit, complete, corrupt_error,
    session_key,
};
