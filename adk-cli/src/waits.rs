//! `adk waiting` and `adk answer`.

use crate::output::{Cell, Output, short};
use crate::store::{Opened, Place};
use adk_core::engine::{RunFilter, Waiting};
use adk_core::memory::iso;
use adk_core::runner::WaitJson;
use adk_core::{AnsweredBy, Answerer, Result, RunId};
use clap::Args;
use serde_json::Value;
use std::borrow::Cow;

#[derive(Args)]
pub struct List {
    /// List only waits of this user
    #[arg(long)]
    user: Option<String>,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    output: Output,
}

#[derive(Args)]
pub struct Answer {
    /// The id of the wait
    wait: String,
    /// The answer, such as `true`, `'"yes"'` or `'{"note": "shorter"}'`
    #[arg(value_name = "JSON", value_parser = json, allow_negative_numbers = true)]
    answer: Value,
    /// A role of the user who answers; may be repeated
    #[arg(long = "role", value_name = "ROLE")]
    roles: Vec<String>,
    /// The user who answers; by default the user of the run
    #[arg(long)]
    user: Option<String>,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    output: Output,
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| {
        format!("invalid JSON: {error}; help: write quotes around a text, as in '\"yes\"'")
    })
}

/// Returns the question. A prefix names who may answer, if not the user of the run.
pub fn question(wait: &Waiting) -> Cow<'_, str> {
    match &wait.by {
        None => Cow::Borrowed(&wait.question),
        Some(AnsweredBy::Other) => format!("by another user: {}", wait.question).into(),
        Some(AnsweredBy::Role(role)) => format!("by role `{role}`: {}", wait.question).into(),
    }
}

/// Returns the waits of a run.
pub async fn waits_of(opened: &Opened, run: RunId) -> Result<Vec<Waiting>> {
    let mut filter = RunFilter::unfinished();
    filter.run = Some(run);
    opened.runner.waiting_of(&filter).await
}

impl List {
    pub async fn run(self) -> Result<()> {
        let opened = self.place.open().await?;
        let mut filter = RunFilter::unfinished();
        filter.user = self.user;
        let waits = opened.runner.waiting_of(&filter).await?;
        if self.output.json {
            self.output
                .json(&waits.iter().map(WaitJson::from).collect::<Vec<_>>())?;
        } else {
            let rows = waits.iter().map(|wait| {
                [
                    Cell::from(&*wait.id),
                    Cell::from(&*wait.user),
                    wait.deadline.map(iso).unwrap_or_default().into(),
                    short(&question(wait), 80).into(),
                ]
            });
            self.output
                .table(["WAIT", "USER", "UNTIL", "QUESTION"], rows.collect())?;
        }
        opened.close().await
    }
}

impl Answer {
    pub async fn run(self) -> Result<()> {
        let opened = self.place.open().await?;
        let mut answerer = self.user.map_or_else(Answerer::default, Answerer::user);
        answerer.roles = self.roles;
        opened
            .runner
            .answer_as(&self.wait, &self.answer, &answerer)
            .await?;
        if self.output.json {
            self.output
                .json(&serde_json::json!({"id": self.wait, "answer": self.answer}))?;
        } else {
            self.output
                .line("answered: the program that resumes the run continues it")?;
        }
        opened.close().await
    }
}
