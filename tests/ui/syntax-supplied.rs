use adk::AgentMeta;
use adk::prelude::*;

/// Counts its turns.
pub struct Rounds {
    pub most: u32,
}

#[agent]
impl Agent for Rounds {
    const META: AgentMeta<'static> = AgentMeta::custom("rounds").may_exit(true);

    async fn run(&self, _: &mut Context) -> Result<Flow> {
        Ok(Flow::Exit)
    }
}

// Nothing is told of `new`, which the agent of a misspelt step is given to.
workflow! {
    pub Supplied(topic: String) {
        agent counter: Rounds;
        agent writer { instruction: "{topic}" }

        loop(max = 3) < writer; countr >
    }
}

fn main() {
    let _ = Supplied::new(Rounds { most: 5 });
}
