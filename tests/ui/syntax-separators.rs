//! Separators of other languages between steps, arms, outputs and parts of an `await`: one each.

use adk::prelude::*;

#[agent(writes = total)]
fn count(text: &str) -> usize {
    text.len()
}

mod pipes {
    use adk::prelude::*;

    workflow! {
        pub Writing(text: String) {
            agent critic { instruction: "Review {text}." }
            loop(max = 2) < critic >> critic as b >> critic as c >
        }
    }
}

mod paths {
    use adk::prelude::*;

    pub mod agents {
        pub use super::super::count;
    }

    workflow! { pub Counting(text: String) -> total: usize { agents/count } }
}

mod outputs {
    use adk::prelude::*;

    workflow! {
        pub Writing(topic: String) -> (draft: String total: usize) {
            agent writer -> draft: String { instruction: "Write about {topic}." }
            writer;
            super::count(text = draft)
        }
    }

    pub fn both(output: WritingOutput) -> (String, usize) {
        (output.draft, output.total)
    }
}

mod types {
    use adk::prelude::*;

    workflow! {
        pub Writing(topic: String) -> (String, usize) {
            agent writer { instruction: "Write about {topic}." }
            writer
        }
    }
}

mod arms {
    use adk::prelude::*;

    workflow! {
        pub Answering(topic: String) -> answer: String {
            agent writer -> draft: String { instruction: "Write about {topic}." }
            agent closer -> answer: String { instruction: "Answer {draft}." }
            match topic < "short" => closer(draft = topic), _ => writer; closer as second_closer >
        }
    }
}

mod comma {
    use adk::prelude::*;

    #[data]
    pub enum Verdict {
        Good,
        Bad,
    }

    workflow! {
        pub Judging(verdict: Verdict) {
            agent critic { instruction: "Say why." }
            loop(max = 2) < match verdict < Verdict::Good => break Verdict::Bad => critic > >
        }
    }
}

mod steps {
    use adk::prelude::*;

    workflow! {
        pub Answering(topic: String) => (answer: String) {
            agent writer -> draft: String { instruction: "Write about {topic}." }
            agent closer -> answer: String { instruction: "Answer {draft}." }
            match topic < "short" => closer(draft = topic), _ => writer; closer as second; writer as third; closer as fourth >
        }
    }

    pub fn answer(output: <Answering as Workflow>::Output) -> String {
        output
    }
}

mod awaits {
    use adk::prelude::*;

    workflow! {
        pub Asking(topic: String) -> (go: bool, stay: bool) {
            await(go: bool);
            await stay: bool, timeout = "72h", default = true;
        }
    }
}

mod results {
    use adk::prelude::*;

    workflow! {
        pub Counting(text: String) -> total: usize {
            agent critic { instruction: "Review {text}." }
            critic;
            let total: usize = super::count;
        }
    }
}

mod loops {
    use adk::prelude::*;

    workflow! {
        pub Refining(text: String) {
            agent critic { instruction: "Review {text}." }
            rounds: while(good) < critic >
        }
    }

    pub fn shorter(workflow: &mut Refining) {
        let _ = workflow.rounds.set_max(2);
    }
}

mod labels {
    use adk::prelude::*;

    workflow! {
        pub Refining(text: String) {
            agent critic { instruction: "Review {text}." }
            loop(max = 3) < critic; match text < "" => break 'outer, _ => () > >
        }
    }
}

mod unclosed {
    use adk::prelude::*;

    workflow! {
        pub Naming(list: Vec<String>) -> total: usize {
            agent namer -> text: String { instruction: "Name {item}." }
            each item in list < each item in list < namer >
            super::count
        }
    }
}

workflow! {
    pub Tried(topic: String) {
        agent first { instruction: "{topic}" }
        agent second { instruction: "{topic}" }

        try < first >;
        else < second >
        try(attempts = 0, on = some) < first as third > else < >
    }
}

fn main() {}
