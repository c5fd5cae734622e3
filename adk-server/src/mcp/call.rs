//! [`McpCall`]: one tool call. It starts a run, reports its progress, asks its questions and
//! returns its output.

use super::question::{Question, is_declined};
use crate::app::{
    App, Caller, EVERY, Listener, RunEnding, RunItem, RunStart, StartOutcome, find_run, output,
};
use crate::refuse::Refusal;
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

pub(super) struct McpCall {
    app: Arc<App>,
    runner: Runner,
    caller: Caller,
    cancel: CancellationToken,
    context: RequestContext<RoleServer>,
    /// The number of progress notifications so far.
    reported: u32,
}

/// The result of following a run.
enum CallOutcome {
    Finished(Value),
    /// The run waits for answers that this client cannot give.
    Waits(Vec<Waiting>),
}

impl McpCall {
    pub(super) fn new(
        app: Arc<App>,
        runner: Runner,
        caller: Caller,
        cancel: CancellationToken,
        context: RequestContext<RoleServer>,
    ) -> Self {
        Self {
            app,
            runner,
            caller,
            cancel,
            context,
            reported: 0,
        }
    }

    /// Runs the call. An error is part of the result, so that the model can read it.
    pub(super) async fn result(mut self, workflow: &KnownWorkflow, input: Value) -> CallToolResult {
        let faults = workflow.check(&input);
        if !faults.is_empty() {
            let help = "correct the fields, see the input schema of the tool; no run was started";
            return error_result(&Refusal::input(faults).help(help).text());
        }
        let (run, listener) = match self.start(workflow, workflow.complete(input)).await {
            Ok(StartOutcome::Started(run, listener)) => (run, Some(listener)),
            Ok(StartOutcome::Existing(run) | StartOutcome::Unknown(run)) => (run, None),
            Err(refusal) => return error_result(&refusal.text()),
        };
        let run = run.run_id;
        let mut result = match self.outcome(run, listener).await {
            Ok(CallOutcome::Finished(output)) => success_result(output),
            Ok(CallOutcome::Waits(waits)) => error_result(&waiting_text(run, &waits)),
            Err(refusal) if refusal.is_of_store() => error_result(&running_text(run)),
            Err(refusal) => error_result(&refusal.text()),
        };
        result
            .meta
            .get_or_insert_default()
            .0
            .insert("adk/run".to_owned(), run.to_string().into());
        result
    }

    async fn start(&self, workflow: &KnownWorkflow, input: Value) -> Result<StartOutcome, Refusal> {
        let user = self.caller.acts_for(None)?;
        let (runner, name) = (&self.runner, workflow.name());
        let start = RunStart::new(runner, &user, name, &input);
        self.app
            .begin(&start, |session| session.run_by_name(name, input.clone()))
            .await
    }

    async fn outcome(
        &mut self,
        run: RunId,
        mut listener: Option<Listener>,
    ) -> Result<CallOutcome, Refusal> {
        let mut after = None;
        loop {
            match self
                .follow(run, &mut after, listener.take())
                .await?
                .as_deref()
            {
                Some(RunEnding::Finished { output, .. }) => {
                    return Ok(CallOutcome::Finished(output.clone()));
                }
                // Another process drives the run.
                Some(RunEnding::Failed(error)) if error.kind() != ErrorKind::RunBusy => {
                    return Err(error.into());
                }
                _ => {}
            }
            let now = find_run(&self.runner, &self.caller, run).await?;
            match &now.status {
                RunStatus::Finished => {
                    return Ok(CallOutcome::Finished(output(&self.runner, &now).await?));
                }
                RunStatus::Failed(error) => {
                    return Err(error.clone().into());
                }
                RunStatus::Cancelled => {
                    return Err(Refusal::new(
                        StatusCode::CONFLICT,
                        "cancelled",
                        "the run was cancelled",
                    ));
                }
                RunStatus::Paused => {
                    let waits = self.runner.waiting_of(&RunFilter::of_run(run)).await?;
                    if !waits.is_empty() && !self.ask(run, &waits).await? {
                        return Ok(CallOutcome::Waits(waits));
                    }
                    self.app.resume(&self.runner, run).await?;
                    listener = self.app.listen(run);
                    // Another process may drive the run, or another wait of the run is open.
                    if listener.is_none() && self.is_paused(run).await? {
                        self.unless_over(run, tokio::time::sleep(EVERY)).await?;
                    }
                }
                _ => {}
            }
        }
    }

    async fn is_paused(&self, run: RunId) -> Result<bool, Refusal> {
        Ok(find_run(&self.runner, &self.caller, run).await?.status == RunStatus::Paused)
    }

    /// Reports the events of a run until it ends or waits.
    async fn follow(
        &mut self,
        run: RunId,
        after: &mut Option<EventId>,
        listener: Option<Listener>,
    ) -> Result<Option<Arc<RunEnding>>, Refusal> {
        let info = find_run(&self.runner, &self.caller, run).await?;
        let events = self.app.follow(self.runner.clone(), info, *after, listener);
        let mut events = pin!(events);
        loop {
            // When the server stops, the run still reports its end here, so only cancellation is
            // checked.
            let item = tokio::select! {
                () = self.cancel.cancelled() => return Err(self.cancel_run(run).await),
                item = events.next() => item,
            };
            match item {
                Some(Ok(RunItem::Event(event))) if event.partial => {}
                Some(Ok(RunItem::Event(event))) => {
                    *after = Some(event.id);
                    self.report(&event).await;
                }
                Some(Ok(RunItem::End(end))) => return Ok(end),
                Some(Err(refusal)) => return Err(refusal),
                None => return Err(self.closing_refusal(run)),
            }
        }
    }

    /// Sends a progress notification if the client has asked for progress.
    async fn report(&mut self, event: &Event) {
        let Some(token) = self.context.meta.get_progress_token() else {
            return;
        };
        self.reported += 1;
        let round = event
            .path
            .iteration()
            .map(|round| format!(", round {}", round + 1))
            .unwrap_or_default();
        let message = format!("{}{round}", event.path);
        let progress =
            ProgressNotificationParam::new(token, f64::from(self.reported)).with_message(message);
        // The notification fails if the client has disconnected.
        let _ = self.context.peer.notify_progress(progress).await;
    }

    /// Asks the client's user for the first answer that a form can hold. Returns whether the wait
    /// is answered.
    async fn ask(&self, run: RunId, waits: &[Waiting]) -> Result<bool, Refusal> {
        let peer = &self.context.peer;
        if !peer
            .supported_elicitation_modes()
            .contains(&ElicitationMode::Form)
        {
            return Ok(false);
        }
        let answerer = self.caller.answerer();
        let mut own = waits.iter().filter(|wait| wait.may_answer(&answerer));
        let Some((wait, question)) = own.find_map(|wait| Some((wait, Question::new(wait)?))) else {
            return Ok(false);
        };
        let mut fault = None;
        loop {
            let request = peer.create_elicitation(question.params(wait, fault.as_deref()));
            let reply = tokio::select! {
                reply = self.unless_over(run, request) => reply?,
                closed = self.wait_closed(run, &wait.id) => return closed.map(|()| true),
            };
            // The client has disconnected.
            let Ok(reply) = reply else { return Ok(false) };
            if is_declined(&reply) {
                return Ok(false);
            }
            let value = question.value(reply.content);
            let answered = self
                .app
                .answer(&self.runner, run, &wait.id, value, &self.caller);
            let Err(error) = answered.await else {
                return Ok(true);
            };
            match error.kind() {
                ErrorKind::AnswerInvalid => fault = Some(error.message().to_owned()),
                // Another caller has answered, or the wait has expired.
                ErrorKind::Answered | ErrorKind::Expired | ErrorKind::UnknownWait => {
                    return Ok(true);
                }
                _ => return Err(error.into()),
            }
        }
    }

    /// Completes when another caller has answered the wait, or the run has ended.
    async fn wait_closed(&self, run: RunId, wait: &str) -> Result<(), Refusal> {
        loop {
            tokio::time::sleep(EVERY).await;
            let waits = self.runner.waiting_of(&RunFilter::of_run(run)).await?;
            if !waits.iter().any(|open| open.id == wait) {
                return Ok(());
            }
        }
    }

    /// Awaits a future, unless the client cancels the call or the server stops.
    async fn unless_over<T>(
        &self,
        run: RunId,
        work: impl Future<Output = T>,
    ) -> Result<T, Refusal> {
        tokio::select! {
            () = self.cancel.cancelled() => Err(self.cancel_run(run).await),
            () = self.app.wait_closing() => Err(self.closing_refusal(run)),
            done = work => Ok(done),
        }
    }

    async fn cancel_run(&self, run: RunId) -> Refusal {
        match self.runner.cancel(run).await {
            Ok(_) => Refusal::new(
                StatusCode::CONFLICT,
                "cancelled",
                "the call and its run were cancelled",
            ),
            Err(error) => error.into(),
        }
    }

    fn closing_refusal(&self, run: RunId) -> Refusal {
        let message = format!("the server is stopping; the next process continues run `{run}`");
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "closing", message)
            .help(format!("get the output with `GET /v1/runs/{run}`"))
    }
}

fn success_result(output: Value) -> CallToolResult {
    let text = match &output {
        Value::String(text) => text.clone(),
        output => output.to_string(),
    };
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(output).filter(Value::is_object);
    result
}

fn error_result(text: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

/// Returns the text for the model if the store is unavailable and the run continues.
fn running_text(run: RunId) -> String {
    format!(
        "The store is unavailable. The run `{run}` continues when the store recovers. \
         Do not call again. `GET /v1/runs/{run}` returns the result."
    )
}

/// Returns the text for the model if the run waits.
fn waiting_text(run: RunId, waits: &[Waiting]) -> String {
    let mut text = format!(
        "The run `{run}` waits for answers and continues when it has them. Do not call again."
    );
    for Waiting {
        id,
        question,
        schema,
        by,
        ..
    } in waits
    {
        let by = match by {
            None => String::new(),
            Some(AnsweredBy::Other) => " by another user".to_owned(),
            Some(AnsweredBy::Role(role)) => format!(" by a user with the role `{role}`"),
        };
        text.push_str(&format!(
            "\n{question}\nTo be answered{by} with `POST /v1/waiting/{id}` and JSON of this \
             schema: {schema}"
        ));
    }
    text
}
