use adk::prelude::*;

workflow! {
    pub Writing(severity: String, topics: Vec<String>) {
        agent critic { instruction: "Review." }

        < >
        refinement: loop(max = 2) { }
        parallel < critic; {} >
        match severity < >
        match severity < "high" => {}, "low" => < >, _ => () >
        each topic in topics < >
    }
}

workflow! {
    pub NoSteps(topic: String) -> draft: String {
        agent writer -> draft: String { instruction: "Write about {topic}." }
    }
}

workflow! { pub Nothing() {} }

fn main() {}
