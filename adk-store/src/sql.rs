//! [`Connection`]: how the functions of this crate execute SQL, and how a database spells it.

use adk_journal::session::SessionKey;
use adk_model::{Error, ErrorKind, Result, StoreErrorKind};
use std::borrow::Cow;
use std::ops::ControlFlow::{self, Break, Continue};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// The SQL that differs between databases.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// The character before the number of a parameter: `?` or `$`.
    pub mark: char,
    /// The SQL before and after a [`Parameter::List`] that contains a column: `= ANY(` and `)`.
    pub in_list: [&'static str; 2],
    /// The function that replaces NULL in the index of artifacts: `ifnull` or `COALESCE`.
    pub null_or: &'static str,
    /// The condition that the owner of the run `r` is alive, if the database knows it.
    pub is_alive: &'static str,
    /// Whether the planner searches the tables of a `CROSS JOIN` in their order.
    pub keeps_join_order: bool,
    /// Whether a member of a `UNION ALL` needs an order and a limit of its own, so that the
    /// database does not read all its rows.
    pub limits_members: bool,
    /// Whether the store repeats a transaction whose commit got no answer.
    pub repeats_commits: bool,
}

/// A connection to a database, inside or outside of a transaction.
pub trait Connection {
    /// The SQL of the database.
    const DIALECT: Dialect;

    /// Executes a statement, and returns the number of rows that it has changed. `doing` completes
    /// "the database failed to ..." in errors.
    fn execute(
        &mut self,
        doing: &'static str,
        sql: Sql,
        parameters: &[Parameter<'_>],
    ) -> impl Future<Output = Result<u64>> + Send;

    /// Executes a query, and calls `visit` for each row until it breaks.
    fn query(
        &mut self,
        doing: &'static str,
        sql: Sql,
        parameters: &[Parameter<'_>],
        visit: Visit<'_>,
    ) -> impl Future<Output = Result<()>> + Send;
}

/// The receiver of the rows of a query.
pub type Visit<'a> = &'a mut (dyn FnMut(&dyn Columns) -> Result<ControlFlow<()>> + Send);

/// The columns of a row, by their index. An error names the operation that the query was for.
pub trait Columns {
    /// Returns a text.
    ///
    /// # Errors
    /// When the column is NULL or has another type.
    fn text(&self, at: usize) -> Result<String>;

    /// Returns a text, or `None` for NULL.
    ///
    /// # Errors
    /// When the column has another type.
    fn text_or_null(&self, at: usize) -> Result<Option<String>>;

    /// Returns a number that is never negative, such as a time or a count.
    ///
    /// # Errors
    /// When the column is NULL or has another type.
    fn number(&self, at: usize) -> Result<u64>;

    /// Returns a truth value.
    ///
    /// # Errors
    /// When the column is NULL or has another type.
    fn flag(&self, at: usize) -> Result<bool>;

    /// Returns bytes, or `None` for NULL.
    ///
    /// # Errors
    /// When the column has another type.
    fn bytes(&self, at: usize) -> Result<Option<Vec<u8>>>;
}

/// Reads app, user and id of a session, starting at column `first`.
///
/// # Errors
/// When a column cannot be read.
pub fn session_key(row: &dyn Columns, first: usize) -> Result<SessionKey> {
    let text = |column| row.text(first + column);
    Ok(SessionKey::new(text(0)?, text(1)?, text(2)?))
}

/// A value to bind to a statement.
#[derive(Clone, Debug)]
pub enum Parameter<'a> {
    /// A text, or NULL.
    Text(Option<Cow<'a, str>>),
    /// A number, or NULL.
    Number(Option<i64>),
    /// A truth value.
    Flag(bool),
    /// Bytes, or NULL.
    Bytes(Option<&'a [u8]>),
    /// Texts as one value, for [`Dialect::in_list`].
    List(&'a [String]),
}

impl<'a> From<&'a str> for Parameter<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Some(text.into()))
    }
}

impl<'a> From<&'a String> for Parameter<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(Some(text.into()))
    }
}

impl From<String> for Parameter<'_> {
    fn from(text: String) -> Self {
        Self::Text(Some(text.into()))
    }
}

impl<'a> From<Option<&'a str>> for Parameter<'a> {
    fn from(text: Option<&'a str>) -> Self {
        Self::Text(text.map(Cow::from))
    }
}

impl From<u64> for Parameter<'_> {
    fn from(number: u64) -> Self {
        Some(number).into()
    }
}

impl From<Option<u64>> for Parameter<'_> {
    fn from(number: Option<u64>) -> Self {
        Self::Number(number.map(|number| i64::try_from(number).unwrap_or(i64::MAX)))
    }
}

impl From<bool> for Parameter<'_> {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

/// The text of a statement.
#[derive(Clone, Debug)]
pub enum Sql {
    /// A constant text, in both spellings of parameters.
    Constant {
        /// With parameters `$1`.
        dollars: &'static str,
        /// With parameters `?1`.
        questions: &'static str,
    },
    /// A text in the spelling of one dialect.
    Built(String),
}

impl Sql {
    /// Returns the text with this [`Dialect::mark`] before the number of each parameter.
    pub fn text(self, mark: char) -> Cow<'static, str> {
        match self {
            Self::Constant { dollars, .. } if mark == '$' => dollars.into(),
            Self::Constant { questions, .. } => questions.into(),
            Self::Built(text) => text.into(),
        }
    }
}

/// Makes a constant [`Sql`] from a text with parameters `$1`.
macro_rules! sql {
    ($($text:expr),+) => {{
        const DOLLARS: &str = concat!($($text),+);
        const BYTES: [u8; DOLLARS.len()] = $crate::sql::with_question_marks(DOLLARS);
        $crate::Sql::Constant {
            dollars: DOLLARS,
            questions: match std::str::from_utf8(&BYTES) {
                Ok(text) => text,
                Err(_) => panic!("SQL is ASCII"),
            },
        }
    }};
}

pub(crate) use sql;

pub(crate) const fn with_question_marks<const LEN: usize>(text: &str) -> [u8; LEN] {
    let (mut bytes, mut at) = ([0; LEN], 0);
    while at < LEN {
        let byte = text.as_bytes()[at];
        bytes[at] = if byte == b'$' && text.as_bytes()[at + 1].is_ascii_digit() {
            b'?'
        } else {
            byte
        };
        at += 1;
    }
    bytes
}

/// A statement whose text depends on a filter.
#[derive(Clone, Debug)]
pub struct Query<'a> {
    dialect: Dialect,
    text: String,
    pub(crate) parameters: Vec<Parameter<'a>>,
}

impl<'a> Query<'a> {
    /// Begins a statement.
    pub fn new(dialect: Dialect, text: impl Into<String>) -> Self {
        Self {
            dialect,
            text: text.into(),
            parameters: Vec::new(),
        }
    }

    /// Appends SQL.
    pub fn push(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    /// Appends a parameter with its value.
    pub fn bind(&mut self, value: impl Into<Parameter<'a>>) -> &mut Self {
        self.parameters.push(value.into());
        self.text.push(self.dialect.mark);
        self.text.push_str(&self.parameters.len().to_string());
        self
    }

    /// Appends the condition that a column has one of these values.
    pub fn bind_list(&mut self, column: &str, values: &'a [String]) -> &mut Self {
        let [before, after] = self.dialect.in_list;
        self.push(column).push(" ").push(before);
        self.bind(Parameter::List(values)).push(after)
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Appends a limit, if there is one.
    pub(crate) fn limit(&mut self, limit: Option<usize>) {
        if let Some(limit) = limit {
            self.push(" LIMIT ").bind(limit as u64);
        }
    }
}

/// Returns the first row of a constant query.
pub(crate) async fn first<C: Connection, T: Send>(
    connection: &mut C,
    doing: &'static str,
    sql: Sql,
    parameters: &[Parameter<'_>],
    read: impl Fn(&dyn Columns) -> Result<T> + Send + Sync,
) -> Result<Option<T>> {
    let mut found = None;
    let mut visit = |row: &dyn Columns| {
        found = Some(read(row)?);
        Ok(Break(()))
    };
    connection.query(doing, sql, parameters, &mut visit).await?;
    Ok(found)
}

/// Returns the error for stored data that the store cannot have written.
pub fn corrupt_error(message: String) -> Error {
    Error::new(ErrorKind::Store(StoreErrorKind::Corrupt), message)
        .with_help("check whether another program wrote the data; if so, restore it from a backup")
}

/// Returns all rows of a query.
pub(crate) async fn all<C: Connection, T: Send>(
    connection: &mut C,
    doing: &'static str,
    query: Query<'_>,
    read: impl Fn(&dyn Columns) -> Result<T> + Send + Sync,
) -> Result<Vec<T>> {
    let mut found = Vec::new();
    let mut visit = |row: &dyn Columns| {
        found.push(read(row)?);
        Ok(Continue(()))
    };
    let (sql, parameters) = (Sql::Built(query.text), query.parameters);
    connection
        .query(doing, sql, &parameters, &mut visit)
        .await?;
    Ok(found)
}

/// Executes a built statement.
pub(crate) async fn execute<C: Connection>(
    connection: &mut C,
    doing: &'static str,
    query: Query<'_>,
) -> Result<u64> {
    let (sql, parameters) = (Sql::Built(query.text), query.parameters);
    connection.execute(doing, sql, &parameters).await
}

/// Completes work on a connection that answers without waiting.
///
/// # Errors
/// Errors of the work, and an error of kind [`StoreErrorKind::Unavailable`] if the connection
/// waits.
pub fn complete<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    match pin!(work).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => Err(Error::new(
            ErrorKind::Store(StoreErrorKind::Unavailable),
            "the connection waits",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOW: Dialect = Dialect {
        mark: '?',
        in_list: ["IN (SELECT value FROM json_each(", "))"],
        null_or: "ifnull",
        is_alive: "FALSE",
        keeps_join_order: true,
        limits_members: false,
        repeats_commits: false,
    };

    #[test]
    fn a_constant_has_both_spellings_of_its_parameters() {
        let sql = sql!(r#"SELECT '{"$failed":%' WHERE a = $1 "#, "AND b = $10");
        assert_eq!(
            sql.clone().text('$'),
            r#"SELECT '{"$failed":%' WHERE a = $1 AND b = $10"#
        );
        assert_eq!(
            sql.text('?'),
            r#"SELECT '{"$failed":%' WHERE a = ?1 AND b = ?10"#
        );
    }

    #[test]
    fn a_query_numbers_its_parameters() {
        let names = ["x".to_owned()];
        let mut query = Query::new(LOW, "a = ");
        query.bind("one").push(" AND ").bind_list("b", &names);
        query.limit(Some(2));
        assert_eq!(
            query.text(),
            "a = ?1 AND b IN (SELECT value FROM json_each(?2)) LIMIT ?3"
        );
        assert_eq!(query.parameters.len(), 3);
    }
}
