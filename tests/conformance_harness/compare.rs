//! The comparison: each value of an expectation is compared, and a missing value does not pass
//! silently.

use super::diff::Diff;
use super::format::{Case, Compare};
use super::run::Measured;
use super::views::{ErrorView, EventView, Expect, RequestView, RunView};
use serde::Serialize;
use std::collections::BTreeMap;

/// The facts of a case that select the comparison.
pub struct Comparison<'a> {
    pub how: Compare,
    /// Whether branches run in parallel, so that traces and requests interleave.
    pub parallel: bool,
    /// Whether the rendered instructions are compared.
    pub templates: bool,
    /// A rendered instruction that this project writes in another notation than the reference.
    pub renders: Option<&'a str>,
    /// Whether the events of the session are compared.
    pub persisted: bool,
}

impl<'a> Comparison<'a> {
    pub fn new(case: &Case, renders: Option<&'a str>) -> Self {
        Self {
            how: case.compare,
            parallel: case.root.is_parallel(),
            templates: case.id.starts_with("tpl-")
                || case.tags.iter().any(|tag| tag == "templating"),
            renders,
            persisted: case.record_persisted,
        }
    }

    /// Returns all differences as text for people, or `None`.
    pub fn differences(&self, expect: &Expect, measured: &Measured) -> Option<String> {
        let mut diff = Diff::default();
        match (&expect.construct_error, &measured.refused) {
            (Some(error), Some(refused)) => {
                let same = same_kind(&error.kind, &refused.kind);
                diff.compare(
                    same,
                    "kind of the construction error",
                    &error.kind,
                    &refused.kind,
                );
                return diff.finish();
            }
            (Some(error), None) => {
                diff.note(format!(
                    "the tree should be refused ({}), and was built",
                    error.kind
                ));
                return diff.finish();
            }
            (None, Some(refused)) => {
                diff.note(format!("the tree was refused: {refused}"));
                return diff.finish();
            }
            (None, None) => {}
        }
        if let Some(warnings) = expect
            .construct_warnings
            .as_ref()
            .filter(|warnings| !warnings.is_empty())
        {
            diff.note(format!(
                "the tree should be warned of: {}",
                warnings.join("; ")
            ));
        }
        diff.compare(
            expect.runs.len() == measured.runs.len(),
            "number of runs",
            &expect.runs.len().to_string(),
            &measured.runs.len().to_string(),
        );
        for (at, (wanted, got)) in expect.runs.iter().zip(&measured.runs).enumerate() {
            self.run(&mut diff, at + 1, wanted, got);
        }
        if self.how == Compare::None {
            return diff.finish();
        }
        self.compare_persisted(&mut diff, expect, measured);
        self.trace(&mut diff, &expect.trace, &measured.trace);
        self.requests(&mut diff, &expect.model_requests, &measured.requests);
        diff.finish()
    }

    fn run(&self, diff: &mut Diff, number: usize, wanted: &RunView, got: &RunView) {
        let kind = |error: &Option<ErrorView>| {
            error.as_ref().map_or("none".to_owned(), |e| e.kind.clone())
        };
        let same = match (&wanted.error, &got.error) {
            (None, None) => true,
            (Some(wanted), Some(got)) => same_kind(&wanted.kind, &got.kind),
            _ => false,
        };
        let message = got
            .error
            .as_ref()
            .and_then(|error| error.message.as_deref());
        let shown = format!(
            "{}{}",
            kind(&got.error),
            message.map_or(String::new(), |m| format!(" ({m})"))
        );
        diff.compare(
            same,
            &format!("run {number}: error"),
            &kind(&wanted.error),
            &shown,
        );
        if self.how == Compare::None {
            return;
        }
        self.events(
            diff,
            &format!("run {number}: events"),
            &wanted.events,
            &got.events,
        );
        let (before, after) = (&wanted.state_after, &got.state_after);
        diff.compare(
            before == after,
            &format!("run {number}: state"),
            &json(before),
            &json(after),
        );
        diff.compare(
            wanted.persisted_count == got.persisted_count,
            &format!("run {number}: events in the session"),
            &wanted.persisted_count.to_string(),
            &got.persisted_count.to_string(),
        );
        diff.compare(
            wanted.stopped_by_consumer == got.stopped_by_consumer,
            &format!("run {number}: stopped by the consumer"),
            &wanted.stopped_by_consumer.to_string(),
            &got.stopped_by_consumer.to_string(),
        );
    }

    fn events(&self, diff: &mut Diff, what: &str, wanted: &[EventView], got: &[EventView]) {
        if self.how == Compare::Exact {
            return diff.lists(what, &lines(wanted), &lines(got));
        }
        let (wanted, got) = (branches(wanted), branches(got));
        for (branch, events) in union(&wanted, &got) {
            let (wanted, got) = events;
            let branch = branch.as_deref().unwrap_or("none");
            diff.lists(
                &format!("{what} of branch {branch}"),
                &lines(&wanted),
                &lines(&got),
            );
        }
    }

    fn compare_persisted(&self, diff: &mut Diff, expect: &Expect, measured: &Measured) {
        match (&expect.persisted, self.persisted) {
            (Some(wanted), _) => {
                self.events(diff, "events in session s1", wanted, &measured.persisted)
            }
            (None, true) => {
                diff.note("the case records the session's events and expects none".to_owned())
            }
            (None, false) => {}
        }
    }

    /// Compares the traces exactly if nothing runs in parallel, and otherwise the order of each
    /// agent's lines.
    fn trace(&self, diff: &mut Diff, wanted: &[String], got: &[String]) {
        // In callbacks for errors, the reference adds the name of a Python class.
        let got: Vec<String> = if wanted.len() == got.len() {
            let pairs = wanted.iter().zip(got);
            pairs
                .map(|(wanted, got)| spelling_of(wanted, got).unwrap_or(got).clone())
                .collect()
        } else {
            got.to_vec()
        };
        if !self.parallel {
            return diff.lists("trace", wanted, &got);
        }
        let (wanted, got) = (
            group_by(wanted, |line| subject(line)),
            group_by(&got, |line| subject(line)),
        );
        for (who, (wanted, got)) in union(&wanted, &got) {
            if !(is_cut_short(&wanted) && wanted.starts_with(&got)) {
                diff.lists(&format!("trace of {who}"), &wanted, &got);
            }
        }
    }

    fn requests(&self, diff: &mut Diff, wanted: &[RequestView], got: &[RequestView]) {
        let show = |request: &RequestView, rendered: &str| {
            let instruction = if self.templates {
                format!(" instruction {rendered:?}")
            } else {
                String::new()
            };
            let schema = if request.response_schema {
                " with a schema"
            } else {
                ""
            };
            let (agent, call, tools) = (&request.agent, request.call, request.tools.join(", "));
            let mut lines = vec![format!(
                "{agent} call {call}: tools [{tools}]{schema}{instruction}"
            )];
            lines.extend(
                request
                    .outline
                    .iter()
                    .map(|line| format!("  {}", json(line))),
            );
            lines
        };
        let expected = |request: &RequestView| {
            let rendered = self.renders.filter(|_| !request.rendered().is_empty());
            show(request, rendered.unwrap_or(request.rendered()))
        };
        let measured = |request: &RequestView| show(request, request.rendered());
        if !self.parallel {
            let wanted: Vec<_> = wanted.iter().flat_map(expected).collect();
            let got: Vec<_> = got.iter().flat_map(measured).collect();
            return diff.lists("model requests", &wanted, &got);
        }
        let agent = |request: &RequestView| request.agent.clone();
        let (wanted, got) = (group_by(wanted, agent), group_by(got, agent));
        for (who, (wanted, got)) in union(&wanted, &got) {
            let wanted: Vec<_> = wanted.iter().flat_map(expected).collect();
            let got: Vec<_> = got.iter().flat_map(measured).collect();
            diff.lists(&format!("model requests of {who}"), &wanted, &got);
        }
    }
}

/// Whether two kinds of errors are the same. For an invalid name, one reference checks in a base
/// class first and reports an invalid value; the other reports an invalid name. A failed transfer
/// is a general error in one reference, and has its own kind in the other.
fn same_kind(wanted: &str, got: &str) -> bool {
    let is_name = |kind: &str| matches!(kind, "invalid_agent_name" | "validation_error");
    let is_transfer =
        |kind: &str| matches!(kind, "transfer_target_not_found" | "transfer_not_allowed");
    wanted == got
        || (is_name(wanted) && is_name(got))
        || (wanted == "agent_error" && is_transfer(got))
}

/// Returns the expected spelling of a measured line, if they differ only by the name of a class.
fn spelling_of<'a>(wanted: &'a String, got: &str) -> Option<&'a String> {
    let is_error_callback = got.starts_with("cb:on_") || got.starts_with("plugin:");
    let class = wanted.strip_prefix(got)?.strip_prefix(':')?;
    let is_class =
        class.starts_with(char::is_uppercase) && class.chars().all(char::is_alphanumeric);
    (is_error_callback && got.contains("_error") && is_class).then_some(wanted)
}

/// Whether an agent began more often than it ended. A cancelled branch may have done less, or may
/// not have begun, because branches take turns differently.
fn is_cut_short(trace: &[String]) -> bool {
    let count = |kind: &str| trace.iter().filter(|line| line.starts_with(kind)).count();
    count("run:") > count("done:")
}

/// Returns the subject of a line of a trace: an agent for `run:`, `done:`, `model:` and `cb:`,
/// otherwise a tool or a plugin.
fn subject(line: &str) -> String {
    let mut words = line.split(':');
    match words.next() {
        Some("run" | "done" | "model") => words.next().unwrap_or_default().to_owned(),
        Some("cb") => words.nth(1).unwrap_or_default().to_owned(),
        Some(kind) => format!("{kind} {}", words.next().unwrap_or_default()),
        None => String::new(),
    }
}

/// Formats JSON with sorted keys, since the order of keys is not specified.
fn json(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).map(|mut value| {
        value.sort_all_objects();
        value.to_string()
    });
    value.unwrap_or_else(|error| error.to_string())
}

fn lines(events: &[EventView]) -> Vec<String> {
    events.iter().map(json).collect()
}

fn group_by<T: Clone, K: Ord>(all: &[T], key: impl Fn(&T) -> K) -> BTreeMap<K, Vec<T>> {
    let mut groups = BTreeMap::new();
    for one in all {
        groups
            .entry(key(one))
            .or_insert_with(Vec::new)
            .push(one.clone());
    }
    groups
}

/// Groups the events by branch. Ids of calls are numbered per branch, since branches may interleave
/// freely.
fn branches(events: &[EventView]) -> BTreeMap<Option<String>, Vec<EventView>> {
    let mut groups = group_by(events, |event| event.branch.clone());
    for events in groups.values_mut() {
        let mut ids: Vec<String> = Vec::new();
        let mut number = |id: &mut String| {
            let known = ids.iter().position(|known| known == id);
            let place = known.unwrap_or_else(|| {
                ids.push(id.clone());
                ids.len() - 1
            });
            *id = format!("fc-{}", place + 1);
        };
        for event in events {
            for part in event
                .content
                .iter_mut()
                .flat_map(|content| &mut content.parts)
            {
                part.function_call
                    .iter_mut()
                    .filter_map(|call| call.id.as_mut())
                    .for_each(&mut number);
                part.function_response
                    .iter_mut()
                    .filter_map(|answer| answer.id.as_mut())
                    .for_each(&mut number);
            }
            event.long_running_tool_ids.iter_mut().for_each(&mut number);
        }
    }
    groups
}

/// Joins the groups of both sides. A side without a group has an empty list.
fn union<K: Ord + Clone, T: Clone>(
    one: &BTreeMap<K, Vec<T>>,
    other: &BTreeMap<K, Vec<T>>,
) -> BTreeMap<K, (Vec<T>, Vec<T>)> {
    let group =
        |groups: &BTreeMap<K, Vec<T>>, key: &K| groups.get(key).cloned().unwrap_or_default();
    one.keys()
        .chain(other.keys())
        .map(|key| (key.clone(), (group(one, key), group(other, key))))
        .collect()
}
