use adk::prelude::*;

mod agents {
    use adk::prelude::*;

    pub type Verdict = Result<(f64, Flow)>;

    /// Grades and ends the loop.
    #[agent(writes = score)]
    pub async fn judge(draft: &str) -> Verdict {
        Ok((draft.len() as f64, Flow::Exit))
    }
}

mod tools {
    /// Ends the loop.
    #[adk::tool]
    pub fn done(cx: &mut adk::ToolContext) {
        cx.actions.escalate = true;
    }
}

workflow! {
    pub Judging(draft: String) {
        agent writer { instruction: "Improve {draft}.", tools: [tools::done] }

        agents::judge;
        loop(max = 2) < agents::judge as again >
        writer
    }
}

workflow! {
    pub Inner(draft: String) {
        agents::judge
    }
}

fn main() {}
