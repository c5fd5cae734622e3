//! Types that implement only the traits of data that their places need.

use adk::DynAgent;
use adk::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

/// A type that is written and never read.
#[derive(Serialize)]
pub struct Finding {
    text: String,
}

#[agent(writes = finding)]
fn parse(draft: &Draft) -> Finding {
    Finding {
        text: draft.text.clone(),
    }
}

/// Finds the value.
#[tool]
fn find(query: Query) -> Option<Finding> {
    Some(Finding { text: query.text })
}

/// A type that is read and never written.
#[derive(Deserialize)]
pub struct Draft {
    text: String,
}

/// A type that a model fills in.
#[derive(Deserialize, JsonSchema)]
pub struct Query {
    text: String,
}

/// A type of a key.
#[derive(Clone, Serialize, Deserialize)]
pub struct Plan {
    steps: u8,
    #[serde(skip_deserializing)]
    mood: Mood,
}

/// A type whose container is a key.
#[derive(Clone, Default, Serialize)]
pub enum Mood {
    #[default]
    Good,
    Bad,
}

/// A type with a handwritten implementation.
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

/// A type that shares a value without `Clone`.
#[data]
pub struct Shared {
    single: Arc<Single>,
    verdict: Verdict,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Single(u8);

/// A type that names a type that is not data.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Id<T>(u64, PhantomData<T>);

pub struct Person;

#[agent(writes = next)]
fn next(id: Id<Person>, shared: Option<Shared>) -> Id<Person> {
    Id(
        id.0 + shared.map_or(1, |shared| u64::from(shared.single.0)),
        PhantomData,
    )
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
