use adk::prelude::*;

/// The decision of an editor.
#[adk::data]
pub enum Decision {
    Publish,
    Revise,
}

workflow! {
    pub Publishing(draft: String) -> decision: Decision {
        agent writer { instruction: "Write." }

        await;
        await verdict;
        await Decision;
        await verdict -> Decision;
        await(timeout = "72") one: Decision;
        await(timeout = "0h") two: Decision;
        await(timeout = 72) three: Decision;
        await(default = Decision::Publish) four: Decision;
        await(timeuot = "72h") five: Decision;
        await(timeout = "1h", timeout = "2h") six: Decision;
        await(timeout = "1h", question = "Publish?") seven: Decision;
        await decision: Decision
        writer
    }
}

fn main() {
    let _ = Publishing::default().writer;
}
