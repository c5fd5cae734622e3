use adk::prelude::*;

const HALF: f64 = 0.5;

workflow! {
    pub Looping(decide: bool) {
        agent critic { instruction: "Review.", timeout: 72 + 1 }

        loop(max = 2.5 + 0.5) < critic >;
        loop(max = HALF * 2.0) < critic as b >;
        parallel(max_concurrency = HALF * 2.0) < critic as d; critic as e >;
        await(timeout = 72 + 1, default = 5 + 5) answer: bool
    }
}

workflow! {
    #[bounds(model_calls = HALF * 2.0)]
    pub Writing(days: u32 = "three".trim(), tone: String = 5 + 5) {
        let done: bool = "yes".trim();
        let open: String = 5.into();
        let unknown: String = no_such_text().into();
        agent writer {
            instruction: "Write.",
            temperature: "hot".trim(),
            max_output_tokens: 1.5 + 0.5,
            seed: HALF * 2.0,
            retry: HALF * 6.0,
            stop: ["end", 5 + 5],
            model: 5 + 5,
            max_turns: HALF * 2.0,
        }

        writer
    }
}

fn main() {}
