//! Rust code, or code of another language, instead of a workflow: one message each.

use adk::prelude::*;

workflow! {
    pub Items(topic: String) {
        use agents::llm::critic;
        const ROUNDS: u32 = 5;
        #[tool]
        fn search() {}
        var tone: String = "plain";
        llm_agent writer -> draft: String { instruction: "Write about {topic}." }
        agent my-critic { instruction: "Review {draft}." }
        agent 1st { instruction: "Think." }
        state done: bool = false;
        state usr:name: String;
        writer;
        my-critic;
        struct Late;
        let again = writer;
        agent late -> { }
    }
}

workflow! {
    pub Steps(topic: String) {
        agent writer -> draft: String { instruction: "Write about {topic}." }
        agent critic { instruction: "Review {draft}." }
        println!("writing");
        writer.await;
        critic().await;
        writer(topic) as b;
        result = writer as c;
        outer = loop(max = 2) < writer as d >
        critic as n <- draft;
        critic as o => draft;
        critic as e |> critic as f;
        (writer; critic);
        critic::<String> as g;
        'inner: loop(max = 2) < writer as h; break 'inner >
        writer as i: critic as j;
        loop(max = 2) < critic as k; continue; writer as l >
        critic as m; /// Nothing.
    }
}

workflow! {
    pub Blocks(topic: String, items: Vec<String>) {
        agent writer { instruction: "Write about {topic}." }
        loop max = 5 < writer as a >
        loop 5 < writer as b >
        loop[5] < writer as c >
        loop(max = 2, until = true) < writer as f >
        each (item in items) < writer as g >
        repeat(max = 2) < writer as h >
        writer<String>;
        await "May it go?";
        await(timeout = 72h) decision: bool
    }
}

workflow! {
    pub Fields(topic: String) {
        agent writer -> (draft: String, title: String) {
            "instruction": "Write about {topic}.",
            /// As it was in the tests.
            temperature: 0.5,
            config: { seed: 5 },
            max_turns: 0,
            tools: [agnt(critic)],
            callbacks: [],
        }
        agent critic = { instruction: "Review {topic}." }
        agent match { instruction: "Choose." }
        writer; critic; match
    }
}

workflow! {
    #[derive(Debug)]
    pub async fn Generic<T>(topic: &str, mut tone: String, words: [String], user.name: String) {
        agent writer { instruction: "Write." }
        writer
    }
    pub Second() {}
}

workflow! {
    agent writer { instruction: "Write." }
    writer
}

workflow! {
    workflow Named(topic: String) {
        agent writer { instruction: "Write about {topic}." }
        writer
    }
}

fn main() {}
