use adk::prelude::*;

workflow! {
    pub Writing(draft: String, essay: String) {
        agent critic -> criticism: String { instruction: "Review {draft}." }

        critic(draft = essay, draft = draft) as second;
        critic as third -> (one, one)
    }
}

workflow! {
    /// What the agent was to read is missing: that is one mistake, however often it is renamed.
    pub Reviewing(report: String) -> (style: String, facts: String) {
        agent reviewer -> review: String { instruction: "Review the report." }

        parallel < reviewer(text = report) as stylist -> style; reviewer(text = report) as checker -> facts >
    }
}

workflow! {
    /// It reads the key under a misspelt name.
    pub Translating(topic: String) -> (translation: String, other: String) {
        agent translator -> translation: String { instruction: "Translate {txt}." }

        translator(text = topic);
        translator(text = topic) as second -> other;
        translator(text = topic) as third
    }
}

fn main() {}
