use adk::prelude::*;

workflow! {
    /// The prompts are put together of files and texts.
    pub Writing(topic: String) {
        agent short { instruction: concat!("{", "topc", "}") }
        agent file { instruction: include_str!(concat!("prompts/", "critic.md")) }
        agent long {
            instruction: concat!("You are an editor of long experience. ", include_str!("prompts/critic.md"), " {drafft}"),
        }

        short;
        file;
        long
    }
}

workflow! {
    /// Tells a text that may be absent.
    pub Telling(text: Option<String>) {
        agent teller { instruction: "Tell {text}." }

        teller
    }
}

workflow! {
    /// Its key is always there.
    pub Around(text: String) { Telling }
}

fn main() {}
