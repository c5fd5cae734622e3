//! [`search`]: all histories within the bounds, those with the fewest choices first.

use super::Explore;
use super::choice::{ChoiceKind, Deviation};
use super::history::{Played, play};
use super::report::{BadHistory, Explored, panic_text, test_of};
use super::world::World;
use adk_core::{Error, Needs, Resources, Result, Workflow};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The largest number of bad histories that a report keeps.
const MOST_BAD: usize = 100;

pub(super) fn search<W, R>(explore: &Explore<'_, W, R>) -> Result<Explored>
where
    W: Workflow + Needs<R> + ?Sized,
    R: Resources + Clone,
{
    let mut report = Explored::new(explore.workflow.as_agent().meta().name);
    let (mut level, is_replay) = match &explore.replay {
        None => (vec![Vec::new()], false),
        Some(choices) => (vec![read_choices(choices)?], true),
    };
    let mut deaths = BTreeSet::<String>::new();
    while !level.is_empty() {
        let mut next = Vec::new();
        let count = level.len();
        for (at, plan) in level.into_iter().enumerate() {
            if report.histories >= explore.scope.at_most {
                report.left = count - at + next.len();
                return Ok(report);
            }
            let played = play(explore, &plan)?;
            report.histories += 1;
            let died = plan
                .iter()
                .filter(|choice| choice.kind == ChoiceKind::Death);
            deaths.extend(died.map(|choice| choice.text.clone()));
            report.deaths = deaths.len();
            if let Some(fault) = fault_of(explore, &played.world) {
                report.bad_count += 1;
                if report.bad.len() < MOST_BAD {
                    let choices: Vec<_> = plan.iter().map(Deviation::to_string).collect();
                    let test = test_of(explore, &played.world, &choices);
                    report.bad.push(BadHistory {
                        fault,
                        choices,
                        test,
                        world: played.world.clone(),
                    });
                }
            }
            if !is_replay {
                // No more histories can be played than are left.
                let room = explore
                    .scope
                    .at_most
                    .saturating_sub(report.histories + next.len());
                let mut further = further(explore, &plan, &played);
                next.extend(further.by_ref().take(room));
                report.left += further.count();
            }
        }
        level = next;
    }
    Ok(report)
}

/// Returns the histories with one more choice, after the last choice of the plan.
fn further<'p, W: Workflow + ?Sized, R>(
    explore: &Explore<'_, W, R>,
    plan: &'p [Deviation],
    played: &'p Played,
) -> impl Iterator<Item = Vec<Deviation>> + use<'p, W, R> {
    let count = |kind| plan.iter().filter(|choice| choice.kind == kind).count();
    let may_reorder = count(ChoiceKind::Order) < explore.scope.deviations;
    let may_die = count(ChoiceKind::Death) < explore.scope.crashes;
    let is_cut_off = played.world.has_failure();
    let first = plan.last().map_or(0, |last| last.at + 1);
    let decisions = played.decisions.iter().enumerate().skip(first);
    let choices = decisions.flat_map(|(at, decision)| {
        let others = decision.choices.iter().skip(1);
        others.map(move |choice| (at, choice))
    });
    let choices = choices.filter(move |(_, choice)| match choice.kind {
        ChoiceKind::Order => may_reorder && (is_cut_off || !choice.is_redundant),
        ChoiceKind::Death => may_die,
        ChoiceKind::Default | ChoiceKind::Answer | ChoiceKind::Person => true,
    });
    choices.map(|(at, choice)| {
        let mut more = plan.to_vec();
        more.push(Deviation {
            at,
            kind: choice.kind,
            text: choice.text.clone(),
        });
        more
    })
}

fn read_choices(choices: &[String]) -> Result<Vec<Deviation>> {
    let read = |text: &String| {
        Deviation::parse(text).ok_or_else(|| {
            let message = format!("`{text}` is no choice of a history");
            Error::other(message).with_help("copy the choices from the report of a bad history")
        })
    };
    choices.iter().map(read).collect()
}

/// Returns what is wrong with the world at the end of a history.
fn fault_of<W: Workflow + ?Sized, R>(explore: &Explore<'_, W, R>, world: &World) -> Option<String> {
    world.fault(explore.scope.may_fail).or_else(|| {
        explore.checks.iter().find_map(|check| {
            let checked = catch_unwind(AssertUnwindSafe(|| check(world)));
            checked.unwrap_or_else(|panic| Some(panic_text(&*panic)))
        })
    })
}
