//! A type that lacks some of the traits of data is told once, at the first place that needs what it lacks.

use adk::prelude::*;
use serde::{Deserialize, Serialize};

/// Three agents read it.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    text: String,
}

#[agent(writes = finding)]
fn parse(raw: &str) -> Finding {
    Finding { text: raw.to_owned() }
}

#[agent(writes = long)]
fn is_long(finding: &Finding) -> bool {
    finding.text.len() > 9
}

#[agent(writes = short)]
fn is_short(finding: Option<Finding>) -> bool {
    finding.is_none_or(|finding| finding.text.len() < 3)
}

#[agent(writes = count)]
fn count(findings: Vec<Finding>) -> usize {
    findings.len()
}

workflow! {
    pub Measuring(raw: String, findings: Vec<Finding>) -> finding: Finding {
        parse;
        is_long;
        is_short;
        count
    }
}

/// Two agents and a tool write it.
#[derive(Clone, Debug, Deserialize)]
pub struct Draft {
    text: String,
}

#[agent(writes = draft)]
fn shorten(draft: Draft) -> Draft {
    Draft { text: draft.text.chars().take(9).collect() }
}

#[agent(writes = drafts)]
fn split(draft: Draft) -> Result<Vec<Draft>> {
    Ok(vec![draft])
}

/// Makes a draft.
#[tool]
fn draft(text: String) -> Draft {
    Draft { text }
}

workflow! {
    pub Shortening(draft: Draft) -> (draft: Draft, drafts: Vec<Draft>) {
        state last: Option<Draft>;
        agent writer -> text: String { instruction: "Write.", tools: [draft] }

        shorten;
        split;
        writer
    }
}

/// No model can be told what it is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    steps: u8,
}

/// Sends a plan.
#[tool]
fn send(plan: Plan) -> Plan {
    plan
}

/// Counts the steps of plans.
#[tool]
fn steps(plans: Vec<Plan>) -> usize {
    plans.len()
}

workflow! {
    pub Planning(plan: Plan) -> plan: Plan {
        agent planner -> plan: Plan { instruction: "Plan.", tools: [send, steps] }

        planner;
        asked: await plan: Plan;
    }
}

/// What models answer with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Verdict {
    good: bool,
}

adk::llm::agent! {
    pub judge -> verdict: Verdict { instruction: "Judge." }
    pub critic -> verdict: Verdict { instruction: "Be strict." }
}

workflow! {
    pub Judging() -> verdict: Verdict {
        agent third -> verdict: Verdict { instruction: "Judge." }

        judge;
        asked: await verdict: Verdict;
        third
    }
}

/// What people are asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Decision {
    Go,
    Stop,
}

workflow! {
    pub Deciding() -> decision: Decision {
        await decision: Decision;
        match decision < Decision::Go => (), Decision::Stop => critic >
        again: await decision: Decision;
    }
}

/// One that lacks two traits is told of the first one that is needed.
#[derive(Clone, Debug, Serialize)]
pub enum Mood {
    Good,
    Bad,
}

#[agent(writes = mood)]
fn feel(text: &str) -> Mood {
    if text.is_empty() { Mood::Good } else { Mood::Bad }
}

workflow! {
    pub Feeling(text: String) {
        feel;
        match mood < Mood::Good => (), Mood::Bad => judge >
        match mood < Mood::Good | Mood::Bad => critic >
    }
}

workflow! {
    pub Asking() -> mood: Mood {
        await mood: Mood;
    }
}

/// One without any of them, asked of by an agent that stands alone.
pub struct Score(u8);

adk::llm::agent! {
    pub grader -> score: Score { instruction: "Grade." }
    pub second -> score: Score { instruction: "Grade again." }
}

/// One that nobody asks: that it is borrowed so is told.
pub struct Page(u8);

#[agent]
fn turn(page: &mut Page) {
    page.0 += 1;
}

/// One that is written by hand, in a module.
pub mod types {
    pub struct Length(pub usize);

    impl serde::Serialize for Length {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            self.0.serialize(serializer)
        }
    }
}

#[agent(writes = length)]
fn measure(text: &str) -> types::Length {
    types::Length(text.len())
}

#[agent]
fn show(length: &types::Length) {
    println!("{}", length.0);
}

workflow! {
    pub Showing(text: String) -> length: types::Length { measure; show }
}

fn main() {}
