//! A review as a value that a program can read: `cargo run --example structured_review`.
//!
//! `MODEL=gpt-5-mini cargo run --example structured_review -- "fn half(n: u32) -> u32 { n / 2 }"`
//! asks a model.

use adk::model::ModelRef;
use adk::prelude::*;
use std::env;

/// The review of a change.
#[data]
pub struct Review {
    /// Whether the change can be merged as it is.
    pub verdict: Verdict,
    /// What is wrong with it, the worst first.
    pub findings: Vec<Finding>,
}

/// What is to be done with a change.
#[data]
#[derive(PartialEq)]
pub enum Verdict {
    /// It is good as it is.
    Merge,
    /// It has to be changed first.
    Change,
}

/// One thing that is wrong.
#[data]
pub struct Finding {
    /// The line, from 1.
    #[schemars(range(min = 1))]
    pub line: u32,
    /// What is wrong there, in a sentence.
    pub what: String,
    /// What to write instead, where that is short.
    pub instead: Option<String>,
}

/// Ends the loop once the change can be merged.
#[agent]
fn merged(review: &Review) -> Flow {
    Flow::exit_if(review.verdict == Verdict::Merge)
}

workflow! {
    /// Reviews a change, and mends it until it can be merged.
    pub Reviewing(change: String) -> (code: String, review: Review) {
        /// Takes the change as it came.
        agent author -> code: String { instruction: "Format this code, and change nothing else:\n\n\
            {change}" }
        /// Reviews it. An answer that is not a `Review` goes back to the model, at most twice.
        agent reviewer -> review: Review {
            instruction: "Review this code:\n\n{code}",
            answer_attempts: 3,
        }
        /// Mends what was found.
        agent mender -> code: String { instruction: "Mend this code as the review says.\n\n\
            {review}\n\n{code}" }

        author;
        mending: loop(max = 3) < reviewer; merged; mender >
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let change = env::args()
        .nth(1)
        .unwrap_or_else(|| "fn half(n:u32)->u32{n/2}".to_owned());
    let model = env::var("MODEL").map_or_else(|_| ModelRef::from(Rehearsal::new()), ModelRef::from);
    let runner = Runner::builder().model(model).build()?;
    let Outcome { output, loops, .. } = runner.run(&Reviewing::default(), change).await?;
    println!(
        "{}\n\n{:?} after {} rounds",
        output.code, output.review.verdict, loops[0].rounds
    );
    for Finding {
        line,
        what,
        instead,
    } in &output.review.findings
    {
        println!("line {line}: {what}");
        if let Some(instead) = instead {
            println!("  write: {instead}");
        }
    }
    Ok(())
}
