//! Tools that the provider of a model runs, in each form of an agent.

use crate::wire_server::{Reply, WireServer};
use adk::build::{Registry, Tree};
use adk::genai::Genai;
use adk::llm::provider;
use adk::prelude::*;
use adk::spec::NodeKind;
use adk::{DynAgent, ErrorKind};
use serde_json::json;

workflow! {
    /// Finds a fact.
    pub Finding(topic: String) -> fact: String {
        agent searcher -> fact: String {
            instruction: "Find a fact about {topic}.",
            tools: [provider::google_search, adk::llm::provider::url_context],
        }

        searcher
    }
}

llm::agent! {
    /// Searches the web.
    pub asker {
        instruction: "Answer with what you find.",
        tools: [provider::google_search],
    }
}

fn runner(server: &WireServer, model: &str) -> Runner {
    let genai = Genai::builder().base_url(server.url()).api_key("sk-test");
    Runner::builder()
        .model_provider(genai.build().expect("the settings are right"))
        .model(model)
        .build()
        .expect("the name is known")
}

#[tokio::test]
async fn each_form_of_an_agent_requests_the_tool_of_its_provider() {
    let server = WireServer::start([Reply::text("Cats purr.").forever()]).await;
    let runner = runner(&server, "gemini-2.5-flash");
    let sent = || server.last().body["tools"].clone();
    let outcome = runner.run(&Finding::default(), "cats").await.unwrap();
    assert_eq!(outcome.output, "Cats purr.");
    assert_eq!(sent(), json!([{"googleSearch": {}}, {"urlContext": {}}]));

    let config = json!({
        "name": "root_agent",
        "instruction": "Search.",
        "tools": [{"name": "google_search"}],
    });
    let from_config = Tree::from_config(&config, &Registry::new()).unwrap();
    runner.run(&from_config, "cats").await.unwrap();
    assert_eq!(sent(), json!([{"googleSearch": {}}]));

    let built = adk::llm::LlmAgent::builder("searcher")
        .tool(provider::code_execution::default())
        .build()
        .unwrap();
    runner.run(&built, "cats").await.unwrap();
    assert_eq!(sent(), json!([{"codeExecution": {}}]));

    let asker = asker::default();
    let tools = asker.meta().tools;
    assert!(tools[0].at_provider && tools[0].name == "google_search");
}

#[tokio::test]
async fn another_provider_is_an_error_with_its_remedy() {
    let server = WireServer::start([]).await;
    let run = runner(&server, "gpt-4o-mini");
    let error = run.run(&Finding::default(), "cats").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert_eq!(
        error.to_string(),
        "agent `searcher` (at finding/searcher): openai (model `gpt-4o-mini`): adk cannot request \
         the tool `google_search` from this provider; help: use a model of Gemini"
    );
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn the_tools_are_part_of_the_workflow_as_data() {
    let spec = Finding::SPEC;
    let nodes = spec.nodes();
    let searcher = nodes
        .iter()
        .find(|node| node.kind == NodeKind::Llm)
        .unwrap();
    assert!(searcher.tools.iter().all(|tool| tool.at_provider));
    let written = json!(searcher.tools);
    assert_eq!(written[0]["at_provider"], true);
    // The runtime calls no tool, so one call of the model is enough.
    let bounds = spec.bounds();
    assert_eq!((bounds.model_calls, bounds.tool_calls), (Some(1), Some(0)));
    assert!(
        spec.mermaid()
            .contains("by the provider: google_search, url_context")
    );
}
