//! [`Translator`]: translates the events of a run to AG-UI events, in an order that AG-UI clients
//! accept.
//!
//! Clients refuse a stream that continues a step or a message before its start, or that ends with
//! open steps or messages. The events of a run may be incomplete, because a slow reader misses
//! events that are not stored, and the stream may end at any event. Therefore the translator tracks
//! open steps and messages, and closes them if their end is missing.

#[cfg(test)]
mod tests;

use crate::event::{AgUiEvent, Interrupt, PatchOperation, RunOutcome, TokenUsage};
use adk_core::engine::Waiting;
use adk_core::memory::iso;
use adk_core::{Content, Event, LifecyclePhase, Part};
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Debug)]
pub(crate) enum Ending {
    Finished(Value),
    Waiting(Vec<Waiting>),
    Cancelled,
    Failed { message: String, code: String },
}

/// A translator of the events of one run or of one resumed run.
#[derive(Debug, Default)]
pub(crate) struct Translator {
    /// The open agents and blocks, in the order of their start.
    steps: Vec<OpenStep>,
    /// Open replies by the path of their agent.
    replies: BTreeMap<String, Reply>,
    /// Tool calls without a result.
    calls: Vec<OpenCall>,
    usage: Vec<TokenUsage>,
    /// A resumed run starts its agents again. Their steps are sent only when a new event follows.
    is_replaying: bool,
    out: Vec<AgUiEvent>,
}

#[derive(Debug)]
struct OpenStep {
    name: String,
    is_sent: bool,
}

#[derive(Debug)]
struct OpenCall {
    path: String,
    id: String,
    name: String,
}

impl Translator {
    /// Creates a translator for a run that is resumed after these events.
    pub(crate) fn for_resumed_run<'e>(events: impl IntoIterator<Item = &'e Event>) -> Self {
        let mut translator = Self {
            is_replaying: true,
            ..Self::default()
        };
        for event in events {
            translator.note_calls(event);
        }
        translator
    }

    pub(crate) fn event(&mut self, event: &Event) -> Vec<AgUiEvent> {
        let path = event.path.to_string();
        match event.lifecycle().map(|lifecycle| lifecycle.phase) {
            Some(LifecyclePhase::Started) => self.begin(path),
            Some(LifecyclePhase::Progress {
                ended,
                skipped,
                total,
            }) => self.out.push(AgUiEvent::Custom {
                name: "adk.progress",
                value: json!({"path": path, "ended": ended, "skipped": skipped, "total": total}),
            }),
            Some(_) => self.finish(&path),
            None => {
                self.catch_up();
                if event.partial {
                    self.piece(&path, event);
                } else {
                    self.complete(&path, event);
                }
            }
        }
        std::mem::take(&mut self.out)
    }

    /// Returns the last events: the ends of all open steps and messages, and the end of the run.
    pub(crate) fn end(
        mut self,
        thread_id: String,
        run_id: String,
        ending: Ending,
    ) -> Vec<AgUiEvent> {
        self.finish("");
        let (result, outcome) = match ending {
            Ending::Finished(result) => (result, RunOutcome::Success),
            Ending::Cancelled => (Value::Null, RunOutcome::Cancelled),
            Ending::Waiting(waiting) => {
                let interrupts = waiting
                    .into_iter()
                    .map(|wait| self.interrupt(wait))
                    .collect();
                (Value::Null, RunOutcome::Interrupt { interrupts })
            }
            Ending::Failed { message, code } => {
                self.out.push(AgUiEvent::RunError {
                    message,
                    code,
                    usage: self.usage,
                });
                return self.out;
            }
        };
        self.out.push(AgUiEvent::RunFinished {
            thread_id,
            run_id,
            result,
            outcome,
            usage: self.usage,
        });
        self.out
    }

    fn begin(&mut self, name: String) {
        if self.steps.iter().any(|step| step.name == name) {
            return;
        }
        let is_sent = !self.is_replaying;
        if is_sent {
            self.out.push(AgUiEvent::StepStarted {
                step_name: name.clone(),
            });
        }
        self.steps.push(OpenStep { name, is_sent });
    }

    /// Ends a step and all open steps and replies below it.
    fn finish(&mut self, path: &str) {
        let streaming: Vec<_> = self
            .replies
            .keys()
            .filter(|name| is_at_or_below(name, path))
            .cloned()
            .collect();
        for name in streaming {
            self.close(&name);
        }
        for at in (0..self.steps.len()).rev() {
            if is_at_or_below(&self.steps[at].name, path) {
                let step = self.steps.remove(at);
                if step.is_sent {
                    self.out.push(AgUiEvent::StepFinished {
                        step_name: step.name,
                    });
                }
            }
        }
    }

    /// Sends the starts of the open steps, because a resumed run has a new event.
    fn catch_up(&mut self) {
        self.is_replaying = false;
        for step in self.steps.iter_mut().filter(|step| !step.is_sent) {
            step.is_sent = true;
            self.out.push(AgUiEvent::StepStarted {
                step_name: step.name.clone(),
            });
        }
    }

    /// Translates a piece of a reply. A partial event without content means that the reply starts
    /// again.
    fn piece(&mut self, path: &str, event: &Event) {
        let Some(content) = &event.content else {
            return self.close(path);
        };
        let reply = self
            .replies
            .entry(path.to_owned())
            .or_insert_with(|| Reply::new(event));
        for part in &content.parts {
            match part {
                Part::Text(text) => reply.push(MessageKind::Text, text, &mut self.out),
                Part::Thought(thought) => {
                    reply.push(MessageKind::Thought, &thought.text, &mut self.out)
                }
                _ => {}
            }
        }
    }

    /// Translates a stored event: a complete reply, whose pieces may have been sent before.
    fn complete(&mut self, path: &str, event: &Event) {
        let mut reply = self
            .replies
            .remove(path)
            .unwrap_or_else(|| Reply::new(event));
        if event.author != "user" {
            if reply.thought.is_empty() {
                reply.push(MessageKind::Thought, &thoughts(event), &mut self.out);
            }
            let text = event.text();
            match text.strip_prefix(&*reply.text) {
                Some(rest) => reply.push(MessageKind::Text, rest, &mut self.out),
                // The pieces belong to another reply, or some of them are missing.
                None => {
                    reply.close(&mut self.out);
                    reply = Reply::new(event);
                    reply.push(MessageKind::Text, &text, &mut self.out);
                }
            }
        }
        reply.close(&mut self.out);
        for call in event.function_calls() {
            let id = || call.id.clone();
            let args = || serde_json::to_string(&call.args).unwrap_or_default();
            self.out.extend([
                AgUiEvent::ToolCallStart {
                    tool_call_id: id(),
                    tool_call_name: call.name.clone(),
                    parent_message_id: reply.id.clone(),
                },
                AgUiEvent::ToolCallArgs {
                    tool_call_id: id(),
                    delta: call.malformed.clone().unwrap_or_else(args),
                },
                AgUiEvent::ToolCallEnd { tool_call_id: id() },
            ]);
        }
        for (nth, response) in event.function_responses().enumerate() {
            self.out.push(AgUiEvent::ToolCallResult {
                message_id: format!("{}-{nth}", event.id),
                tool_call_id: response.id.clone(),
                content: serde_json::to_string(&response.response).unwrap_or_default(),
            });
        }
        self.note_calls(event);
        self.note_usage(event);
        let delta: Vec<_> = event
            .actions
            .state_delta
            .iter()
            .filter_map(|(key, value)| set_operation(key, value))
            .collect();
        if !delta.is_empty() {
            self.out.push(AgUiEvent::StateDelta { delta });
        }
    }

    fn close(&mut self, path: &str) {
        if let Some(mut reply) = self.replies.remove(path) {
            reply.close(&mut self.out);
        }
    }

    fn note_calls(&mut self, event: &Event) {
        let path = event.path.to_string();
        let calls = event.function_calls();
        self.calls.extend(calls.map(|call| OpenCall {
            path: path.clone(),
            id: call.id.clone(),
            name: call.name.clone(),
        }));
        for response in event.function_responses() {
            self.calls
                .retain(|call| call.id != response.id || call.path != path);
        }
    }

    fn note_usage(&mut self, event: &Event) {
        let Some(new) = event.usage() else { return };
        let model = event
            .details
            .as_ref()
            .and_then(|details| details.model_version.clone());
        let at = self
            .usage
            .iter()
            .position(|usage| usage.model == model)
            .unwrap_or_else(|| {
                self.usage.push(TokenUsage {
                    model,
                    ..TokenUsage::default()
                });
                self.usage.len() - 1
            });
        let usage = &mut self.usage[at];
        usage.input_tokens += new.input_tokens;
        usage.output_tokens += new.output_tokens;
        usage.total_tokens += new.input_tokens + new.output_tokens;
        usage.reasoning_tokens += new.thought_tokens;
        usage.cached_input_tokens += new.cached_tokens;
    }

    /// Translates a wait. The id of a confirmation, or of the question of a guard, contains the
    /// name of the tool, and an agent asks for its calls in order.
    fn interrupt(&mut self, wait: Waiting) -> Interrupt {
        let path = wait.path.to_string();
        let asks = |call: &OpenCall| {
            let is_of = |kind: &str| wait.id.contains(&format!(":{kind} {}@", call.name));
            call.path == path && (is_of("confirm") || is_of("guard"))
        };
        let call = self
            .calls
            .iter()
            .position(asks)
            .map(|at| self.calls.remove(at).id);
        let tool_call_id = wait.call_id.or(call);
        let reason = match &tool_call_id {
            Some(_) => "tool_call",
            None if wait.schema["type"] == "boolean" => "confirmation",
            None => "input_required",
        };
        Interrupt {
            id: wait.id,
            reason,
            message: wait.question,
            tool_call_id,
            response_schema: wait.schema.is_object().then_some(wait.schema),
            expires_at: wait.deadline.map(iso),
            metadata: wait.by.map(|by| json!({"adk": {"by": by}})),
        }
    }
}

/// A reply that is being streamed.
#[derive(Debug)]
struct Reply {
    id: String,
    author: String,
    /// The text that was sent.
    text: String,
    thought: String,
    open: Option<MessageKind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MessageKind {
    Text,
    Thought,
}

impl Reply {
    fn new(event: &Event) -> Self {
        let (text, thought, open) = (String::new(), String::new(), None);
        Self {
            id: event.id.to_string(),
            author: event.author.to_string(),
            text,
            thought,
            open,
        }
    }

    fn push(&mut self, kind: MessageKind, piece: &str, out: &mut Vec<AgUiEvent>) {
        if piece.is_empty() {
            return;
        }
        if self.open != Some(kind) {
            self.close(out);
            self.open = Some(kind);
            let message_id = self.message_id(kind);
            out.push(match kind {
                MessageKind::Text => AgUiEvent::TextMessageStart {
                    message_id,
                    role: "assistant",
                    name: self.author.clone(),
                },
                MessageKind::Thought => AgUiEvent::ReasoningMessageStart {
                    message_id,
                    role: "reasoning",
                },
            });
        }
        let (message_id, delta) = (self.message_id(kind), piece.to_owned());
        match kind {
            MessageKind::Text => {
                self.text.push_str(piece);
                out.push(AgUiEvent::TextMessageContent { message_id, delta });
            }
            MessageKind::Thought => {
                self.thought.push_str(piece);
                out.push(AgUiEvent::ReasoningMessageContent { message_id, delta });
            }
        }
    }

    fn close(&mut self, out: &mut Vec<AgUiEvent>) {
        if let Some(kind) = self.open.take() {
            let message_id = self.message_id(kind);
            out.push(match kind {
                MessageKind::Text => AgUiEvent::TextMessageEnd { message_id },
                MessageKind::Thought => AgUiEvent::ReasoningMessageEnd { message_id },
            });
        }
    }

    fn message_id(&self, kind: MessageKind) -> String {
        match kind {
            MessageKind::Text => self.id.clone(),
            MessageKind::Thought => format!("{}-thought", self.id),
        }
    }
}

fn thoughts(event: &Event) -> String {
    let parts = event.content.iter().flat_map(|Content { parts, .. }| parts);
    let texts = parts.filter_map(|part| match part {
        Part::Thought(thought) => Some(&*thought.text),
        _ => None,
    });
    texts.collect()
}

/// Returns whether a path is the path of a step or below it. A later turn of an agent is not below
/// its first.
fn is_at_or_below(path: &str, step: &str) -> bool {
    let below = path.strip_prefix(step);
    below
        .is_some_and(|rest| step.is_empty() || rest.is_empty() || rest.starts_with(['/', '#', '[']))
}

/// Returns the operation that sets a key of the state, or `None` for a `temp:` key.
pub(crate) fn set_operation(key: &str, value: &Value) -> Option<PatchOperation> {
    let path = format!("/{}", key.replace('~', "~0").replace('/', "~1"));
    (!key.starts_with("temp:")).then(|| PatchOperation {
        op: "add",
        path,
        value: value.clone(),
    })
}
