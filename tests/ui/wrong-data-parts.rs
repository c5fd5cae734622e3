//! Fields of `#[data]` whose type is no data: one message for each, however many traits are missing.

use adk::prelude::*;
use std::collections::HashMap;
use std::time::Instant;

/// Has none of the traits.
pub struct Plain;

/// Has two of five.
#[derive(Clone, Debug)]
pub struct Half;

/// Has all but the last.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Unknown;

pub trait Shape {}

#[data]
pub struct Page {
    pub title: String,
    pub plain: Plain,
    /// Of another crate.
    pub at: Instant,
}

#[data]
pub struct Generic<T> {
    items: Vec<T>,
    by_name: HashMap<String, Instant>,
    pair: (u8, Option<Half>),
}

#[data]
#[serde(tag = "kind")]
pub enum Tagged<'a> {
    Known(Page),
    Unknown(Unknown),
    Half { half: Vec<Instant>, text: &'a str },
    Nothing,
}

#[data]
#[derive(Default)]
pub struct Shapes {
    #[serde(default)]
    pub all: Vec<Box<dyn Shape>>,
    pub call: Option<fn(u8) -> u8>,
    pub bytes: Vec<[u8; 99]>,
}

/// What is wrong with a part of it is told there, and contains itself all the same.
#[data]
pub struct Tree {
    pub plain: Plain,
    pub children: Vec<Tree>,
}

#[data]
pub struct Odd {
    any: _,
    never: !,
    changed: &mut Page,
    list: Vec<_>,
}

// Of what is made of them nothing is told.
#[agent(writes = page)]
fn write(tree: Tree) -> Page {
    Page { title: String::new(), plain: tree.plain, at: Instant::now() }
}

workflow! {
    Writing(tree: Tree) -> page: Page {
        write
    }
}

fn main() {}
