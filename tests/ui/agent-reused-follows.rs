//! What follows from a step that stands twice is not told: a race with itself, and what it costs.

use adk::prelude::*;

workflow! {
    pub Travelling(cities: Vec<String>) -> (hotel: Vec<String>, food: Vec<String>) {
        agent hotels -> hotel: String { instruction: "Hotels in {city}." }
        agent restaurants -> food: String { instruction: "Restaurants in {city}." }

        each city in cities < parallel < hotels; hotels > >
    }
}

workflow! {
    #[bounds(model_calls = 4)]
    pub Writing(topic: String) -> draft: String {
        agent writer -> draft: String { instruction: "Write about {topic}." }

        loop(max = 3) < writer >
        writer;
        writer
    }
}

fn main() {}
