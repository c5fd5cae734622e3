//! Tests a workflow without a model: `cargo test --example testing`, and `cargo run --example
//! testing` for a rehearsal.

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
    let runner = Runner::builder()
        .model(Rehearsal::new().with_tool_calls())
        .build()?;
    let workflow = Writing::default();
    let mut stream = runner.run(&workflow, "cats").stream();
    while let Some(event) = stream.next().await {
        let event = event?;
        println!("{}: {}", event.path, event.text());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use adk::testing::ScriptedModel;

    #[tokio::test]
    async fn the_writer_hears_the_critic() -> Result<()> {
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
        let asked = model.requests_of("writer");
        assert_eq!(asked.len(), 3);
        assert!(
            asked[2]
                .system_instruction
                .contains("Mind this: Too short.")
        );
        Ok(())
    }

    #[tokio::test]
    async fn it_ends_whatever_the_models_say() -> Result<()> {
        let runner = Runner::builder().model(Rehearsal::new()).build()?;
        let outcome = runner.run(&Writing::default(), "cats").await?;
        assert_eq!(outcome.loops[0].rounds, 3);
        Ok(())
    }

    #[test]
    fn nothing_in_it_is_suspicious() {
        assert_eq!(Writing::SPEC.lints(), []);
    }
}
