//! Workflows in workflows, instances, other keys, agents that the caller supplies, transfer, bounds.

use adk::prelude::*;
use adk::{AgentMeta, DynAgent};
use std::sync::Arc;

/// An agent by hand, of a type with parameters.
#[derive(Debug, Default)]
pub struct Wrapper<T, const N: usize>(pub T);

impl<T: Send + Sync, const N: usize> Agent for Wrapper<T, N> {
    const META: AgentMeta<'static> = AgentMeta::custom("wrapper");

    async fn run(&self, _cx: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

/// Without a `Default`.
#[derive(Debug)]
pub struct Given(pub u8);

impl Agent for Given {
    const META: AgentMeta<'static> = AgentMeta::custom("given");

    async fn run(&self, _cx: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

/// Private agents in a public workflow, one of them with a name near to that of a declared one.
#[agent(writes = text)]
fn writers(topic: &str) -> String {
    topic.to_owned()
}

workflow! {
    /// A workflow to be used as a step.
    pub Drafting(topic: String, tone: String = "plain") -> (draft: String, notes: Vec<String>) {
        agent writer -> draft: String { instruction: "Write about {topic}, {tone}." }
        agent noter -> notes: Vec<String> { instruction: "Note {draft}." }

        drafts: loop(max = 2) < writer >
        noter
    }
}

workflow! {
    /// The same one three times, in two levels.
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
    /// Another level.
    Inner(text: String) -> summary: String {
        agent summarizer -> summary: String { instruction: "Summarize {text}." }

        Drafting(topic = text) as drafting_inside;
        summarizer
    }
}

workflow! {
    /// Agents of the caller.
    pub Supplied(draft: String) -> score: f64 {
        agent wrapped: Wrapper<Vec<Option<u8>>, { 1 + 2 }>;
        agent given: Given;
        /// What is known of it is said here.
        agent grader(draft: String, user:name: Option<String>) -> score: f64 as Arc<dyn DynAgent>;
        agent boxed() as Box<dyn DynAgent>;

        wrapped;
        given;
        grader;
        boxed
    }
}

workflow! {
    /// Agents that hand over to others.
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
fn they_are_made() {
    drop((Twice::default(), Support::default()));
    let grader: Arc<dyn DynAgent> = Arc::new(Given(1));
    assert!(Supplied::new(Wrapper(Vec::new()), Given(1), grader, Box::new(Given(2))).is_err());
    assert!(adk::check::faults(&Twice::SPEC).is_empty());
}
