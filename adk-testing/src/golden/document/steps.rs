//! [`describe`]: one section for each step of a run.

use super::super::place::without_root;
use super::super::tape::{AnswerSource, CallNote, TapeState};
use super::program::{ProgramFacts, reads};
use super::{COLUMN, RunResult, Section, one_line, shown};
use adk_core::engine::CallKind;
use adk_core::{AgentKind, Event, LEFT_OUT_KEY, WINNER_KEY};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A step of a run: the events and calls of one path.
#[derive(Default)]
struct StepFacts<'a> {
    events: Vec<(usize, &'a Arc<Event>)>,
    calls: Vec<&'a CallNote>,
}

/// Adds a section for each step, in the order of the source, then by round.
pub(super) fn describe(
    program: &ProgramFacts<'_>,
    tape: &TapeState,
    result: &RunResult<'_>,
    sections: &mut Vec<Section>,
) {
    let mut steps = BTreeMap::<String, StepFacts<'_>>::new();
    for (at, event) in result.events.iter().enumerate() {
        if event.author == "user" {
            continue;
        }
        let path = event.path.to_string();
        let path = without_root(&path).to_owned();
        steps.entry(path).or_default().events.push((at, event));
    }
    for call in tape
        .calls
        .iter()
        .filter(|call| !call.is_cancelled(result.events))
    {
        let path = call.place.path().to_owned();
        steps.entry(path).or_default().calls.push(call);
    }
    let mut paths: Vec<_> = steps.keys().cloned().collect();
    paths.sort_by(|a, b| program.compare_paths(a, b));
    for path in paths {
        if let Some(step) = steps.get(&path) {
            sections.extend(section(&path, step, program, result.events));
        }
    }
}

fn section(
    path: &str,
    step: &StepFacts<'_>,
    program: &ProgramFacts<'_>,
    events: &[Arc<Event>],
) -> Option<Section> {
    let name = if path.is_empty() {
        program.name()
    } else {
        path
    };
    let about = about(path, step, program, events);
    let title = format!("{name:<width$}  {about}", width = COLUMN - 2);
    let mut section = Section::new(title.trim_end());
    let lines = &mut section.lines;
    let is_made_prompt = program
        .agent(path)
        .is_some_and(|meta| meta.kind == AgentKind::Llm && meta.prompts.is_empty());
    for call in &step.calls {
        let is_inside = call.place.call().contains('/');
        match call.kind {
            CallKind::Model if !is_inside && is_made_prompt => {
                let instruction = call.inputs.as_ref().and_then(|inputs| inputs.get(0));
                let text = instruction.map(shown).unwrap_or_default();
                lines.push(format!("  is told {text}"));
            }
            CallKind::Model | CallKind::Tool if is_inside => {
                let inside = call.place.call();
                lines.push(format!("  inside {inside}"));
            }
            CallKind::Summary => lines.push("  sums up".to_owned()),
            CallKind::Step if &*call.name != "event" => {
                lines.push(format!("  does {}", call.name));
            }
            CallKind::Wait => {
                let question = call
                    .inputs
                    .as_ref()
                    .and_then(|inputs| inputs.get("question"));
                let question = question.filter(|question| question.as_str() != Some(""));
                if let Some(question) = question {
                    lines.push(format!("  asks {}", shown(question)));
                }
            }
            _ => {}
        }
    }
    let responses = responses(step);
    for (_, event) in &step.events {
        event_lines(event, &responses, lines);
    }
    // A path without lines is a block that only committed its bookkeeping.
    (!section.lines.is_empty() || !step.calls.is_empty()).then_some(section)
}

/// Returns the responses to calls by the ids of the calls, each with its event.
fn responses<'a>(step: &StepFacts<'a>) -> BTreeMap<&'a str, (&'a Event, &'a Map<String, Value>)> {
    let mut all = BTreeMap::new();
    for (_, event) in &step.events {
        for response in event.function_responses() {
            all.insert(&*response.id, (&***event, &response.response));
        }
    }
    all
}

fn event_lines(
    event: &Event,
    responses: &BTreeMap<&str, (&Event, &Map<String, Value>)>,
    lines: &mut Vec<String>,
) {
    if let Some(failed) = event.failed_attempt() {
        let next = if failed.again { ", tries again" } else { "" };
        lines.push(format!("  fails{next}: {}", one_line(&failed.error)));
    }
    if let Some(winner) = event.metadata(WINNER_KEY).and_then(Value::as_str) {
        lines.push(format!("  {winner} is first"));
    }
    if let Some(left_out) = event.metadata(LEFT_OUT_KEY) {
        lines.push(format!("  leaves out {}", shown(left_out)));
    }
    let writes: Vec<_> = event.actions.state_delta.iter().collect();
    let text = event.text();
    if !text.trim().is_empty() && !writes.iter().any(|(_, value)| is_text(value, &text)) {
        let json: Option<Value> = serde_json::from_str(&text).ok();
        let is_value = |value: &Value| json.as_ref() == Some(value);
        if !writes.iter().any(|(_, value)| is_value(value)) {
            lines.push(format!("  says {}", shown(&Value::from(text))));
        }
    }
    for call in event.function_calls() {
        let mut effects = Vec::new();
        if let Some((responded, response)) = responses.get(&*call.id) {
            effects.extend(response_text(response));
            if responded.actions.escalates() {
                effects.push(format!("ends {}", innermost_loop(responded)));
            }
            if let Some(target) = &responded.actions.transfer_to_agent {
                effects.push(format!("hands over to {target}"));
            }
        }
        let args = shown(&Value::Object(call.args.clone()));
        let mut line = format!("  calls {} {args}", call.name);
        if !effects.is_empty() {
            line.push_str("  ->  ");
            line.push_str(&effects.join(", "));
        }
        lines.push(line);
    }
    for (key, value) in writes {
        lines.push(format!("  writes {} = {}", own_name(key), shown(value)));
    }
    let answers = event.function_responses().next().is_some();
    if event.actions.escalates() && !answers {
        lines.push(format!("  ends {}", innermost_loop(event)));
    }
    for (artifact, version) in &event.actions.artifact_delta {
        lines.push(format!("  saves {artifact}, version {version}"));
    }
}

/// Returns a key without the element or the instance that it belongs to.
fn own_name(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}

fn is_text(value: &Value, text: &str) -> bool {
    value.as_str() == Some(text)
}

/// Returns the text of a tool's response; `None` for a response without a value.
fn response_text(response: &Map<String, Value>) -> Option<String> {
    match (response.len(), response.get("result")) {
        (0, _) | (1, Some(Value::Null)) => None,
        (1, Some(result)) => Some(shown(result)),
        _ => Some(shown(&Value::Object(response.clone()))),
    }
}

/// Returns the name of the innermost loop around an event.
fn innermost_loop(event: &Event) -> String {
    use adk_core::At;
    let mut around = Some(&event.path);
    while let Some(path) = around {
        if let At::Round(_) = path.at() {
            return path.name().to_string();
        }
        around = path.parent();
    }
    "the workflow".to_owned()
}

/// Returns who answered a step, what the step reads and whom it hears.
fn about(
    path: &str,
    step: &StepFacts<'_>,
    program: &ProgramFacts<'_>,
    events: &[Arc<Event>],
) -> String {
    let Some(meta) = program.agent(path) else {
        return String::new();
    };
    let call = step
        .calls
        .iter()
        .find(|call| call.kind == CallKind::Model && !call.place.call().contains('/'));
    let who = match meta.kind {
        AgentKind::Llm => call.and_then(|call| call.model.clone()).unwrap_or_default(),
        AgentKind::Function => "function".to_owned(),
        AgentKind::Await => "await".to_owned(),
        AgentKind::Workflow => return String::new(),
        _ => "agent".to_owned(),
    };
    let first = call.map(|call| call.after);
    let before = first.or_else(|| step.events.first().map(|(at, _)| *at));
    let before = &events[..before.unwrap_or(events.len()).min(events.len())];
    let mut parts = vec![who];
    let keys: Vec<_> = reads(meta)
        .iter()
        .filter(|key| !key.ends_with('?'))
        .map(|key| match writer(key, before) {
            Some(writer) => format!("{key} from {writer}"),
            None => key.clone(),
        })
        .collect();
    if !keys.is_empty() {
        parts.push(format!("reads {}", keys.join(", ")));
    }
    let mut about = parts.join(", ");
    let heard = call.map(|call| heard(call)).unwrap_or_default();
    if !heard.is_empty() {
        about.push_str(&format!("; hears {}", heard.join(", ")));
    }
    about
}

/// Returns the step that wrote a key last; `None` for inputs and keys of the session.
fn writer(key: &str, before: &[Arc<Event>]) -> Option<String> {
    let last = before
        .iter()
        .rev()
        .find(|event| event.actions.state_delta.contains_key(key))?;
    if last.author == "user" {
        return None;
    }
    let path = last.path.to_string();
    Some(without_root(&path).to_owned())
}

/// Returns the other agents whose words the request of a call quotes.
fn heard(call: &CallNote) -> Vec<String> {
    let contents = call.inputs.as_ref().and_then(|inputs| inputs.get(1));
    let parts = contents
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|content| content.get("parts")?.as_array())
        .flatten();
    let mut names = Vec::new();
    for text in parts.filter_map(|part| part.get("text")?.as_str()) {
        let quoted = text
            .strip_prefix('[')
            .and_then(|rest| rest.split_once("] "));
        if let Some((name, said)) = quoted
            && ["said", "called tool", "`"]
                .iter()
                .any(|verb| said.starts_with(verb))
            && !names.iter().any(|known| known == name)
        {
            names.push(name.to_owned());
        }
    }
    names
}

impl CallNote {
    /// Returns whether the run ended the branch of a call before the branch used the answer. Such
    /// calls depend on timing, so a golden file leaves them out.
    pub(in super::super) fn is_cancelled(&self, events: &[Arc<Event>]) -> bool {
        let path = self.place.path();
        let mut later = events.iter().skip(self.after);
        self.is_beside && !later.any(|event| without_root(&event.path.to_string()) == path)
    }

    /// Returns whether the answer was given to other inputs.
    pub(in super::super) fn is_stale(&self) -> bool {
        self.source == AnswerSource::Stale
    }
}
