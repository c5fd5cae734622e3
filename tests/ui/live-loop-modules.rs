use adk::prelude::*;

mod inner {
    adk::workflow! {
        pub Drafting(topic: String) -> draft: String {
            agent writer -> draft: String { instruction: "Write about {topic}." }

            drafts: loop(max = 2) < writer >
        }
    }

    adk::workflow! {
        pub Twice(topic: String) -> draft: String {
            Drafting
        }
    }
}

workflow! {
    pub Writing(topic: String) -> draft: String {
        agent host { instruction: "Welcome the reader." }

        host;
        < inner::Twice >
    }
}

async fn run(runner: &Runner, queue: &LiveQueue) -> Result<String> {
    Ok(runner.run_live(&Writing::default(), "cats", queue).await?.output)
}

fn main() {}
