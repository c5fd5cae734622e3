//! Keys that a session keeps from one run to the next: `cargo run --example sessions`.

use adk::prelude::*;

workflow! {
    /// Talks with a person, and remembers what is worth it.
    pub Chat(message: String) -> reply: String {
        // The key lasts as long as the session. It is absent until the first run has written it.
        state profile: Option<String>;

        /// Answers.
        agent companion -> reply: String {
            instruction: "You know this of the person: {profile?}. Answer: {message}",
        }
        /// Remembers. It needs no history: all that it has to know is in its prompt.
        agent notes -> profile: String {
            include_contents: none,
            instruction: "Known of the person: {profile?}. They said: {message}. Write down what \
                is worth knowing.",
        }

        companion; notes
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    // With `.store(SqliteStore::open("chat.db").await?)` sessions outlive the process.
    let runner = Runner::builder()
        .app_name("chat")
        .model(Rehearsal::new())
        .build()?;
    let session = runner.session("ada", "kitchen");
    for message in ["I am Ada, and I like tea.", "What do I like?"] {
        let outcome = session.run(&Chat::default(), message).await?;
        println!("{message}\n  {}", outcome.output);
    }

    // Another session of the same person begins without a profile.
    let other = runner.session("ada", "garden");
    other.run(&Chat::default(), "Good morning.").await?;

    for snapshot in runner.sessions(Some("ada")).await? {
        println!("{:?}: {:?}", snapshot.key, snapshot.state.get("profile"));
    }
    Ok(())
}
