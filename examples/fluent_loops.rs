//! The loops of @iqai/adk's page with its API: `AgentBuilder`, a quick session with an initial
//! state, and a loop that is constructed directly.
//!
//! `writing_loop`, `research_loop` and `counter_loop` are these programs as a `workflow!`, which
//! rustc checks; `build()` checks the trees of this example.
//!
//! ```text
//! cargo run --example fluent_loops -- writing "Write an article about AI"
//! cargo run --example fluent_loops -- research "Research quantum computing applications"
//! cargo run --example fluent_loops -- counter
//! cargo run --example fluent_loops -- direct "Our shop sells bicycles"
//! ```

mod cli;

use adk::llm::LlmAgent;
use adk::{AgentBuilder, ErrorKind, LoopAgent, prelude::*};
use clap::{Parser, ValueEnum};
use std::process::ExitCode;

/// The model, if its key is in the environment.
const MODEL: &str = "gemini-2.5-flash";

/// Mark the task as complete. Call it only when the research covers the topic.
#[tool]
fn mark_complete(#[key] completed: Out<bool>) -> (bool, Flow) {
    completed.set(true);
    (true, Flow::Exit)
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
            "Review the research: {research}. If it is sufficient, call `mark_complete`. If not, \
             name the gaps.",
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

/// Builds the loop under an identifier as its name; `iterative-processor` is the name of the app.
fn direct() -> AgentBuilder {
    let evaluator = LlmAgent::builder("evaluator")
        .description("Evaluates what there is")
        .instruction(
            "Evaluate what the user wrote, or the last version of it: {version?}\n\nEnd the loop \
             when it is good.",
        )
        .output_key("evaluation")
        .tool(adk::tools::exit_loop::default());
    let refinement = LlmAgent::builder("refinement")
        .description("Refines it")
        .instruction("Refine it by this evaluation, and write it alone: {evaluation}")
        .output_key("version");
    // Without `max_iterations` the loop runs until the evaluator ends it.
    let processor = LoopAgent::builder("iterative_processor")
        .description("Processes data iteratively")
        .sub_agents([evaluator, refinement])
        .max_iterations(10);
    AgentBuilder::create("iterative-processor").with_agent(processor)
}

/// Runs a loop of @iqai/adk's page.
#[derive(Debug, Parser)]
struct Args {
    which: Which,
    /// What to ask it for
    question: Vec<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Which {
    Writing,
    Research,
    Counter,
    Direct,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    cli::exit(run(Args::parse()).await)
}

async fn run(args: Args) -> Result<()> {
    let (make, key): (fn() -> AgentBuilder, _) = match args.which {
        Which::Writing => (writing, "draft"),
        Which::Research => (research, "completed"),
        Which::Counter => (counting, "count"),
        Which::Direct => (direct, "version"),
    };
    let question = args.question.join(" ");
    let question = if question.is_empty() {
        "Begin.".to_owned()
    } else {
        question
    };
    let app = match make().with_model(MODEL).build() {
        Err(error) if error.kind() == ErrorKind::Model(adk::model::ModelErrorKind::MissingKey) => {
            eprintln!(
                "Rehearsal: there is no key for {MODEL}, so no model is asked and nothing is \
                 paid.\n"
            );
            make().with_model(Rehearsal::new()).build()?
        }
        built => built?,
    };
    let answer = app.runner.ask(question).await?;
    // A function emits no text.
    if !answer.is_empty() {
        println!("{answer}\n");
    }
    let session = app.session.open().await?;
    println!(
        "{key}: {}",
        session
            .get(key)
            .map(|value| value.to_string())
            .unwrap_or_default()
    );
    Ok(())
}
