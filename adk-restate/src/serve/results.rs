//! Results of Restate for the run.

use super::Serving;
use super::queue::{Awaited, Branch};
use crate::checked;
use crate::handle::Stop;
use crate::idle::go_signal;
use crate::messages::{AnswerCall, BranchResult};
use adk_core::engine::{BranchReport, refuse};
use adk_core::{Error, ErrorKind, Result};
use restate_sdk::errors::TerminalError;
use restate_sdk::serde::Json;
use serde_json::Value;

impl<T: Send + 'static> Serving<'_, T> {
    async fn resume(&mut self) -> Result<(), Stop> {
        if self.is_idle {
            self.gate
                .resume(&self.handle, self.attempt.stream.usage())
                .await?;
            self.is_idle = false;
        }
        Ok(())
    }

    pub(super) async fn handle_result(
        &mut self,
        kind: Awaited,
        given: Result<Json<Value>, TerminalError>,
    ) -> Result<(), Stop> {
        match kind {
            Awaited::Look => {}
            Awaited::Deadline(waiting) => {
                let call = AnswerCall::too_late(&self.handle.app, *waiting);
                let input = serde_json::to_value(call).map_err(Error::other)?;
                drop(
                    self.ctx()
                        .request::<_, Json<Value>>(self.handle.of_run("answer"), Json(input))
                        .send(),
                );
            }
            Awaited::Answer { answer, .. } => {
                self.resume().await?;
                let _ = answer.send(
                    given
                        .map(|Json(value)| Some(value))
                        .map_err(|error| invocation_error(&error)),
                );
            }
            Awaited::Timer { answer, .. } => {
                self.resume().await?;
                let _ = answer.send(());
            }
            Awaited::News(number) => {
                let Some(mut branch) = self.branches.running.remove(&number) else {
                    return Ok(());
                };
                branch.is_idle = !branch.is_idle;
                if !branch.is_idle {
                    self.resume().await?;
                    branch
                        .call
                        .signal(go_signal(branch.news))
                        .resolve(Json(true));
                }
                branch.news += 1;
                self.listen(number, &branch);
                self.branches.running.insert(number, branch);
            }
            Awaited::Branch(number) => {
                self.resume().await?;
                let Some(branch) = self.branches.running.remove(&number) else {
                    return Ok(());
                };
                self.answer_branch(branch, given).await?;
            }
        }
        Ok(())
    }

    /// Answers the block of a branch with the report of the branch.
    async fn answer_branch(
        &mut self,
        branch: Branch,
        given: Result<Json<Value>, TerminalError>,
    ) -> Result<(), Stop> {
        let result = match given {
            Ok(Json(value)) => serde_json::from_value(value).map_err(Error::other),
            // The branch was cancelled before it began.
            Err(error) if error.code() == 409 => Ok(BranchResult::cancelled(Vec::new())?),
            Err(error) => Err(invocation_error(&error)),
        };
        let report = match result {
            Ok(result) if result.is_cancelled && branch.cancelled.is_some() => {
                Err(refuse::cancelled(self.handle.run_id))
            }
            Ok(BranchResult { report, places, .. }) => {
                let mut events = match places.iter().min() {
                    Some(from) => self.handle.stored(*from).await?,
                    None => Vec::new(),
                };
                events.retain(|(_, stored)| places.contains(&stored.place));
                self.places.extend(places);
                let events = events
                    .into_iter()
                    .map(|(_, stored)| checked::remove_mark(stored));
                BranchReport::from_value(report, events.collect())
            }
            Err(error) => Err(error),
        };
        let _ = branch.answer.send(report);
        Ok(())
    }
}

fn invocation_error(error: &TerminalError) -> Error {
    Error::new(
        ErrorKind::Agent,
        format!("Restate ended a part of the run: {}", error.message()),
    )
    .with_help("inspect the invocation in the web UI of the Restate server")
}
