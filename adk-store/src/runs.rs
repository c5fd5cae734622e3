//! The registry of runs as rows of `adkw_runs` and of the journals of runs.

use crate::sql::{Columns, Connection, Parameter, Query, all, execute, first, sql};
use adk_journal::engine::{
    ClaimId, DrivenRun, Pairs, RunRecord, RunStatus, Stored, from_text, refuse, to_text,
};
use adk_journal::session::now_micros;
use adk_journal::{Event, StateDelta};
use adk_model::model::UsageByAgent;
use adk_model::{Result, RunId};
use serde_json::Value;
use std::sync::Arc;

/// Inserts a run that begins, or begins a run that was queued with this claim. Changes nothing if
/// the run exists otherwise. `owner` is the value of the column `owner`.
///
/// # Errors
/// When the database fails.
pub async fn begin<C: Connection>(
    connection: &mut C,
    session: i64,
    claim: ClaimId,
    owner: &str,
    record: &RunRecord,
) -> Result<()> {
    let text = to_text(record)?;
    let what = "enter a run";
    if insert(
        connection,
        what,
        "running",
        session,
        claim,
        owner,
        (record, &text),
    )
    .await?
    {
        return Ok(());
    }
    let sql = sql!(
        "UPDATE adkw_runs SET status = 'running', record = $4, updated = $5
        WHERE id = $1 AND owner = $2 AND epoch = $3 AND status = 'queued'"
    );
    let row = [
        claim.run_id.to_string().into(),
        owner.into(),
        claim.epoch.into(),
        text.into(),
        now_micros().into(),
    ];
    let begun = connection.execute("begin a queued run", sql, &row);
    begun.await.map(drop)
}

/// Inserts a queued run, which waits until earlier runs of its session have ended. Returns `false`
/// if a run has the same id.
///
/// # Errors
/// When the database fails.
pub async fn enqueue<C: Connection>(
    connection: &mut C,
    session: i64,
    claim: ClaimId,
    owner: &str,
    record: &RunRecord,
) -> Result<bool> {
    let text = to_text(record)?;
    let what = "queue a run";
    insert(
        connection,
        what,
        "queued",
        session,
        claim,
        owner,
        (record, &text),
    )
    .await
}

async fn insert<C: Connection>(
    connection: &mut C,
    what: &'static str,
    status: &str,
    session: i64,
    claim: ClaimId,
    owner: &str,
    (record, text): (&RunRecord, &str),
) -> Result<bool> {
    let sql = sql!(
        "INSERT INTO adkw_runs (id, session, status, owner, epoch, record, app, workflow, created,
            updated, tenant_of, user_id)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10, $11) ON CONFLICT DO NOTHING"
    );
    let row = [
        claim.run_id.to_string().into(),
        Parameter::Number(Some(session)),
        status.into(),
        owner.into(),
        claim.epoch.into(),
        text.into(),
        (&record.session.app).into(),
        (&record.workflow).into(),
        record.time.into(),
        record.tenant_of.as_deref().into(),
        (&record.session.user).into(),
    ];
    Ok(connection.execute(what, sql, &row).await? > 0)
}

/// Records the result of a step. If the step has a record, returns the recorded result instead. The
/// record of a failed call is replaced. Ignores a run that is not in the registry.
///
/// # Errors
/// When the database fails, or the record cannot be read.
pub async fn step<C: Connection>(
    connection: &mut C,
    run: RunId,
    key: &str,
    value: &Value,
) -> Result<Option<Value>> {
    let what = "record a step";
    let sql = sql!(
        r#"INSERT INTO adkw_steps AS s (run, key, value)
        SELECT $1, $2, $3 WHERE EXISTS (SELECT 1 FROM adkw_runs WHERE id = $1)
        ON CONFLICT (run, key) DO UPDATE SET value = excluded.value
        WHERE s.value LIKE '{"$failed":%'"#
    );
    let row = [run.to_string().into(), key.into(), value.to_string().into()];
    if connection.execute(what, sql, &row).await? > 0 {
        return Ok(None);
    }
    let sql = sql!("SELECT value FROM adkw_steps WHERE run = $1 AND key = $2");
    let earlier = first(connection, what, sql, &row[..2], |row| row.text(0)).await?;
    earlier
        .map(|text| from_text(&text, "the record of a step"))
        .transpose()
}

/// Writes a claim into the row of its run. Deletes answers that report an expired wait to a failed
/// run, so that the run asks again.
///
/// # Errors
/// When the database fails.
pub async fn write_claim<C: Connection>(
    connection: &mut C,
    claim: ClaimId,
    owner: &str,
    record: &RunRecord,
) -> Result<()> {
    let what = "claim a run";
    let sql = sql!(
        r#"DELETE FROM adkw_waits WHERE run = $1 AND answer LIKE '{"$failed":%'
        AND EXISTS (SELECT 1 FROM adkw_runs WHERE id = $1 AND status = 'failed')"#
    );
    let row = [
        claim.run_id.to_string().into(),
        owner.into(),
        claim.epoch.into(),
        record.first_status().name().into(),
        now_micros().into(),
    ];
    connection.execute(what, sql, &row[..1]).await?;
    let sql = sql!(
        "UPDATE adkw_runs SET owner = $2, epoch = $3, status = $4, error = NULL, updated = $5
        WHERE id = $1"
    );
    connection.execute(what, sql, &row).await.map(drop)
}

/// Marks the answers of a run as seen, and returns the ids of all its waits.
///
/// # Errors
/// When the database fails.
pub async fn mark_answers_seen<C: Connection>(
    connection: &mut C,
    run: RunId,
) -> Result<Vec<String>> {
    let text = "UPDATE adkw_waits SET seen = answer IS NOT NULL WHERE run = ";
    let mut query = Query::new(C::DIALECT, text);
    query.bind(run.to_string()).push(" RETURNING id");
    all(connection, "claim a run", query, |row| row.text(0)).await
}

/// Parses the record of a run.
///
/// # Errors
/// When the text cannot be read.
pub fn record_from_text(run: RunId, text: &str) -> Result<RunRecord> {
    from_text(text, &format!("the record of run `{run}`"))
}

/// Reads the `temp:` keys of an event.
///
/// # Errors
/// When the text cannot be read.
pub fn temp_from_text(text: Option<&str>) -> Result<StateDelta> {
    text.map_or(Ok(StateDelta::default()), |text| {
        from_text(text, "the `temp:` keys of an event")
    })
}

/// Reads keys and JSON texts of a run by a query of two columns.
///
/// # Errors
/// When the database fails.
pub async fn pairs<C: Connection>(
    connection: &mut C,
    text: &str,
    run: &[Parameter<'_>],
) -> Result<Pairs> {
    let mut query = Query::new(C::DIALECT, text);
    query.parameters = run.to_vec();
    let what = "read the journal of a run";
    all(connection, what, query, |row| {
        Ok((row.text(0)?, row.text(1)?))
    })
    .await
}

/// Releases a claim, and writes the status and the usage of the run if they are known. Returns
/// `false` if the claim is not the current one, or if the run has ended otherwise. The claim of an
/// engine above the store lasts until the end of the run.
///
/// # Errors
/// When the database fails.
pub async fn close<C: Connection>(
    connection: &mut C,
    claim: ClaimId,
    owner: &str,
    end: Option<&(RunStatus, UsageByAgent)>,
) -> Result<bool> {
    let what = "close a run";
    let (status, error) = end.map(|(status, _)| status.to_row()).unzip();
    let error = error.flatten();
    let usage = end.map(|(_, usage)| to_text(usage)).transpose()?;
    let goes_on = claim.is_driven_above() && end.is_some_and(|(status, _)| status.is_open());
    let sql = sql!(
        "UPDATE adkw_runs SET owner = CASE WHEN $8 THEN owner END, error = coalesce($5, error),
        updated = coalesce($6, updated), usage = coalesce($7, usage), status = CASE
            WHEN $4 = 'paused' AND EXISTS
                (SELECT 1 FROM adkw_waits WHERE run = $1 AND answer IS NOT NULL AND NOT seen)
                THEN 'answered'
            ELSE coalesce($4, status) END
        WHERE id = $1 AND owner = $2 AND epoch = $3"
    );
    let row = [
        claim.run_id.to_string().into(),
        owner.into(),
        claim.epoch.into(),
        status.into(),
        error.as_deref().into(),
        end.map(|_| now_micros()).into(),
        usage.as_deref().into(),
        goes_on.into(),
    ];
    if connection.execute(what, sql, &row).await? > 0 {
        if matches!(status, Some("finished" | "failed")) {
            delete_open_waits(connection, what, claim.run_id).await?;
        }
        return Ok(true);
    }
    if let Some(usage) = &usage {
        store_usage(connection, claim, usage).await?;
    }
    // No row was updated. That is no error if the run is not in the registry, or if an earlier call
    // has already closed it: its commit got no answer, or an engine above the store repeats the
    // call.
    let sql = sql!(
        "SELECT EXISTS (SELECT 1 FROM adkw_runs WHERE id = $1
        AND NOT (epoch = $2 AND ($4 OR ($2 = 0 AND status IS NOT DISTINCT FROM $3))))"
    );
    let may_be_closed = C::DIALECT.repeats_commits && !claim.is_driven_above();
    let [run, _, epoch, status, ..] = row;
    let row = [run, epoch, status, may_be_closed.into()];
    let is_claimed = first(connection, what, sql, &row, |row| row.flag(0));
    Ok(is_claimed.await? == Some(false))
}

async fn delete_open_waits<C: Connection>(
    connection: &mut C,
    what: &'static str,
    run: RunId,
) -> Result<()> {
    let sql = sql!("DELETE FROM adkw_waits WHERE run = $1 AND answer IS NULL");
    let run = [run.to_string().into()];
    connection.execute(what, sql, &run).await.map(drop)
}

/// Stores the usage of a cancelled run, if this claim was the last one before the cancellation.
///
/// # Errors
/// When the database fails.
pub async fn store_usage<C: Connection>(
    connection: &mut C,
    claim: ClaimId,
    usage: &str,
) -> Result<()> {
    let sql = sql!(
        "UPDATE adkw_runs SET usage = $3
        WHERE id = $1 AND status = 'cancelled' AND epoch = $2 + 1"
    );
    let row = [
        claim.run_id.to_string().into(),
        claim.epoch.into(),
        usage.into(),
    ];
    connection.execute("close a run", sql, &row).await.map(drop)
}

/// Cancels a run of an app that has not ended. Returns its status, and whether this call has
/// cancelled it.
///
/// # Errors
/// [`refuse::unknown_run`]; when the database fails.
pub async fn cancel<C: Connection>(
    connection: &mut C,
    app: &str,
    run: RunId,
) -> Result<(RunStatus, bool)> {
    let what = "cancel a run";
    let sql = sql!(
        "UPDATE adkw_runs SET status = 'cancelled', owner = NULL, epoch = epoch + 1, error = NULL,
        updated = $3
        WHERE id = $1 AND app = $2 AND status IN ('queued', 'running', 'paused', 'answered')"
    );
    let row = [run.to_string().into(), app.into(), now_micros().into()];
    let is_cancelled = connection.execute(what, sql, &row).await? > 0;
    if is_cancelled {
        delete_open_waits(connection, what, run).await?;
    }
    let sql = sql!("SELECT status, error FROM adkw_runs WHERE id = $1 AND app = $2");
    let status = first(connection, what, sql, &row[..2], |row| {
        Ok(RunStatus::from_row(&row.text(0)?, row.text_or_null(1)?))
    });
    let status = status.await?.ok_or_else(|| refuse::unknown_run(run))?;
    Ok((status, is_cancelled))
}

/// The column of the log that names the run of an event.
#[derive(Clone, Copy, Debug)]
pub struct RunColumn {
    /// The column of `adkw_runs` with the same values.
    pub name: &'static str,
    /// The tables of the log.
    pub tables: &'static [&'static str],
}

/// Deletes those of these runs of an app that have ended before a time, with their steps, marks and
/// waits, and removes them from the log. Returns their ids. `lock` follows the query that selects
/// them.
///
/// # Errors
/// When the database fails.
pub async fn delete_ended<C: Connection>(
    connection: &mut C,
    (app, runs, before): (&str, &[RunId], u64),
    column: RunColumn,
    lock: &str,
) -> Result<Vec<String>> {
    let what = "delete runs";
    let runs: Vec<_> = runs.iter().map(ToString::to_string).collect();
    let mut select = Query::new(C::DIALECT, "SELECT id FROM adkw_runs WHERE app = ");
    select
        .bind(app)
        .push(" AND status IN ('finished', 'failed', 'cancelled') AND updated < ");
    select.bind(before).push(" AND ").bind_list("id", &runs);
    select.push(lock);
    let ended = all(connection, what, select, |row| row.text(0)).await?;
    let tables = column.tables.iter();
    let clear = tables.map(|table| {
        let set = "SET run = NULL, slot = NULL, temp = NULL, done = NULL";
        let run = column.name;
        format!("UPDATE {table} {set} WHERE run IN (SELECT {run} FROM adkw_runs WHERE ")
    });
    for text in clear {
        let mut query = Query::new(C::DIALECT, text);
        query.bind_list("id", &ended).push(")");
        execute(connection, what, query).await?;
    }
    for (table, run) in [
        ("waits", "run"),
        ("steps", "run"),
        ("done", "run"),
        ("runs", "id"),
    ] {
        let mut query = Query::new(C::DIALECT, format!("DELETE FROM adkw_{table} WHERE "));
        query.bind_list(run, &ended);
        execute(connection, what, query).await?;
    }
    Ok(ended)
}

/// The row of a run that an engine above the store drives.
#[derive(Debug)]
pub struct DrivenRow {
    /// The record of the run.
    pub record: RunRecord,
    /// The number of the session, if not all events of the run are wanted. The first places of a
    /// log are found by the run, later ones faster by the session.
    pub session: Option<i64>,
    status: RunStatus,
    usage: Option<UsageByAgent>,
}

/// An event of a run, with its slot as text and its `temp:` keys.
#[derive(Debug)]
pub struct Filled {
    /// The place in the log.
    pub place: u64,
    /// The event.
    pub event: Arc<Event>,
    /// The slot.
    pub slot: String,
    /// The `temp:` keys as text.
    pub temp: Option<String>,
}

impl DrivenRow {
    /// Reads the row of a run, whose events from a place of the log on are wanted.
    ///
    /// # Errors
    /// [`refuse::run_busy`] for a run that a process has claimed; when the database fails, or the
    /// row cannot be read.
    pub async fn read<C: Connection>(
        connection: &mut C,
        run: RunId,
        from: u64,
    ) -> Result<Option<Self>> {
        let sql = sql!(
            "SELECT epoch, status, error, usage, record, session FROM adkw_runs WHERE id = $1"
        );
        let read = |row: &dyn Columns| {
            let status = RunStatus::from_row(&row.text(1)?, row.text_or_null(2)?);
            let epoch = row.number(0)?;
            let claim = ClaimId { run_id: run, epoch };
            if !claim.was_driven_above(&status) {
                return Err(refuse::run_busy(run));
            }
            let record = record_from_text(run, &row.text(4)?)?;
            let session = (from > record.begins)
                .then(|| row.number(5).map(u64::cast_signed))
                .transpose()?;
            Ok(Self {
                session,
                usage: usage(row.text_or_null(3)?)?,
                record,
                status,
            })
        };
        let wanted = [run.to_string().into()];
        first(connection, "read a run", sql, &wanted, read).await
    }

    /// Returns the run with its events.
    ///
    /// # Errors
    /// When `temp:` keys cannot be read.
    pub fn with_events(self, events: Vec<Filled>) -> Result<DrivenRun> {
        let stored = |filled: Filled| {
            let temp = temp_from_text(filled.temp.as_deref())?;
            let stored = Stored::earlier(filled.place, filled.event, temp);
            Ok((filled.slot, stored))
        };
        let events = events.into_iter().map(stored).collect::<Result<_>>()?;
        Ok(DrivenRun::new(self.record, self.status, self.usage, events))
    }
}

pub(crate) fn usage(text: Option<String>) -> Result<Option<UsageByAgent>> {
    text.map(|text| from_text(&text, "the usage of a run"))
        .transpose()
}
