//! [`Journal`]: what Restate shows of the programs on a worker: unfinished invocations and recorded
//! calls.

use crate::support::Server;
use adk_build::engine::is_failure;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::time::SystemTime;

pub struct Journal<'a> {
    server: &'a Server,
    /// SQL condition that selects the services of the programs.
    services: String,
    since: SystemTime,
}

/// An unfinished invocation.
#[derive(Debug)]
pub struct Open {
    pub service: String,
    pub handler: String,
    pub is_running: bool,
    /// Number of requests to Restate.
    pub entries: u64,
    /// Failure of its last attempt on this worker.
    pub failure: Option<String>,
}

impl<'a> Journal<'a> {
    /// Begins to observe the programs of these seeds.
    pub fn begin(server: &'a Server, seeds: &[u64]) -> Self {
        let condition = |seed: &u64| {
            let name = super::case::name(*seed);
            format!(
                "i.target_service_name = '{name}' OR i.target_service_name LIKE '{name}.branch-%'"
            )
        };
        let services = seeds.iter().map(condition).collect::<Vec<_>>().join(" OR ");
        Self {
            server,
            services,
            since: SystemTime::now(),
        }
    }

    /// Lists the unfinished invocations.
    pub async fn open(&self) -> Vec<Open> {
        let sql = format!(
            "SELECT i.target_service_name, i.target_handler_name, i.status, i.journal_commands_size,
                i.last_start_at, i.last_failure
            FROM sys_invocation i WHERE i.status <> 'completed' AND ({})",
            self.services
        );
        let rows = self.server.query(&sql).await;
        rows.iter().map(|row| self.read(row)).collect()
    }

    /// Lists the unfinished invocations once Restate has detected that the worker has stopped.
    pub async fn left(&self) -> Vec<Open> {
        loop {
            let open = self.open().await;
            if !open.iter().any(|open| open.is_running) {
                return open;
            }
            tokio::time::sleep(super::LOOK).await;
        }
    }

    fn read(&self, row: &Value) -> Open {
        let text = |column: &str| row[column].as_str().unwrap_or_default().to_owned();
        let is_stopped = matches!(&*text("status"), "backing-off" | "paused");
        let began = row["last_start_at"].as_str().map(time);
        let is_here = began.is_some_and(|began| began >= self.since);
        // A stop drops the tasks of the worker in any order. An attempt may find its store closed
        // before it is dropped itself, and reports that. A real kill would not, so the failure is
        // ignored.
        let is_of_stop = text("last_failure").contains("the store is closed");
        Open {
            service: text("target_service_name"),
            handler: text("target_handler_name"),
            is_running: text("status") == "running",
            entries: row["journal_commands_size"].as_u64().unwrap_or_default(),
            failure: (is_stopped && is_here && !is_of_stop).then(|| text("last_failure")),
        }
    }

    /// Lists the calls whose results are recorded, as `w/agent:model@0`.
    pub async fn recorded(&self) -> HashSet<String> {
        let sql = format!(
            "SELECT j.id, j.name, j.entry_json FROM sys_journal j
            JOIN sys_invocation i ON i.id = j.id
            WHERE j.entry_type IN ('Command: Run', 'Notification: Run') AND ({})",
            self.services
        );
        let (mut names, mut results) = (HashMap::new(), Vec::new());
        for row in self.server.query(&sql).await {
            let entry: Value = serde_json::from_str(row["entry_json"].as_str().unwrap()).unwrap();
            let id = row["id"].to_string();
            if let Some(run) = entry.pointer("/Command/Run") {
                names.insert(
                    (id, run["completion_id"].as_u64()),
                    run["name"].as_str().unwrap().to_owned(),
                );
            } else if let Some(run) = entry.pointer("/Notification/Completion/Run") {
                let bytes: Vec<u8> =
                    serde_json::from_value(run["result"]["Success"].clone()).unwrap_or_default();
                let result = serde_json::from_slice::<Value>(&bytes).unwrap_or_default();
                results.push(((id, run["completion_id"].as_u64()), result));
            }
        }
        let mut all = HashSet::new();
        for (of, result) in results {
            let name = names.get(&of).map(String::as_str).unwrap_or_default();
            for (name, result) in name
                .split('+')
                .zip(result["results"].as_array().into_iter().flatten())
            {
                if !result.is_null() && !is_failure(&result["value"]) {
                    all.insert(name.to_owned());
                }
            }
        }
        all
    }
}

/// Parses a time of Restate, such as `2026-11-27T19:32:49.977Z`.
fn time(text: &str) -> SystemTime {
    let numbers: Vec<i64> = text
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|number| number.parse().ok())
        .collect();
    let [year, month, day, hour, minute, second, rest @ ..] = &numbers[..] else {
        panic!("{text}")
    };
    // Days since 1970, by Howard Hinnant's algorithm.
    let (year, month) = if *month > 2 {
        (*year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let days =
        era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + (153 * month + 2) / 5 + day
            - 1
            - 719_468;
    let millis =
        (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + rest.first().unwrap_or(&0);
    SystemTime::UNIX_EPOCH + std::time::Duration::from_millis(millis as u64)
}
