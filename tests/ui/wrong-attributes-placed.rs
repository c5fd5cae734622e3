use adk::prelude::*;

/// One thing or the other.
#[agent(writes = note)]
#[tool]
pub fn both(question: &str) -> String {
    question.to_owned()
}

/// Twice the same.
#[tool]
#[tool]
pub fn twice(question: &str) -> String {
    question.to_owned()
}

/// A parameter that is not always there.
#[agent(writes = note)]
pub fn sometimes(question: &str, #[cfg(test)] more: Option<&str>) -> String {
    format!("{question} {more:?}")
}

/// The same for a tool.
#[tool]
pub fn rarely(#[cfg(test)] question: &str) -> usize {
    question.len()
}

adk::llm::agent! {
    /// Nothing to derive.
    #[derive(PartialEq)]
    #[allow(dead_code)]
    pub critic -> criticism: String { instruction: "Criticise {question}" }
}

workflow! {
    /// Parts under conditions, and a list that is no key.
    pub Answering(#[cfg(test)] question: String, lists: Vec<String>) -> answer: String {
        #[cfg(test)]
        let tone: String = "plain";

        agent writer -> answer: String { instruction: "Answer {question}" }

        #[cfg_attr(test, allow(dead_code))]
        writer;
        #[allow(dead_code)]
        writer as second;
        each list in sorted(lists) < critic(question = list) >
    }
}

workflow! {
    /// In capitals.
    pub Capitals(question: String) -> answer: String {
        agent writer -> answer: String { instruction: "Answer {QUESTION}", MAX_TURNS: 3 }

        writer
    }
}

fn main() {}
