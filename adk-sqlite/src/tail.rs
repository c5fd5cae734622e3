//! [`Tail`]: the newest rows of the log, in the order in which they were written, on pages that all
//! sessions share.
//!
//! Each session has pages of its own in `adkw_log`, and SQLite writes a touched page as a whole. So
//! an event goes to `adkw_tail` first, and many events of a session move to its own pages together.
//! All rows of the tail move in one transaction, so a session's places in the tail always follow
//! its places in the log.

use crate::error::Doing;
use adk_model::Result;
use rusqlite::{Connection, params};
use std::collections::HashSet;

/// The tables that hold the log, newest places first. Read them in this order: rows move from the
/// first to the second, never back.
pub(crate) const TABLES: [&str; 2] = ["adkw_tail", "adkw_log"];

/// Number of events per session that should move together.
const EACH: usize = 16;

/// Minimum number of rows that move, because fewer rows are on few pages anyway.
const FEWEST: usize = 256;

/// Maximum number of rows that move, because the move delays the next job.
const MOST: usize = 2048;

/// A row of the log. A row with a slot has the number of its run.
pub(crate) struct Place<'a> {
    pub(crate) session: i64,
    pub(crate) place: u64,
    pub(crate) event: &'a str,
    pub(crate) micros: u64,
    pub(crate) run: Option<i64>,
    pub(crate) slot: Option<&'a str>,
    pub(crate) temp: Option<&'a str>,
    pub(crate) done: Option<&'a str>,
}

/// Size of the tail.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    /// An upper bound of the number of rows; `None` after a write of another connection or a
    /// rollback.
    rows: Option<usize>,
    sessions: HashSet<i64>,
    /// Minimum number of rows for the next move, if the last move has failed.
    again: usize,
}

impl Tail {
    /// Forgets the number of rows, because another connection or a rollback may have changed it.
    pub(crate) fn forget(&mut self) {
        self.rows = None;
    }

    /// Adds a row. Returns `false`, without a write, when the slot is already filled in the tail or
    /// in the log. `alone` means that the transaction has only this row: it would share no page of
    /// the tail, so it goes to the log directly if the tail is empty.
    pub(crate) fn add(
        &mut self,
        connection: &Connection,
        new: &Place<'_>,
        alone: bool,
    ) -> rusqlite::Result<bool> {
        let rows = match self.rows {
            Some(rows) => rows,
            None => {
                // Numbers start at 1 when the tail is empty, so the largest number bounds the
                // count.
                let sql = "SELECT coalesce(max(number), 0) FROM adkw_tail";
                connection
                    .prepare_cached(sql)?
                    .query_row([], |row| row.get(0))?
            }
        };
        self.rows = Some(rows);
        let straight = alone && rows == 0;
        // `OR FAIL`: a failed single row writes nothing, so SQLite need not copy pages for a
        // statement rollback.
        let sql = if straight {
            "INSERT OR FAIL INTO adkw_log (session, place, event_id, micros, run, slot, temp, done)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (run, slot) WHERE run IS NOT NULL DO NOTHING"
        } else {
            "INSERT OR FAIL INTO adkw_tail (session, place, event_id, micros, run, slot, temp, done)
             SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8
             WHERE NOT EXISTS (SELECT 1 FROM adkw_log WHERE run = ?5 AND slot = ?6)
             ON CONFLICT (run, slot) WHERE run IS NOT NULL DO NOTHING"
        };
        let Place {
            session,
            place,
            event,
            micros,
            run,
            slot,
            temp,
            done,
        } = *new;
        let row = params![session, place, event, micros, run, slot, temp, done];
        if connection.prepare_cached(sql)?.execute(row)? == 0 {
            return Ok(false);
        }
        if !straight {
            self.rows = Some(usize::try_from(connection.last_insert_rowid()).unwrap_or(rows + 1));
            self.sessions.insert(session);
        }
        Ok(true)
    }

    /// Reports whether the tail is long enough to move.
    pub(crate) fn is_long(&self) -> bool {
        let enough = (EACH * self.sessions.len()).clamp(FEWEST, MOST);
        self.rows.is_some_and(|rows| rows >= self.again.max(enough))
    }

    /// Updates the size after a move. After a failed move, the tail grows further before the next
    /// attempt. No data is lost.
    pub(crate) fn finish_move(&mut self, moved: bool) {
        let rows = self.rows.unwrap_or_default();
        *self = if moved {
            Self {
                rows: Some(0),
                ..Self::default()
            }
        } else {
            Self {
                rows: self.rows,
                again: rows + FEWEST,
                ..Self::default()
            }
        };
    }
}

/// Moves the tail into the log, in the open transaction. The caller rolls it back after an error.
pub(crate) fn merge(connection: &Connection) -> Result<()> {
    for sql in [
        "INSERT OR FAIL INTO adkw_log (session, place, event_id, micros, run, slot, temp, done)
            SELECT session, place, event_id, micros, run, slot, temp, done FROM adkw_tail
            ORDER BY session, place",
        "DELETE FROM adkw_tail",
    ] {
        connection
            .prepare_cached(sql)
            .and_then(|mut s| s.execute([]))
            .doing("bring the log in order")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

    use super::*;

    fn tables() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("PRAGMA foreign_keys=OFF").unwrap();
        crate::schema::prepare(&connection).unwrap();
        connection
    }

    fn log_row(session: i64, place: u64, slot: &str) -> Place<'_> {
        let run = Some(session);
        Place {
            session,
            place,
            event: "e",
            micros: place,
            run,
            slot: Some(slot),
            temp: None,
            done: None,
        }
    }

    fn rows(connection: &Connection, table: &str) -> Vec<(i64, u64)> {
        let sql = format!("SELECT session, place FROM {table} ORDER BY session, place");
        let mut statement = connection.prepare(&sql).unwrap();
        let rows = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap();
        rows.map(Result::unwrap).collect()
    }

    #[test]
    fn a_slot_is_filled_once_in_tail_and_log() {
        let (connection, mut tail) = (tables(), Tail::default());
        assert!(tail.add(&connection, &log_row(1, 0, "a"), false).unwrap());
        assert!(
            !tail.add(&connection, &log_row(1, 1, "a"), false).unwrap(),
            "it is in the tail"
        );
        merge(&connection).unwrap();
        assert_eq!(
            (rows(&connection, TABLES[0]), rows(&connection, TABLES[1])),
            (vec![], vec![(1, 0)])
        );
        assert!(
            !tail.add(&connection, &log_row(1, 1, "a"), false).unwrap(),
            "it is in the log"
        );
        // Slot names are unique per run: the first row has another run, the second another slot.
        assert!(tail.add(&connection, &log_row(2, 0, "a"), false).unwrap());
        assert!(tail.add(&connection, &log_row(1, 1, "b"), false).unwrap());
        // Two rows of a session cannot have the same place.
        assert!(tail.add(&connection, &log_row(1, 1, "c"), false).is_err());
        merge(&connection).unwrap();
        assert_eq!(rows(&connection, TABLES[1]), [(1, 0), (1, 1), (2, 0)]);
    }

    #[test]
    fn a_row_alone_in_its_transaction_goes_to_the_log_when_the_tail_is_empty() {
        let (connection, mut tail) = (tables(), Tail::default());
        assert!(tail.add(&connection, &log_row(1, 0, "a"), true).unwrap());
        assert_eq!(
            (rows(&connection, TABLES[0]), rows(&connection, TABLES[1])),
            (vec![], vec![(1, 0)])
        );
        assert!(!tail.add(&connection, &log_row(1, 1, "a"), true).unwrap());
        assert!(!tail.is_long());
        // If the tail is not empty, even rows that are alone go to the tail, also from a new `Tail`
        // that has not read the table yet.
        assert!(tail.add(&connection, &log_row(1, 1, "b"), false).unwrap());
        assert!(tail.add(&connection, &log_row(1, 2, "c"), true).unwrap());
        let mut other = Tail::default();
        assert!(other.add(&connection, &log_row(1, 3, "d"), true).unwrap());
        assert_eq!(rows(&connection, TABLES[0]), [(1, 1), (1, 2), (1, 3)]);
        merge(&connection).unwrap();
        tail.forget();
        assert!(tail.add(&connection, &log_row(1, 4, "e"), true).unwrap());
        assert_eq!(
            (
                rows(&connection, TABLES[0]),
                rows(&connection, TABLES[1]).len()
            ),
            (vec![], 5)
        );
    }

    #[test]
    fn the_tail_moves_when_it_has_many_rows_of_each_session() {
        let (connection, mut tail) = (tables(), Tail::default());
        let fill = |tail: &mut Tail, sessions: i64| -> usize {
            let mut added = 0;
            for place in (tail.rows.unwrap_or_default() as u64).. {
                for session in 0..sessions {
                    if tail.is_long() {
                        return added;
                    }
                    tail.add(
                        &connection,
                        &log_row(session, place, &place.to_string()),
                        false,
                    )
                    .unwrap();
                    added += 1;
                }
            }
            added
        };
        assert_eq!(fill(&mut tail, 1), FEWEST);
        // The move failed, for example on a full disk: the next attempt comes later.
        tail.finish_move(false);
        assert!(!tail.is_long());
        assert_eq!(fill(&mut tail, 1), FEWEST);
        merge(&connection).unwrap();
        tail.finish_move(true);
        connection.execute("DELETE FROM adkw_log", []).unwrap();
        assert_eq!(fill(&mut tail, 64), 64 * EACH);
        merge(&connection).unwrap();
        tail.finish_move(true);
        connection.execute("DELETE FROM adkw_log", []).unwrap();
        assert_eq!(fill(&mut tail, 1000), MOST);
    }

    #[test]
    fn queries_for_a_row_use_an_index() {
        let connection = tables();
        for sql in [
            "SELECT 1 FROM adkw_log WHERE run = ?1 AND slot = ?2",
            "SELECT 1 FROM adkw_tail WHERE run = ?1 AND slot = ?2",
            "SELECT temp FROM adkw_tail WHERE run = ?1 AND temp IS NOT ?2",
            "SELECT place, micros FROM adkw_tail WHERE session = ?1 AND place < ?2
                ORDER BY place DESC LIMIT 1",
        ] {
            let mut statement = connection
                .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
                .unwrap();
            let steps = statement
                .query_map([1, 1], |row| row.get::<_, String>(3))
                .unwrap();
            let steps: Vec<_> = steps.map(Result::unwrap).collect();
            assert!(
                steps.len() == 1 && steps[0].starts_with("SEARCH "),
                "{sql}: {steps:?}"
            );
        }
    }
}
