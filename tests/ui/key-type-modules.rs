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

    /// Reads the plan.
    #[agent]
    pub fn worker(plan: &Plan) {
        let _ = plan;
    }

    /// A handwritten agent that reads the plan.
    #[derive(Default)]
    pub struct Reviewer;

    #[agent(reads(plan: Plan))]
    impl Agent for Reviewer {
        const META: adk::AgentMeta<'static> = adk::AgentMeta::custom("reviewer");
        async fn run(&self, _: &mut Context) -> Result<Flow> {
            Ok(Flow::Continue)
        }
    }
}

workflow! {
    pub Working(topic: String) {
        writers::planner;
        readers::worker;
        readers::Reviewer;
        writers::other;
    }
}

fn main() {}
