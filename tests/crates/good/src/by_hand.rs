//! Agents that are written by hand and say their keys by an attribute, and persons who are asked.

use adk::prelude::*;
use adk::{AgentMeta, KeySpec};
use std::time::Duration;

/// What an editor says.
#[adk::data]
#[derive(PartialEq)]
pub enum Decision {
    /// As it is.
    Publish,
    /// Not so.
    Revise {
        /// What to change.
        note: String,
    },
}

/// Counts words.
#[derive(Debug, Default)]
pub struct Counter {
    /// It counts no less.
    pub least: usize,
}

#[agent(reads(draft: String, limit: Option<u32>), writes(words: usize, user:seen: Option<bool>))]
impl Agent for Counter {
    const META: AgentMeta<'static> = AgentMeta::custom("counter").description("Counts words.");

    async fn run(&self, cx: &mut Context) -> Result<Flow> {
        let draft: Option<String> = cx.state().get("draft")?;
        let words = draft.unwrap_or_default().split_whitespace().count();
        cx.state().set("words", words.max(self.least))?;
        Ok(Flow::Continue)
    }
}

/// Keeps what it is given, of whatever type, and may end a loop.
#[derive(Debug, Default)]
pub struct Keeper<T>(std::marker::PhantomData<fn() -> T>);

#[agent(reads(words: T), writes(kept: Vec<T>))]
impl<T> Agent for Keeper<T>
where
    T: 'static,
{
    const META: AgentMeta<'static> = AgentMeta::custom("keeper").may_exit(true);

    async fn run(&self, cx: &mut Context) -> Result<Flow> {
        let words = cx.state().value("words");
        cx.state().set("kept", Vec::from_iter(words))?;
        Ok(Flow::Exit)
    }
}

/// A step is a path without generic arguments.
pub type KeptWords = Keeper<usize>;

/// Says its keys itself, as they are spelled.
#[derive(Debug, Default)]
pub struct Spelled;

impl Agent for Spelled {
    const META: AgentMeta<'static> = AgentMeta::custom("spelled").reads(&[KeySpec::new("words", "usize")]);

    async fn run(&self, _cx: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

/// Does what the editor says.
#[agent(writes = draft)]
fn revise(draft: &str, decision: &Decision) -> String {
    match decision {
        Decision::Publish => draft.to_owned(),
        Decision::Revise { note } => format!("{draft}, {note}"),
    }
}

const WEEK: Duration = Duration::from_hours(7 * 24);

workflow! {
    /// Persons in every kind of block.
    pub Asking(draft: String, topics: Vec<String>) -> (decision: Decision, kept: Vec<usize>, fit: Vec<bool>) {
        let kept: Vec<usize> = Vec::new();

        loop(max = 3) <
            /// May `{draft}` be published, {user:name?}?
            await(timeout = "72h", default = Decision::Publish) decision: Decision;
            match decision < Decision::Publish => break, Decision::Revise { .. } => revise >
        >
        /// Who signs?
        signing: await(timeout = WEEK) user:team: String;
        parallel < await left: bool; < await right: Option<u8> > >
        each topic in topics <
            /// Is {topic} fit for print?
            await(timeout = "24h", default = false) fit: bool
        >
        Counter;
        Spelled;
        loop < KeptWords as keeper >
    }
}

workflow! {
    /// As a step, and under other keys.
    pub AskingAgain(essay: String, topics: Vec<String>) -> kept: Vec<usize> {
        Asking(draft = essay) as second -> (verdict, kept, fits);
        Counter(draft = essay) as recount -> (total, user:seen);
    }
}

#[test]
fn what_an_attribute_says_is_in_the_description() {
    let counter = AskingAgain::SPEC.find("recount").expect("a step");
    assert_eq!(counter.reads.iter().map(|key| key.name).collect::<Vec<_>>(), ["essay", "limit"]);
    assert_eq!(<Keeper<u8> as Agent>::META.writes[0].name, "kept");
    assert!(
        adk::check::faults(&Asking::SPEC).is_empty() && adk::check::faults(&AskingAgain::SPEC).is_empty()
    );
}
