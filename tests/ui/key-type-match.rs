//! Arms that destructure an `Option` of a key without one, for a key of a function that returns an
//! `Option`, of an input, of an `await`, and with a guard. `Followed` follows the message.

use adk::prelude::*;

#[agent(writes = found)]
fn look_up(topic: &str) -> Option<u32> {
    (topic == "four").then_some(4)
}

#[data]
enum Level {
    None,
    High,
}

workflow! {
    pub ByFunction(topic: String) {
        let found: u32 = 0;
        agent writer -> text: String { instruction: "Write about {topic}." }

        look_up;
        match found < Some(number) if number > 3 => writer, Some(_) => (), None => () >
    }
}

workflow! {
    pub ByInput(topic: String) {
        agent writer -> text: String { instruction: "Write about {topic}." }

        match topic < Option::Some(_) | None => writer >
    }
}

workflow! {
    pub ByAnswer(topic: String) {
        agent writer -> text: String { instruction: "Write about {topic}." }

        await agreed: bool;
        match agreed < known @ Some(true) => writer, _ => () >
    }
}

workflow! {
    pub OfAnOption(topic: Option<String>, level: Level) {
        agent writer -> text: String { instruction: "Write." }

        match topic < Some(text) if text == "cats" => writer, Some(_) | None => () >
        match level < Level::None => (), Level::High => writer as second >
    }
}

workflow! {
    pub Followed(topic: String) {
        let found: u32 = 0;
        agent writer -> text: String { instruction: "Write about {topic}." }

        look_up;
        match found < number if number > 3 => writer, _ => () >
    }
}

fn main() {}
