//! [`AgentTool`]: an agent as a tool of another agent.

use crate::agents::llm::LlmAgent;
use crate::model::ToolDeclaration;
use crate::runtime::agent::DynAgent;
use crate::runtime::run::{Context, Marks, Prepare, Run, Shown, stored_key};
use crate::runtime::tool::{DynTool, ToolArgs, ToolContext, ToolError, text};
use crate::runtime::workflow::{prepare_root, run_root};
use crate::spec::ToolMeta;
use crate::store::outbox::Polled;
use crate::{BoxFuture, Content, Event, Name, Result, secret};
use adk_spec::__private::answers_closed;
use self_cell::self_cell;
use serde_json::{Map, Value, json};
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;

/// An agent as a tool of another agent. The model calls the tool with a `request` and gets the
/// agent's last message as the result. A workflow declares it as `tools: [agent(reviewer)]`.
///
/// The agent runs in isolation: it sees only the request, not the conversation, and other agents do
/// not see its messages. It uses the state and the artifacts of the caller, and its writes become
/// writes of the tool call. An exit in the agent does not end a loop around the caller. Its model
/// calls count for the whole run. If the agent is a workflow, it reads each input from the state
/// key of the same name; a workflow with a single `String` input gets the request as this input.
///
/// The result is the value of the key that the agent writes, or an object of several keys. If the
/// agent writes no key, the result is its last text.
///
/// ```
/// # use adk_build as adk;
/// use adk::{AgentTool, DynTool, llm::LlmAgent};
///
/// let reviewer = LlmAgent::builder("reviewer").description("Reviews a text.").build()?;
/// let tool = AgentTool::new(reviewer);
/// assert_eq!(tool.meta().name, "reviewer");
/// let writer = LlmAgent::builder("writer").tool(tool).build()?;
/// # Ok::<(), adk::BuildError>(())
/// ```
pub struct AgentTool {
    described: AgentWithToolMeta,
    declaration: ToolDeclaration,
    skip_summarization: bool,
}

self_cell!(
    struct AgentWithToolMeta {
        owner: Arc<dyn DynAgent>,
        #[covariant]
        dependent: ToolMeta,
    }
);

impl AgentTool {
    /// Creates a tool with the name and the description of the agent.
    pub fn new(agent: impl DynAgent + 'static) -> Self {
        Self::shared(Arc::new(agent))
    }

    /// Creates a tool from a shared agent.
    pub fn shared(agent: Arc<dyn DynAgent>) -> Self {
        let declaration = {
            let meta = agent.meta();
            let parameters = json!({
                "type": "object",
                "properties": {"request": {"type": "string", "description": "What the agent is to \
                    do, with all that it has to know."}},
                "required": ["request"],
            });
            ToolDeclaration::new(Name::shared(meta.name), meta.description, parameters)
        };
        let described = AgentWithToolMeta::new(agent, |agent| ToolMeta::of_agent(agent.meta()));
        Self {
            described,
            declaration,
            skip_summarization: false,
        }
    }

    /// Sets whether the result ends the turn of the caller without a summary by its model. Default
    /// `false`.
    #[must_use]
    pub fn skip_summarization(mut self, yes: bool) -> Self {
        self.skip_summarization = yes;
        self
    }

    fn agent(&self) -> &Arc<dyn DynAgent> {
        self.described.borrow_owner()
    }

    async fn run(&self, args: ToolArgs, cx: &mut ToolContext) -> Result<Value, ToolError> {
        let agent = self.agent().clone();
        let request = match args.get("request") {
            Some(Value::String(text)) => text.clone(),
            _ => Value::Object(args).to_string(),
        };
        let inner = cx.inner_context(Name::shared(agent.meta().name));
        if let Some(input) = agent.meta().request_input() {
            let key = Name::shared(&stored_key(inner.around.scope.as_deref(), input));
            inner.run.preset(&key, request.clone().into());
            for (mark, source) in cx.marks().of_writes(&key) {
                inner.run.preset(&mark, source);
            }
            if let Some(scope) = &inner.around.scope {
                scope.mark_written(&key);
            }
        }
        let run = inner.run.clone();
        let result = self.drive(agent, request, inner, cx).await;
        cx.add_usage(&run.progress.usage_by_agent());
        result
    }

    async fn drive(
        &self,
        agent: Arc<dyn DynAgent>,
        request: String,
        mut inner: Context,
        cx: &mut ToolContext,
    ) -> Result<Value, ToolError> {
        let run = inner.run.clone();
        let temps = run.temp_keys();
        let keys: Vec<(Name, Name)> = {
            let writes = agent.meta().writes.iter();
            let key = |name| Name::shared(&stored_key(inner.around.scope.as_deref(), name));
            writes
                .map(|write| (Name::shared(write.name), key(write.name)))
                .collect()
        };
        let asked = cx.marks();
        let mut future: Option<BoxFuture<'_, Result<()>>> = Some(Box::pin(async {
            let mut prepare = Prepare::new(&inner.run, inner.path().clone());
            prepare_root(&*agent, &mut prepare);
            prepare.finish()?.await?;
            let mut event = Event::new().with_content(Content::user(request));
            event.author = Name::literal("user");
            inner.show(Shown::Given(asked));
            inner.emit(event).await?;
            run_root(&*agent, &mut inner).await
        }));
        let (mut ended, mut last) = (None, FinalOutput::default());
        loop {
            let polled = poll_fn(|task| run.outbox().poll(&mut future, &mut ended, task)).await;
            if matches!(polled, Polled::Ended(Err(_))) && run.guard_rules().is_some() {
                cx.note_marks(Marks::of_error(&run));
            }
            match polled {
                Polled::Event(event) => {
                    if !event.partial {
                        last.note(&event, &run);
                        cx.forward(&event, &run);
                    }
                }
                Polled::Ended(Ok(())) => break,
                // An error of the whole run, such as a failed store, is not reported to the model,
                // because the model cannot correct it.
                Polled::Ended(Err(error)) if error.is_of_run() => {
                    let failure = ToolError::failed(error.to_string());
                    cx.refuse(error);
                    return Err(failure);
                }
                // The error may quote an answer or a result that strangers wrote.
                Polled::Ended(Err(error)) if answers_closed(agent.meta()) => {
                    let name = agent.meta().name;
                    return Err(ToolError::failed(format!(
                        "agent `{name}` failed ({:?})",
                        error.kind()
                    )));
                }
                Polled::Ended(Err(error)) => return Err(error.into()),
                Polled::Stuck => {
                    return Err(ToolError::failed(
                        "the agent cannot continue: nothing can complete what it waits for",
                    ));
                }
                Polled::Parked => return Err(waiting_error(&run)),
            }
        }
        cx.forward_temps(&temps, &run);
        if run.guard_rules().is_some() {
            cx.note_marks(last.marks(&keys, &run));
        }
        cx.actions.skip_summarization |= self.skip_summarization;
        Ok(last.result(&keys, &**self.agent()))
    }
}

/// Returns the error for an agent that waits. An answer is impossible, because its session ends
/// with the call.
fn waiting_error(run: &Run) -> ToolError {
    let ids: Vec<_> = run
        .progress
        .open_waits()
        .into_iter()
        .map(|waiting| format!("`{}`", waiting.id))
        .collect();
    ToolError::failed(format!(
        "the agent waits for {} from outside, which an agent that is used as a tool cannot",
        ids.join(", ")
    ))
}

/// Output of a finished run: its last message and its writes.
#[derive(Default)]
struct FinalOutput {
    content: Option<Content>,
    error: Option<String>,
    written: crate::StateDelta,
    /// The marks of the last message or error.
    marks: Marks,
}

impl FinalOutput {
    fn note(&mut self, event: &Event, run: &Run) {
        if event.author == "user" {
            return;
        }
        if let Some(content) = &event.content {
            self.content = Some(content.clone());
            if let Some(rules) = run.guard_rules() {
                self.marks = Marks::of_event(event, rules);
            }
        }
        if let Some(error) = event
            .details
            .as_ref()
            .and_then(|details| details.error_message.clone())
        {
            self.error = Some(error);
            if run.guard_rules().is_some() {
                self.marks.join(Marks::of_error(run));
            }
        }
        self.written.extend(event.actions.state_delta.clone());
    }

    /// Returns the marks of the result, see [`result`](Self::result).
    fn marks(&self, keys: &[(Name, Name)], run: &Run) -> Marks {
        let is_written = |(_, key): &&(Name, Name)| self.written.contains_key(key);
        let mut written = keys.iter().filter(is_written).peekable();
        if written.peek().is_none() {
            return self.marks.clone();
        }
        let mut marks = Marks::NONE;
        written.for_each(|(_, key)| marks.join(Marks::of_key(key, None, run)));
        marks
    }

    fn result(self, keys: &[(Name, Name)], agent: &dyn DynAgent) -> Value {
        let written = keys.iter().filter_map(|(name, key)| {
            Some((name.to_string(), secret::redact(self.written.get(key)?)))
        });
        let mut written: Map<String, Value> = written.collect();
        match (keys, written.len()) {
            ([(name, _)], 1) => return written.remove(&**name).unwrap_or_default(),
            (_, 1..) => return Value::Object(written),
            _ => {}
        }
        let parts = self.content.iter().flat_map(|content| &content.parts);
        let texts: Vec<_> = parts
            .filter_map(|part| part.as_text())
            .filter(|text| !text.is_empty())
            .collect();
        let text = if texts.is_empty() {
            self.error.unwrap_or_default()
        } else {
            texts.join("\n")
        };
        let is_json = agent
            .as_any()
            .and_then(|any| any.downcast_ref::<LlmAgent>())
            .is_some_and(LlmAgent::answers_json);
        let json = if is_json {
            text::read(&text, &mut |_| Ok(())).ok()
        } else {
            None
        };
        json.unwrap_or(Value::String(text))
    }
}

impl DynTool for AgentTool {
    fn meta(&self) -> &ToolMeta<'_> {
        self.described.borrow_dependent()
    }

    fn declaration_dyn(&self) -> &ToolDeclaration {
        &self.declaration
    }

    fn call_dyn<'a>(
        &'a self,
        args: ToolArgs,
        cx: &'a mut ToolContext,
    ) -> BoxFuture<'a, Result<Value, ToolError>> {
        Box::pin(self.run(args, cx))
    }

    fn agent_dyn(&self) -> Option<&dyn DynAgent> {
        Some(&**self.agent())
    }
}

impl fmt::Debug for AgentTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AgentTool({})", self.meta().name)
    }
}
