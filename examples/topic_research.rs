//! A planner splits a subject into topics, researchers work on them at the same time, a writer
//! joins the results.
//!
//! Inside the `each` a key holds one value per topic; after the block the key is the list of these
//! values, in the order of the topics.
//!
//! ```text
//! cargo run --example topic_research -- "the bicycle"
//! ```

mod cli;

use adk::prelude::*;
use std::process::ExitCode;

workflow! {
    /// Researches a subject topic by topic and sums up.
    pub TopicResearch(subject: String) -> report: String {
        /// Chooses the topics.
        agent planner -> topics: Vec<String> {
            include_contents: none,
            instruction: "Which topics would an article on {subject} treat? Name three to six, \
                each in a few words.",
        }

        /// Looks into one topic.
        agent researcher -> finding: String {
            include_contents: none,
            instruction: "An article on {subject} treats {topic}. Say in three sentences what the \
                reader has to know.",
        }

        /// Says what to be careful about.
        agent skeptic -> doubt: String {
            include_contents: none,
            instruction: "Name in one sentence what is least certain in this: {finding}",
        }

        /// Joins what was found.
        agent writer -> report: String {
            include_contents: none,
            instruction: "Write a short article on {subject} from these lists and from nothing \
                else; they have one order.\n\nTopics: {topics}\n\nFindings: {finding}\n\nDoubts: \
                {doubt}",
        }

        planner;
        research: each(max_concurrency = 4) topic in topics < researcher; skeptic >
        writer;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    cli::exit(
        research(&cli::read(
            &TopicResearch::SPEC,
            "SUBJECT",
            "What to look into",
        ))
        .await,
    )
}

async fn research(cli: &cli::Cli) -> Result<()> {
    let subject = cli.input()?;
    let runner = cli.runner("topic_research", Rehearsal::new())?;
    let outcome = cli
        .show(runner.run(&TopicResearch::default(), subject).stream())
        .await?;
    cli.result(&outcome.output)?;
    // Keys that are not outputs stay in the state, lists included.
    let findings = outcome.get::<Vec<String>>("finding")?.unwrap_or_default();
    cli.note(format!(
        "{} topics, {} model calls",
        findings.len(),
        outcome.usage.calls
    ))
}
