//! [`Statements`]: executes the statements that all SQL stores share.

use crate::error::Doing;
use adk_model::Result;
use adk_store::{Columns, Connection, Dialect, Parameter, Sql, Visit};
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Row, Statement, ToSql};
use serde_json::json;
use std::future::ready;
use std::ops::ControlFlow::Continue;

/// The SQL of SQLite.
pub(crate) const DIALECT: Dialect = Dialect {
    mark: '?',
    in_list: ["IN (SELECT value FROM json_each(", "))"],
    null_or: "ifnull",
    // The file of an owner shows whether it is alive.
    is_alive: "FALSE",
    keeps_join_order: true,
    limits_members: false,
    repeats_commits: false,
};

/// A connection that answers at once.
pub(crate) struct Statements<'a>(pub(crate) &'a rusqlite::Connection);

impl Statements<'_> {
    /// Prepares a statement, and applies `work` to it when its parameters are bound.
    fn bound<T>(
        &self,
        doing: &str,
        sql: Sql,
        parameters: &[Parameter<'_>],
        work: impl FnOnce(&mut Statement<'_>) -> Result<T>,
    ) -> Result<T> {
        let text = sql.text(DIALECT.mark);
        let mut statement = self.0.prepare_cached(&text).doing(doing)?;
        for (number, parameter) in (1_usize..).zip(parameters) {
            let bound = statement.raw_bind_parameter(number, Bound(parameter));
            bound.doing(doing)?;
        }
        work(&mut statement)
    }
}

impl Connection for Statements<'_> {
    const DIALECT: Dialect = DIALECT;

    fn execute(
        &mut self,
        doing: &'static str,
        sql: Sql,
        parameters: &[Parameter<'_>],
    ) -> impl Future<Output = Result<u64>> + Send {
        ready(self.bound(doing, sql, parameters, |statement| {
            Ok(statement.raw_execute().doing(doing)? as u64)
        }))
    }

    fn query(
        &mut self,
        doing: &'static str,
        sql: Sql,
        parameters: &[Parameter<'_>],
        visit: Visit<'_>,
    ) -> impl Future<Output = Result<()>> + Send {
        ready(self.bound(doing, sql, parameters, |statement| {
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next().doing(doing)?
                && let Continue(()) = visit(&ReadRow(row, doing))?
            {}
            Ok(())
        }))
    }
}

struct Bound<'a>(&'a Parameter<'a>);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Parameter::Text(text) => text.as_deref().map_or(ValueRef::Null, ValueRef::from),
            Parameter::Number(number) => number.map_or(ValueRef::Null, ValueRef::Integer),
            Parameter::Flag(flag) => ValueRef::Integer((*flag).into()),
            Parameter::Bytes(bytes) => bytes.map_or(ValueRef::Null, ValueRef::Blob),
            Parameter::List(texts) => {
                return Ok(ToSqlOutput::Owned(Value::Text(json!(texts).to_string())));
            }
        }))
    }
}

/// A row with the operation that errors name.
pub(crate) struct ReadRow<'a>(pub(crate) &'a Row<'a>, pub(crate) &'a str);

impl Columns for ReadRow<'_> {
    fn text(&self, at: usize) -> Result<String> {
        self.0.get(at).doing(self.1)
    }

    fn text_or_null(&self, at: usize) -> Result<Option<String>> {
        self.0.get(at).doing(self.1)
    }

    fn number(&self, at: usize) -> Result<u64> {
        self.0.get(at).doing(self.1)
    }

    fn flag(&self, at: usize) -> Result<bool> {
        self.0.get(at).doing(self.1)
    }

    fn bytes(&self, at: usize) -> Result<Option<Vec<u8>>> {
        self.0.get(at).doing(self.1)
    }
}
