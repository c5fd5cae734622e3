//! Where a bracket is missing, or the item of an `each` has another name than it was meant to have, nothing is told that follows from it.
use adk::prelude::*;

#[agent(writes = report)]
fn merge(bugs: &str, style: &str) -> String {
    format!("{bugs} {style}")
}

workflow! {
    /// The `>` of the parallel block is missing, and that of the loop taken for it.
    pub Reviewing(diff: String) -> report: String {
        agent bug_hunter -> bugs: String { instruction: "Find bugs in {diff}." }
        agent stylist -> style: String { instruction: "Criticise {diff}." }
        agent author -> diff: String { instruction: "Mend {diff} by {report}." }

        loop(max = 3) <
            parallel <
                bug_hunter;
                stylist;
            merge;
            author
        >
    }
}

workflow! {
    /// The `>` of an arm is missing.
    pub Answering(question: String, urgent: bool) -> answer: String {
        agent desk -> answer: String { instruction: "Answer {question}." }
        agent expert -> answer: String { instruction: "Answer {question} soon." }
        agent checker -> answer: String { instruction: "Check {answer}." }

        match urgent <
            true => < expert; checker,
            false => desk,
        >
    }
}

workflow! {
    /// The item has the name of an input, and the agent reads the one that was meant.
    pub Research(subject: String, topics: Vec<String>) -> findings: Vec<String> {
        agent researcher -> findings: String { instruction: "Look {topic} up." }

        each subject in topics < researcher >
    }
}

workflow! {
    /// A `>` too many at the end: what the block before it writes is written all the same.
    pub Translating(text: String) -> draft: Vec<String> {
        agent terminologist -> glossary: String { instruction: "Which terms has {text}?" }
        agent splitter -> chapters: Vec<String> { instruction: "Split {text}." }
        agent translator -> draft: String { instruction: "Translate {chapter} with {glossary}." }

        parallel < terminologist; splitter >
        each chapter in chapters < translator >
        >
    }
}

workflow! {
    /// A `>` too early: that two agents run at the same time is not certain, a key that nothing writes is.
    pub Choosing(text: String) -> draft: String {
        agent translator -> draft: String { instruction: "Translate {text}." }
        agent judge -> choice: String { instruction: "Choose between {draft} and {other}." }

        parallel < translator > judge >
    }
}

async fn run(runner: Runner) -> Result<()> {
    let reviewing = Reviewing::default();
    println!("{:?}", reviewing.bug_hunter);
    println!("{}", runner.run(&reviewing, "- a").await?.output);
    Ok(())
}

fn main() {}
