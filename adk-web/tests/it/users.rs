//! Foreign users see no data of other users.

use crate::requests::{answer_body, call, serve, text_body};
use crate::support::send;
use adk::server::{Caller, Refusal};
use reqwest::StatusCode;
use serde_json::{Value, json};

/// Reads the user from a header.
async fn by_header(request: axum::http::request::Parts) -> Result<Caller, Refusal> {
    let user = request
        .headers
        .get("x-user")
        .and_then(|user| user.to_str().ok());
    user.map(Caller::user)
        .ok_or_else(|| Refusal::unauthorized("the header `x-user` is missing"))
}

/// The sessions of Ann.
const BASE: &str = "/apps/drafting/users/ann/sessions";

/// An artifact with the text `X`.
fn file() -> Value {
    json!({"filename": "f", "artifact": {"text": "X"}})
}

/// Returns requests for the data of Ann: method, path and body.
fn requests(event: &str, run: &Value, answer: &Value) -> Vec<(&'static str, String, Value)> {
    vec![
        ("GET", BASE.to_owned(), json!(null)),
        ("POST", BASE.to_owned(), json!({})),
        ("GET", format!("{BASE}/s"), json!(null)),
        ("POST", format!("{BASE}/t"), json!({})),
        (
            "PATCH",
            format!("{BASE}/s"),
            json!({"stateDelta": {"k": 1}}),
        ),
        ("DELETE", format!("{BASE}/s"), json!(null)),
        ("GET", format!("{BASE}/s/artifacts"), json!(null)),
        ("POST", format!("{BASE}/s/artifacts"), file()),
        ("GET", format!("{BASE}/s/artifacts/f"), json!(null)),
        ("GET", format!("{BASE}/s/artifacts/f/versions"), json!(null)),
        (
            "GET",
            format!("{BASE}/s/artifacts/f/versions/0/metadata"),
            json!(null),
        ),
        ("DELETE", format!("{BASE}/s/artifacts/f"), json!(null)),
        (
            "PATCH",
            "/apps/drafting/users/ann/memory".to_owned(),
            json!({"sessionId": "s"}),
        ),
        ("POST", "/run".to_owned(), run.clone()),
        ("POST", "/run_sse".to_owned(), run.clone()),
        ("POST", "/run_sse".to_owned(), answer.clone()),
        (
            "GET",
            format!("/dev/apps/drafting/users/ann/sessions/s/events/{event}/graph"),
            json!(null),
        ),
    ]
}

#[tokio::test]
async fn a_foreign_user_sees_nothing() {
    let served = serve(|server| server.authorize(by_header)).await;
    let by = |user: &'static str, method: &str, path: &str, body: &Value| {
        let request = served.client.request(
            method.parse().unwrap(),
            format!("http://{}{path}", served.address),
        );
        send(request.header("x-user", user).json(body))
    };
    let (status, made) = by(
        "ann",
        "POST",
        BASE,
        &json!({"sessionId": "s", "state": {"secret": "X"}}),
    )
    .await;
    assert_eq!(status, StatusCode::OK, "{made}");
    let mut run = text_body("drafting", "X");
    run["userId"] = json!("ann");
    let (_, events) = by("ann", "POST", "/run", &run).await;
    let question = call(events.as_array().unwrap()).clone();
    let mut answer = answer_body("drafting", &question, json!({"result": "Publish"}));
    answer["userId"] = json!("ann");
    let own_answer = {
        let mut own = answer.clone();
        own["userId"] = json!("bob");
        own
    };
    let event = events[0]["id"].as_str().unwrap();
    by(
        "bob",
        "POST",
        "/apps/drafting/users/bob/sessions",
        &json!({"sessionId": "s"}),
    )
    .await;
    by("ann", "POST", &format!("{BASE}/s/artifacts"), &file()).await;
    for (method, path, body) in requests(event, &run, &answer) {
        let (status, seen) = by("bob", method, &path, &body).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{method} {path}: {seen}");
        assert!(!seen.to_string().contains('X'), "{seen}");
    }
    let (_, spans) = by(
        "bob",
        "GET",
        "/dev/apps/drafting/debug/trace/session/s",
        &json!(null),
    )
    .await;
    assert_eq!(
        spans,
        json!([]),
        "bob's session with this id is another session"
    );
    // In his own session, Bob answers a call that the session does not contain.
    let request = served.post("/run_sse", &own_answer).header("x-user", "bob");
    let reply = request.send().await.unwrap().text().await.unwrap();
    assert!(
        reply.contains("\"error\"") && !reply.contains('X'),
        "{reply}"
    );
    let (status, forbidden) = by(
        "ann",
        "PATCH",
        &format!("{BASE}/s"),
        &json!({"stateDelta": {"app:all": 1}}),
    )
    .await;
    assert_eq!(status, StatusCode::FORBIDDEN, "{forbidden}");
    let (_, mine) = by("ann", "GET", &format!("{BASE}/s"), &json!(null)).await;
    assert_eq!(
        mine["events"].as_array().unwrap().last().unwrap()["longRunningToolIds"],
        json!([question["id"]])
    );
    served.stop().await.unwrap();
}
