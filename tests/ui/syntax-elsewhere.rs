use adk::prelude::*;
use std::sync::Arc;

mod agents {
    adk::llm::agent! {
        /// Criticises.
        pub critic -> criticism: String { instruction: "Criticise {text}." }
    }
}

workflow! {
    /// Polishes a text.
    Polishing(text: String) -> text: String {
        agent editor -> text: String { instruction: "Improve {text}" }

        editor
    }
}

#[data]
enum Severity {
    Low,
    Mid { n: u32 },
    High { n: u32 },
}

// Paths of other languages, before the optional parts of a step.
workflow! {
    pub Dotted(topic: String) -> criticism: String {
        agents.critic(text = topic) -> criticism;
    }
}

workflow! {
    pub Slashed(topic: String) -> criticism: String {
        agents/critic(text = topic) -> criticism;
    }
}

// Renamed keys without parentheses.
workflow! {
    pub Braced(topic: String) -> text: String {
        Polishing { text: topic } as second -> text
    }
}

workflow! {
    pub Bare(topic: String) -> text: String {
        Polishing text = topic as second -> text
    }
}

workflow! {
    pub Emptied(text: String) -> text: String {
        Polishing {}
    }
}

workflow! {
    pub HalfAnArrow(text: String) -> (first: String, second: String) {
        parallel <
            Polishing as one -> first;
            Polishing as two > second;
        >
    }
}

// Arms without the opening bracket.
workflow! {
    pub Arm(ticket: String) -> answer: String {
        agent rater -> severity: Severity { instruction: "How bad is {ticket}?" }
        agent clerk -> answer: String { instruction: "Answer {ticket}." }
        agent boss -> answer: String { instruction: "Answer {ticket} well." }
        agent chief -> answer: String { instruction: "Improve {answer}." }

        rater;
        match severity <
            Severity::High { .. } =>
                boss;
                match severity < _ => chief >
            >,
            Severity::Mid { n } if n > 7 => clerk,
            Severity::Mid { .. } | Severity::Low => clerk as second_clerk,
        >
    }
}

workflow! {
    pub Arms(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}." }

        writer;
        match topic
            "short" | "brief" => Polishing as second,
            other if other.len() > 10 => { Polishing as third; Polishing as fourth },
            _ => (),
        >
    }
}

workflow! {
    pub Nothing(topic: String) -> topic: String {
        agent writer -> topic: String { instruction: "Write about {topic}." }

        match topic < "short" => writer, _ => None >
    }
}

// Agents, awaits and attributes.
workflow! {
    pub Fields(topic: String) -> text: String {
        agent helper(instruction: "Help.", max_turns: 1);
        agent writer -> text: String { instruction: "Write about {topic}." }

        helper;
        writer
    }
}

workflow! {
    pub Held(topic: String) -> text: String {
        agent backend(topic: String) -> text: String as Arc<dyn DynAgent;

        backend
    }
}

workflow! {
    pub Typed(topic: String: u8) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}." }

        writer
    }
}

workflow! {
    pub Assigned(topic: String) -> approval: String {
        agent writer -> text: String { instruction: "Write about {topic}." }

        writer;
        {
            /// Is {text} right?
            approval: String = await(timeout = "24h");
            writer as second
        }
    }
}

workflow! {
    #[bounds(model_calls = 40, rounds = 3)]
    #[bounds(model_calls = 40, rounds = 3)]
    pub Twice(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}." }

        writer
    }
}

workflow! {
    pub Prefixed(topic: String) -> text: String {
        state user::home: String;
        agent writer -> text: String { instruction: "Write about {topic}." }

        writer
    }
}

// Half-typed closures.
workflow! {
    pub Pipe(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}.", before_tool: |_, call { Ok(None) } }

        writer
    }
}

workflow! {
    pub Half(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}.", after_agent: |cx| cx.state(). }

        writer
    }
}

// Half-typed steps, and steps with words of other languages.
workflow! {
    pub Before(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}." }

        writ
        again: loop(max = 3) < writer >
    }
}

workflow! {
    pub Breaks(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}." }

        loop < writer; Break >
    }
}

workflow! {
    pub Printed(topic: String) -> text: String {
        agent writer -> text: String { instruction: "Write about {topic}." }

        loop(max = 3) < writer >
        ( print )
    }
}

fn main() {}
