//! [`TraceSpan`]: the spans of a run, in the terms of OpenTelemetry's conventions for generative
//! AI.
//!
//! A run is traced if a subscriber of `tracing` enables its first span. Otherwise
//! [`Context::trace`] is `None` everywhere, and an agent, a call or an event only costs a check of
//! that field. Parents are passed explicitly, because a call may be made on another thread.
//!
//! A resumed run executes its earlier agents again. The span of such an agent opens with its first
//! new call, so that each span is exported once.

mod carrier;
mod in_span;
mod messages;

pub use carrier::{TraceCarrier, set_trace_carrier};
pub(crate) use in_span::in_span;
pub(crate) use messages::{finish_reason, instructions, messages};

use super::{Context, Entered, Run};
use crate::encode::to_json;
use crate::spec::{AgentKind, AgentMeta};
use crate::{Content, ErrorKind, Name, Path, Result};
use serde_json::Value;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use tracing::level_filters::LevelFilter;
use tracing::span::Id;
use tracing::{Span, field};

/// A span of the run, which opens when something inside of it is new.
pub(crate) struct TraceSpan {
    parent: Option<Arc<TraceSpan>>,
    /// The outermost run.
    run: Arc<Run>,
    path: Path,
    agent: Option<TracedAgent>,
    span: OnceLock<Span>,
    is_ended: AtomicBool,
}

/// The agent or workflow of a span.
struct TracedAgent {
    kind: AgentKind,
    name: Name,
    description: Box<str>,
}

/// Creates a span with the fields that all spans of a run have. `of` is a [`TraceSpan`] of the same
/// run, from which these fields are read.
macro_rules! gen_ai_span {
    ($of:expr, $path:expr, $parent:expr, $operation:literal, $($fields:tt)*) => {
        tracing::info_span!(
            target: "adk",
            parent: $parent,
            $operation,
            gen_ai.operation.name = $operation,
            gen_ai.conversation.id = $of.conversation(),
            adk.run.id = %$of.run_id(),
            adk.path = %$path,
            adk.round = $path.iteration().map(|round| i64::from(round) + 1),
            adk.unfinished = tracing::field::Empty,
            error.type = tracing::field::Empty,
            otel.status_code = tracing::field::Empty,
            otel.status_description = tracing::field::Empty,
            $($fields)*
        )
    };
}
pub(crate) use gen_ai_span;

impl TraceSpan {
    /// Creates the first span of a run, or of a remote branch; `None` if the run is not traced.
    ///
    /// The span continues the trace that is stored with the run. Without one, its parent is the
    /// current span.
    pub(crate) fn first(meta: &AgentMeta<'_>, run: &Arc<Run>, path: &Path) -> Option<Arc<Self>> {
        if LevelFilter::current() < LevelFilter::INFO {
            return None;
        }
        let first = Self::of_agent(meta, run.clone(), path.clone(), None);
        if first.open().is_disabled() {
            return None;
        }
        if let Some(context) = &run.identity.trace_parent {
            carrier::extract(first.open(), context);
        }
        Some(Arc::new(first))
    }

    fn of_agent(
        meta: &AgentMeta<'_>,
        run: Arc<Run>,
        path: Path,
        parent: Option<Arc<Self>>,
    ) -> Self {
        let agent = TracedAgent {
            kind: meta.kind,
            name: Name::shared(meta.name),
            description: meta.description.into(),
        };
        let (span, is_ended) = (OnceLock::new(), AtomicBool::new(false));
        Self {
            parent,
            run,
            path,
            agent: Some(agent),
            span,
            is_ended,
        }
    }

    /// Creates a span below this one, with the path of this span's agent. `make` gets the id of the
    /// parent span.
    pub(crate) fn child(
        self: &Arc<Self>,
        path: &Path,
        make: impl FnOnce(Option<Id>) -> Span,
    ) -> Arc<Self> {
        Arc::new(Self {
            parent: Some(self.clone()),
            run: self.run.clone(),
            path: path.clone(),
            agent: None,
            span: make(self.open().id()).into(),
            is_ended: AtomicBool::new(false),
        })
    }

    /// Returns the span, and opens it first if necessary.
    fn open(&self) -> &Span {
        self.span.get_or_init(|| {
            let parent = match &self.parent {
                Some(parent) => parent.open().id(),
                None if self.run.identity.trace_parent.is_some() => None,
                None => Span::current().id(),
            };
            self.agent
                .as_ref()
                .map_or_else(Span::none, |agent| self.invoke(agent, parent))
        })
    }

    fn invoke(&self, agent: &TracedAgent, parent: Option<Id>) -> Span {
        let TracedAgent {
            kind,
            name,
            description,
        } = agent;
        let description = Some(&**description).filter(|text| !text.is_empty());
        match kind {
            AgentKind::Workflow => gen_ai_span!(
                self,
                self.path,
                parent,
                "invoke_workflow",
                otel.name = %format_args!("invoke_workflow {name}"),
                gen_ai.workflow.name = &**name,
                gen_ai.input.messages = field::Empty,
            ),
            _ => gen_ai_span!(
                self,
                self.path,
                parent,
                "invoke_agent",
                otel.name = %format_args!("invoke_agent {name}"),
                gen_ai.agent.name = &**name,
                gen_ai.agent.description = description,
                gen_ai.input.messages = field::Empty,
                adk.agent.kind = %kind_name(*kind),
            ),
        }
    }

    /// Returns whether the agent opens its span by a new call or a new agent inside of it.
    fn has_calls(&self) -> bool {
        self.agent
            .as_ref()
            .is_some_and(|agent| matches!(agent.kind, AgentKind::Workflow | AgentKind::Llm))
    }

    /// Returns the id of the session.
    pub(crate) fn conversation(&self) -> &str {
        &self.run.session().key().id
    }

    pub(crate) fn run_id(&self) -> crate::RunId {
        self.run.id()
    }

    /// Returns whether spans hold prompts, answers, arguments and results.
    pub(crate) fn has_contents(&self) -> bool {
        self.run.limits.config.trace_contents
    }

    /// Returns the context of the span, for another process.
    pub(crate) fn context(&self) -> Option<String> {
        carrier::inject(self.open())
    }

    /// Returns the context of the current span, for a run that another process drives.
    pub(crate) fn current() -> Option<String> {
        carrier::inject(&Span::current())
    }

    /// Records the message of the user, on the first span.
    pub(crate) fn record_message(&self, message: &Content) {
        if self.has_contents() {
            self.record(
                "gen_ai.input.messages",
                &*messages(std::slice::from_ref(message), None),
            );
        }
    }

    pub(crate) fn record(&self, field: &str, value: impl field::Value) {
        if let Some(span) = self.span.get() {
            span.record(field, value);
        }
    }

    /// Marks the span as ended without an error.
    pub(crate) fn end(&self) {
        self.is_ended.store(true, Relaxed);
    }

    /// Marks the span as failed. The error text may quote a model or a user, so it counts as
    /// content.
    pub(crate) fn fail(&self, error_type: &str, message: &dyn fmt::Display) {
        self.end();
        self.record("error.type", error_type);
        self.record("otel.status_code", "ERROR");
        if self.has_contents() {
            self.record("otel.status_description", &*message.to_string());
        }
    }

    /// Marks the span of an agent or workflow as ended, with its result.
    pub(crate) fn end_with<T>(&self, result: &Result<T>) {
        match result {
            Ok(_) => self.end(),
            Err(error) => self.fail(&error_type(error.kind()), error),
        }
    }

    /// Marks the first span as ended, with the result of the run.
    pub(crate) fn end_first<T>(span: Option<Arc<Self>>, result: Result<T>) -> Result<T> {
        if let Some(span) = span {
            span.end_with(&result);
        }
        result
    }
}

impl Drop for TraceSpan {
    fn drop(&mut self) {
        if !self.is_ended.load(Relaxed) {
            self.record("adk.unfinished", true);
        }
    }
}

impl Context {
    /// Returns the span for the turn of the agent that begins at the current path.
    pub(crate) fn span_of_turn(&self, meta: &AgentMeta<'_>) -> Option<Arc<TraceSpan>> {
        let around = self.trace.as_ref()?;
        // The first span of a run already is the span of the root agent.
        if around.parent.is_none() && self.frame.path.parent().is_none() {
            return Some(around.clone());
        }
        let run = around.run.clone();
        let own = TraceSpan::of_agent(meta, run, self.frame.path.clone(), Some(around.clone()));
        let may_be_old = match own.run.kind.replay() {
            Some(replay) => own.has_calls() || !replay.is_over(),
            // An engine that executes the run again answers recorded calls itself, so the span of
            // an agent with calls opens with the first call that is made.
            None => own.has_calls() && own.run.identity.trace_parent.is_some(),
        };
        if !may_be_old {
            own.open();
        }
        Some(Arc::new(own))
    }
}

impl Entered<'_, Option<Arc<TraceSpan>>> {
    /// Ends the span of an agent, and leaves it. A span that was entered before stays open.
    pub(crate) fn end_span<T>(self, ended: &Result<T>) {
        let own = match (&self.trace, self.outer()) {
            (Some(own), Some(outer)) if !Arc::ptr_eq(own, outer) => own,
            _ => return,
        };
        let is_over = own.run.kind.active_replay().is_none();
        if is_over && (ended.is_err() || !own.has_calls() && self.has_added()) {
            own.open();
        }
        own.end_with(ended);
    }
}

/// Returns the kind of an error as one word, such as `key_missing` or `model.rate_limited`.
pub(crate) fn error_type(kind: ErrorKind) -> String {
    match to_json(&kind) {
        Ok(Value::String(kind)) => kind,
        Ok(Value::Object(kind)) => {
            let parts = kind
                .iter()
                .filter_map(|(kind, detail)| Some(format!("{kind}.{}", detail.as_str()?)));
            parts.collect()
        }
        _ => "_OTHER".to_owned(),
    }
}

fn kind_name(kind: AgentKind) -> &'static str {
    match kind {
        AgentKind::Llm => "llm",
        AgentKind::Function => "function",
        AgentKind::Await => "await",
        _ => "custom",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoAnswerKind;
    use crate::model::ModelErrorKind;

    #[test]
    fn an_error_has_one_word() {
        assert_eq!(error_type(ErrorKind::KeyMissing), "key_missing");
        assert_eq!(
            error_type(ErrorKind::Model(ModelErrorKind::RateLimited)),
            "model.rate_limited"
        );
        assert_eq!(
            error_type(ErrorKind::NoAnswer(NoAnswerKind::Safety)),
            "no_answer.safety"
        );
    }
}
