//! An article and a post about the same news. One function measures both texts and one workflow
//! polishes both, until a judge is content. If polishing does not help, both are written anew.
//!
//! The function and the workflow are each placed twice, with other keys. The inner loop polishes
//! and the outer loop drafts: `break` discards a draft, `break drafts` ends the outer loop.
//!
//! ```text
//! cargo run --example article_and_post -- "The town library opens on Sundays from May."
//! cargo run --example article_and_post -- --mermaid
//! ```

mod cli;

use adk::prelude::*;
use std::process::ExitCode;

/// What is to be done with both texts.
#[data]
pub enum Verdict {
    /// They say what is new and read almost well: polishing makes them good.
    Polish,
    /// Both can be printed.
    Print,
    /// They miss what is new, or contradict each other: no polishing helps.
    Rewrite,
}

/// Counts the words of the longest sentence.
#[agent(writes = longest)]
fn measure(text: &str) -> usize {
    let sentences = text.split(['.', '!', '?', '\n']);
    sentences
        .map(|sentence| sentence.split_whitespace().count())
        .max()
        .unwrap_or_default()
}

workflow! {
    /// Polishes a text. It knows neither articles nor posts: whoever runs it says which of its keys
    /// is the text.
    pub Polishing(text: String, longest: usize) -> text: String {
        /// Finds the weakest sentence.
        agent reader -> weakest: String {
            include_contents: none,
            instruction: "Which sentence of this text is the hardest to read, and why? Words in \
                the longest one: {longest}\n\n{text}",
        }

        /// Mends it.
        agent editor -> text: String {
            include_contents: none,
            instruction: "Mend this weakness of the text below, change nothing else, and write the \
                whole text out: {weakest}\n\n{text}",
        }

        reader;
        editor
    }
}

workflow! {
    /// Writes an article and a post about the same news.
    pub ArticleAndPost(news: String) -> (article: String, post: String) {
        /// Writes the article.
        agent reporter -> article: String {
            include_contents: none,
            instruction: "Write an article of five sentences for the town's paper: {news}\n\nDo it \
                in another way than the last time, if you have written one: {article?}",
        }

        /// Writes the post.
        agent poster -> post: String {
            include_contents: none,
            instruction: "Say in two sentences, for a post, what this article says:\n\n{article}",
        }

        /// Judges both.
        agent judge -> verdict: Verdict {
            include_contents: none,
            instruction: "Can these be printed? A sentence has 20 words at the most.\n\nThe news: \
                {news}\n\nThe article (words in its longest sentence: {article_longest}):\n\n\
                {article}\n\nThe post (words in its longest sentence: {post_longest}):\n\n{post}",
        }

        drafts: loop(max = 3) <
            reporter;
            poster;
            rounds: loop(max = 4) <
                measure(text = article) -> article_longest;
                measure(text = post) as measure_post -> post_longest;
                judge;
                match verdict <
                    Verdict::Polish => parallel <
                        Polishing(text = article, longest = article_longest) -> article;
                        Polishing(text = post, longest = post_longest) as polish_post -> post
                    >,
                    Verdict::Print => break drafts,
                    Verdict::Rewrite => break,
                >
            >
        >
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    cli::exit(publish(&cli::read(&ArticleAndPost::SPEC, "NEWS", "What is new")).await)
}

async fn publish(cli: &cli::Cli) -> Result<()> {
    let news = cli.input()?;
    let runner = cli.runner("article_and_post", Rehearsal::new())?;
    let outcome = cli
        .show(runner.run(&ArticleAndPost::default(), news).stream())
        .await?;
    cli.result(&format!(
        "{}\n\n{}",
        outcome.output.article, outcome.output.post
    ))?;
    outcome.loops.iter().try_for_each(|end| cli.note(end))
}
