use adk::prelude::*;

workflow! {
    pub Writing(severity: String, items: Vec<String>) {
        agent critic { instruction: "Review." }

        await decision: bool;
        asking: await(timeout = "72h", default = true) decision: bool;
        critic
    }
}

fn main() {
    let _ = Writing::default().critic;
}
