//! [`View`]: the part of a session's log that an agent sees, read from the back only as far as it is needed.

use crate::Result;
use crate::agents::llm::IncludeContents;
use crate::content::Part;
use crate::runtime::run::History;
use crate::store::event::{Event, EventCompaction};
use std::ops::ControlFlow;
use std::sync::Arc;

/// How much of the log is wanted.
#[derive(Clone, Copy)]
pub(in crate::agents::llm) enum Reach {
    Include(IncludeContents),
    /// All, with summaries in the place of what they cover.
    Summarised,
}

/// Events that say something, oldest first, and the summaries that replace others.
#[derive(Default)]
pub(in crate::agents::llm) struct View<'a> {
    pub(in crate::agents::llm) events: Vec<&'a Arc<Event>>,
    /// The places of the events in the log.
    pub(in crate::agents::llm) places: Vec<usize>,
    /// Each with the index of the event that follows it.
    pub(in crate::agents::llm) summaries: Vec<(usize, &'a EventCompaction)>,
    /// How many of the events were said after the newest summary was made.
    pub(in crate::agents::llm) since: usize,
    /// Nothing before these events belongs to what is wanted.
    pub(super) is_whole: bool,
    /// How many turns of the user begin in them; counted where turns are wanted.
    pub(super) turns: u32,
}

/// A summary on the way back through the log.
struct Summary<'a> {
    of: &'a EventCompaction,
    /// How many events follow it; `None` while what it covers has not come.
    after: Option<usize>,
}

impl<'a> View<'a> {
    /// Reads the log from a place on, as far back as is needed.
    ///
    /// # Errors
    /// When the store fails.
    pub(in crate::agents::llm) async fn read(
        history: &'a History,
        agent: &str,
        reach: Reach,
        from: usize,
    ) -> Result<View<'a>> {
        let (mut events, mut places) = (Vec::new(), Vec::new());
        let mut summaries: Vec<Summary<'a>> = Vec::new();
        let mut since = None;
        let (mut is_whole, mut turns) = (from == 0, 0);
        let next = |place, event: &'a Arc<Event>| {
            if let Some(of) = &event.actions.compaction {
                let is_new =
                    !summaries.iter().any(|taken| taken.of.start <= of.start && of.end <= taken.of.end);
                if matches!(reach, Reach::Summarised) && is_new && history.is_covered_by(event) {
                    summaries.push(Summary { of, after: None });
                    since.get_or_insert(events.len());
                }
                return ControlFlow::Continue(());
            }
            if !speaks(event) {
                return ControlFlow::Continue(());
            }
            let mut is_covered = false;
            for summary in summaries.iter_mut().filter(|summary| event.timestamp <= summary.of.end) {
                summary.after.get_or_insert(events.len());
                if summary.of.start == 0 {
                    return ControlFlow::Break(());
                }
                is_covered |= summary.of.start <= event.timestamp;
            }
            if is_covered {
                return ControlFlow::Continue(());
            }
            events.push(event);
            places.push(place);
            // The answer to a call that ran on is a part of the turn.
            let is_answer = event.author == "user" && event.function_responses().next().is_some();
            let is_first = match reach {
                Reach::Include(IncludeContents::None) => *event.author != *agent && !is_answer,
                Reach::Include(IncludeContents::Last(most)) if event.author == "user" && !is_answer => {
                    turns += 1;
                    turns >= most
                }
                _ => false,
            };
            is_whole |= is_first;
            if is_first { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        history.walk_back(from, next).await?;
        events.reverse();
        places.reverse();
        let at = |summary: &Summary<'_>| events.len() - summary.after.unwrap_or(events.len());
        let mut summaries: Vec<_> = summaries.iter().map(|summary| (at(summary), summary.of)).collect();
        summaries.sort_by_key(|(at, of)| (*at, of.end));
        let since = since.unwrap_or(events.len());
        Ok(Self { events, places, summaries, since, is_whole, turns })
    }
}

fn speaks(event: &Event) -> bool {
    event.content.as_ref().is_some_and(|content| content.parts.iter().any(|part| !is_silent(part)))
}

pub(super) fn is_silent(part: &Part) -> bool {
    match part {
        Part::Text(text) => text.is_empty(),
        Part::Thought(_) => true,
        _ => false,
    }
}
