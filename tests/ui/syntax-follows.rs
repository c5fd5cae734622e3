//! What is read all the same behind a mistake, so that nothing follows from it.

use adk::prelude::*;

mod brackets {
    use adk::prelude::*;

    workflow! {
        pub Writing(topic: String) {
            agent writer -> draft: String ( instruction: "Write about {topic}." )
            rounds: loop(max = 2) < writer; match topic < "" => break rounds, _ => () > >
        }
    }
}

mod waits {
    use adk::prelude::*;

    workflow! {
        pub Writing(topic: String) {
            agent writer -> draft: String { instruction: "Write about {topic}." }
            /// May it go?
            writer.await;
        }
    }
}

mod assigned {
    use adk::prelude::*;

    workflow! {
        pub Writing(topic: String) {
            agent writer -> draft: String { instruction: "Write about {topic}." }
            agent critic { instruction: "Review {text}." }
            text = writer;
            critic
        }
    }

    pub fn of(flow: &mut Writing) -> bool {
        std::ptr::eq(&flow.writer, &flow.writer)
    }
}

mod agents {
    use adk::prelude::*;

    llm::agent! {
        /// Summarises.
        pub summariser -> summary: String { intruction: "Summarise {text}." }
    }
}

mod instances {
    use adk::prelude::*;

    workflow! {
        pub Summarising(paper: String) -> summary: String {
            super::agents::summariser(text = paper)
        }
    }
}

mod unclosed {
    use adk::prelude::*;

    workflow! {
        pub Travelling(legs: Vec<String>) -> advice: String {
            agent guide -> advice: String { instruction: "Advise on {leg}." }
            agent adviser -> advice: String { instruction: "Advise on {advice}." }
            each leg in legs < guide;
            adviser
        }
    }
}

pub struct Dice;

#[agent(writes = roll)]
impl Agent for Dice {
    const META: AgentMeta<'static> = AgentMeta::custom("dice");

    async fn run(&self, cx: &mut Context) -> Result<Flow> {
        cx.state().set("roll", 4)?;
        Ok(Flow::Continue)
    }
}

#[agent(writes = total)]
fn add(roll: u32) -> u32 {
    roll + 1
}

workflow! {
    pub Playing() -> total: u32 {
        agent dice: Dice;
        dice;
        add
    }
}

fn main() {}
