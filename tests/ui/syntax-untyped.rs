use adk::prelude::*;

/// A draft.
#[data]
pub struct Draft {
    text: String,
}

// What has no type is told once, and not where Rust uses it.
workflow! {
    pub Writing(topic: String) -> draft {
        agent writer -> draft: Draft { instruction: "Write about {topic}." }
        writer
    }
}

async fn write() -> adk::Result<()> {
    let runner = Runner::builder().model(Rehearsal::new()).build()?;
    let outcome = runner.run(&Writing::default(), "a cat").await?;
    println!("{}", outcome.output.text);
    Ok(())
}

workflow! {
    pub Reviewing(topic, tone: String = "plain") -> (review: String, score) {
        agent reviewer -> review: String { instruction: "Review {topic}, {tone}." }
        reviewer
    }
}

async fn review() -> adk::Result<()> {
    let runner = Runner::builder().model(Rehearsal::new()).build()?;
    let input = ReviewingInput { tone: "rude".into(), ..ReviewingInput::new("a cat") };
    println!("{}", input.topic.len());
    let ReviewingOutput { review, score } = runner.run(&Reviewing::default(), "a cat").await?.output;
    println!("{} {}", review.len(), score + 1.0);
    runner.run(&Reviewing::default(), input).await?;
    Ok(())
}

// Several outputs without their parentheses.
workflow! {
    pub Grading(topic: String) -> review: String, score: u32 {
        agent reviewer -> review: String { instruction: "Review {topic}." }
        agent grader -> score: u32 { instruction: "Grade {topic}." }
        reviewer; grader
    }
}

async fn grade() -> adk::Result<()> {
    let runner = Runner::builder().model(Rehearsal::new()).build()?;
    let GradingOutput { review, .. } = runner.run(&Grading::default(), "a cat").await?.output;
    println!("{}", review.len());
    println!("{}", runner.run(&Grading::default(), "a cat").await?.output.score + 1);
    Ok(())
}

workflow! {
    pub Comparing(topic: String) -> String {
        agent reviewer -> review: String, score: u32 { instruction: "Review {topic}." }
        reviewer
    }
}

async fn compare() -> adk::Result<()> {
    let runner = Runner::builder().model(Rehearsal::new()).build()?;
    println!("{}", runner.run(&Comparing::default(), "a cat").await?.output.len());
    Ok(())
}

workflow! {
    pub Telling(topic = String) -> told: String {
        agent teller -> told: String { instruction: "Tell of {topic}." }
        teller
    }
}

fn main() {}
