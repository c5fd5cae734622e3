//! Answers that came late: providers want them directly behind their calls.

use crate::content::{Content, FunctionResponse, Part, Role};
use crate::event::Event;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A conversation in which calls were answered from outside, after something else was said: ADK's order of it.
///
/// The latest answer of a call stands directly behind the call, in place of what the tool said in the meantime. While
/// the answer is the last thing that was said, what came between the call and it is left out.
pub(super) struct Late {
    /// The answers behind an event with calls, by its place.
    behind: HashMap<usize, Content>,
    /// The agent's own calls, whose answers were moved.
    moved: HashSet<String>,
    agent: String,
    /// From here, what is left out ends.
    skipped: std::ops::Range<usize>,
}

impl Late {
    /// `None` where no call was answered from outside, so that everything stays where it is.
    pub(super) fn of(events: &[&Arc<Event>], agent: &str) -> Option<Self> {
        let is_late =
            |event: &Arc<Event>| event.author == "user" && event.function_responses().next().is_some();
        if !events.iter().any(|event| is_late(event)) {
            return None;
        }
        let mut latest: HashMap<&str, &FunctionResponse> = HashMap::new();
        for response in events.iter().flat_map(|event| event.function_responses()) {
            latest.insert(&response.id, response);
        }
        let (mut behind, mut moved) = (HashMap::new(), HashSet::new());
        for (place, event) in events.iter().enumerate().filter(|(_, event)| *event.author == *agent) {
            let found: Vec<_> = event.function_calls().filter_map(|call| latest.get(&*call.id)).collect();
            if !found.is_empty() {
                moved.extend(found.iter().map(|response| response.id.clone()));
                let parts = found.into_iter().map(|&response| Part::FunctionResponse(response.clone()));
                behind.insert(place, Content::new(Role::User, parts.collect()));
            }
        }
        let skipped = events.last().filter(|last| is_late(last)).and_then(|last| {
            let ids: HashSet<_> = last.function_responses().map(|response| &*response.id).collect();
            let call = events
                .iter()
                .rposition(|event| event.function_calls().any(|call| ids.contains(&*call.id)))?;
            Some(call + 1..events.len())
        });
        Some(Self { behind, moved, agent: agent.to_owned(), skipped: skipped.unwrap_or_default() })
    }

    /// What stays of an event at its place; `None` when nothing does. What was answered to other agents is no part of
    /// this one's conversation.
    pub(super) fn placed(&self, place: usize, event: &Event, content: &Content) -> Option<Content> {
        if self.skipped.contains(&place) {
            return None;
        }
        let stays = |part: &&Part| match part {
            Part::FunctionResponse(_) if event.author == "user" => false,
            Part::FunctionResponse(response) => {
                *event.author != *self.agent || !self.moved.contains(&response.id)
            }
            _ => true,
        };
        let parts: Vec<_> = content.parts.iter().filter(stays).cloned().collect();
        (!parts.is_empty()).then(|| Content::new(content.role, parts))
    }

    /// The answers to the calls of an event.
    pub(super) fn behind(&self, place: usize) -> Option<&Content> {
        self.behind.get(&place)
    }
}
