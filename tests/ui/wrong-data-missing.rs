//! A type without `#[data]` is told once, at its first use, wherever else it is used.

use adk::prelude::*;

mod types {
    #[derive(Clone, Debug)]
    pub struct Plan {
        pub steps: Vec<String>,
    }

    pub enum Kind {
        Simple,
        Hard,
    }
}

mod agents {
    use super::types::{Kind, Plan};
    use adk::prelude::*;

    #[agent(writes = plan)]
    pub fn planner(topic: &str) -> Plan {
        Plan { steps: vec![topic.to_owned()] }
    }

    #[agent(writes = kind)]
    pub fn judge(plan: &Plan) -> Result<Kind> {
        if plan.steps.is_empty() { Ok(Kind::Simple) } else { Ok(Kind::Hard) }
    }
}

/// By a glob, and matched without naming a variant.
mod globbed {
    use super::types::*;
    use adk::prelude::*;

    #[agent]
    pub fn show(plan: &Plan, kind: Kind) {
        drop((plan.clone(), kind));
    }

    workflow! {
        pub Showing(plan: Plan) -> plan: Plan {
            match plan < _ => () >
        }
    }
}

/// How bad it is.
#[derive(Clone, PartialEq)]
pub enum Severity {
    Low,
    High,
}

#[data]
pub struct Issue {
    pub severity: Severity,
    pub all: Vec<Option<Severity>>,
}

#[data]
pub struct Issues {
    pub by_severity: Vec<(Severity, Issue)>,
}

/// Finds what is wrong.
#[tool]
fn find(severity: Severity, text: String) -> Vec<Issue> {
    drop((severity, text));
    Vec::new()
}

#[agent(writes = severity)]
fn worst(issue: Issue) -> Severity {
    issue.severity
}

struct Draft {
    text: String,
}

#[agent(writes = drafts)]
fn drafts(topic: &str) -> Vec<Draft> {
    vec![Draft { text: topic.to_owned() }]
}

#[agent(writes = length)]
fn measure(draft: &Draft) -> usize {
    draft.text.len()
}

/// Whether to go on.
enum Decision {
    Go,
    Stop,
}

workflow! {
    pub Planning(topic: String, issue: Issue) -> (plan: types::Plan, kind: types::Kind, length: Vec<usize>) {
        let first: types::Plan = types::Plan { steps: Vec::new() };
        agent replanner -> plan: types::Plan { instruction: "Plan {topic} better.", tools: [find] }

        agents::planner;
        agents::judge;
        worst;
        match kind < types::Kind::Simple => (), types::Kind::Hard => replanner >
        match severity < Severity::Low => (), Severity::High => agents::planner as again >
        drafts;
        each draft in drafts < measure >
        /// Shall we?
        await decision: Decision;
        match decision < Decision::Go => agents::planner as last, Decision::Stop => () >
        agent_of_nobody;
    }
}

fn steps(output: PlanningOutput) -> Vec<String> {
    output.plan.steps
}

fn main() {
    let _ = steps;
}
