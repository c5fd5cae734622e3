//! Steps as Rust and other frameworks write them: each is told by what it should be.

use adk::prelude::*;

/// Joins.
#[adk::agent(writes = report)]
fn join(draft: String) -> String {
    draft
}

mod review {
    #[adk::agent]
    pub fn merge() {}
}

workflow! {
    pub Writing(topic: String, parts: Vec<String>) -> draft: String {
        agent writer -> draft: String { instruction: "Write about {topic}." }
        agent critic -> criticism: String { instruction: "Review {draft}." }
        agent editor -> edited: String { instruction: "Edit {draft}." }

        writer -> critic;
        graph.add_node(editor);
        pieces each part in parts < join as join_part >
        each one in parts < join as join_one > as all_parts;
        1round: loop(max = 2) < editor; break >
        again: loop(max = 2) < review::merge; break("again") >
        draft
    }
}

workflow! {
    pub Asking(topic: String) -> draft: String {
        agent writer -> draft: String { instruction: "Write about {topic}." }

        let text = writer;
        /// May {draft} go out?
        let sign_off: bool = await(timeout = "48h", default = false);
        approved.await;
        agent review::merge;
        await parallel < join >
        match sign_off <
            true => join as second_join; break,
            false => (),
        >
    }
}

workflow! {
    pub Declaring(topic: String, tone: String) -> draft: String {
        let writer -> draft: String { instruction: "Write about {topic}." }
        agent critic: criticism: String { instruction: "Review {draft}." }
        agent editor(draft) -> edited: String { instruction: "Edit {draft}." }

        writer;
        critic(draft = topic.text);
        editor;
    }
}

workflow! {
    pub Assigning(topic: String) -> draft: String {
        rounds = 3;
        agent writer -> draft: String { instruction: "Write about {topic}." }

        writer;
    }
}

fn main() {}
