use adk::prelude::*;

#[agent(writes = draft)]
fn writer(topic: &str) -> String {
    topic.into()
}

#[agent]
fn critic(draft: &str) {
    let _ = draft;
}

#[agent(writes = done)]
fn counter() -> bool {
    true
}

workflow! {
    pub Both(topic: String) { writer; pair: parallel > critic; counter < }
}

workflow! {
    pub Inside(topic: String) { writer; sequence < loop(max = 2) > critic < ; counter > }
}

workflow! {
    pub Around(topic: String) { writer; loop(max = 2) > parallel > critic; counter < < }
}

workflow! {
    pub Arms(topic: String) { writer; counter; match done > true => loop(max = 2) < critic <, _ => () < }
}

workflow! {
    pub Closed(topic: String) { writer; parallel < critic; counter < }
}

// What is told of a bracket hides no other fault.
workflow! {
    pub Other(topic: String) { parallel > critic; counter < }
}

fn main() {}
