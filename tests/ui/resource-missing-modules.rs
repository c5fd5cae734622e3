use adk::prelude::*;

mod mail {
    use adk::prelude::*;

    pub struct Smtp;

    /// Sends.
    #[tool]
    pub fn send(#[resource] smtp: &Smtp, text: &str) -> usize {
        let _ = smtp;
        text.len()
    }

    adk::llm::agent! {
        /// Sends the written text.
        pub sender { instruction: "Send {draft}.", tools: [send], max_turns: 2 }
    }

    workflow! {
        /// Asks a sender.
        pub Asking(draft: String) {
            agent asker { instruction: "Have {draft} sent.", tools: [agent(sender)], max_turns: 2 }

            asker
        }
    }
}

#[derive(adk::Resources)]
struct App {
    name: String,
}

workflow! {
    pub Placed(draft: String) {
        mail::sender
    }
}

workflow! {
    pub Supplied(draft: String) {
        agent sender: mail::Asking;

        sender
    }
}

workflow! {
    pub Handing(draft: String) {
        agent desk { instruction: "Who takes {draft}?", transfer: [post], max_turns: 2 }
        /// Sends.
        agent post { instruction: "Send it.", tools: [mail::send], max_turns: 2 }

        desk
    }
}

async fn run(runner: &Runner<App>) -> Result<()> {
    runner.run(&Placed::default(), "Hello").await?;
    runner.run(&mail::Asking::default(), "Hello").await?;
    runner.run(&Supplied::default(), "Hello").await?;
    runner.run(&Handing::default(), "Hello").await?;
    Ok(())
}

fn main() {}
