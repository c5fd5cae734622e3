//! [`Exchanges`]: assignment of responses to function calls.

use crate::store::event::Event;
use crate::{Content, FunctionResponse, Part, Role};
use adk_model::__private::model::MessageSource;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::ptr;
use std::sync::Arc;

/// Prefix of call ids that this crate generates for calls without an id. Requests to the model omit
/// these ids.
pub(in crate::agents::llm) const OWN_ID: &str = "adk-";

/// The function calls of one agent in a conversation that have a response.
///
/// A response belongs to the nearest earlier call with its id, because providers reuse ids in each
/// reply, or use one id for all calls. If a call has several responses, the latest one is used.
/// Providers expect responses directly after their calls, so a request places them there (ADK uses
/// the same order).
pub(super) struct Exchanges<'a> {
    answered: BTreeMap<Place, Exchange<'a>>,
    /// Events between a call and its response that the request omits as long as the response is
    /// the last event.
    skipped: Range<usize>,
}

/// Index of an event, and of a part in its content.
pub(in crate::agents::llm::request) type Place = (usize, usize);

struct Exchange<'a> {
    response: &'a FunctionResponse,
    /// The index of the event of the response.
    at: usize,
    /// The id in the request, different for each call. Empty for an id that this crate generated,
    /// which no provider knows.
    id: Cow<'a, str>,
}

impl<'a> Exchanges<'a> {
    /// Pairs the calls of an agent in `events` with their responses. `ids` contains the request ids
    /// of the agent's earlier calls; the ids of these calls are added.
    pub(super) fn new(
        events: &[&'a Arc<Event>],
        pairs: Vec<Pair<'a>>,
        agent: &str,
        ids: &mut HashSet<String>,
    ) -> Self {
        let mut answered = BTreeMap::new();
        let mut skipped = 0..0;
        for (call, at, response) in pairs {
            answered.insert(
                call,
                Exchange {
                    response,
                    at,
                    id: "".into(),
                },
            );
            if at + 1 == events.len() && events[at].author == "user" {
                skipped = skipped.start.max(call.0 + 1)..at + 1;
            }
        }
        answered.retain(|(at, _), _| *events[*at].author == *agent);
        let mut this = Self { answered, skipped };
        this.name_calls(ids);
        this
    }

    /// Gives each call a unique id.
    fn name_calls(&mut self, ids: &mut HashSet<String>) {
        for Exchange { response, id, .. } in self.answered.values_mut() {
            if response.id.starts_with(OWN_ID) {
                continue;
            }
            *id = Cow::Borrowed(&response.id);
            let mut nth = 1;
            while !ids.insert(id.to_string()) {
                nth += 1;
                *id = format!("{}-{nth}", response.id).into();
            }
        }
    }

    pub(super) fn is_skipped(&self, event: usize) -> bool {
        self.skipped.contains(&event)
    }

    /// Reports whether events are omitted for now. A later request contains them.
    pub(super) fn has_skipped(&self) -> bool {
        !self.skipped.is_empty()
    }

    /// Returns the id of a call in the request; `None` for a call without a response, which
    /// providers reject.
    pub(super) fn call(&self, place: Place) -> Option<&str> {
        self.answered.get(&place).map(|exchange| &*exchange.id)
    }

    /// Returns the responses to the calls of an event. Shares the event of the responses if it
    /// contains exactly these responses, with the same ids.
    pub(super) fn answers(
        &self,
        at: usize,
        content: &Content,
        events: &[&Arc<Event>],
    ) -> Option<Arc<dyn MessageSource>> {
        let exchanges =
            (0..content.parts.len()).filter_map(|index| self.answered.get(&(at, index)));
        let answers: Vec<_> = exchanges.collect();
        let event = events[answers.first()?.at];
        let is_unchanged = event.content.as_ref().is_some_and(|content| {
            let is_same = |(part, exchange): (&Part, &&Exchange<'_>)| match part {
                Part::FunctionResponse(response) => {
                    ptr::eq(&raw const **response, exchange.response) && response.id == exchange.id
                }
                _ => false,
            };
            content.role == Role::User
                && content.parts.len() == answers.len()
                && content.parts.iter().zip(&answers).all(is_same)
        });
        if is_unchanged {
            return Some(event.clone());
        }
        let answers = answers.iter().map(|Exchange { response, id, .. }| {
            let (name, response) = (response.name.clone(), response.response.clone());
            Part::from(FunctionResponse {
                id: id.to_string(),
                name,
                response,
            })
        });
        Some(Arc::new(Content::new(Role::User, answers.collect())))
    }
}

/// A call with its response: the place of the call, the index of the event that has the response,
/// and the response.
pub(in crate::agents::llm::request) type Pair<'a> = (Place, usize, &'a FunctionResponse);

/// Reports whether any response for the agent belongs to a call that `events` does not contain, or
/// to a call of another run. The author of such a response is the agent or the user.
pub(super) fn reaches_back(events: &[&Arc<Event>], pairs: &[Pair<'_>], agent: &str) -> bool {
    let is_heard = |event: &Event| event.author == "user" || *event.author == *agent;
    let heard = events.iter().filter(|event| is_heard(event));
    let responses = heard
        .map(|event| event.function_responses().count())
        .sum::<usize>();
    let here = pairs.iter().filter(|(call, at, _)| {
        is_heard(events[*at]) && events[call.0].invocation_id == events[*at].invocation_id
    });
    here.count() < responses
}

/// Returns each response with the place of its call and the index of the event that has the
/// response, in the order of the responses.
pub(in crate::agents::llm::request) fn pairs<'a>(events: &[&'a Arc<Event>]) -> Vec<Pair<'a>> {
    let mut calls: HashMap<&str, Vec<Place>> = HashMap::new();
    let mut pairs = Vec::new();
    for (at, event) in events.iter().enumerate() {
        let parts = event
            .content
            .iter()
            .flat_map(|content| content.parts.iter().enumerate());
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

/// Returns the call of a response. Calls of the same run take precedence, because runs of a session
/// may overlap.
fn nearest(calls: &[Place], events: &[&Arc<Event>], response: &Event) -> Option<Place> {
    // A person may answer calls of any agent.
    let is_of =
        |place: &&Place| response.author == "user" || events[place.0].author == response.author;
    let is_of_run = |place: &&Place| events[place.0].invocation_id == response.invocation_id;
    let own = calls.iter().rev().filter(is_of).find(is_of_run);
    own.or_else(|| calls.iter().rev().find(is_of)).copied()
}
