//! `gen`, a keyword of edition 2024, as the name of all items that have a name.

use adk::prelude::*;

/// Functions and agents whose name is a path.
pub mod paths {
    use adk::prelude::*;

    /// Generates.
    #[tool]
    pub fn gen(gen: u8) -> u8 {
        gen
    }

    /// Generates a key.
    pub mod agents {
        use adk::prelude::*;

        /// Generates.
        #[agent(writes = gen)]
        pub fn gen(seed: u8) -> u8 {
            seed
        }
    }

    /// Agents that call a model.
    pub mod llm {
        adk::llm::agent! {
            /// Generates.
            pub gen -> gen: u8 { instruction: "Generate from {seed}.", tools: [super::gen] }
        }
    }
}

/// Data.
#[data]
pub struct Data {
    /// A field.
    pub gen: u8,
}

/// Data.
#[data]
#[allow(non_camel_case_types)]
pub enum Kind {
    /// Nothing.
    gen,
    /// Fields.
    Named {
        /// A field.
        gen: u8,
    },
}

workflow! {
    /// The agent, the block and the keys have this name.
    pub Declared(gen: String) -> gen: String {
        agent gen -> gen: String { instruction: "{gen}" }

        gen
    }
}

workflow! {
    /// The block has this name.
    pub Blocks(topic: String) -> out: String {
        agent writer -> out: String { instruction: "{topic}" }

        gen: loop(max = 2) < writer >
    }
}

workflow! {
    /// The keys of several outputs have this name.
    pub Several(seeds: Vec<String>) -> (gen: u8, texts: Vec<String>) {
        state user:seed: u8;
        agent writer -> texts: String { instruction: "{word}" }

        every: each word in seeds < writer >;
        paths::agents::gen(seed = user:seed)
    }
}

workflow! {
    /// A `let` has this name.
    pub Keys(topics: Vec<String>) {
        let gen: bool = false;
        agent writer { instruction: "{topics} {gen}" }

        loop(max = 2, until = gen) < writer >
    }
}

workflow! {
    /// The item of an `each` has this name.
    pub Items(topics: Vec<String>) {
        agent writer { instruction: "{gen}" }

        each gen in topics < writer >
    }
}

workflow! {
    /// Paths, aliases and an `await` have this name.
    pub Placed(seed: u8) -> gen: u8 {
        state user:seed: u8;
        paths::agents::gen;
        paths::llm::gen as second;
        /// {gen}?
        again: await gen: u8
    }
}

workflow! {
    /// The binding of a `match` has this name.
    pub Matched(kind: Kind) -> out: String {
        agent writer -> out: String { instruction: "Many." }
        agent other -> out: String { instruction: "Other." }

        match kind {
            Kind::Named { gen } if gen > 3 => writer,
            Kind::Named { .. } | Kind::gen => other,
        }
    }
}

workflow! {
    /// An instance, a question and the end of a loop have this name.
    pub Others(topic: String, seed: u8) {
        /// Generates.
        agent gen { instruction: "{topic}" }
        agent caller { instruction: "Call.", tools: [agent(gen)], max_turns: 2 }
        agent desk { instruction: "Hand over.", transfer: [target] }
        agent target { instruction: "Take over." }

        /// {topic}?
        await gen: u8;
        paths::agents::gen(seed = gen) as third -> other;
        caller;
        desk;
        outer: sequence < paths::llm::gen as fourth >
    }
}

workflow! {
    /// The ended loop has this name.
    pub Ends(topic: String) {
        agent writer { instruction: "{topic}" }

        gen: loop < writer as one; break gen >
    }
}

workflow! {
    /// An instance has this name.
    pub Instances(topic: String) {
        agent writer { instruction: "{topic}" }

        writer as gen
    }
}

/// The fields have this name.
#[must_use]
pub fn make() -> (Declared, BlocksInput, SeveralInput, Placed) {
    let mut declared = Declared::default();
    declared.gen.set_max_turns(3);
    (
        declared,
        BlocksInput::from("topic"),
        SeveralInput::new(vec![]),
        Placed::default(),
    )
}
