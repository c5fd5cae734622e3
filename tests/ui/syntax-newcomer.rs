use adk::prelude::*;

workflow! {
    pub struct Writing(topic: String) -> String {
        let mut done: String = "done";
        pub agent writer -> String { instruction: format!("Write about {topic}.") }
        agent critic {
            description: "Reviews.",
            instr: "Review.",
            output_key: "criticism",
            output_schema: Criticism,
            sub_agents: [writer],
        }
        agent -> draft: String { instruction: "Refine." }

        writer();
        SequentialAgent < critic >
        LoopAgent(max_iterations = 3) < critic as b >
        loop(max_iterations = 3) < critic as c >
        loop(until = done == true) < critic as d >
        loop(until = "done") < critic as e >
        loop(until: done) < critic as f >
        loop(max = topic.len() as u32 + 1) < critic as g >
        critic as h >> critic as i
    }
}

fn main() {}
