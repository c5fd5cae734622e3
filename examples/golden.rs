//! A recorded run as a test: `cargo test --example golden` asks no model and needs no key.
//!
//! ```text
//! ADK_GOLDEN=record cargo test --example golden   # asks the model, with its key
//! ADK_GOLDEN=changed cargo test --example golden  # asks only what a change of it touches
//! cargo adk golden                                # lists differences that wait for a decision
//! ```

use adk::prelude::*;

/// Looks up the weather.
#[tool(untrusted)]
async fn weather(city: String) -> String {
    // A program asks a service here. A replay does not call the tool.
    format!("It rains in {city}.")
}

/// Ends the loop once the critic is content.
#[agent]
fn content(criticism: &str) -> Flow {
    Flow::exit_if(criticism.starts_with("Fine"))
}

workflow! {
    /// Writes a postcard.
    pub Postcard(city: String) -> text: String {
        /// Writes.
        agent writer -> text: String {
            include_contents: none,
            instruction: "Write a postcard from {city} about its weather. Mind this: {criticism?}",
            tools: [weather],
            max_turns: 3,
        }
        /// Criticises.
        agent critic -> criticism: String {
            include_contents: none,
            instruction: "Criticise this postcard, or answer: Fine. {text}",
        }

        improving: loop(max = 3) < writer; critic; content >
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let runner = Runner::builder().model(Rehearsal::new()).build()?;
    let outcome = runner.run(&Postcard::default(), "Rome").await?;
    println!("{}", outcome.output);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use adk::testing::golden;

    #[tokio::test]
    async fn rome() -> Result<()> {
        golden("examples/runs/rome") // two files, beside `Cargo.toml`
            .model("gemini-2.5-flash") // asked only to record
            .run(&Postcard::default(), "Rome")
            .await
    }
}
