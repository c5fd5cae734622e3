use adk::model::{ModelRequest, ModelResponse};
use adk::prelude::*;

fn wrong_context(_: &mut ToolContext) {}

fn wrong_answer(_: &mut CallbackContext) -> u32 {
    5
}

async fn wrong_answer_later(_: &mut CallbackContext) -> Option<u32> {
    None
}

fn of_an_agent(_: &mut CallbackContext) {}

fn of_a_model(_: &mut CallbackContext, _: &mut ModelRequest) -> Option<Content> {
    None
}

fn shared(_: &mut CallbackContext, _: &ModelResponse) {}

workflow! {
    pub Writing(topic: String) {
        agent writer {
            instruction: "Write about {topic}.",
            before_agent: [wrong_context, wrong_answer, "Not today."],
            after_agent: wrong_answer_later,
            before_model: [of_an_agent, of_a_model],
            after_model: shared,
            before_tool: [missing, "hello"],
            on_model_error: 5,
        }

        again: loop(max = 2, before_agent = wrong_answer) < writer >
    }
}

fn main() {}
