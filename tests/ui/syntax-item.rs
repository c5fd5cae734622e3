use adk::prelude::*;

workflow! {
    pub Writing(topic, tone: , lang: String = ) -> {
        let done = "done";
        state user:tone;
        agent writer -> draft: String { instruction "Write." model: "gpt-5", tools: exit_loop, timeout: "30" }
        agent critic -> : String { include_contents: all, timeout: 30, name: critic }
        agent refiner(draft: String) -> draft: String { instruction: "Refine." }
        agent grader(draft: String) -> score: f64;
        agent judge: { instruction: "Judge." }
        #[cfg(test)]
        agent tester { instruction: "Test." }

        writer; critic; refiner; judge;
        /// Says nothing.
        critic as second;
        agent late { instruction: "Too late." }
        tester; late
    }
}

workflow! { pub NoBody(topic: String) }

workflow! { Writing2 -> draft: String { agent writer -> draft: String { } writer } extra }

workflow! { }

fn main() {
    let _ = (Writing::default(), NoBody::default());
}
