//! A runner with more resources than the workflow takes, and a runner without resources for
//! workflows that take none.

use adk::prelude::*;
use std::sync::Arc;

#[derive(adk::Resources)]
struct App {
    mailer: agents::tools::Mailer,
    name: String,
}

/// Signs with the name of the program.
#[agent(writes = draft)]
fn sign(#[resource] name: &String, draft: String) -> String {
    format!("{draft} ({name})")
}

workflow! {
    pub Signing(draft: String) -> draft: String {
        agent asker { instruction: "Mail {draft}.", tools: [agent(writer)], max_turns: 2 }
        /// Mails.
        agent writer { instruction: "Mail it.", tools: [agents::tools::mail], max_turns: 2 }

        sign; asker; agents::workflows::Mailing
    }
}

workflow! {
    pub Plain(draft: String) {
        agents::functions::grader
    }
}

async fn run(plain: &Runner, runner: &Runner<App>) -> Result<String> {
    plain.run(&Plain::default(), "Hello").await?;
    runner.run(&Plain::default(), "Hello").await?;
    Ok(runner
        .run(Arc::new(Signing::default()), "Hello")
        .await?
        .output)
}
