//! Where a fault leaves open which fields a workflow has, or what it is made of, rustc says nothing of the Rust code that uses it.
use adk::AgentMeta;
use adk::prelude::*;

struct Dice {
    sides: u32,
}

impl Agent for Dice {
    const META: AgentMeta<'static> = AgentMeta::custom("dice");
    async fn run(&self, _cx: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

workflow! {
    /// What the caller supplies could not be read.
    pub Game(goal: u32) -> story: String {
        agent dice = Dice;
        agent teller -> story: String { instruction: "Tell {goal}." }
        dice;
        teller
    }
}

workflow! {
    /// A block could not be read.
    pub Writing(topic: String) -> (draft: String, notes: String) {
        agent writer -> draft: String { instruction: "Write about {topic}." }
        agent critic -> notes: String { instruction: "Criticise {draft}." }
        writer;
        rounds: repeat(max = 3) < critic >
    }
}

workflow! {
    /// A field that it has not: the name is that of the workflow.
    pub Review(draft: String) -> notes: String {
        agent critic -> notes: String { instruction: "Criticise {draft}." }
        review: loop(max = 3) < critic >
    }
}

workflow! {
    /// A type in the place of the agent that has it.
    pub Throwing(goal: u32) {
        agent dice: Dice;
        Dice
    }
}

workflow! {
    /// Of a workflow that is torn nothing is known where it is a step.
    pub Both(topic: String) -> (notes: String, end: String) {
        agent closer -> end: String { instruction: "End {topic} after {notes}." }
        Writing;
        closer
    }
}

async fn run(runner: Runner) -> Result<()> {
    let game = Game::new(Dice { sides: 6 });
    println!("{} {}", game.dice.sides, runner.run(&game, GameInput { goal: 3 }).await?.output.len());
    let mut writing = Writing::default();
    writing.rounds.set_max(2);
    let WritingOutput { draft, notes } = runner.run(&writing, "Rust").await?.output;
    println!("{draft} {notes}");
    let mut review = Review::default();
    review.review.set_max(2);
    println!("{}", runner.run(&review, draft).await?.output);
    let throwing = Throwing::new(Dice { sides: 6 });
    println!("{}", throwing.dice.sides);
    println!("{}", runner.run(&Both::default(), "Rust").await?.output.end);
    Ok(())
}

fn main() {}
