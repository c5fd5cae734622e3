//! What the author of an SQL store for `adk-workflow` needs: the statements and rows that
//! the stores in SQLite and Postgres share.
//!
//! A store implements [`Connection`] for its database, and describes the SQL of the database in a
//! [`Dialect`]. The functions of [`runs`], [`lists`], [`waits`], [`artifacts`] and [`memory`] then
//! execute the statements of the registry of runs, of artifacts and of memory. A store without SQL
//! needs none of this: it implements `RunTable` of `adk_journal::engine`.
//!
//! What a store must do for speed or for its locks stays in the store: appends of events, its
//! transactions, and the proof that a process lives.
//!
//! A [`Connection`] is asynchronous. If a database answers without waiting, as SQLite does,
//! [`complete`] returns the result at once:
//!
//! ```
//! use adk_model::Result;
//! use adk_store::{Connection, Dialect, Parameter, Sql, Visit, complete, waits};
//!
//! /// A database that only records its statements.
//! struct Recorder(Vec<String>);
//!
//! impl Connection for Recorder {
//!     const DIALECT: Dialect = Dialect {
//!         mark: '?',
//!         in_list: ["IN (SELECT value FROM json_each(", "))"],
//!         null_or: "ifnull",
//!         is_alive: "FALSE",
//!         keeps_join_order: true,
//!         limits_members: false,
//!         repeats_commits: false,
//!     };
//!
//!     async fn execute(
//!         &mut self,
//!         _doing: &'static str,
//!         sql: Sql,
//!         _parameters: &[Parameter<'_>],
//!     ) -> Result<u64> {
//!         self.0.push(sql.text('?').into_owned());
//!         Ok(1)
//!     }
//!
//!     async fn query(
//!         &mut self,
//!         _doing: &'static str,
//!         sql: Sql,
//!         _parameters: &[Parameter<'_>],
//!         _visit: Visit<'_>,
//!     ) -> Result<()> {
//!         self.0.push(sql.text('?').into_owned());
//!         Ok(())
//!     }
//! }
//!
//! # fn main() -> Result<()> {
//! let mut database = Recorder(Vec::new());
//! complete(waits::withdraw(&mut database, &["wait".to_owned()]))?;
//! assert_eq!(
//!     database.0[0],
//!     "DELETE FROM adkw_waits WHERE id IN (SELECT value FROM json_each(?1)) AND answer IS NULL"
//! );
//! # Ok(())
//! # }
//! ```

pub mod artifacts;
pub mod lists;
pub mod memory;
pub mod runs;
pub mod sessions;
mod sql;
pub mod waits;

pub use sql::{
    Columns, Connection, Dialect, Parameter, Query, Sql, Visit, complete, corrupt_error,
    session_key,
};
