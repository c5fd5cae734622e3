//! Every key declared once; a key with a prefix is another key.

use adk::prelude::*;

workflow! {
    pub Writing(topic: String, tone: String = "plain") -> (draft: String, topic: String) {
        let done: bool = false;
        state user:tone: String;
        state app:tone: String;
        agent writer -> draft: String { instruction: "Write about {topic}: {tone}, {user:tone}, {app:tone}, {done}." }

        writer
    }
}
