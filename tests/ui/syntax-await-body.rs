use adk::prelude::*;

#[data]
pub enum Decision {
    Go,
    Drop,
}

/// Forgets it.
#[agent]
fn forget(decision: &Decision) {
    drop(decision.clone());
}

workflow! {
    pub Approval() {
        /// May it go?
        await(timeout = "72h", default = Decision::Drop) decision: Decision < forget >
        match decision <
            Decision::Go => (),
            Decision::Drop => forget as other,
        >
    }
}

workflow! {
    pub Asking(topic: String) -> draft: String {
        agent writer -> draft: String { instruction: "Write about {topic}. {go} {way}" }

        await way: Decision < writer >;
        await go: bool < writer >
    }
}

fn main() {}
