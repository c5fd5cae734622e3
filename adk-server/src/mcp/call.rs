//! One call of a tool: a run from its start to its end, with its progress and its questions.

use super::question::{Question, declined};
use crate::access::Caller;
use crate::follow::{EVERY, Item, follow};
use crate::keys::{Beginning, Begun};
use crate::refuse::Refusal;
use crate::routes::{found, go_on, output};
use crate::runs::{End, Listener};
use crate::serve::App;
use adk_core::engine::{RunFilter, RunStatus, Waiting};
use adk_core::runner::KnownWorkflow;
use adk_core::{AnsweredBy, ErrorKind, Event, EventId, RunId, Runner};
use axum::http::StatusCode;
use futures_util::StreamExt;
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ContentBlock, ProgressNotificationParam};
use rmcp::service::{ElicitationMode, RequestContext};
use serde_json::Value;
use std::pin::pin;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

pub(super) struct Call {
    app: Arc<App>,
    runner: Runner,
    caller: Caller,
    cancel: CancellationToken,
    context: RequestContext<RoleServer>,
    /// How many events the client was told of.
    told: u32,
}

/// How far a run came.
enum Outcome {
    Finished(Value),
    /// It waits for answers that this client does not give.
    Waits(Vec<Waiting>),
}

impl Call {
    pub(super) fn new(
        app: Arc<App>,
        runner: Runner,
        caller: Caller,
        cancel: CancellationToken,
        context: RequestContext<RoleServer>,
    ) -> Self {
        Self { app, runner, caller, cancel, context, told: 0 }
    }

    /// The result, also of a call that failed: so the model reads why.
    pub(super) async fn result(mut self, workflow: &KnownWorkflow, input: Value) -> CallToolResult {
        let faults = workflow.check(&input);
        if !faults.is_empty() {
            let help = "nothing was begun; the input schema of the tool says what fits";
            return failed(&Refusal::input(faults).help(help).text());
        }
        let (run, listener) = match self.start(workflow, workflow.complete(input)).await {
            Ok(Begun::Now(run, listener)) => (run, Some(listener)),
            Ok(Begun::Before(run) | Begun::Unknown(run)) => (run, None),
            Err(refusal) => return failed(&refusal.text()),
        };
        let run = run.run_id;
        let mut result = match self.outcome(run, listener).await {
            Ok(Outcome::Finished(output)) => finished(output),
            Ok(Outcome::Waits(waits)) => failed(&waiting(run, &waits)),
            Err(refusal) if refusal.is_of_store() => failed(&running(run)),
            Err(refusal) => failed(&refusal.text()),
        };
        result.meta.get_or_insert_default().0.insert("adk/run".to_owned(), run.to_string().into());
        result
    }

    async fn start(&self, workflow: &KnownWorkflow, input: Value) -> Result<Begun, Refusal> {
        let user = self.caller.acts_for(None)?;
        let (runner, name) = (&self.runner, workflow.name());
        let beginning =
            Beginning { runner, user: &user, workflow: name, session: None, input: &input, key: None };
        self.app.begin(&beginning, |session| session.run_by_name(name, input.clone())).await
    }

    async fn outcome(&mut self, run: RunId, mut listener: Option<Listener>) -> Result<Outcome, Refusal> {
        let mut after = None;
        loop {
            match self.follow(run, &mut after, listener.take()).await?.as_deref() {
                Some(End::Finished { output, .. }) => return Ok(Outcome::Finished(output.clone())),
                // Another process was faster, and goes on with it.
                Some(End::Failed(error)) if error.kind() != ErrorKind::RunBusy => return Err(error.into()),
                _ => {}
            }
            let now = found(&self.runner, &self.caller, run).await?;
            match &now.status {
                RunStatus::Finished => return Ok(Outcome::Finished(output(&self.runner, &now).await?)),
                RunStatus::Failed(error) => {
                    return Err(Refusal::new(StatusCode::BAD_GATEWAY, "failed", &**error));
                }
                RunStatus::Cancelled => {
                    return Err(Refusal::new(StatusCode::CONFLICT, "cancelled", "the run was cancelled"));
                }
                RunStatus::Paused => {
                    let waits = self.runner.waiting_of(&RunFilter::of_run(run)).await?;
                    if !waits.is_empty() && !self.ask(run, &waits).await? {
                        return Ok(Outcome::Waits(waits));
                    }
                    go_on(&self.app, &self.runner, run).await?;
                    listener = self.app.runs.listen(run);
                    // Another process may go on with it, or a wait beside it is open.
                    if listener.is_none() && self.is_paused(run).await? {
                        self.unless_over(run, tokio::time::sleep(EVERY)).await?;
                    }
                }
                _ => {}
            }
        }
    }

    async fn is_paused(&self, run: RunId) -> Result<bool, Refusal> {
        Ok(found(&self.runner, &self.caller, run).await?.status == RunStatus::Paused)
    }

    /// Tells of the events of a run until it ends or waits.
    async fn follow(
        &mut self,
        run: RunId,
        after: &mut Option<EventId>,
        listener: Option<Listener>,
    ) -> Result<Option<Arc<End>>, Refusal> {
        let info = found(&self.runner, &self.caller, run).await?;
        let events = follow(self.app.clone(), self.runner.clone(), info, *after, listener, false);
        let mut events = pin!(events);
        loop {
            // What drives the run tells of its end when the server stops, so only the client is listened to.
            let item = tokio::select! {
                () = self.cancel.cancelled() => return Err(self.cancelled(run).await),
                item = events.next() => item,
            };
            match item {
                Some(Ok(Item::Event(event))) if event.partial => {}
                Some(Ok(Item::Event(event))) => {
                    *after = Some(event.id);
                    self.tell(&event).await;
                }
                Some(Ok(Item::End(end))) => return Ok(end),
                Some(Err(refusal)) => return Err(refusal),
                None => return Err(self.closing(run)),
            }
        }
    }

    /// Tells a client that asked for it how far the run is.
    async fn tell(&mut self, event: &Event) {
        let Some(token) = self.context.meta.get_progress_token() else { return };
        self.told += 1;
        let round = event.path.iteration().map(|round| format!(", round {}", round + 1)).unwrap_or_default();
        let message = format!("{}{round}", event.path);
        let progress = ProgressNotificationParam::new(token, f64::from(self.told)).with_message(message);
        // A client that is gone is not told.
        let _ = self.context.peer.notify_progress(progress).await;
    }

    /// Asks the user of the client for the first answer that a form can hold. Whether there is one now.
    async fn ask(&self, run: RunId, waits: &[Waiting]) -> Result<bool, Refusal> {
        let peer = &self.context.peer;
        if !peer.supported_elicitation_modes().contains(&ElicitationMode::Form) {
            return Ok(false);
        }
        let answerer = self.caller.answerer();
        let mut own = waits.iter().filter(|wait| wait.may_answer(&answerer));
        let Some((wait, question)) = own.find_map(|wait| Some((wait, Question::of(wait)?))) else {
            return Ok(false);
        };
        let mut fault = None;
        loop {
            let asked = peer.create_elicitation(question.params(wait, fault.as_deref()));
            let given = tokio::select! {
                given = self.unless_over(run, asked) => given?,
                gone = self.gone(run, &wait.id) => return gone.map(|()| true),
            };
            // A client that is gone does not answer.
            let Ok(given) = given else { return Ok(false) };
            if declined(&given) {
                return Ok(false);
            }
            let value = question.value(given.content);
            let Err(error) = self.runner.answer_as(&wait.id, value, &answerer).await else {
                return Ok(true);
            };
            match error.kind() {
                ErrorKind::AnswerInvalid => fault = Some(error.message().to_owned()),
                // Somebody else has answered, or time has.
                ErrorKind::Answered | ErrorKind::Expired | ErrorKind::UnknownWait => return Ok(true),
                _ => return Err(error.into()),
            }
        }
    }

    /// Ends when a wait is answered elsewhere, or its run has ended.
    async fn gone(&self, run: RunId, wait: &str) -> Result<(), Refusal> {
        loop {
            tokio::time::sleep(EVERY).await;
            let waits = self.runner.waiting_of(&RunFilter::of_run(run)).await?;
            if !waits.iter().any(|open| open.id == wait) {
                return Ok(());
            }
        }
    }

    /// Waits for something, unless the client cancels the call or the server stops.
    async fn unless_over<T>(&self, run: RunId, work: impl Future<Output = T>) -> Result<T, Refusal> {
        tokio::select! {
            () = self.cancel.cancelled() => Err(self.cancelled(run).await),
            () = self.app.runs.closing() => Err(self.closing(run)),
            done = work => Ok(done),
        }
    }

    async fn cancelled(&self, run: RunId) -> Refusal {
        match self.runner.cancel(run).await {
            Ok(_) => {
                Refusal::new(StatusCode::CONFLICT, "cancelled", "the call was cancelled, and its run with it")
            }
            Err(error) => error.into(),
        }
    }

    fn closing(&self, run: RunId) -> Refusal {
        let message = format!("the server stops; the run `{run}` goes on in the next process");
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "closing", message)
            .help(format!("`GET /v1/runs/{run}` has its output"))
    }
}

fn finished(output: Value) -> CallToolResult {
    let text = match &output {
        Value::String(text) => text.clone(),
        output => output.to_string(),
    };
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(output).filter(Value::is_object);
    result
}

fn failed(text: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

/// What the model reads of a run that goes on while the store is away.
fn running(run: RunId) -> String {
    format!(
        "The store is away, and the run `{run}` goes on when it is back. Do not call again. \
         `GET /v1/runs/{run}` says how it ends."
    )
}

/// What the model reads of a run that waits.
fn waiting(run: RunId, waits: &[Waiting]) -> String {
    let mut text =
        format!("The run `{run}` waits for people, and goes on when they have answered. Do not call again.");
    for Waiting { id, question, schema, by, .. } in waits {
        let by = match by {
            None => String::new(),
            Some(AnsweredBy::Other) => " by another user".to_owned(),
            Some(AnsweredBy::Role(role)) => format!(" by a user with the role `{role}`"),
        };
        text.push_str(&format!(
            "\n{question}\nIt is answered{by} by `POST /v1/waiting/{id}` with JSON of this schema: {schema}"
        ));
    }
    text
}
