use adk::prelude::*;

#[data]
pub enum Decision {
    Go,
    Revise { why: String },
    Drop,
}

/// Publishes it.
#[agent]
fn publish(draft: &str) {
    println!("{draft}");
}

// A word too many before the arrow: what stands behind it is the step of that arm.
workflow! {
    pub Doubled(draft: String) {
        agent judge -> decision: Decision { instruction: "{draft}" }
        agent reviser -> draft: String { instruction: "{draft} {decision}" }

        judge;
        match decision <
            Decision::Go => publish,
            Decision Decision::Revise { .. } => reviser,
            Decision::Drop => (),
        >
    }
}

workflow! {
    pub Colons(draft: String) {
        agent judge -> decision: Decision { instruction: "{draft}" }
        agent reviser -> draft: String { instruction: "{draft} {decision}" }

        judge;
        match decision <
            Decision::Go => publish,
            Decision:: ::Revise { why } if why.len() > 3 => reviser,
            _ => (),
        >
    }
}

// A step that is lost before a `;` may have written what is missing.
workflow! {
    pub Step(topic: String) {
        agent writer -> text: String { instruction: "{topic}" }
        agent editor { instruction: "{text} {photo}" }

        parallel < writer; ; >
        editor
    }
}

workflow! {
    pub First(topic: String) {
        agent writer -> text: String { instruction: "{topic}" }
        agent editor { instruction: "{text}" }

        ;
        editor
    }
}

// The commas of a closure that cannot be read are not those of the list.
workflow! {
    pub Callbacks(topic: String) {
        agent writer {
            instruction: "{topic}",
            after_model: [|_, response| | { let _ = response; }],
        }

        writer
    }
}

// The `as` of a second instance, also where its name has nothing of the agent's.
workflow! {
    pub Instance(goal: String, report: String) {
        agent critic -> criticism: String { instruction: "Review {text}." }
        agent editor { instruction: "{criticism} {criticism_2}" }

        parallel < critic(text = report); critic(text = goal) second -> criticism_2 >
        editor
    }
}

fn main() {}
