//! Workflows for use as steps.

use adk::workflow;

workflow! {
    /// Reads `topic`, writes `draft: String`; contains an agent `writer` and a block
    /// `drafting_loop`.
    pub Drafting(topic: String) -> draft: String {
        agent writer -> draft: String { instruction: "Write about {topic}." }

        drafting_loop: loop(max = 2) < writer >
    }
}

workflow! {
    /// Reads `draft` and, with a default, `tone`; writes `criticism: String`.
    pub Reviewing(draft: String, tone: String = "kind") -> criticism: String {
        agent reviewer -> criticism: String { instruction: "Review {draft}. Be {tone}." }

        reviewer
    }
}

workflow! {
    /// A workflow whose name in snake case is a keyword.
    pub Loop(topic: String) {
        agent talker { instruction: "Talk about {topic}." }

        talker
    }
}

workflow! {
    /// Reads `request`, writes `approval: bool`, waits for a person.
    pub Approving(request: String) -> approval: bool {
        /// {request}?
        await approval: bool
    }
}

adk::workflow! {
    /// Reads `draft: String`; takes a `Mailer`.
    pub Mailing(draft: String) {
        agent mailer { instruction: "Mail {draft}.", tools: [super::tools::mail], max_turns: 2 }

        mailer
    }
}

adk::workflow! {
    /// Reads `topic`, writes `summary: String` from a page that strangers wrote.
    pub Researching(topic: String) -> summary: String {
        agent researcher -> summary: String {
            instruction: "{topic}", tools: [super::tools::fetch_page], max_turns: 2,
        }

        researcher
    }
}
