//! Executes the statements that all SQL stores share.

use crate::connection::PgConnection;
use crate::error::Doing;
use adk_model::Result;
use adk_store::{Columns, Connection, Dialect, Parameter, Sql, Visit};
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, Postgres, Row as _};

/// Condition that the owner of a run is alive. An engine above the store counts as alive.
macro_rules! is_alive {
    () => {
        "(r.owner = '@'
            OR EXISTS (SELECT 1 FROM adkw_owners o
                WHERE o.id = r.owner AND o.expires > clock_timestamp()))"
    };
}

pub(crate) use is_alive;

impl Connection for PgConnection {
    const DIALECT: Dialect = Dialect {
        mark: '$',
        in_list: ["= ANY(", ")"],
        null_or: "COALESCE",
        is_alive: is_alive!(),
        keeps_join_order: false,
        limits_members: true,
        repeats_commits: true,
    };

    async fn execute(
        &mut self,
        doing: &'static str,
        sql: Sql,
        parameters: &[Parameter<'_>],
    ) -> Result<u64> {
        let done = bound(sql, parameters).execute(self).await;
        Ok(done.doing(doing)?.rows_affected())
    }

    async fn query(
        &mut self,
        doing: &'static str,
        sql: Sql,
        parameters: &[Parameter<'_>],
        visit: Visit<'_>,
    ) -> Result<()> {
        let rows = bound(sql, parameters).fetch_all(self).await.doing(doing)?;
        for row in &rows {
            if visit(&ReadRow(row, doing))?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// Returns a statement with its parameters.
fn bound<'a>(sql: Sql, parameters: &'a [Parameter<'_>]) -> Query<'a, Postgres, PgArguments> {
    let query = sqlx::query(AssertSqlSafe(sql.text('$')));
    parameters
        .iter()
        .fold(query, |query, parameter| match parameter {
            Parameter::Text(text) => query.bind(text.as_deref()),
            Parameter::Number(number) => query.bind(*number),
            Parameter::Flag(flag) => query.bind(*flag),
            Parameter::Bytes(bytes) => query.bind(*bytes),
            Parameter::List(texts) => query.bind(*texts),
        })
}

/// A row with the operation that errors name.
pub(crate) struct ReadRow<'a>(pub(crate) &'a PgRow, pub(crate) &'a str);

impl Columns for ReadRow<'_> {
    fn text(&self, at: usize) -> Result<String> {
        self.0.try_get(at).doing(self.1)
    }

    fn text_or_null(&self, at: usize) -> Result<Option<String>> {
        self.0.try_get(at).doing(self.1)
    }

    fn number(&self, at: usize) -> Result<u64> {
        let number = self.0.try_get::<i64, _>(at).doing(self.1)?;
        Ok(number.unsigned_abs())
    }

    fn flag(&self, at: usize) -> Result<bool> {
        self.0.try_get(at).doing(self.1)
    }

    fn bytes(&self, at: usize) -> Result<Option<Vec<u8>>> {
        self.0.try_get(at).doing(self.1)
    }
}
