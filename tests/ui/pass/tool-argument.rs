//! What a model can fill in, and what it can read.

use adk::tool;
use std::collections::BTreeMap;

#[adk::data]
pub struct Place {
    /// Degrees.
    pub latitude: f64,
    pub name: Option<String>,
}

/// Takes what a model can give.
#[tool]
pub async fn look_up(city: &str, place: Place, more: Option<Vec<Place>>, how: agents::data::Severity) {
    drop((city.len(), place, more, how));
}

/// Gives what a model can read.
#[tool]
pub fn gives() -> BTreeMap<String, agents::data::Severity> {
    BTreeMap::new()
}
