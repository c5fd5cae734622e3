//! [`View`]: the part of a session's log that an agent sees. The log is read backwards, and no
//! further than necessary.

use super::order::{LeftOut, arrange};
use crate::Result;
use crate::agents::llm::IncludeContents;
use crate::content::Part;
use crate::models::model::CallInfo;
use crate::runtime::run::History;
use crate::store::event::{ConcurrentBlock, Event, EventCompaction};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The requested part of the log.
#[derive(Clone, Copy)]
pub(in crate::agents::llm) enum Reach {
    Include(IncludeContents),
    /// All events, with summaries in place of the events that they cover.
    Summarized,
}

/// Events with content, oldest first and in the order of [`arrange`], and the summaries that
/// replace other events.
#[derive(Default)]
pub(in crate::agents::llm) struct View<'a> {
    pub(in crate::agents::llm) events: Vec<&'a Arc<Event>>,
    /// The positions of the events in the log.
    pub(in crate::agents::llm) places: Vec<usize>,
    /// The summaries, each with the index of the event that follows it.
    pub(in crate::agents::llm) summaries: Vec<(usize, &'a EventCompaction)>,
    /// Number of events after the newest summary.
    pub(in crate::agents::llm) since: usize,
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
    compaction: &'a EventCompaction,
    /// Number of events that follow it; `None` until the first covered event is found.
    after: Option<usize>,
}

impl<'a> View<'a> {
    /// Reads the log backwards to the position `from`, and no further than necessary.
    ///
    /// # Errors
    /// Fails if the store fails.
    pub(in crate::agents::llm) async fn read(
        history: &'a History,
        agent: &str,
        reach: Reach,
        from: usize,
    ) -> Result<View<'a>> {
        let (mut events, mut places) = (Vec::new(), Vec::new());
        let mut left_out: Vec<LeftOut> = Vec::new();
        // The parallel block of the event with which the requested part begins. Other events of the
        // block may be sorted before this event, so reading continues to the start of the block.
        let mut first_block: Option<ConcurrentBlock> = None;
        let has_parts = history.branch().is_none();
        let mut summaries: Vec<Summary<'a>> = Vec::new();
        let mut since = None;
        let (mut is_whole, mut turns) = (from == 0, 0);
        let next = |place, event: &'a Arc<Event>| {
            if let Some(compaction) = &event.actions.compaction {
                let is_new = !summaries.iter().any(|taken| {
                    taken.compaction.start <= compaction.start
                        && compaction.end <= taken.compaction.end
                });
                if matches!(reach, Reach::Summarized) && is_new && history.is_covered_by(event) {
                    summaries.push(Summary {
                        compaction,
                        after: None,
                    });
                    since.get_or_insert(events.len());
                }
                return ControlFlow::Continue(());
            }
            if has_parts {
                left_out.extend(LeftOut::read(event));
            }
            if !has_content(event) {
                let is_first =
                    first_block.is_none() && begins_turn(event) && reach.ends_at_turn(&mut turns);
                is_whole |= is_first;
                return if is_first {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                };
            }
            if left_out.iter().any(|parts| parts.holds(event)) {
                return ControlFlow::Continue(());
            }
            if first_block
                .as_ref()
                .is_some_and(|block| !block.contains(event))
            {
                return ControlFlow::Break(());
            }
            let mut is_covered = false;
            for summary in summaries
                .iter_mut()
                .filter(|summary| event.timestamp <= summary.compaction.end)
            {
                summary.after.get_or_insert(events.len());
                if summary.compaction.start == 0 {
                    return ControlFlow::Break(());
                }
                is_covered |= summary.compaction.start <= event.timestamp;
            }
            if is_covered {
                return ControlFlow::Continue(());
            }
            events.push(event);
            places.push(place);
            let is_first = match reach {
                Reach::Include(IncludeContents::None | IncludeContents::Prompt) => {
                    is_of_another(event, agent)
                }
                _ => event.author == "user" && !is_answer(event) && reach.ends_at_turn(&mut turns),
            };
            is_whole |= is_first;
            if is_first && has_parts {
                first_block = first_block
                    .take()
                    .or_else(|| ConcurrentBlock::around(event));
            }
            if is_first && first_block.is_none() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        history.walk_back(from, next).await?;
        events.reverse();
        places.reverse();
        if has_parts {
            arrange(&mut events, &mut places);
        }
        if first_block.is_some() && reach.is_current_turn() {
            let first = events
                .iter()
                .rposition(|event| is_of_another(event, agent))
                .unwrap_or(0);
            events.drain(..first);
            places.drain(..first);
        }
        let summaries = place_summaries(&summaries, events.len());
        let since = since.unwrap_or(events.len());
        let has_left_out = !left_out.is_empty();
        Ok(Self {
            events,
            places,
            summaries,
            since,
            is_whole,
            turns,
            has_left_out,
        })
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

/// Returns the summaries in their order, each with the index of the first event after it. `count`
/// is the number of events in the view.
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
