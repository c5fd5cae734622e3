use adk::prelude::*;

#[derive(adk::Resources)]
struct App {
    name: String,
}

workflow! {
    pub Writing(draft: String) {
        agent writer { instruction: "Mail {draft}.", tools: [agents::tools::mail], max_turns: 2 }

        writer
    }
}

workflow! {
    pub Nested(draft: String) {
        agents::workflows::Mailing
    }
}

async fn run(runner: &Runner<App>) -> Result<()> {
    runner.run(&Writing::default(), "Hello").await?;
    runner.run(&Nested::default(), "Hello").await?;
    Ok(())
}

fn main() {}
