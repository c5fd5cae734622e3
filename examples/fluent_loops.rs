//! The loops of @iqai/adk's page in its own words: `AgentBuilder`, and a quick session with the state at the start.
//!
//! `writing_loop`, `research_loop` and `counter_loop` are the same programs as a `workflow!`, which rustc checks; these are
//! checked when they are built.
//!
//! ```text
//! cargo run --example fluent_loops -- writing "Write an article about AI"
//! cargo run --example fluent_loops -- research "Research quantum computing applications"
//! cargo run --example fluent_loops -- counter
//! ```

mod cli;

use adk::llm::LlmAgent;
use adk::{AgentBuilder, Error, ErrorKind, prelude::*};
use std::process::ExitCode;

/// The model, if its key is in the environment.
const MODEL: &str = "gemini-2.5-flash";

/// Mark the task as complete. Call it only when the research covers the topic.
#[tool(writes(completed: bool))]
fn mark_complete(cx: &mut ToolContext) -> Result<bool> {
    cx.state().set("completed", true)?;
    cx.actions.escalate = true;
    cx.actions.skip_summarization = true;
    Ok(true)
}

/// Increments the counter; three is enough.
#[agent(writes = count)]
fn counter(count: u64) -> (u64, Flow) {
    (count + 1, Flow::exit_if(count + 1 >= 3))
}

fn writing() -> AgentBuilder {
    let drafter = LlmAgent::builder("drafter")
        .description("Drafts content")
        .instruction("Do what the user asks for. Draft so far: {draft}\n\nFeedback: {feedback?}")
        .output_key("draft");
    let critic = LlmAgent::builder("critic")
        .description("Critiques content")
        .instruction("Critique this draft: {draft}. If it is excellent, call `exit_loop`.")
        .output_key("feedback")
        .tool(adk::tools::exit_loop::default());
    AgentBuilder::create("writing-loop")
        .as_loop([drafter, critic], 5)
        .with_quick_session(json!({ "draft": "" }))
}

fn research() -> AgentBuilder {
    let researcher = LlmAgent::builder("researcher")
        .description("Researches and gathers information")
        .instruction("Research the topic of the user. What you have: {research}\n\nGaps: {gaps?}")
        .output_key("research");
    let analyzer = LlmAgent::builder("analyzer")
        .description("Analyzes research completeness")
        .instruction(
            "Review the research: {research}. If it is sufficient, call `mark_complete`. If not, name the gaps.",
        )
        .output_key("gaps")
        .tool(mark_complete::default());
    AgentBuilder::create("research-loop")
        .as_loop([researcher, analyzer], 5)
        .with_quick_session(json!({ "research": "", "completed": false }))
}

fn counting() -> AgentBuilder {
    AgentBuilder::create("counter-loop")
        .as_loop([counter::default()], 10)
        .with_quick_session(json!({ "count": 0 }))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    cli::exit(run().await)
}

async fn run() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let (make, key): (fn() -> AgentBuilder, _) = match words.next().as_deref() {
        Some("writing") => (writing, "draft"),
        Some("research") => (research, "completed"),
        Some("counter") => (counting, "count"),
        other => {
            let message = format!("there is no loop called `{}`", other.unwrap_or_default());
            return Err(Error::new(ErrorKind::EmptyInput, message)
                .with_help("write `writing`, `research` or `counter` behind the name of the program"));
        }
    };
    let question = words.collect::<Vec<_>>().join(" ");
    let question = if question.is_empty() { "Begin.".to_owned() } else { question };
    let app = match make().with_model(MODEL).build() {
        Err(error) if error.kind() == ErrorKind::Model(adk::model::ModelErrorKind::MissingKey) => {
            eprintln!("Rehearsal: there is no key for {MODEL}, so no model is asked and nothing is paid.\n");
            make().with_model(Rehearsal::new()).build()?
        }
        built => built?,
    };
    println!("{}", app.runner.ask(question).await?);
    let session = app.session.open().await?;
    println!("\n{key}: {}", session.get(key).map(|value| value.to_string()).unwrap_or_default());
    Ok(())
}
