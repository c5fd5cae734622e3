use adk::model::{ModelRequest, ModelResponse};
use adk::{FunctionCall, LoopAgent, llm, prelude::*};

struct Own;

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
            after_tool: |_: &mut CallbackContext, _: u32, _: &mut adk::Value| (),
            on_tool_error: |_: &mut CallbackContext, _: &FunctionCall, _: &Own| None::<adk::Value>,
        }

        again: loop(max = 2, before_agent = wrong_answer) < writer >
    }
}

llm::agent! {
    /// Reads.
    pub reader { instruction: "Read.", before_model: of_an_agent, after_agent: |_: &mut ToolContext| () }
}

fn main() {
    let mut workflow = Writing::default();
    workflow.writer.add_before_model(of_an_agent);
    workflow.again.add_after_agent(wrong_context);
    let _ = llm::LlmAgent::builder("late").on_tool_error(of_a_model);
    let _ = LoopAgent::builder("late").before_agent(shared);
}
