//! The worst case of a run, and its actual cost: `cargo run --example cost`.

use adk::prelude::*;
use adk::testing::{Reply, ScriptedModel};

workflow! {
    /// Researches a question from several sides.
    #[bounds(model_calls = 12, tokens = 20_000, time = "5m")]
    pub Research(question: String) -> report: String {
        /// Splits the question.
        agent planner -> topics: Vec<String> {
            instruction: "Split {question} into topics.",
            max_output_tokens: 200,
        }
        /// Researches one topic.
        agent researcher -> note: String {
            instruction: "Research {topic}.",
            max_output_tokens: 800,
        }
        /// Sums up.
        agent writer -> report: String {
            instruction: "Sum up: {topics} {note}",
            max_output_tokens: 2_000,
        }

        planner;
        each(max = 6, over = cut) topic in topics < researcher >;
        writer
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    // Before the run: the worst case, and the steps that contribute most. A worst case above
    // `bounds` does not compile.
    println!("{}", Research::SPEC.bounds());

    // After the run: the usage.
    let runner = Runner::builder().model(Rehearsal::new()).build()?;
    let outcome = runner
        .run(&Research::default(), "Why is the sky blue?")
        .await?;
    println!("{:?}", outcome.usage);

    // A run that exceeds its bounds ends; its committed events stay.
    let greedy = ScriptedModel::new().reply(Reply::new().json(["light"]).usage(19_000, 3_000));
    let runner = Runner::builder().model(greedy).build()?;
    match runner
        .run(&Research::default(), "Why is the sky blue?")
        .await
    {
        Ok(outcome) => println!("{}", outcome.output),
        Err(error) => println!("{error}"),
    }
    Ok(())
}
