//! [`Magazine`]: a workflow for the tests of the web page, with a scripted model that has prices.

use adk::prelude::*;
use adk::spec::{Price, Prices};
use adk::testing::{Reply, ScriptedModel};
use std::time::Duration;
use tokio::sync::Semaphore;

/// The gate before [`layout`]. Each permit lets one run through.
static GATE: Semaphore = Semaphore::const_new(0);

/// The readers of a post.
#[adk::data]
pub enum Audience {
    /// All readers.
    Everyone,
    /// Paying readers.
    Subscribers,
    /// People of one trade.
    Professionals {
        /// The trade.
        trade: String,
    },
}

/// A source of a post.
#[adk::data]
pub struct Source {
    /// The title of the page.
    title: String,
    /// The address of the page.
    link: Option<String>,
    /// Whether the whole page was read.
    is_read: bool,
}

/// The verdict of an editor.
#[adk::data]
pub enum Verdict {
    /// Publish the post unchanged.
    Publish,
    /// The writer tries once more.
    Revise {
        /// The requested change.
        note: String,
        /// Words that must not occur.
        avoid: Vec<String>,
        /// The maximum number of words; empty for the current number.
        words: Option<u32>,
    },
    /// Do not publish the post.
    Drop,
}

/// Finds facts about a subject.
#[tool]
fn look_up(
    /// The search query.
    query: &str,
) -> String {
    format!("2 pages about {query}: Kew, 'Bees at Dawn'; RHS, 'A Pollinator's Year'")
}

/// Puts the post on a page when the gate opens.
#[agent(writes = page)]
async fn layout(draft: &str) -> adk::Result<u64> {
    GATE.acquire().await.map_err(adk::Error::other)?.forget();
    Ok(draft.len() as u64 % 40)
}

/// Opens the gate for one run.
#[agent(writes = open)]
fn open_gate() -> bool {
    GATE.add_permits(1);
    true
}

/// Publishes the draft.
#[agent(writes = post)]
fn publish(draft: &str, page: u64) -> String {
    format!("{draft}\n\nPage {page}")
}

/// Reports that nothing was published.
#[agent(writes = post)]
fn forget() -> String {
    "(nothing was published)".to_owned()
}

/// Sends the post to the printer, which always fails.
#[agent(writes = receipt)]
fn print(topic: &str) -> adk::Result<String> {
    Err(adk::Error::new(
        adk::ErrorKind::Agent,
        format!("the printer does not take `{topic}`: no paper in tray 2"),
    )
    .with_help("fill tray 2, then begin the run again"))
}

workflow! {
    /// Writes a post for the magazine, improves it, and asks an editor until it may appear.
    pub Magazine(
        /// The topic of the post.
        topic: String,
        /// The readers.
        audience: Audience = Audience::Everyone,
        /// The number of words.
        words: u32 = 80,
        /// The sources of the post.
        sources: Vec<Source> = Vec::new(),
    ) -> post: String {
        /// Writes the first draft.
        agent writer -> draft: String {
            instruction: "Write a post of {words} words about {topic}, for {audience}.\nIt rests on: {sources}",
        }
        /// Checks the facts.
        agent fact_checker -> facts: String {
            instruction: "Check every fact in this post:\n{draft}",
            tools: [look_up],
            max_turns: 3,
        }
        /// Reads it as a subscriber would.
        agent critic -> criticism: String {
            instruction: "Criticise this post in one sentence:\n{draft}",
        }
        /// Applies the criticism.
        agent refiner -> draft: String {
            instruction: "Improve this post:\n{draft}\nThe critic says: {criticism}",
        }
        /// Changes the draft as the editor wants it.
        agent reviser -> draft: String {
            instruction: "Change this post:\n{draft}\nThe editor says: {verdict}",
        }

        writer;
        improving: loop(max = 2) < critic; refiner >;
        checks: parallel < fact_checker; layout >;
        editing: loop <
            /// May this appear in the magazine?
            ///
            /// {draft}
            await verdict: Verdict;
            match verdict <
                Verdict::Publish => < publish; break >,
                Verdict::Revise { .. } => reviser,
                Verdict::Drop => < forget; break >
            >
        >
    }
}

workflow! {
    /// Opens the gate for one run.
    pub Opening() -> open: bool { open_gate }
}

workflow! {
    /// Prints a post on paper.
    pub Printing(topic: String) -> receipt: String {
        /// Sets the type.
        agent setter -> plate: String { instruction: "Set the type for {topic}." }
        setter; print
    }
}

/// Fetches a letter to the editor.
#[tool(untrusted)]
fn fetch_letter(number: u64) -> String {
    format!("letter {number}: what a fine magazine")
}

/// Sends a reply to the reader.
#[tool(acts)]
fn send_reply(text: &str) -> String {
    format!("sent: {text}")
}

workflow! {
    /// Answers a letter to the editor.
    #[guards(untrusted(letter))]
    pub Letters(letter: String) -> reply: String {
        agent sorter -> is_praise: bool {
            instruction: "Does the letter praise us? {letter}", tools: [fetch_letter], max_turns: 3,
        }
        agent answerer -> reply: String {
            include_contents: prompt,
            instruction: "Answer; praise: {is_praise}",
            tools: [send_reply],
            max_turns: 3,
        }

        sorter; answerer
    }
}

/// Returns a model with the replies of all agents.
pub fn model(after: Duration) -> ScriptedModel {
    let script =
        |model: ScriptedModel, agent: &'static str, text: &str, input: u64, output: u64| {
            let reply = Reply::new().text(text).usage(input, output).after(after);
            model.on(agent).reply(reply).repeat_last()
        };
    let model = ScriptedModel::new();
    let model = script(
        model,
        "writer",
        "Bees wake before the sun does. At half past four the first scouts leave the hive, and by five the lavender hums.",
        214,
        61,
    );
    let model = script(
        model,
        "critic",
        "The second sentence promises a place that the reader never sees; name the garden.",
        96,
        22,
    );
    let model = script(
        model,
        "refiner",
        "Bees wake before the sun does. At half past four the first scouts leave their hive at Great Dixter, and by five the lavender along the long border hums.\n\nStand there with a cup of tea and you will hear the shift change: the night moths go home as the honeybees come in.",
        301,
        84,
    );
    let model = script(
        model,
        "reviser",
        "Before sunrise the first scouts leave their hive at Great Dixter. By five the lavender hums.",
        322,
        40,
    );
    let model = script(model, "sorter", "true", 30, 1);
    let model = script(model, "answerer", "Thank you.", 20, 4);
    let model = script(model, "setter", "(plate of two columns)", 40, 12);
    model
        .on("fact_checker")
        .reply(
            Reply::new()
                .call("look_up", json!({"query": "bees at dawn"}))
                .usage(150, 18)
                .after(after),
        )
        .reply(
            Reply::new()
                .text("Both facts hold: scouts leave at first light, and honeybees visit lavender.")
                .usage(240, 19)
                .after(after),
        )
        .repeat_last()
}

/// Returns the prices of the model.
pub fn prices() -> Prices {
    let price = Price::per_million("3", "15").expect("a price");
    Prices::published().model("scripted", price)
}
