//! [`View`]: the part of a session's log that an agent sees. The log is read backwards, and no
//! further than necessary.

use super::order::{LeftOut, arrange};
use crate::Part;
use crate::Result;
use crate::agents::llm::agent::IncludeContents;
use crate::model::CallInfo;
use crate::runtime::run::{GuardRules, History, Marks};
use crate::store::event::{ConcurrentBlock, Event, EventCompaction};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The requested part of the log.
#[derive(Clone, Copy)]
pub(in crate::agents::llm::request) enum Reach {
    Include(IncludeContents),
    /// All events, with summaries in place of the events that they cover.
    Summarized,
}

/// Events with content, oldest first and in the order of [`arrange`], and the summaries that
/// replace other events.
#[derive(Default)]
pub(in crate::agents::llm::request) struct View<'a> {
    pub(in crate::agents::llm::request) events: Vec<&'a Arc<Event>>,
    /// The positions of the events in the log.
    pub(in crate::agents::llm::request) places: Vec<usize>,
    /// The summaries, each with the index of the event that follows it.
    pub(in crate::agents::llm::request) summaries: Vec<(usize, &'a EventCompaction)>,
    /// The events with the summaries.
    summary_events: Vec<&'a Event>,
    /// Number of events after the newest summary.
    pub(in crate::agents::llm::request) since: usize,
    /// Whether the view contains the whole requested part of the log, so that earlier events are
    /// not needed.
    pub(super) is_whole: bool,
    /// Number of user turns that begin in the events; counted only if `Reach` limits the turns.
    pub(super) turns: u32,
    /// Whether a block has omitted branches or elements, which may have events before this view.
    pub(super) has_left_out: bool,
}

/// A summary that was found while reading backwards.
struct Summary<'a> {
    event: &'a Event,
    compaction: &'a EventCompaction,
    /// Number of events that follow it; `None` until the first covered event is found.
    after: Option<usize>,
}

impl<'a> View<'a> {
    /// Reads the log backwards to the position `from`, and no further than necessary.
    ///
    /// # Errors
    /// Fails if the store fails.
    pub(in crate::agents::llm::request) async fn read(
        history: &'a History,
        agent: &str,
        reach: Reach,
        from: usize,
    ) -> Result<View<'a>> {
        let mut reader = ViewReader {
            history,
            agent,
            reach,
            has_parts: history.branch().is_none(),
            events: Vec::new(),
            places: Vec::new(),
            left_out: Vec::new(),
            first_block: None,
            summaries: Vec::new(),
            since: None,
            is_whole: from == 0,
            turns: 0,
        };
        let next = |place, event| reader.take_event(place, event);
        history.walk_back(from, next).await?;
        Ok(reader.into_view())
    }

    /// Returns the marks of what the view shows; none without guards.
    pub(in crate::agents::llm::request) fn marks(&self, rules: Option<&GuardRules>) -> Marks {
        let mut marks = Marks::NONE;
        if let Some(rules) = rules {
            let events = self.events.iter().map(|event| &***event);
            let all = events.chain(self.summary_events.iter().copied());
            all.for_each(|event| marks.join(Marks::of_event(event, rules)));
        }
        marks
    }

    /// Reads the events of an agent in the turn of a call, and the responses to its calls.
    ///
    /// # Errors
    /// Fails if the store fails.
    pub(super) async fn read_turn(history: &'a History, info: &CallInfo) -> Result<View<'a>> {
        let (mut events, mut places) = (Vec::new(), Vec::new());
        let next = |place, event: &'a Arc<Event>| {
            if event.invocation_id != info.run_id || !has_content(event) {
                return ControlFlow::Continue(());
            }
            if event.path != info.path || (*event.author != *info.agent && !is_answer(event)) {
                return ControlFlow::Break(());
            }
            events.push(event);
            places.push(place);
            ControlFlow::Continue(())
        };
        history.walk_back(0, next).await?;
        events.reverse();
        places.reverse();
        Ok(Self {
            events,
            places,
            is_whole: true,
            ..Self::default()
        })
    }
}

/// The state of a backward read of the log.
struct ViewReader<'a, 'r> {
    history: &'a History,
    agent: &'r str,
    reach: Reach,
    /// Whether the log may have events of concurrent parts.
    has_parts: bool,
    /// The events so far, newest first.
    events: Vec<&'a Arc<Event>>,
    places: Vec<usize>,
    left_out: Vec<LeftOut>,
    /// The block of the first event, whose other events may be sorted before that one.
    first_block: Option<ConcurrentBlock>,
    summaries: Vec<Summary<'a>>,
    since: Option<usize>,
    is_whole: bool,
    turns: u32,
}

impl<'a> ViewReader<'a, '_> {
    /// Takes the next older event. Breaks when no older event belongs to the requested part.
    fn take_event(&mut self, place: usize, event: &'a Arc<Event>) -> ControlFlow<()> {
        if let Some(compaction) = &event.actions.compaction {
            self.take_summary(event, compaction);
            return ControlFlow::Continue(());
        }
        if self.has_parts {
            self.left_out.extend(LeftOut::read(event));
        }
        // An agent that replied without a visible word has spoken last.
        let is_empty_reply =
            self.reach.is_current_turn() && is_reply(event) && is_of_another(event, self.agent);
        if !has_content(event) && !is_empty_reply {
            let is_first = self.first_block.is_none()
                && begins_turn(event)
                && self.reach.ends_at_turn(&mut self.turns);
            self.is_whole |= is_first;
            return break_if(is_first);
        }
        if self.left_out.iter().any(|parts| parts.holds(event)) {
            return ControlFlow::Continue(());
        }
        let block = self.first_block.as_ref();
        if block.is_some_and(|block| !block.contains(event)) {
            return ControlFlow::Break(());
        }
        if self.is_covered(event)? {
            return ControlFlow::Continue(());
        }
        self.events.push(event);
        self.places.push(place);
        let is_first = match self.reach {
            Reach::Include(IncludeContents::None | IncludeContents::Prompt) => {
                is_of_another(event, self.agent)
            }
            _ => {
                event.author == "user"
                    && !is_answer(event)
                    && self.reach.ends_at_turn(&mut self.turns)
            }
        };
        self.is_whole |= is_first;
        if is_first && self.has_parts && self.first_block.is_none() {
            self.first_block = ConcurrentBlock::around(event);
        }
        break_if(is_first && self.first_block.is_none())
    }

    /// Takes a summary, unless a newer summary covers the same time.
    fn take_summary(&mut self, event: &'a Event, compaction: &'a EventCompaction) {
        let is_new = !self.summaries.iter().any(|taken| {
            taken.compaction.start <= compaction.start && compaction.end <= taken.compaction.end
        });
        if matches!(self.reach, Reach::Summarized) && is_new && self.history.is_covered_by(event) {
            self.summaries.push(Summary {
                event,
                compaction,
                after: None,
            });
            self.since.get_or_insert(self.events.len());
        }
    }

    /// Returns whether a summary covers the event. Breaks if a summary covers all older events too.
    fn is_covered(&mut self, event: &Event) -> ControlFlow<(), bool> {
        let mut is_covered = false;
        let ended = self.summaries.iter_mut();
        for summary in ended.filter(|summary| event.timestamp <= summary.compaction.end) {
            summary.after.get_or_insert(self.events.len());
            if summary.compaction.start == 0 {
                return ControlFlow::Break(());
            }
            is_covered |= summary.compaction.start <= event.timestamp;
        }
        ControlFlow::Continue(is_covered)
    }

    /// Sorts the events, oldest first, and cuts off those before the turn.
    fn into_view(mut self) -> View<'a> {
        self.events.reverse();
        self.places.reverse();
        if self.has_parts {
            arrange(&mut self.events, &mut self.places);
        }
        if self.first_block.is_some() && self.reach.is_current_turn() {
            let mut events = self.events.iter();
            let first = events.rposition(|event| is_of_another(event, self.agent));
            let first = first.unwrap_or(0);
            self.events.drain(..first);
            self.places.drain(..first);
        }
        View {
            summary_events: self.summaries.iter().map(|summary| summary.event).collect(),
            summaries: place_summaries(&self.summaries, self.events.len()),
            since: self.since.unwrap_or(self.events.len()),
            events: self.events,
            places: self.places,
            is_whole: self.is_whole,
            turns: self.turns,
            has_left_out: !self.left_out.is_empty(),
        }
    }
}

fn break_if(condition: bool) -> ControlFlow<()> {
    if condition {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    }
}

/// Returns each summary with the index of the first of `count` events after it, in their order.
fn place_summaries<'a>(
    summaries: &[Summary<'a>],
    count: usize,
) -> Vec<(usize, &'a EventCompaction)> {
    let place =
        |summary: &Summary<'a>| (count - summary.after.unwrap_or(count), summary.compaction);
    let mut placed: Vec<_> = summaries.iter().map(place).collect();
    placed.sort_by_key(|(at, compaction)| (*at, compaction.end));
    placed
}

impl Reach {
    fn is_current_turn(self) -> bool {
        matches!(
            self,
            Self::Include(IncludeContents::None | IncludeContents::Prompt)
        )
    }

    /// Counts a turn of the user. Returns whether the requested part begins with this turn.
    fn ends_at_turn(self, turns: &mut u32) -> bool {
        match self {
            Self::Include(IncludeContents::None | IncludeContents::Prompt) => true,
            Self::Include(IncludeContents::Last(most)) => {
                *turns += 1;
                *turns >= most
            }
            _ => false,
        }
    }
}

/// Reports whether the event has the response of a long-running call, which belongs to the same
/// turn.
fn is_answer(event: &Event) -> bool {
    event.author == "user" && event.function_responses().next().is_some()
}

fn is_of_another(event: &Event, agent: &str) -> bool {
    *event.author != *agent && !is_answer(event)
}

/// Reports whether a model, or an agent that speaks, has replied with this event. A withheld reply
/// has only an error code.
fn is_reply(event: &Event) -> bool {
    let is_withheld = |event: &Event| {
        let details = event.details.as_ref();
        details.is_some_and(|details| details.error_code.is_some())
    };
    event.author != "user" && (event.content.is_some() || is_withheld(event))
}

/// Reports whether a run begins with this event. If the user sends no message, the event has no
/// parts.
fn begins_turn(event: &Event) -> bool {
    event.author == "user"
        && event
            .content
            .as_ref()
            .is_some_and(|content| content.parts.is_empty())
}

fn has_content(event: &Event) -> bool {
    event
        .content
        .as_ref()
        .is_some_and(|content| content.parts.iter().any(|part| !is_silent(part)))
}

pub(super) fn is_silent(part: &Part) -> bool {
    match part {
        Part::Text(text) => text.is_empty(),
        Part::Thought(_) => true,
        _ => false,
    }
}
