//! [`Exchanges`]: which response answers which function call.

use crate::agents::llm::turn::OWN_ID;
use crate::content::{Content, FunctionCall, FunctionResponse, Part, Role};
use crate::store::event::Event;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// The answered function calls of one agent in a conversation.
///
/// A response belongs to the nearest call before it that has its id: providers use one id again in each reply, or even for
/// all calls. Of several responses to one call the latest counts. Providers want the responses directly after their calls,
/// so that is where they go, wherever the conversation has them (ADK orders it the same way).
pub(super) struct Exchanges<'a> {
    answered: BTreeMap<Place, Exchange<'a>>,
    /// Events between a call and its answer that are left out, while that answer is the last thing that was said.
    skipped: Range<usize>,
}

/// Index of an event, and of a part in its content.
pub(in crate::agents::llm) type Place = (usize, usize);

struct Exchange<'a> {
    response: &'a FunctionResponse,
    /// The id in the request, different for each call of it. Empty for an id of our own, which no provider knows.
    id: Cow<'a, str>,
}

impl<'a> Exchanges<'a> {
    pub(super) fn of(events: &[&'a Arc<Event>], agent: &str) -> Self {
        let mut answered = BTreeMap::new();
        let mut skipped = 0..0;
        for (call, at, response) in pairs(events) {
            answered.insert(call, Exchange { response, id: "".into() });
            if at + 1 == events.len() && events[at].author == "user" {
                skipped = skipped.start.max(call.0 + 1)..at + 1;
            }
        }
        answered.retain(|(at, _), _| *events[*at].author == *agent);
        let mut this = Self { answered, skipped };
        this.name_calls();
        this
    }

    /// Gives each call an id of its own.
    fn name_calls(&mut self) {
        let mut used = HashSet::new();
        for Exchange { response, id } in self.answered.values_mut() {
            if response.id.starts_with(OWN_ID) {
                continue;
            }
            *id = Cow::Borrowed(&response.id);
            let mut nth = 1;
            while !used.insert(id.clone()) {
                nth += 1;
                *id = format!("{}-{nth}", response.id).into();
            }
        }
    }

    pub(super) fn is_skipped(&self, event: usize) -> bool {
        self.skipped.contains(&event)
    }

    /// A call as the model sees it; `None` without an answer, since providers refuse such a call.
    pub(super) fn call(&self, place: Place, call: &FunctionCall) -> Option<Part> {
        let Exchange { id, .. } = self.answered.get(&place)?;
        Some(Part::from(FunctionCall { id: id.to_string(), ..call.clone() }))
    }

    /// The answers to the calls of an event.
    pub(super) fn answers(&self, at: usize, content: &Content) -> Option<Content> {
        let answers = (0..content.parts.len()).filter_map(|index| {
            let Exchange { response, id } = self.answered.get(&(at, index))?;
            let (name, response) = (response.name.clone(), response.response.clone());
            Some(Part::from(FunctionResponse { id: id.to_string(), name, response }))
        });
        let answers: Vec<_> = answers.collect();
        (!answers.is_empty()).then(|| Content::new(Role::User, answers))
    }
}

/// Each response with the place of its call and the index of its own event, in the order of the responses.
pub(in crate::agents::llm) fn pairs<'a>(
    events: &[&'a Arc<Event>],
) -> Vec<(Place, usize, &'a FunctionResponse)> {
    let mut calls: HashMap<&str, Vec<Place>> = HashMap::new();
    let mut pairs = Vec::new();
    for (at, event) in events.iter().enumerate() {
        let parts = event.content.iter().flat_map(|content| content.parts.iter().enumerate());
        for (index, part) in parts {
            match part {
                Part::FunctionCall(call) => calls.entry(&call.id).or_default().push((at, index)),
                Part::FunctionResponse(response) => {
                    let asked = calls.get(&*response.id).map_or(&[][..], Vec::as_slice);
                    pairs.extend(nearest(asked, events, event).map(|call| (call, at, &**response)));
                }
                _ => {}
            }
        }
    }
    pairs
}

/// The call that a response answers: one of the same run before one of another, since runs of a session may overlap.
fn nearest(calls: &[Place], events: &[&Arc<Event>], response: &Event) -> Option<Place> {
    // A person answers calls of any agent.
    let is_of = |place: &&Place| response.author == "user" || events[place.0].author == response.author;
    let is_of_run = |place: &&Place| events[place.0].invocation_id == response.invocation_id;
    let own = calls.iter().rev().filter(is_of).find(is_of_run);
    own.or_else(|| calls.iter().rev().find(is_of)).copied()
}
