//! A transfer target that the agent would have to make, without a `Default`.

use adk::AgentMeta;
use adk::prelude::*;

/// Needs its number.
struct Expert {
    number: u32,
}

impl Agent for Expert {
    const META: AgentMeta<'static> = AgentMeta::custom("expert").description("Knows.");

    async fn run(&self, cx: &mut Context) -> Result<Flow> {
        let text = self.number.to_string();
        cx.emit(Event::new().with_text(text)).await?;
        Ok(Flow::Continue)
    }
}

llm::agent! {
    /// Makes its targets itself.
    pub clerk { instruction: "Answer.", transfer: [Expert] }
}

workflow! {
    /// Gets the expert from its caller.
    pub Desk() {
        agent expert: Expert;
        agent front { instruction: "Answer.", transfer: [expert] }

        front
    }
}

fn main() {
    let _ = Desk::new(Expert { number: 1 });
}
