use adk::prelude::*;

workflow! {
    pub Writing(topic: String, text: String) {
        agents::llm::writer(topik = text);
        agents::llm::critic(draft = text, tone = topic) as second;
        agents::llm::reviewer(draft = text) as third -> opinion;
        agents::functions::lister(items = text) as fourth -> (a, b);
    }
}

workflow! {
    pub Twice(topic: String, text: String) {
        agents::workflows::Reviewing(draft = text, draft = topic) as fifth;
    }
}

fn main() {}
