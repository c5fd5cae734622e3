//! Protocols of users next to the protocols of the server.

use crate::support::{Served, send};
use adk::server::protocol::{Answer, App, Protocol, Shared, Who, json_response};
use adk::server::{Caller, Refusal};
use adk::{Error, ErrorKind, Runner};
use axum::Router;
use axum::extract::{Extension, State};
use axum::http::request::Parts;
use axum::routing::{get, post};
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::sync::Arc;

/// Returns its own name, the user of the caller and the names of the workflows.
#[derive(Debug)]
struct Names(&'static str);

impl Protocol for Names {
    fn routes(&self, _: &Arc<App>) -> adk::Result<Router<Arc<App>>> {
        if self.0.is_empty() {
            return Err(Error::new(ErrorKind::Config, "the name is empty"));
        }
        Ok(Router::new()
            .route("/names", get(names))
            .route("/size", post(size))
            .layer(Extension(self.0)))
    }
}

async fn names(
    State(app): Shared,
    Extension(caller): Who,
    Extension(name): Extension<&'static str>,
) -> Answer {
    let runner = app.runner(&caller);
    let workflows: Vec<_> = app
        .workflows(&runner, &caller)
        .map(|workflow| workflow.name().to_owned())
        .collect();
    let body = json!({"name": name, "user": caller.user, "workflows": workflows});
    Ok(json_response(StatusCode::OK, &body))
}

async fn size(body: String) -> String {
    body.len().to_string()
}

/// Shows a text to everybody.
#[derive(Debug)]
struct Greeting;

impl Protocol for Greeting {
    fn routes(&self, _: &Arc<App>) -> adk::Result<Router<Arc<App>>> {
        Ok(Router::new().route("/greeting", get(async || "\"hello\"")))
    }

    fn is_public(&self) -> bool {
        true
    }
}

async fn by_header(parts: Parts) -> Result<Caller, Refusal> {
    match parts
        .headers
        .get("user")
        .and_then(|user| user.to_str().ok())
    {
        Some(user) => Ok(Caller::user(user)),
        None => Err(Refusal::unauthorized("no user")),
    }
}

#[tokio::test]
async fn the_rules_of_the_server_apply_to_each_protocol() {
    let runner = Runner::builder().build().unwrap();
    let served = Served::new(&runner, |server| {
        let server = server.authorize(by_header).protocol(Greeting);
        // The second value of a type replaces the first.
        server.protocol(Names("one")).protocol(Names("two"))
    })
    .await;
    assert_eq!(send(served.get("/names")).await.0, StatusCode::UNAUTHORIZED);
    let (status, shown) = send(served.get("/names").header("user", "ann")).await;
    assert_eq!(status, StatusCode::OK, "{shown}");
    assert_eq!(
        (&shown["name"], &shown["user"]),
        (&json!("two"), &json!("ann"))
    );
    let workflows = shown["workflows"].as_array().unwrap();
    assert!(workflows.contains(&json!("approval")), "{shown}");

    let foreign = served.get("/names").header("user", "ann");
    let foreign = foreign.header("origin", "http://evil.example");
    assert_eq!(send(foreign).await.0, StatusCode::FORBIDDEN);
    let large = served.post("/size", &Value::from("x".repeat(2 << 20)));
    let answer = large.header("user", "ann").send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::PAYLOAD_TOO_LARGE);

    let (status, text) = send(served.get("/greeting")).await;
    assert_eq!((status, text), (StatusCode::OK, json!("hello")));
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_protocol_refuses_its_settings() {
    let runner = Runner::builder().build().unwrap();
    let error = adk::serve(&runner)
        .open_to_all()
        .protocol(Names(""))
        .router()
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert_eq!(error.message(), "the name is empty");
}
