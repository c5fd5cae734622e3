//! Types of arguments.

use adk::data;

/// The position.
#[data]
#[derive(PartialEq)]
pub(super) struct Place {
    /// Degrees north,
    /// as a decimal.
    pub(super) lat: f64,
    pub(super) lon: f64,
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) height: u16,
}

/// A unit.
#[data]
#[derive(Copy, Default, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Unit {
    Kelvin,
    /// Degrees of Celsius.
    #[default]
    Celsius,
    Fahrenheit,
}

#[data]
#[derive(PartialEq)]
pub(super) enum Plain {
    Short,
    Long,
}

#[data]
#[derive(PartialEq)]
#[serde(tag = "kind")]
pub(super) enum Shape {
    Circle { r: f64 },
    Square { a: f64 },
}

#[data]
#[derive(PartialEq)]
#[serde(untagged)]
pub(super) enum Any {
    Number(i64),
    Text(String),
}

#[data]
#[derive(PartialEq)]
pub(super) struct Tree {
    pub(super) value: u8,
    pub(super) children: Vec<Tree>,
}

#[data]
#[derive(PartialEq)]
pub(super) enum Mixed {
    Nothing,
    /// This number of them.
    Some(u8),
    /// All of them.
    All,
}
