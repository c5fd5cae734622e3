//! A conversation that never ends: `cargo run --example long_chat`.

use adk::prelude::*;
use adk::testing::{Reply, ScriptedModel};
use adk::{RunConfig, json};

/// Finds the pages of a manual that hold a word.
#[tool]
fn find_pages(word: &str) -> Vec<String> {
    (1..=40)
        .map(|page| format!("page {page} says this of the {word}: keep it dry"))
        .collect()
}

workflow! {
    /// Answers a customer.
    pub Chat(message: String) -> (reply: String, mood: String) {
        /// Helps with a machine.
        agent helper -> reply: String {
            // The constant part comes first, so that providers find it in their caches.
            instruction: "You help with coffee machines. Look into the manual before you answer.",
            tools: [find_pages],
            max_turns: 3,
            // With more than 6 events since the last summary, the agent summarises all but the
            // newest 2. `by: "gpt-5-nano"` names a cheaper model for the summary.
            compact: { after: 6, keep: 2 },
        }
        /// Says whether the customer is happy. It needs no more than the last two turns.
        agent mood -> mood: String {
            include_contents: last(2),
            instruction: "Say in one word how the customer feels who wrote: {message}",
        }

        helper; mood
    }
}

/// Returns a model that costs nothing: it searches the manual, answers, and summarises.
fn script() -> ScriptedModel {
    let call = || Reply::new().call("find_pages", json!({"word": "pump"}));
    let answers = ["Dry the pump.", "Then fill the tank.", "It is fine now."];
    let model = answers.iter().enumerate().fold(
        ScriptedModel::new().on("helper"),
        |model, (turn, answer)| {
            let model = if turn == 0 {
                model.reply(call())
            } else {
                model
            };
            let model = if turn == 2 {
                model.text("The pump was wet and was dried.")
            } else {
                model
            };
            model.reply(Reply::new().text(*answer))
        },
    );
    model.on("mood").text("calm").repeat_last()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let model = script();
    // The model reads the beginning of a long result. The whole result is an artifact of the
    // session.
    let config = RunConfig::new().max_tool_result(200);
    let runner = Runner::builder()
        .model(model.clone())
        .config(config)
        .build()?;
    let (session, chat) = (runner.session("ada", "coffee"), Chat::default());
    for message in ["My machine leaks.", "And now?", "Thank you."] {
        let mut stream = session.run(&chat, message).stream();
        while let Some(event) = stream.next().await {
            let event = event?;
            if let Some(summary) = &event.actions.compaction {
                println!("[summary] {}", summary.content.text());
            }
            for (name, _) in &event.actions.artifact_delta {
                println!(
                    "[artifact] {}...",
                    name.split('_').take(2).collect::<Vec<_>>().join("_")
                );
            }
        }
        let sent = model
            .requests_of("helper")
            .last()
            .map_or(0, |request| request.contents.len());
        println!("{message} The model was sent {sent} contents.");
    }
    Ok(())
}
