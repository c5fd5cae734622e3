//! As `wrong-unresolved`, inside of other types: rustc proposes no parameters of what has none, and repeats nothing.

use adk::AgentMeta;
use adk::llm::agent;
use adk::prelude::*;
use std::collections::HashMap;

#[agent(writes = score)]
fn grade(draft: Option<Draft>, words: HashMap<String, Word>, all: &[Vec<Page>]) -> Option<Scor> {
    None
}

#[agent(writes = plan)]
async fn plan<'a>(topic: &'a str, parts: Vec<Section>) -> Result<(Vec<Step>, Flow), Failure> {
    Ok((Vec::new(), Flow::Exit))
}

#[agent(writes = sum)]
fn one_letter(left: T, right: Option<T>) -> Result<U> {
    left + right
}

#[agent(writes = lines)]
fn held(draft: &str) -> Vec<String> {
    let lines: Vec<Line> = Vec::new();
    lines
}

/// Looks something up.
#[tool(writes(found: Vec<Find>))]
fn look_up(words: Vec<Query>, #[default(3)] most: Option<Most>) -> Result<Vec<Definition>, Option<Reason>> {
    Err(None)
}

struct Keeper<T>(T);

#[agent(reads(pages: Vec<Kept>, parts: Vec<T>), writes(index: Option<Register>))]
impl<T: Send + Sync + 'static> Agent for Keeper<T> {
    const META: AgentMeta<'static> = AgentMeta::custom("Keeper");

    async fn run(&self, _: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

#[data]
struct Book {
    chapters: Vec<Chapter>,
    index: Option<T>,
}

#[data]
enum Shelf {
    Books(Vec<Novel>),
}

agent! {
    pub helper -> notes: Vec<Note> { instruction: "Take notes." }
}

workflow! {
    Writing(topic: Vec<Topic>) -> draft: Option<Text> {
        agent writer -> draft: Option<Text> {
            instruction: "Write about {topic}.",
        }

        let parts: Vec<Piece> = Vec::new();
        writer;
    }
}

fn main() {}
