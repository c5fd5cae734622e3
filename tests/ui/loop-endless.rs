use adk::prelude::*;

workflow! {
    pub Writing(topic: String) -> draft: String {
        agent writer -> draft: String { instruction: "Write about {topic}." }
        agent critic { instruction: "Review {draft}." }

        refinement: loop < writer; loop < critic; break > >
        loop < writer as again >
    }
}

/// Ends it.
#[agent]
fn enough(draft: &str) -> Flow {
    Flow::exit_if(draft.len() > 9)
}

// What was to end it stands behind it.
workflow! {
    pub Refining(draft: String) {
        agent editor -> draft: String { instruction: "Edit {draft}." }

        loop < editor >
        enough
    }
}

workflow! {
    pub Editing(draft: String) {
        agent editor -> draft: String { instruction: "Edit {draft}." }

        refinement: loop < editor >
        match draft < "good" => break, _ => () >
    }
}

fn main() {}
