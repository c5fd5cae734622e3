//! Agents that call a model.

adk::llm::agent! {
    /// Reads `topic`, writes `draft: String`.
    pub writer -> draft: String { instruction: "Write about {topic}." }

    /// Reads `draft`, writes `criticism: String`.
    pub critic -> criticism: String { instruction: "Review {draft}." }

    /// Reads `draft` and `criticism`, writes `draft: String`, may end a loop.
    pub refiner -> draft: String {
        instruction: "Apply {criticism} to {draft}.",
        tools: [crate::tools::stop],
    }

    /// Reads `draft`, writes the same key: `draft: String`.
    pub polisher -> draft: String { instruction: "Polish {draft}." }

    /// Reads `draft` and `tone`, with a prompt that is a const.
    pub reviewer { instruction: crate::prompts::REVIEW }

    /// Reads `draft` if it exists, writes `summary: String`.
    pub summarizer -> summary: String { instruction: "Summarize {draft?}." }

    /// Reads nothing, writes nothing, waits for the consent of a person.
    pub publisher { instruction: "Publish it.", tools: [crate::tools::publish] }

    /// Writes `severity: Severity`.
    pub triage -> severity: crate::data::Severity { instruction: "How bad is it?" }
}

/// Another `critic`, with its own key.
pub mod second {
    adk::llm::agent! {
        /// Reads `draft`, writes `opinion: String`.
        pub critic -> opinion: String { instruction: "Review {draft}." }
    }
}

/// An agent without a description.
#[allow(missing_docs, reason = "it has none")]
pub mod untold {
    adk::llm::agent! {
        // Reads `draft`, writes `opinion: String`.
        pub judge -> opinion: String { instruction: "Judge {draft}." }
    }
}
