use adk::prelude::*;

mod writers {
    use adk::prelude::*;

    #[adk::data]
    pub struct Plan {
        pub title: String,
    }

    /// Plans.
    #[agent(writes = plan)]
    pub fn planner(topic: &str) -> Plan {
        Plan { title: topic.to_owned() }
    }

    /// Plans again.
    #[agent(writes = plan)]
    pub fn other() -> Vec<Plan> {
        Vec::new()
    }
}

mod readers {
    use adk::prelude::*;

    #[adk::data]
    pub struct Plan {
        pub steps: Vec<String>,
    }

    /// Reads it.
    #[agent]
    pub fn worker(plan: &Plan) {
        let _ = plan;
    }
}

workflow! {
    pub Working(topic: String) {
        writers::planner;
        readers::worker;
        writers::other;
    }
}

fn main() {}
