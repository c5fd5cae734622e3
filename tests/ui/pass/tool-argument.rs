//! What a model can fill in, and what it can read.

use adk::tool;
use std::collections::BTreeMap;

#[adk::data]
struct Place;

/// Takes what a model can give.
#[tool]
async fn look_up(city: String, place: Place) {
    drop((city, place));
}

#[adk::data]
pub struct Point {
    /// Degrees.
    pub latitude: f64,
    pub name: Option<String>,
}

/// Takes more of it.
#[tool]
pub async fn go(city: &str, point: Point, more: Option<Vec<Point>>, how: agents::data::Severity) {
    drop((city.len(), point, more, how));
}

/// Gives what a model can read.
#[tool]
pub fn gives() -> BTreeMap<String, agents::data::Severity> {
    BTreeMap::new()
}
