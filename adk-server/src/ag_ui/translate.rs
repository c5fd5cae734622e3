//! [`Translator`]: from the events of a run to those of AG-UI, in an order that its clients accept.
//!
//! Clients refuse a stream in which a step or a message is continued that has not begun, or is open when the run finishes. The
//! events of a run may be incomplete (a reader that was too slow misses what is not stored) and end anywhere, so what is open is
//! known here, and ended where its end did not come.

#[cfg(test)]
mod tests;

use super::event::{AgUiEvent, Interrupt, Outcome, PatchOperation, TokenUsage};
use adk_core::engine::Waiting;
use adk_core::memory::iso;
use adk_core::{Content, Event, LifecyclePhase, Part};
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Debug)]
pub(super) enum Ending {
    Finished(Value),
    Waiting(Vec<Waiting>),
    Cancelled,
    Failed { message: String, code: String },
}

/// Turns the events of one run, or of what goes on of it, into those of AG-UI.
#[derive(Debug, Default)]
pub(super) struct Translator {
    /// Agents and blocks that have begun, in that order.
    steps: Vec<Step>,
    /// Answers that are streaming, by the paths of their agents.
    replies: BTreeMap<String, Reply>,
    /// Calls of tools without results.
    calls: Vec<Call>,
    usage: Vec<TokenUsage>,
    /// A run that is taken up again begins its agents once more. They are not told before something new happens.
    is_replaying: bool,
    out: Vec<AgUiEvent>,
}

#[derive(Debug)]
struct Step {
    name: String,
    is_told: bool,
}

#[derive(Debug)]
struct Call {
    path: String,
    id: String,
    name: String,
}

impl Translator {
    /// One for a run that is taken up again after these events.
    pub(super) fn resumed<'e>(events: impl IntoIterator<Item = &'e Event>) -> Self {
        let mut translator = Self { is_replaying: true, ..Self::default() };
        for event in events {
            translator.note_calls(event);
        }
        translator
    }

    pub(super) fn event(&mut self, event: &Event) -> Vec<AgUiEvent> {
        let path = event.path.to_string();
        match event.lifecycle().map(|lifecycle| lifecycle.phase) {
            Some(LifecyclePhase::Started) => self.begin(path),
            Some(_) => self.finish(&path),
            None => {
                self.catch_up();
                if event.partial {
                    self.piece(&path, event);
                } else {
                    self.whole(&path, event);
                }
            }
        }
        std::mem::take(&mut self.out)
    }

    /// The last events: what is open ends, and the run with it.
    pub(super) fn end(mut self, thread_id: String, run_id: String, ending: Ending) -> Vec<AgUiEvent> {
        self.finish("");
        let (result, outcome) = match ending {
            Ending::Finished(result) => (result, Outcome::Success),
            Ending::Cancelled => (Value::Null, Outcome::Cancelled),
            Ending::Waiting(waiting) => {
                let interrupts = waiting.into_iter().map(|wait| self.interrupt(wait)).collect();
                (Value::Null, Outcome::Interrupt { interrupts })
            }
            Ending::Failed { message, code } => {
                self.out.push(AgUiEvent::RunError { message, code, usage: self.usage });
                return self.out;
            }
        };
        self.out.push(AgUiEvent::RunFinished { thread_id, run_id, result, outcome, usage: self.usage });
        self.out
    }

    fn begin(&mut self, name: String) {
        if self.steps.iter().any(|step| step.name == name) {
            return;
        }
        let is_told = !self.is_replaying;
        if is_told {
            self.out.push(AgUiEvent::StepStarted { step_name: name.clone() });
        }
        self.steps.push(Step { name, is_told });
    }

    /// A step ends, with all in it whose end did not come.
    fn finish(&mut self, path: &str) {
        let streaming: Vec<_> = self.replies.keys().filter(|name| is_in(name, path)).cloned().collect();
        for name in streaming {
            self.close(&name);
        }
        for at in (0..self.steps.len()).rev() {
            if is_in(&self.steps[at].name, path) {
                let step = self.steps.remove(at);
                if step.is_told {
                    self.out.push(AgUiEvent::StepFinished { step_name: step.name });
                }
            }
        }
    }

    /// Something new happens in a run that was taken up again.
    fn catch_up(&mut self) {
        self.is_replaying = false;
        for step in self.steps.iter_mut().filter(|step| !step.is_told) {
            step.is_told = true;
            self.out.push(AgUiEvent::StepStarted { step_name: step.name.clone() });
        }
    }

    /// A piece of an answer; or a word about one that is begun anew.
    fn piece(&mut self, path: &str, event: &Event) {
        let Some(content) = &event.content else { return self.close(path) };
        let reply = self.replies.entry(path.to_owned()).or_insert_with(|| Reply::of(event));
        for part in &content.parts {
            match part {
                Part::Text(text) => reply.say(Kind::Text, text, &mut self.out),
                Part::Thought(thought) => reply.say(Kind::Thought, &thought.text, &mut self.out),
                _ => {}
            }
        }
    }

    /// An event that is stored: all of an answer; pieces of it may have been sent.
    fn whole(&mut self, path: &str, event: &Event) {
        let mut reply = self.replies.remove(path).unwrap_or_else(|| Reply::of(event));
        if event.author != "user" {
            if reply.thought.is_empty() {
                reply.say(Kind::Thought, &thoughts(event), &mut self.out);
            }
            let text = event.text();
            match text.strip_prefix(&*reply.text) {
                Some(rest) => reply.say(Kind::Text, rest, &mut self.out),
                // The pieces were those of another answer, or some are missing.
                None => {
                    reply.close(&mut self.out);
                    reply = Reply::of(event);
                    reply.say(Kind::Text, &text, &mut self.out);
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
        let delta: Vec<_> =
            event.actions.state_delta.iter().filter_map(|(key, value)| set(key, value)).collect();
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
        self.calls.extend(calls.map(|call| Call {
            path: path.clone(),
            id: call.id.clone(),
            name: call.name.clone(),
        }));
        for response in event.function_responses() {
            self.calls.retain(|call| call.id != response.id || call.path != path);
        }
    }

    fn note_usage(&mut self, event: &Event) {
        let Some(used) = event.usage() else { return };
        let model = event.details.as_ref().and_then(|details| details.model_version.clone());
        let at = self.usage.iter().position(|usage| usage.model == model).unwrap_or_else(|| {
            self.usage.push(TokenUsage { model, ..TokenUsage::default() });
            self.usage.len() - 1
        });
        let usage = &mut self.usage[at];
        usage.input_tokens += used.input_tokens;
        usage.output_tokens += used.output_tokens;
        usage.total_tokens += used.input_tokens + used.output_tokens;
        usage.reasoning_tokens += used.thought_tokens;
        usage.cached_input_tokens += used.cached_tokens;
    }

    /// What is waited for. A tool whose call is to be confirmed is named in the id of the wait, and the calls of an agent are
    /// asked for in their order.
    fn interrupt(&mut self, wait: Waiting) -> Interrupt {
        let path = wait.path.to_string();
        let asks = |call: &Call| call.path == path && wait.id.contains(&format!(":confirm {}@", call.name));
        let call = self.calls.iter().position(asks).map(|at| self.calls.remove(at).id);
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

/// An answer that is streaming.
#[derive(Debug)]
struct Reply {
    id: String,
    author: String,
    /// What was told of it.
    text: String,
    thought: String,
    open: Option<Kind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Thought,
}

impl Reply {
    fn of(event: &Event) -> Self {
        let (text, thought, open) = (String::new(), String::new(), None);
        Self { id: event.id.to_string(), author: event.author.to_string(), text, thought, open }
    }

    fn say(&mut self, kind: Kind, said: &str, out: &mut Vec<AgUiEvent>) {
        if said.is_empty() {
            return;
        }
        if self.open != Some(kind) {
            self.close(out);
            self.open = Some(kind);
            let message_id = self.message_id(kind);
            out.push(match kind {
                Kind::Text => {
                    AgUiEvent::TextMessageStart { message_id, role: "assistant", name: self.author.clone() }
                }
                Kind::Thought => AgUiEvent::ReasoningMessageStart { message_id, role: "reasoning" },
            });
        }
        let (message_id, delta) = (self.message_id(kind), said.to_owned());
        match kind {
            Kind::Text => {
                self.text.push_str(said);
                out.push(AgUiEvent::TextMessageContent { message_id, delta });
            }
            Kind::Thought => {
                self.thought.push_str(said);
                out.push(AgUiEvent::ReasoningMessageContent { message_id, delta });
            }
        }
    }

    fn close(&mut self, out: &mut Vec<AgUiEvent>) {
        if let Some(kind) = self.open.take() {
            let message_id = self.message_id(kind);
            out.push(match kind {
                Kind::Text => AgUiEvent::TextMessageEnd { message_id },
                Kind::Thought => AgUiEvent::ReasoningMessageEnd { message_id },
            });
        }
    }

    fn message_id(&self, kind: Kind) -> String {
        match kind {
            Kind::Text => self.id.clone(),
            Kind::Thought => format!("{}-thought", self.id),
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

/// Whether a path is that of a step, or below it. The turns of an agent are not below its first.
fn is_in(path: &str, step: &str) -> bool {
    let below = path.strip_prefix(step);
    below.is_some_and(|rest| step.is_empty() || rest.is_empty() || rest.starts_with(['/', '#', '[']))
}

/// Sets a key of the state. What lives as long as the run alone is not part of it.
pub(super) fn set(key: &str, value: &Value) -> Option<PatchOperation> {
    let path = format!("/{}", key.replace('~', "~0").replace('/', "~1"));
    (!key.starts_with("temp:")).then(|| PatchOperation { op: "add", path, value: value.clone() })
}
