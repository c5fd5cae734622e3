//! Writes about a topic until a critic is content: `cargo run -- "a topic"`.

use adk::prelude::*;

/// Counts the words of a text.
#[tool]
fn count_words(text: &str) -> usize {
    text.split_whitespace().count()
}

/// Ends the loop once the critic is content.
#[agent]
fn good_enough(criticism: &str) -> Flow {
    Flow::exit_if(criticism.contains("good"))
}

workflow! {
    /// Writes about a topic until the critic is content.
    pub Writing(topic: String) -> draft: String {
        /// Writes.
        agent writer -> draft: String {
            instruction: "Write 100 words about {topic}. Mind this: {criticism?}",
            tools: [count_words],
            max_turns: 3,
        }
        /// Criticises.
        agent critic -> criticism: String { instruction: "What is wrong with {draft}?" }

        improving: loop(max = 3) < writer; critic; good_enough >
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let topic = std::env::args().nth(1).unwrap_or_else(|| "cats".to_owned());
    // `Rehearsal` needs no model. With the feature `genai`, use `.model("gemini-2.5-flash")` and
    // set its key. To keep runs, add the feature `sqlite` and
    // `.store(adk::sqlite::SqliteStore::open("runs.db").await?)`.
    let runner = Runner::builder()
        .model(Rehearsal::new().with_tool_calls())
        .build()?;
    let workflow = Writing::default();
    let mut stream = runner.run(&workflow, topic).stream();
    while let Some(event) = stream.next().await {
        let event = event?;
        for call in event.function_calls() {
            println!("{} calls {}", event.path, call.name);
        }
        if !event.text().is_empty() {
            println!("{}: {}", event.path, event.text());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use adk::testing::{ScriptedModel, commands};

    #[tokio::test]
    async fn the_writer_reads_the_criticism() -> Result<()> {
        let model = ScriptedModel::new()
            .on("writer")
            .call("count_words", json!({"text": "Cats sleep."}))
            .text("Cats sleep.")
            .text("Cats sleep all day.")
            .on("critic")
            .text("Too short.")
            .text("Now it is good.");
        let runner = Runner::builder().model(model.clone()).build()?;

        let outcome = runner.run(&Writing::default(), "cats").await?;

        assert_eq!(outcome.output, "Cats sleep all day.");
        assert_eq!(outcome.loops[0].rounds, 2);
        assert!(
            model.requests_of("writer")[2]
                .system_instruction
                .contains("Mind this: Too short.")
        );
        Ok(())
    }

    /// Lets commands such as `cargo adk audit` use the workflows of this crate.
    #[tokio::test]
    async fn adk_commands() -> Result<()> {
        commands().workflow(Writing::default()).run().await
    }
}
