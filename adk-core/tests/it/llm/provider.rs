//! Tools that the provider of a model runs: requests, events, and the check before a run.

use super::*;
use crate::support::{Tree, run};
use adk_build::ErrorKind;
use adk_build::llm::OutputKey;
use adk_build::llm::provider::{code_execution, google_search};
use adk_build::model::{
    Model, ModelChunk, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ModelStream,
};
use adk_build::tools::preload_memory;
use futures_util::stream;
use std::sync::Mutex;

const BILLING: AgentMeta<'static> = meta("billing").description("Knows invoices.");

agent!(Searcher = decl("searcher").instruction("Search."));
agent!(
    Typed = LlmDecl::new(meta("typed").writes(&[KeySpec::new("o", "Vec<u8>")]))
        .output(OutputKey::json::<Vec<u8>>("o"))
);
agent!(Desk = LlmDecl::new(meta("desk").transfer(&[&BILLING])));
agent!(Billing = LlmDecl::new(BILLING));
agent!(Closed = LlmDecl::new(BILLING).disallow_transfer(true, true));

/// A model that records what it is asked to check, and refuses the tools of other providers.
#[derive(Clone)]
struct Choosy(ScriptedModel, Arc<Mutex<Vec<String>>>);

impl Choosy {
    fn new() -> Self {
        Self(ScriptedModel::new().text("done"), Arc::default())
    }

    fn checked(&self) -> Vec<String> {
        self.1.lock().unwrap().clone()
    }
}

impl Model for Choosy {
    fn name(&self) -> &str {
        "choosy"
    }
    fn check_provider_tool(&self, tool: &str, beside_functions: bool) -> Result<(), ModelError> {
        let beside = if beside_functions { " beside" } else { "" };
        self.1.lock().unwrap().push(format!("{tool}{beside}"));
        if tool == "google_search" {
            return Ok(());
        }
        let message = format!("choosy cannot run `{tool}`");
        let error = ModelError::new(ModelErrorKind::InvalidRequest, message);
        Err(error.with_help("use `google_search`"))
    }
    fn generate(&self, request: Arc<ModelRequest>) -> ModelStream {
        self.0.generate(request)
    }
}

async fn run_with(model: &impl Fn() -> Choosy, tree: &Tree) -> (Choosy, Option<Error>) {
    let model = model();
    let runner: Runner = Runner::builder()
        .model(model.clone())
        .config(config())
        .build()
        .unwrap();
    let error = drive(&runner, tree).await.1;
    (model, error)
}

fn searcher() -> Declared<Searcher> {
    let mut agent = llm::<Searcher>();
    agent.add_tool(google_search::default());
    agent
}

#[tokio::test]
async fn a_tool_is_a_name_in_the_request_and_its_sources_are_in_the_event() {
    /// A model that has searched.
    struct Grounded(Arc<Value>, Arc<Mutex<Vec<Arc<ModelRequest>>>>);
    impl Model for Grounded {
        fn name(&self) -> &str {
            "grounded"
        }
        fn check_provider_tool(&self, _: &str, _: bool) -> Result<(), ModelError> {
            Ok(())
        }
        fn generate(&self, request: Arc<ModelRequest>) -> ModelStream {
            self.1.lock().unwrap().push(request);
            let mut response = ModelResponse::from("Spain.");
            response.grounding_metadata = Some(self.0.clone());
            Box::pin(stream::iter([Ok(ModelChunk::Done(response))]))
        }
    }
    let sources = Arc::new(json!({"webSearchQueries": ["q"]}));
    let requests = Arc::<Mutex<Vec<Arc<ModelRequest>>>>::default();
    let mut agent = searcher();
    agent.set_model(Grounded(sources.clone(), requests.clone()));
    let tree = Tree::new("w", vec![run(agent)]);
    let events = events(&ScriptedModel::new(), &tree).await;
    let request = &requests.lock().unwrap()[0];
    assert_eq!(request.provider_tools, ["google_search"]);
    assert_eq!(request.tools, []);
    let details = events[0].details.as_ref().unwrap();
    assert_eq!(details.grounding_metadata, Some(sources));
    let written = json!(*events[0]);
    assert_eq!(
        written["groundingMetadata"],
        json!({"webSearchQueries": ["q"]})
    );
    let stored = Event::from_stored(&events[0].to_stored().unwrap()).unwrap();
    assert_eq!(stored.details, events[0].details);
}

#[tokio::test]
async fn a_call_of_the_tool_gets_an_error_as_a_call_of_an_unknown_tool() {
    let model = ScriptedModel::new()
        .call("google_search", json!({"q": "x"}))
        .text("done");
    let events = events(&model, &Tree::new("w", vec![run(searcher())])).await;
    let response = events[1].function_responses().next().unwrap();
    let text = json!(response.response).to_string();
    assert!(text.contains("google_search"), "{text}");
    assert_eq!(events[2].text(), "done");
}

#[tokio::test]
async fn a_model_that_lacks_a_tool_is_refused_before_its_first_call() {
    let mut agent = searcher();
    agent.add_tool(code_execution::default());
    let (model, error) = run_with(&Choosy::new, &Tree::new("w", vec![run(agent)])).await;
    let error = error.expect("the model lacks a tool");
    assert_eq!(error.kind(), ErrorKind::Config);
    assert_eq!(
        error.to_string(),
        "agent `searcher` (at w/searcher): choosy cannot run `code_execution`; help: use \
         `google_search`"
    );
    assert_eq!(model.0.requests().len(), 0);

    // A model that does not know of such tools refuses all, also as a fallback.
    struct Plain(ScriptedModel);
    impl Model for Plain {
        fn name(&self) -> &str {
            "plain"
        }
        fn generate(&self, request: Arc<ModelRequest>) -> ModelStream {
            self.0.generate(request)
        }
    }
    let mut agent = searcher();
    agent.set_fallback([Plain(ScriptedModel::new())]);
    let (_, error) = run_with(&Choosy::new, &Tree::new("w", vec![run(agent)])).await;
    let text = error.expect("the fallback lacks the tool").to_string();
    assert!(
        text.contains("the model `plain` does not support the tool `google_search`"),
        "{text}"
    );
}

#[tokio::test]
async fn the_model_is_told_of_functions_beside_the_tool() {
    let with = |change: fn(&mut Declared<Searcher>)| {
        let mut agent = searcher();
        change(&mut agent);
        Tree::new("w", vec![run(agent)])
    };
    let mut typed = llm::<Typed>();
    typed.add_tool(google_search::default());
    let mut desk = llm::<Desk>();
    desk.add_tool(google_search::default());
    let mut billing = llm::<Billing>();
    billing.add_tool(google_search::default());
    let mut closed = llm::<Closed>();
    closed.add_tool(google_search::default());
    let cases = [
        (with(|_| ()), "google_search"),
        (
            with(|agent| {
                agent.add_tool(preload_memory::default());
            }),
            "google_search",
        ),
        (
            with(|agent| {
                agent.add_tool(gives("f", json!(1)));
            }),
            "google_search beside",
        ),
        // The model receives a typed answer by a tool.
        (Tree::new("w", vec![run(typed)]), "google_search beside"),
        (
            Tree::new("w", vec![run(desk)]).target(llm::<Billing>()),
            "google_search beside",
        ),
        (
            Tree::new("w", vec![run(llm::<Desk>())]).target(billing),
            "google_search beside",
        ),
        (
            Tree::new("w", vec![run(llm::<Desk>())]).target(closed),
            "google_search",
        ),
    ];
    for (at, (tree, wanted)) in cases.iter().enumerate() {
        let (model, _) = run_with(&Choosy::new, tree).await;
        assert_eq!(model.checked(), [*wanted], "{at}");
    }
}
