//! Agents by hand that declare their keys with an attribute, and questions to persons.

use adk::prelude::*;
use adk::{AgentMeta, KeySpec};
use std::time::Duration;

/// The decision of an editor.
#[adk::data]
#[derive(PartialEq)]
pub enum Decision {
    /// Publish the draft unchanged.
    Publish,
    /// Do not publish the draft.
    Revise {
        /// The requested change.
        note: String,
    },
}

/// Counts words.
#[derive(Debug, Default)]
pub struct Counter {
    /// The minimum count.
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

/// Keeps a value of any type, and may end a loop.
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

/// A path of a step has no generic arguments, so an alias names the type.
pub type KeptWords = Keeper<usize>;

/// Declares its keys itself, with their types as spelled.
#[derive(Debug, Default)]
pub struct Spelled;

impl Agent for Spelled {
    const META: AgentMeta<'static> =
        AgentMeta::custom("spelled").reads(&[KeySpec::new("words", "usize")]);

    async fn run(&self, _cx: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

/// Applies the decision of the editor.
#[agent(writes = draft)]
fn revise(draft: &str, decision: &Decision) -> String {
    match decision {
        Decision::Publish => draft.to_owned(),
        Decision::Revise { note } => format!("{draft}, {note}"),
    }
}

const WEEK: Duration = Duration::from_hours(7 * 24);

workflow! {
    /// Asks persons in every kind of block.
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
    /// Runs a workflow as a step, and with renamed keys.
    pub AskingAgain(essay: String, topics: Vec<String>) -> kept: Vec<usize> {
        Asking(draft = essay) as second -> (verdict, kept, fits);
        Counter(draft = essay) as recount -> (total, user:seen);
    }
}

#[test]
fn the_keys_of_the_attribute_are_in_the_description() {
    let counter = AskingAgain::SPEC.find("recount").expect("a step");
    assert_eq!(
        counter.reads.iter().map(|key| key.name).collect::<Vec<_>>(),
        ["essay", "limit"]
    );
    assert_eq!(<Keeper<u8> as Agent>::META.writes[0].name, "kept");
    assert!(
        adk::check::faults(&Asking::SPEC).is_empty()
            && adk::check::faults(&AskingAgain::SPEC).is_empty()
    );
}
