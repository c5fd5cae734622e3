use adk::prelude::*;

workflow! {
    #[bounds(model_calls = 10)]
    pub Writing(topic: String) -> draft: String {
        agent writer -> draft: String { instruction: "Write about {topic}." }
        agent critic -> criticism: String { instruction: "Review {draft}." }
        agent refiner -> draft: String { instruction: "Apply {criticism} to {draft}." }

        writer;
        refinement: loop(max = 5) < critic; refiner >
    }
}

workflow! {
    #[bounds(rounds = 3, model_calls = 100)]
    pub Rounds(topic: String) {
        agent writer { instruction: "Write about {topic}." }

        outer: loop(max = 2) < inner: loop(max = 2) < writer > >
    }
}

workflow! {
    #[bounds(model_calls = 30)]
    pub Unbounded(topic: String) {
        agent writer { instruction: "Write about {topic}.", tools: [agents::tools::search] }

        writer
    }
}

workflow! {
    #[bounds(model_calls = 30)]
    pub Endless(topic: String) {
        agent writer { instruction: "Write about {topic}." }

        again: loop(until = done) < writer; agents::functions::approver as approving -> done >
    }
}

workflow! {
    #[bounds(model_calls = 3)]
    pub Desk(question: String) {
        /// Knows bills. It has no tools, and is handed over to up to three times.
        agent billing { instruction: "Answer {question}.", max_turns: 3 }
        agent triage { instruction: "Whose is {question}?", transfer: [billing], max_turns: 2 }

        triage
    }
}

workflow! {
    pub Reviewing(draft: String) {
        agent style { instruction: "Review the style of {draft}." }
        agent facts { instruction: "Check the facts of {draft}." }
        agent tone { instruction: "Review the tone of {draft}." }

        parallel < style; facts; tone >
    }
}

workflow! {
    #[bounds(model_calls = 3)]
    pub Reviewed(draft: String) {
        agent summariser { instruction: "Summarise {draft}." }

        summariser;
        Reviewing
    }
}

workflow! {
    #[bounds(model_calls = 40)]
    pub Research(topics: Vec<String>) {
        agent researcher { instruction: "Research {topic}." }

        each topic in topics < researcher >
    }
}

workflow! {
    #[bounds(model_calls = 40)]
    pub BoundedResearch(topics: Vec<String>) {
        agent researcher { instruction: "Research {topic}." }
        agent skeptic { instruction: "Doubt {topic}." }

        each(max = 50) topic in topics < researcher; skeptic >
    }
}

workflow! {
    #[bounds(model_calls = 1)]
    pub Open(question: String) {
        agent clerk { instruction: "Answer {question}.", tools: [..] }

        clerk
    }
}

workflow! {
    #[bounds(model_calls = 5)]
    pub Tried(topic: String) {
        agent writer { instruction: "Write about {topic}." }
        agent critic { instruction: "Review {topic}." }
        agent sorry { instruction: "{error}" }

        try < writer; critic > else < sorry >
    }
}

workflow! {
    #[bounds(tokens = 1000)]
    pub Verbose(question: String) {
        agent clerk { instruction: "Answer {question}.", max_output_tokens: 600 }

        loop(max = 2) < clerk >
    }
}

workflow! {
    #[bounds(time = "1m")]
    pub Slow(question: String) {
        agent clerk { instruction: "Answer {question}.", timeout: "45s", retry: 0 }

        clerk;
        await(timeout = "30s") go: bool;
    }
}

workflow! {
    #[bounds(ends)]
    pub Forever(question: String) {
        agent clerk { instruction: "Answer {question}." }

        clerk;
        await go: bool;
        agents::functions::lister
    }
}

fn main() {}
