use adk::prelude::*;

fn check(_: &mut CallbackContext) {}

workflow! {
    pub Writing(topic: String) {
        agent writer {
            instruction: "Write about {topic}.",
            before_agents: check,
            after_agent_callback: check,
            before_agent: check,
            before_agent: check,
            on_error: check,
            after_model: [],
        }

        loop(max = 2, before_agent = check) < writer >
        first: sequence(before_model = check, after_agents = check) < writer as second >
        second_block: loop(max = 2, after_agent_callback = check, before_agent) < writer as third >
    }
}

fn main() {}
