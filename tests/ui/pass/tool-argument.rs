//! Types that a model can fill in, and types that it can read.

use adk::tool;
use std::collections::BTreeMap;

#[adk::data]
struct Place;

/// Takes a type that a model can send.
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

/// Takes more of these types.
#[tool]
pub async fn go(city: &str, point: Point, more: Option<Vec<Point>>, how: agents::data::Severity) {
    drop((city.len(), point, more, how));
}

/// Returns a type that a model can read.
#[tool]
pub fn gives() -> BTreeMap<String, agents::data::Severity> {
    BTreeMap::new()
}
