//! Fields of which it is spelled that they cannot be data: one message each, and no use of the type or of the field is told.

use adk::prelude::*;
use std::rc::Rc;

pub trait Shape {}

#[data]
#[derive(PartialEq)]
pub struct Ticket {
    pub title: String,
    pub tags: Rc<Vec<String>>,
    #[serde(skip)]
    pub seen: Option<Rc<u8>>,
}

#[data]
#[derive(Clone, Debug)]
pub struct Drawing<T> {
    pub shapes: Vec<Box<dyn Shape>>,
    pub at: T,
}

#[data]
pub enum Way {
    Called(fn(u8) -> u8),
    Pointed { at: *const u8 },
    Straight,
}

#[data]
pub struct All {
    pub ticket: Ticket,
    pub ways: Vec<Way>,
}

#[agent(writes = way)]
fn way(all: &All, ticket: Ticket) -> Way {
    match all.ways.len() + ticket.tags.len() {
        0 => Way::Straight,
        _ => Way::Called(|n| n + 1),
    }
}

#[agent(writes = drawing)]
async fn draw(way: Way) -> Result<Drawing<u8>> {
    let at = match way {
        Way::Called(call) => call(1),
        _ => 0,
    };
    Ok(Drawing { shapes: Vec::new(), at })
}

/// Counts them.
#[tool]
fn count(all: Vec<Ticket>) -> Drawing<usize> {
    Drawing { shapes: vec![], at: all.iter().map(|ticket| ticket.tags.len()).sum() }
}

workflow! {
    /// Draws.
    pub Draws(all: All, ticket: Ticket) -> (drawing: Drawing<u8>, ways: Vec<Way>) {
        agent reader -> ways: Vec<Way> { instruction: "Read {drawing}.", tools: [count] }
        way;
        draw;
        match way < Way::Straight => reader, _ => reader as other >
    }
}

fn main() {}
