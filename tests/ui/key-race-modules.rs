use adk::prelude::*;

mod left {
    use adk::prelude::*;

    /// Writes.
    #[agent(writes = result)]
    pub fn left(topic: &str) -> String {
        topic.to_owned()
    }
}

mod right {
    adk::workflow! {
        pub Right(topic: String) -> result: String {
            agent helper -> result: String { instruction: "Write about {topic}." }

            helper
        }
    }
}

workflow! {
    pub Both(topic: String) -> result: String {
        parallel < left::left; right::Right >
    }
}

fn main() {}
