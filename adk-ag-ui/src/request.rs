//! [`AgUiRequest`]: a request that starts a run, or that answers the interrupts of a run.

use crate::input::{ResumeStatus, RunAgentInput};
use crate::translate::Translator;
use adk_core::engine::{RunFilter, RunInfo, Waiting};
use adk_core::runner::{KnownWorkflow, SessionHandle};
use adk_core::{ErrorKind, EventId, RunId, Runner};
use adk_server::protocol::{
    App, Caller, Listener, Refusal, RunStart, StartOutcome, find_run, run_id, stored_events,
};
use axum::http::StatusCode;
use std::sync::Arc;

pub(crate) struct AgUiRequest {
    pub(crate) app: Arc<App>,
    pub(crate) caller: Caller,
    pub(crate) runner: Runner,
    pub(crate) workflow: KnownWorkflow,
    pub(crate) user: String,
    pub(crate) input: RunAgentInput,
}

pub(crate) enum RequestOutcome {
    Active(Box<ActiveRun>),
    /// The request has cancelled the run.
    Cancelled,
}

/// A run that the request has started or resumed.
pub(crate) struct ActiveRun {
    pub(crate) run: RunInfo,
    pub(crate) after: Option<EventId>,
    pub(crate) listener: Option<Listener>,
    pub(crate) abort: AbortOnDrop,
    pub(crate) translator: Translator,
}

impl AgUiRequest {
    pub(crate) async fn begin(&self) -> Result<RequestOutcome, Refusal> {
        let Self {
            app,
            runner,
            workflow,
            input,
            user,
            ..
        } = self;
        let mut filter = RunFilter::unfinished()
            .user(user)
            .workflows([workflow.name()]);
        filter.session = Some(input.thread_id.clone());
        let open = runner.waiting_of(&filter).await?;
        if !open.is_empty() {
            return Err(unanswered(open.iter().map(|wait| &*wait.id)));
        }
        let content = input.user_message()?;
        let values = input.input_of(workflow, content.as_ref());
        let faults = workflow.check(&values);
        if !faults.is_empty() {
            return Err(Refusal::input(faults));
        }
        let values = workflow.complete(values);
        let config = runner
            .config()
            .clone()
            .streaming(true)
            .lifecycle_events(true);
        let start =
            RunStart::new(runner, user, workflow.name(), &values).session(&*input.thread_id);
        let request = |handle: &SessionHandle| {
            let mut request = handle
                .run_by_name(workflow.name(), values.clone())?
                .config(config.clone());
            if let Some(content) = &content {
                request = request.message(content.clone());
            }
            for (key, value) in input.session_keys(workflow) {
                request = request.state(key, value);
            }
            Ok(request)
        };
        let (run, listener) = match app.begin(&start, request).await? {
            StartOutcome::Started(run, listener) => (run, Some(listener)),
            StartOutcome::Existing(run) => (run, None),
            StartOutcome::Unknown(run) => return Err(store_unavailable(run.run_id)),
        };
        let (abort, translator) = (self.abort(run.run_id), Translator::default());
        Ok(RequestOutcome::Active(Box::new(ActiveRun {
            run,
            after: None,
            listener,
            abort,
            translator,
        })))
    }

    pub(crate) async fn resume(&self) -> Result<RequestOutcome, Refusal> {
        let Self {
            app,
            runner,
            input,
            user,
            caller,
            ..
        } = self;
        let run = self.interrupted_run().await?;
        if input
            .resume
            .iter()
            .any(|entry| entry.status == ResumeStatus::Cancelled)
        {
            app.cancel(runner, &run).await?;
            return Ok(RequestOutcome::Cancelled);
        }
        let open = runner.waiting_of(&RunFilter::of_run(run.run_id)).await?;
        let answerer = caller.answerer();
        let is_answered = |wait: &&Waiting| {
            input
                .resume
                .iter()
                .any(|entry| entry.interrupt_id == wait.id)
        };
        let (answered, rest): (Vec<_>, Vec<_>) = open.iter().partition(is_answered);
        // Check all answers before the first one is stored, so that a refusal changes nothing.
        answered
            .iter()
            .try_for_each(|wait| wait.check_answerer(&answerer))?;
        // Other users may answer the waits that this caller may not.
        let own = rest.iter().filter(|wait| wait.may_answer(&answerer));
        let missing: Vec<_> = own.map(|wait| &*wait.id).collect();
        if !missing.is_empty() {
            return Err(unanswered(missing));
        }
        let events = stored_events(runner, &run, None).await?;
        let translator = Translator::for_resumed_run(events.iter().map(|event| &**event));
        let handle = runner.session(user, &input.thread_id);
        let _ours = app.reserve(run.run_id);
        for entry in &input.resume {
            let wait = open.iter().find(|wait| wait.id == entry.interrupt_id);
            let is_yes_or_no = wait.is_some_and(|wait| wait.schema["type"] == "boolean");
            // AG-UI sends an approval as `{"approved": true}`.
            let approved = entry.payload.get("approved").filter(|_| is_yes_or_no);
            let value = approved.unwrap_or(&entry.payload);
            match handle
                .answer_as(&entry.interrupt_id, value, &answerer)
                .await
            {
                // A repeated request: this answer was stored before another answer of it was
                // refused.
                Err(error) if error.kind() == ErrorKind::Answered && !open.is_empty() => {}
                answered => answered?,
            }
        }
        let abort = self.abort(run.run_id);
        // All answers are stored. If resuming fails here, a watch resumes the run.
        let listener = app.resume(runner, run.run_id).await.ok().flatten();
        let after = events.last().map(|event| event.id);
        Ok(RequestOutcome::Active(Box::new(ActiveRun {
            run,
            after,
            listener,
            abort,
            translator,
        })))
    }

    /// Returns the run of all answers. The id of an interrupt begins with the id of its run.
    async fn interrupted_run(&self) -> Result<RunInfo, Refusal> {
        let mut runs = self.input.resume.iter().map(|entry| {
            let run = entry.interrupt_id.split('/').next().unwrap_or_default();
            run_id(run).map_err(|_| Refusal::missing("interrupt", &entry.interrupt_id))
        });
        let first = runs.next().transpose()?.unwrap_or_default();
        for run in runs {
            if run? != first {
                return Err(Refusal::bad(
                    "resume_invalid",
                    "the answers belong to more than one run",
                )
                .help("send one request for each run"));
            }
        }
        let found = find_run(&self.runner, &self.caller, first)
            .await
            .ok()
            .filter(|run| {
                *run.workflow == *self.workflow.name()
                    && run.session.user == self.user
                    && run.session.id == self.input.thread_id
            });
        found.ok_or_else(|| Refusal::missing("interrupt", &self.input.resume[0].interrupt_id))
    }

    fn abort(&self, run: RunId) -> AbortOnDrop {
        AbortOnDrop {
            runner: self.runner.clone(),
            run,
            is_armed: true,
        }
    }
}

/// Returns the refusal for a run whose store is unavailable.
pub(crate) fn store_unavailable(run: RunId) -> Refusal {
    let message =
        format!("the store is unavailable; run `{run}` continues when the store recovers");
    Refusal::new(StatusCode::ACCEPTED, "running", message)
        .help(format!("get the result with `GET /v1/runs/{run}`"))
}

fn unanswered<'w>(open: impl IntoIterator<Item = &'w str>) -> Refusal {
    let open: Vec<_> = open.into_iter().map(|id| format!("`{id}`")).collect();
    let message = format!("the thread waits for an answer to {}", open.join(", "));
    Refusal::new(StatusCode::CONFLICT, "interrupted", message)
        .help("answer or cancel all of them in `resume`")
}

/// A guard that cancels the run if the client disconnects before the end.
pub(crate) struct AbortOnDrop {
    runner: Runner,
    run: RunId,
    pub(crate) is_armed: bool,
}

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        if !self.is_armed {
            return;
        }
        let (runner, run) = (self.runner.clone(), self.run);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let now = runner
                    .runs(&RunFilter::of_run(run))
                    .await
                    .unwrap_or_default();
                if now.iter().any(|run| run.status.is_active()) {
                    // The client is gone, so the result has no receiver.
                    drop(runner.cancel(run).await);
                }
            });
        }
    }
}
