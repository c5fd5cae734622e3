//! Brackets of every form, and one name per line of the struct.
use adk::prelude::*;

/// Agents in their own module.
pub mod agents {
    adk::llm::agent! {
        /// Reviews.
        pub critic -> criticism: String { instruction: "Review." }
        /// Writes, with an optional word left out.
        pub agent writer -> draft: String { instruction: "Write." }
    }
}

workflow! {
    /// Has every form.
    pub Shapes() -> draft: String {
        agents::writer as r#type;
        < < agents::critic >>
        < < agents::critic as a > >;
        { { agents::critic as b } }
        sequence < parallel { agents::critic as c; loop(max = 2) < < agents::writer as d >>} >
        agents::writer
    }
}

#[test]
fn one_field_per_name() {
    let shapes = Shapes::default();
    drop((
        shapes.r#type,
        shapes.a,
        shapes.b,
        shapes.c,
        shapes.d,
        shapes.writer,
        shapes.critic,
    ));
}
