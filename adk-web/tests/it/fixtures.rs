//! Workflows with the behavior of the agents in `tests/peers/adk_agents`, and one with a question.

use crate::support::{Decision, Served, publish, shout};
use adk::prelude::*;
use adk::server::Server;
use adk::testing::{Reply, ScriptedModel};
use adk::{Agent, AgentMeta, Content, Event, FunctionCall, Part, Role};
use serde_json::json;

struct Writer;

#[agent(writes(draft: String, user:wrote: u32, temp:t: u32))]
impl Agent for Writer {
    const META: AgentMeta<'static> = AgentMeta::custom("writer").description("Writes.");

    async fn run(&self, cx: &mut Context) -> adk::Result<Flow> {
        let event = Event::new()
            .with_text("A cat sat.")
            .with_state("draft", "A cat sat.");
        cx.emit(event.with_state("user:wrote", 1).with_state("temp:t", 1))
            .await?;
        Ok(Flow::Continue)
    }
}

struct Critic;

#[agent(writes(advice: String))]
impl Agent for Critic {
    const META: AgentMeta<'static> = AgentMeta::custom("critic")
        .description("Judges.")
        .may_exit(true);

    async fn run(&self, cx: &mut Context) -> adk::Result<Flow> {
        let event = match cx.iteration() {
            Some(0) => Event::new()
                .with_text("Longer.")
                .with_state("advice", "longer"),
            _ => Event::new().with_text("Fine.").with_escalate(),
        };
        cx.emit(event).await?;
        Ok(Flow::Continue)
    }
}

struct Publisher;

#[agent]
impl Agent for Publisher {
    const META: AgentMeta<'static> = AgentMeta::custom("publisher").description("Publishes.");

    async fn run(&self, cx: &mut Context) -> adk::Result<Flow> {
        cx.artifacts()
            .save(
                "out/post.txt",
                Part::inline_data("text/plain", *b"A cat sat."),
            )
            .await?;
        cx.emit(Event::new().with_text("Published.")).await?;
        Ok(Flow::Continue)
    }
}

workflow! {
    /// Writes about a topic.
    pub Writing() {
        agent writer: Writer;
        agent critic: Critic;
        agent publisher: Publisher;

        writer;
        polish: loop(max = 3) < critic >;
        publisher
    }
}

struct Broken;

#[agent]
impl Agent for Broken {
    const META: AgentMeta<'static> = AgentMeta::custom("writer");

    async fn run(&self, _: &mut Context) -> adk::Result<Flow> {
        Err(adk::Error::new(adk::ErrorKind::Agent, "cannot write"))
    }
}

workflow! {
    /// Fails.
    pub Failing() {
        agent writer: Broken;
        writer
    }
}

struct Asker;

#[agent]
impl Agent for Asker {
    const META: AgentMeta<'static> = AgentMeta::custom("asker");

    async fn run(&self, cx: &mut Context) -> adk::Result<Flow> {
        cx.history().load().await?;
        let color = cx.history().iter().next_back().and_then(|event| {
            let answer = event.function_responses().next()?;
            Some(answer.response.get("color")?.as_str()?.to_owned())
        });
        let event = match color {
            Some(color) => Event::new().with_text(format!("It is {color}.")),
            None => {
                let args = [("of".to_owned(), json!("cats"))].into_iter().collect();
                let call = FunctionCall {
                    id: "call-1".into(),
                    name: "ask_color".into(),
                    args,
                    ..FunctionCall::default()
                };
                let call = Part::from(call);
                let mut event = Event::new().with_content(Content::new(Role::Model, vec![call]));
                event.details_mut().long_running_tool_ids = vec!["call-1".to_owned()];
                event
            }
        };
        cx.emit(event).await?;
        Ok(Flow::Continue)
    }
}

workflow! {
    /// Asks for a color.
    pub Asking() {
        agent asker: Asker;
        asker
    }
}

/// Pays.
#[tool(confirm)]
fn pay(amount: u32) -> String {
    format!("paid {amount}")
}

workflow! {
    /// Pays.
    pub Paying() {
        /// Pays a bill.
        agent payer { instruction: "Pay.", tools: [pay], max_turns: 3 }
        payer
    }
}

workflow! {
    /// Drafts a post, and asks an editor.
    pub Drafting(topic: String, times: u32 = 2) -> post: String {
        shout;
        /// May this be published? {draft}
        await decision: Decision;
        publish
    }
}

pub fn runner() -> adk::Runner {
    builder().build().expect("a runner")
}

pub fn builder() -> adk::runner::RunnerBuilder<adk::DefaultProvider> {
    let paid = Reply::new().text("Paid.").pieces(["Pa", "id."]);
    let model = ScriptedModel::new()
        .on("payer")
        .call("pay", json!({"amount": 7}))
        .reply(paid);
    adk::Runner::builder().model(model)
}

/// Starts a server with these workflows.
pub async fn serve(
    with: impl FnOnce(
        Server<adk::DefaultProvider, adk::NoResources>,
    ) -> Server<adk::DefaultProvider, adk::NoResources>,
) -> Served {
    serve_on(&runner(), with).await
}

pub async fn serve_on(
    runner: &adk::Runner,
    with: impl FnOnce(
        Server<adk::DefaultProvider, adk::NoResources>,
    ) -> Server<adk::DefaultProvider, adk::NoResources>,
) -> Served {
    let server = adk::serve(runner)
        .workflow(Writing::new(Writer, Critic, Publisher))
        .workflow(Asking::new(Asker))
        .workflow(Failing::new(Broken))
        .workflow(Paying::default());
    Served::start(with(server)).await
}
