//! Inputs that the server sets from the caller: requests may not contain them, and schemas omit
//! them.

use crate::support::{Served, send};
use adk::prelude::*;
use adk::server::{Caller, Refusal};
use reqwest::{RequestBuilder, StatusCode};
use serde_json::{Value, json};

/// Formats an order with its customer.
#[agent(writes = line)]
fn order(item: &str, customer: &str) -> String {
    format!("{item} for {customer}")
}

workflow! {
    /// Orders something.
    pub Ordering(item: String, customer: String) -> line: String { order }
}

workflow! {
    /// Has no input `customer`.
    pub Greeting(item: String) -> line: String {
        let customer: String = "all";
        order
    }
}

async fn by_header(request: axum::http::request::Parts) -> Result<Caller, Refusal> {
    let user = request
        .headers
        .get("x-user")
        .and_then(|user| user.to_str().ok());
    Ok(user.map_or_else(Caller::operator, Caller::user))
}

async fn serve() -> Served {
    let runner = adk::Runner::builder().build().unwrap();
    let server = adk::serve(&runner)
        .workflow(Ordering::default())
        .workflow(Greeting::default());
    let server = server.input("customer", |caller: &Caller| caller.user.clone());
    Served::start(server.authorize(by_header)).await
}

async fn by_ann(request: RequestBuilder) -> (StatusCode, Value) {
    send(request.header("x-user", "ann")).await
}

#[tokio::test]
async fn the_api_sets_the_input_and_no_schema_shows_it() {
    let served = serve().await;
    for path in ["/v1/workflows", "/openapi.json"] {
        let (_, shown) = by_ann(served.get(path)).await;
        let input =
            match path {
                "/v1/workflows" => shown["workflows"][0]["input"].clone(),
                _ => {
                    shown["paths"]["/v1/ordering/runs"]["post"]["requestBody"]["content"]["application/json"]
                        ["schema"]
                        .clone()
                }
            };
        assert_eq!(input["required"], json!(["item"]), "{shown}");
        assert!(input["properties"].get("customer").is_none(), "{shown}");
    }
    let (status, run) = by_ann(served.post("/v1/ordering/runs", &json!({"item": "tea"}))).await;
    assert_eq!(
        (status, &run["output"]),
        (StatusCode::OK, &json!("tea for ann")),
        "{run}"
    );
    let forged = json!({"item": "tea", "customer": "bob"});
    let (status, refusal) = by_ann(served.post("/v1/ordering/runs", &forged)).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{refusal}");
    assert_eq!(
        refusal["error"]["fields"][0]["field"], "customer",
        "{refusal}"
    );
    let (status, refusal) = send(served.post("/v1/ordering/runs", &json!({"item": "tea"}))).await;
    assert_eq!(
        status,
        StatusCode::UNPROCESSABLE_ENTITY,
        "an operator is not a customer: {refusal}"
    );
    let (_, run) = by_ann(served.post("/v1/greeting/runs", &json!({"item": "tea"}))).await;
    assert_eq!(
        run["output"], "tea for all",
        "the workflow has no such input"
    );
    served.stop().await.unwrap();
}

#[tokio::test]
async fn every_protocol_sets_the_input() {
    let served = serve().await;
    let (_, card) = by_ann(served.get("/a2a/ordering/.well-known/agent-card.json")).await;
    assert!(!card.to_string().contains("customer"), "{card}");
    let says = |parts: Value| {
        let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": parts});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
        served
            .post("/a2a/ordering", &body)
            .header("a2a-version", "1.0")
    };
    let (_, refusal) = by_ann(says(json!([{"data": {"item": "tea", "customer": "bob"}}]))).await;
    assert!(
        refusal["error"].to_string().contains("customer"),
        "{refusal}"
    );
    let (_, sent) = by_ann(says(json!([{"text": "tea"}]))).await;
    assert_eq!(
        sent["result"]["task"]["artifacts"][0]["parts"][0]["text"], "tea for ann",
        "{sent}"
    );

    for state in [json!({}), json!({"customer": "bob"})] {
        let messages = json!([{"id": "1", "role": "user", "content": "tea"}]);
        let body = json!({"threadId": "t", "runId": "r", "messages": messages, "state": state});
        let response = served
            .post("/ag-ui/ordering", &body)
            .header("x-user", "ann")
            .send()
            .await
            .unwrap();
        let text = response.text().await.unwrap();
        assert!(
            text.contains("tea for ann") && !text.contains("tea for bob"),
            "{text}"
        );
    }

    let base = "/apps/ordering/users/ann/sessions";
    let (status, _) = by_ann(served.post(
        base,
        &json!({"sessionId": "s", "state": {"customer": "bob"}}),
    ))
    .await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    by_ann(served.post(base, &json!({"sessionId": "s"}))).await;
    let turn = |delta: Value| {
        let message = json!({"role": "user", "parts": [{"text": "tea"}]});
        json!({"appName": "ordering", "userId": "ann", "sessionId": "s", "newMessage": message, "stateDelta": delta})
    };
    let (status, _) = by_ann(served.post("/run", &turn(json!({"customer": "bob"})))).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    let (_, events) = by_ann(served.post("/run", &turn(json!({})))).await;
    assert!(events.to_string().contains("tea for ann"), "{events}");
    served.stop().await.unwrap();
}

#[tokio::test]
async fn an_input_that_no_workflow_has_is_refused() {
    let runner = adk::Runner::builder().build().unwrap();
    let server = adk::serve(&runner)
        .workflow(Ordering::default())
        .open_to_all();
    let error = server
        .input("custmer", |caller: &Caller| caller.user.clone())
        .router()
        .unwrap_err();
    assert_eq!(error.kind(), adk::ErrorKind::Config);
    assert!(error.to_string().contains("`custmer`"), "{error}");
}
