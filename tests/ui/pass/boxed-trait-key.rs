//! A trait object can be a key if it can be read and written, for example with a crate that finds
//! its type by a tag.

use adk::prelude::*;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt::Debug;

pub trait Shape: Debug + Send + Sync {
    fn side(&self) -> u32;
}

#[derive(Debug)]
struct Square(u32);

impl Shape for Square {
    fn side(&self) -> u32 {
        self.0
    }
}

impl Serialize for dyn Shape {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.side().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Box<dyn Shape> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Ok(Box::new(Square(u32::deserialize(deserializer)?)))
    }
}

impl PartialEq for dyn Shape {
    fn eq(&self, other: &Self) -> bool {
        self.side() == other.side()
    }
}

#[agent(writes = area)]
fn measure(shape: Box<dyn Shape>) -> u32 {
    shape.side() * shape.side()
}

workflow! {
    pub Measured(shape: Box<dyn Shape>, scale: u32) -> (shape: Box<dyn Shape>, area: u32) {
        measure
    }
}

fn main() {
    let one = || MeasuredInput::new(Box::new(Square(2)), 1);
    assert!(one() == one());
}
