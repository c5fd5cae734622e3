//! A writer drafts a story; a critic and a refiner work on it until the critic is content, for at
//! most five rounds.
//!
//! This is the program of ADK's LoopAgent page. The phrase that ends the work is one key that both
//! prompts read.
//!
//! ```text
//! cargo run --example iterative_writing -- "a cat"
//! ```

mod cli;

use adk::prelude::*;
use std::process::ExitCode;

/// Call this ONLY when the critique says that no further changes are needed.
#[tool]
fn exit_loop(cx: &mut ToolContext) {
    cx.actions.escalate = true;
    cx.actions.skip_summarization = true;
}

const REFINER: &str = "\
You refine a short story, or you end the work.

The story:

{current_document}

The critique:

{criticism}

If the critique is exactly \"{done}\", call `exit_loop` and write nothing.
Otherwise apply the critique and write the refined story, without any comment.";

workflow! {
    /// Writes a first draft, then critiques and refines it until it is good.
    pub IterativeWriting(initial_topic: String) -> current_document: String {
        let done: String = "No major issues found.";

        /// Writes the first draft.
        agent initial_writer -> current_document: String {
            include_contents: none,
            instruction: "You begin stories. Write the first draft of a short story (2 to 4 \
                sentences) about the topic below, with one concrete detail: a character, a place \
                or an action. Write the story alone, without a title or a comment.\n\nTopic: \
                {initial_topic}",
        }

        /// Reviews the draft.
        agent critic -> criticism: String {
            include_contents: none,
            instruction: include_str!("prompts/critic.md"),
        }

        /// Applies the criticism, or ends the loop.
        agent refiner -> current_document: String {
            include_contents: none,
            instruction: REFINER,
            tools: [exit_loop],
        }

        initial_writer;
        refinement: loop(max = 5) < critic; refiner >
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    cli::exit(
        write(&cli::read(
            &IterativeWriting::SPEC,
            "TOPIC",
            "What to write about",
        ))
        .await,
    )
}

async fn write(cli: &cli::Cli) -> Result<()> {
    let topic = cli.input()?;
    let runner = cli.runner("iterative_writing", Rehearsal::new().rounds(2))?;
    let outcome = cli
        .show(runner.run(&IterativeWriting::default(), topic).stream())
        .await?;
    cli.result(&outcome.output)?;
    outcome.loops.iter().try_for_each(|end| cli.note(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use adk::testing::golden;

    #[tokio::test]
    async fn a_cat() -> Result<()> {
        golden("examples/runs/a_cat")
            .model("gemini-2.5-flash")
            .run(&IterativeWriting::default(), "a cat")
            .await
    }
}
