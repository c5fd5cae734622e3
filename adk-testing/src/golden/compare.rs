//! [`Comparison`]: the differences between two golden files, with their cause.

use super::Compare;
use super::diff::{Line, aligned, line_diff};
use super::document::{Document, Section, SectionKind, counted};
use super::place::CallPlace;
use std::fmt::Write as _;

/// The column of a prompt's source in a report.
const SOURCE_COLUMN: usize = 64;

/// The largest number of steps whose differences a report shows.
const MOST_STEPS: usize = 3;

/// Answers that were given to other inputs, or that are still right.
#[derive(Debug, Default)]
pub(super) struct AnswerReview {
    pub(super) stale: Vec<CallPlace>,
    pub(super) right: Vec<CallPlace>,
    /// Recorded calls that the run did not make.
    pub(super) unasked: Vec<CallPlace>,
    /// The number of stale answers of models.
    pub(super) asks_again: usize,
    /// The number of answers of models.
    pub(super) model_calls: usize,
}

/// The differences between two golden files.
#[derive(Debug)]
pub(super) struct Comparison {
    changes: Vec<Change>,
}

/// A section that differs.
#[derive(Debug)]
struct Change {
    id: String,
    kind: ChangeKind,
    hunk: Vec<String>,
}

/// The subject of a difference, causes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ChangeKind {
    Head,
    Input,
    Prompt,
    Tools,
    Schema,
    Settings,
    Route,
    Key,
    Reads,
    Output,
    Error,
    Cost,
}

impl ChangeKind {
    /// Returns the noun for a number of changes.
    fn noun(self, count: usize) -> String {
        let (one, many) = match self {
            Self::Head => ("the workflow", "the workflow"),
            Self::Input => ("the input", "the input"),
            Self::Prompt => ("a prompt", "prompts"),
            Self::Tools => ("the tools of an agent", "tools of agents"),
            Self::Schema => ("the schema of an answer", "schemas of answers"),
            Self::Settings => ("the settings of an agent", "settings of agents"),
            Self::Route => ("the route", "the route"),
            Self::Key => ("what a step says or writes", "what steps say or write"),
            Self::Reads => ("what a step reads", "what steps read"),
            Self::Output => ("the output", "the output"),
            Self::Error => ("the error", "the error"),
            Self::Cost => ("the cost", "the cost"),
        };
        match count {
            1 => one.to_owned(),
            _ if one == many => one.to_owned(),
            _ => format!("{count} {many}"),
        }
    }

    fn is_of_step(self) -> bool {
        matches!(self, Self::Route | Self::Key | Self::Reads)
    }
}

impl Comparison {
    pub(super) fn new(then: &Document, now: &Document, level: Compare) -> Self {
        let (then, now) = (filtered(then, level), filtered(now, level));
        let ids = |document: &Document| -> Vec<String> {
            let sections = document.sections.iter();
            sections
                .map(|section| format!("{:?} {}", section.kind(), section.id()))
                .collect()
        };
        let pairs = aligned(&ids(&then), &ids(&now));
        let section = |document: &Document, at: Option<usize>| {
            at.and_then(|at| document.sections.get(at).cloned())
        };
        let changes = pairs
            .into_iter()
            .filter_map(|(old, new)| change(section(&then, old), section(&now, new)));
        Self {
            changes: changes.collect(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    fn count(&self, kind: ChangeKind) -> usize {
        self.changes
            .iter()
            .filter(|change| change.kind == kind)
            .count()
    }

    /// Returns the first line of a report: what has changed, and what is the same.
    fn summary(&self, answers: &AnswerReview) -> String {
        let mut kinds: Vec<_> = self.changes.iter().map(|change| change.kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        // The first difference of the route is the cause of the differences after it.
        if kinds.contains(&ChangeKind::Route) {
            kinds.retain(|kind| *kind <= ChangeKind::Route);
        }
        let changed: Vec<_> = kinds
            .iter()
            .map(|kind| kind.noun(self.count(*kind)))
            .collect();
        let mut parts = Vec::new();
        if !changed.is_empty() {
            parts.push(listed(&changed));
        }
        match answers.stale.len() {
            0 => {}
            1 => parts.push("1 answer is stale".to_owned()),
            stale => parts.push(format!("{stale} answers are stale")),
        }
        let groups: [(&str, &[ChangeKind]); 3] = [
            ("routes", &[ChangeKind::Route]),
            (
                "keys",
                &[ChangeKind::Key, ChangeKind::Output, ChangeKind::Error],
            ),
            ("cost", &[ChangeKind::Cost]),
        ];
        let same: Vec<_> = groups
            .iter()
            .filter(|(_, kinds)| kinds.iter().all(|kind| self.count(*kind) == 0))
            .map(|(name, _)| (*name).to_owned())
            .collect();
        if !same.is_empty() {
            let verb = if same == ["cost"] { "is" } else { "are" };
            parts.push(format!("{} {verb} the same", listed(&same)));
        }
        parts.join("; ")
    }

    /// Describes the differences: causes first, then the first differing steps.
    pub(super) fn report(
        &self,
        name: &str,
        answers: &AnswerReview,
        source: impl Fn(&str) -> Option<String>,
    ) -> String {
        let mut text = format!("golden `{name}` has changed: {}\n", self.summary(answers));
        let mut is_listed = false;
        for change in self
            .changes
            .iter()
            .filter(|change| !change.kind.is_of_step())
        {
            if change.kind >= ChangeKind::Output && self.count(ChangeKind::Route) > 0 {
                continue;
            }
            let agent = change.id.strip_prefix("prompt ").unwrap_or_default();
            let heading = match source(agent).filter(|_| !agent.is_empty()) {
                Some(source) => format!("{:<SOURCE_COLUMN$}{source}", change.id),
                None => change.id.clone(),
            };
            let _ = write!(text, "\n{heading}\n{}\n", change.hunk.join("\n"));
            if change.kind == ChangeKind::Prompt {
                let stale = answers.stale.iter().filter(|place| of_agent(place, agent));
                add_places(&mut text, "stale, given to the old prompt", stale);
                if !is_listed {
                    add_places(&mut text, "still right", answers.right.iter());
                }
                is_listed = true;
            }
        }
        let has_prompt = |place: &CallPlace| {
            self.changes.iter().any(|change| {
                let agent = change.id.strip_prefix("prompt ");
                agent.is_some_and(|agent| of_agent(place, agent))
            })
        };
        let others: Vec<_> = answers
            .stale
            .iter()
            .filter(|place| !has_prompt(place))
            .collect();
        if !others.is_empty() {
            text.push_str("\nanswers\n");
            add_places(
                &mut text,
                "stale, given to other inputs",
                others.into_iter(),
            );
            if !is_listed {
                add_places(&mut text, "still right", answers.right.iter());
            }
        }
        self.add_steps(&mut text);
        if !answers.unasked.is_empty() {
            text.push('\n');
        }
        for place in &answers.unasked {
            let _ = writeln!(text, "`{}` is asked no more", place.short());
        }
        text
    }

    /// Adds the first differences of steps. The differences after a changed route follow from it.
    fn add_steps(&self, text: &mut String) {
        let steps: Vec<_> = self
            .changes
            .iter()
            .filter(|change| change.kind.is_of_step())
            .collect();
        let route = steps
            .iter()
            .position(|change| change.kind == ChangeKind::Route);
        let shown = route.map_or(MOST_STEPS, |at| (at + 1).min(MOST_STEPS));
        // The cause is the first difference, whichever kind it has.
        let shown = shown.min(steps.len());
        for change in &steps[..shown] {
            let _ = write!(text, "\n{}\n{}\n", change.id, change.hunk.join("\n"));
        }
        let after = |change: &&Change| change.kind >= ChangeKind::Output;
        let mut folded = steps.len() - shown;
        if route.is_some() {
            folded += self.changes.iter().filter(after).count();
        }
        if folded > 0 {
            let differences = counted(folded as u64, "further difference");
            let verb = if folded == 1 { "follows" } else { "follow" };
            let _ = writeln!(text, "\n{differences} {verb}");
        }
    }
}

/// Returns whether a call belongs to an agent of that name.
fn of_agent(place: &CallPlace, agent: &str) -> bool {
    let path = place.agent_path();
    path.rsplit('/').next() == Some(agent)
}

fn add_places<'a>(text: &mut String, what: &str, places: impl Iterator<Item = &'a CallPlace>) {
    let places: Vec<_> = places.map(CallPlace::short).collect();
    if !places.is_empty() {
        let _ = writeln!(text, "  {what}: {}", places.join(", "));
    }
}

/// Joins words: `a, b and c`.
fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Returns the difference between two versions of a section.
fn change(then: Option<Section>, now: Option<Section>) -> Option<Change> {
    let (kind, id) = match (&then, &now) {
        (Some(section), _) | (_, Some(section)) => (section.kind(), section.id().to_owned()),
        (None, None) => return None,
    };
    if then == now {
        return None;
    }
    let lines = |section: &Option<Section>| -> Vec<String> {
        section
            .iter()
            .flat_map(|section| {
                let is_named = matches!(
                    section.kind(),
                    SectionKind::Prompt
                        | SectionKind::Tools
                        | SectionKind::Schema
                        | SectionKind::Settings
                );
                let title = (!is_named).then(|| section.title.clone());
                title.into_iter().chain(section.lines.iter().cloned())
            })
            .collect()
    };
    let (old, new) = (lines(&then), lines(&now));
    let refs = |lines: &[String]| -> Vec<String> {
        let strip = |line: &String| line.strip_prefix("  ").unwrap_or(line).to_owned();
        lines.iter().map(strip).collect()
    };
    let (old, new) = (refs(&old), refs(&new));
    let old: Vec<_> = old.iter().map(String::as_str).collect();
    let new: Vec<_> = new.iter().map(String::as_str).collect();
    let hunk = line_diff(&old, &new)
        .into_iter()
        .map(|line| match line {
            Line::Old(line) => format!("- {line}").trim_end().to_owned(),
            Line::New(line) => format!("+ {line}").trim_end().to_owned(),
        })
        .collect();
    let kind = match kind {
        SectionKind::Head => ChangeKind::Head,
        SectionKind::Input => ChangeKind::Input,
        SectionKind::Prompt => ChangeKind::Prompt,
        SectionKind::Tools => ChangeKind::Tools,
        SectionKind::Schema => ChangeKind::Schema,
        SectionKind::Settings => ChangeKind::Settings,
        SectionKind::Loop => ChangeKind::Route,
        SectionKind::Output => ChangeKind::Output,
        SectionKind::Error => ChangeKind::Error,
        SectionKind::Cost => ChangeKind::Cost,
        SectionKind::Step => step_kind(then.as_ref(), now.as_ref()),
    };
    Some(Change { id, kind, hunk })
}

fn step_kind(then: Option<&Section>, now: Option<&Section>) -> ChangeKind {
    let (Some(then), Some(now)) = (then, now) else {
        return ChangeKind::Route;
    };
    let routes = |section: &Section| -> Vec<String> {
        section
            .lines
            .iter()
            .filter_map(|line| route(line))
            .collect()
    };
    if routes(then) != routes(now) {
        return ChangeKind::Route;
    }
    if then.lines == now.lines {
        ChangeKind::Reads
    } else {
        ChangeKind::Key
    }
}

/// Returns the part of a step's line that belongs to the route: the name of a tool, and what ends.
fn route(line: &str) -> Option<String> {
    let line = line.trim_start();
    let word = line.split(' ').next().unwrap_or_default();
    match word {
        "calls" => {
            let name: Vec<_> = line.split(' ').take(2).collect();
            let effects = line.rsplit_once("  ->  ").map(|(_, effects)| effects);
            let ends = effects
                .into_iter()
                .flat_map(|effects| effects.split(", "))
                .filter(|effect| effect.starts_with("ends ") || effect.starts_with("hands over "));
            Some(format!(
                "  {}",
                name.into_iter().chain(ends).collect::<Vec<_>>().join(" ")
            ))
        }
        "ends" | "inside" | "fails" | "does" => Some(format!("  {line}")),
        _ if line.ends_with(" is first") => Some(format!("  {line}")),
        _ => None,
    }
}

/// Keeps the lines that a level compares.
fn filtered(document: &Document, level: Compare) -> Document {
    if level == Compare::All {
        return document.clone();
    }
    let sections = document.sections.iter().filter_map(|section| {
        let kept = match section.kind() {
            SectionKind::Head | SectionKind::Loop => return Some(section.clone()),
            SectionKind::Step if level == Compare::Routes => section
                .lines
                .iter()
                .filter_map(|line| route(line))
                .collect(),
            SectionKind::Step => section
                .lines
                .iter()
                .filter(|line| !line.starts_with("  is told"))
                .cloned()
                .collect(),
            SectionKind::Input | SectionKind::Output | SectionKind::Error
                if level == Compare::Keys =>
            {
                return Some(section.clone());
            }
            _ => return None,
        };
        Some(Section {
            title: section.id().to_owned(),
            lines: kept,
        })
    });
    Document {
        sections: sections.collect(),
    }
}
