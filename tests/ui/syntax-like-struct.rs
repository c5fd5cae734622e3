use adk::prelude::*;

#[agent]
fn writer(topic: &str) {
    let _ = topic;
}

workflow! {
    struct Fields { topic: String, tone: Option<String> }
}

workflow! {
    pub struct Steps { pub topic: String; writer }
}

workflow! {
    pub Inputs { topic: String, writer }
}

// What else is wrong with one that is read so is told as well.
workflow! {
    pub Other { tone: String, writer }
}

fn main() {
    let _ = (Steps::default(), Inputs::default());
}
