//! Types that have no more of the traits of data than their places need.

use adk::DynAgent;
use adk::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

/// Is written and never read.
#[derive(Serialize)]
pub struct Finding {
    text: String,
}

#[agent(writes = finding)]
fn parse(draft: &Draft) -> Finding {
    Finding { text: draft.text.clone() }
}

/// Finds it.
#[tool]
fn find(query: Query) -> Option<Finding> {
    Some(Finding { text: query.text })
}

/// Is read and never written.
#[derive(Deserialize)]
pub struct Draft {
    text: String,
}

/// A model fills it in.
#[derive(Deserialize, JsonSchema)]
pub struct Query {
    text: String,
}

/// Is the type of a key.
#[derive(Clone, Serialize, Deserialize)]
pub struct Plan {
    steps: u8,
    #[serde(skip_deserializing)]
    mood: Mood,
}

/// A key holds what has it.
#[derive(Clone, Default, Serialize)]
pub enum Mood {
    #[default]
    Good,
    Bad,
}

/// Says what it is by hand.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Verdict(bool);

impl JsonSchema for Verdict {
    fn schema_name() -> Cow<'static, str> {
        "Verdict".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        bool::json_schema(generator)
    }
}

/// Shares what nobody can clone.
#[data]
pub struct Shared {
    single: Arc<Single>,
    verdict: Verdict,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Single(u8);

/// Names a type that is no data.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Id<T>(u64, PhantomData<T>);

pub struct Person;

#[agent(writes = next)]
fn next(id: Id<Person>, shared: Option<Shared>) -> Id<Person> {
    Id(id.0 + shared.map_or(1, |shared| u64::from(shared.single.0)), PhantomData)
}

workflow! {
    pub Judging(text: String, plan: Plan, id: Id<Person>) -> (verdict: Verdict, next: Id<Person>) {
        agent judge -> verdict: Verdict { instruction: "Judge {text}.", tools: [find] }

        agent drafter(text: String) -> draft: Draft as Arc<dyn DynAgent>;

        drafter;
        parse;
        judge;
        asked: await verdict: Verdict;
        match plan < Plan { mood: Mood::Good, .. } => next, Plan { steps: 1.., mood: Mood::Bad } | _ => next as last >
    }
}
