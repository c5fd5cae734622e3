use adk::prelude::*;

workflow! {
    pub Mailing(topic: String) {
        agent sender { instruction: "Mail {text}", tools: [agents::tools::send_mail], max_turns: 2 }

        agents::workflows::Researching -> text; sender
    }
}

fn main() {}
