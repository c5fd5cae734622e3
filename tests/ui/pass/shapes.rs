//! Brackets of every form, and one name per line of the struct.
#![deny(warnings)]
use adk::prelude::*;

mod agents {
    adk::llm::agent! {
        pub critic -> criticism: String { instruction: "Review." }
        pub agent writer -> draft: String { instruction: "Write." }
    }
}

workflow! {
    pub Shapes() -> draft: String {
        agents::writer as r#type;
        < < agents::critic >>
        < < agents::critic as a > >;
        { { agents::critic as b } }
        sequence < parallel { agents::critic as c; loop(max = 2) < < agents::critic as d >>} >
        agents::writer
    }
}

fn main() {
    let shapes = Shapes::default();
    let _ = (shapes.r#type, shapes.a, shapes.b, shapes.c, shapes.d, shapes.writer, shapes.critic);
}
