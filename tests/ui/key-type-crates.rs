use adk::prelude::*;

#[adk::data]
pub struct Severity {
    pub level: u8,
}

#[agent]
pub fn reader(severities: &[Severity]) {
    drop(severities.to_vec());
}

workflow! {
    pub Working(topic: Vec<String>, score: u32, severity: u8) {
        let draft: u8 = 1;
        let level: Severity = Severity { level: 1 };
        agent given: agents::by_hand::Escalator;
        agents::functions::grader;
        agents::workflows::Drafting;
        agents::functions::lister;
        agents::by_hand::Escalator;
        reader;
        given(severity = level);
        each item in items < agents::functions::counter(items = item) >
    }
}

fn main() {}
