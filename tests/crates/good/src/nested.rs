//! Nested workflows, instances, renamed keys, agents of the caller, transfer, bounds.

use adk::prelude::*;
use adk::{AgentMeta, DynAgent};
use std::sync::Arc;

/// An agent by hand whose type has parameters.
#[derive(Debug, Default)]
pub struct Wrapper<T, const N: usize>(pub T);

impl<T: Send + Sync, const N: usize> Agent for Wrapper<T, N> {
    const META: AgentMeta<'static> = AgentMeta::custom("wrapper");

    async fn run(&self, _cx: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

/// An agent without a `Default`.
#[derive(Debug)]
pub struct Given(pub u8);

impl Agent for Given {
    const META: AgentMeta<'static> = AgentMeta::custom("given");

    async fn run(&self, _cx: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

/// Private agents in a public workflow. One of them has nearly the name of a declared agent.
#[agent(writes = text)]
fn writers(topic: &str) -> String {
    topic.to_owned()
}

workflow! {
    /// A workflow for use as a step.
    pub Drafting(topic: String, tone: String = "plain") -> (draft: String, notes: Vec<String>) {
        agent writer -> draft: String { instruction: "Write about {topic}, {tone}." }
        agent noter -> notes: Vec<String> { instruction: "Note {draft}." }

        drafts: loop(max = 2) < writer >
        noter
    }
}

workflow! {
    /// Runs that workflow three times, on two levels.
    #[bounds(rounds = 8)]
    pub Twice(topic: String) -> draft: String {
        Drafting;
        self::Drafting as second;
        crate::nested::Drafting(topic = draft, tone = topic) as third -> (other, other_notes);
        Inner(text = other) as fourth;
        writers
    }
}

workflow! {
    /// Adds another level.
    Inner(text: String) -> summary: String {
        agent summarizer -> summary: String { instruction: "Summarize {text}." }

        Drafting(topic = text) as drafting_inside;
        summarizer
    }
}

workflow! {
    /// Runs agents of the caller.
    pub Supplied(draft: String) -> score: f64 {
        agent wrapped: Wrapper<Vec<Option<u8>>, { 1 + 2 }>;
        agent given: Given;
        /// The facts that are known about the agent.
        agent grader(draft: String, user:name: Option<String>) -> score: f64 as Arc<dyn DynAgent>;
        agent boxed() as Box<dyn DynAgent>;

        wrapped;
        given;
        grader;
        boxed
    }
}

workflow! {
    /// Runs agents that hand over to each other.
    #[bounds(model_calls = 2 * (3 + 1), rounds = 0)]
    pub Support(question: String) -> answer: String {
        agent clerk -> answer: String {
            instruction: "Answer {question}, or hand it over.",
            transfer: [accountant, lawyer],
            max_turns: 2,
        }
        /// Knows bills.
        agent accountant -> answer: String {
            instruction: "Answer {question}.",
            transfer: [expert,],
            disallow_transfer_to_parent: true,
            max_turns: 2,
        }
        /// Knows laws.
        agent lawyer -> answer: String {
            instruction: "Answer {question}.",
            disallow_transfer_to_peers: true,
            max_turns: 2,
        }
        /// Knows everything.
        agent expert -> answer: String { instruction: "Answer {question}.", max_turns: 2 }

        clerk
    }
}

#[test]
fn the_workflows_can_be_built() {
    drop((Twice::default(), Support::default()));
    let grader: Arc<dyn DynAgent> = Arc::new(Given(1));
    assert!(Supplied::new(Wrapper(Vec::new()), Given(1), grader, Box::new(Given(2))).is_err());
    assert!(adk::check::faults(&Twice::SPEC).is_empty());
}
