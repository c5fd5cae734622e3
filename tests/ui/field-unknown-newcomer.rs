use adk::prelude::*;

workflow! {
    pub Writing(topic: String) {
        agent writer {
            prompt: "Write about {topic}.",
            system: "You write.",
            max_tokens: 100,
            max_token: 100,
            stop_sequences: ["END"],
            max_iterations: 3,
            max_steps: 3,
            retries: 3,
            temp: 0.5,
            output: draft,
            writes: draft,
            reads: topic,
            callbacks: [],
            before_model_callback: log,
            tool: exit_loop,
            functions: [],
            role: "writer",
            goal: "To write.",
            memory: true,
            planner: None,
            disallow_transfer: true,
            input_schema: Topic,
            api_key: "secret",
        }

        writer
    }
}

fn main() {}
