//! Invalid requests.

use crate::requests::{SESSIONS, serve, session, text_body};
use crate::support::send;
use reqwest::Method;
use serde_json::{Value, json};

/// A method, a path, a body and the status of the refusal.
type Case = (&'static str, &'static str, String, u16);

fn case(method: &'static str, path: &'static str, body: Value, status: u16) -> Case {
    (method, path, body.to_string(), status)
}

fn get(path: &'static str, status: u16) -> Case {
    ("GET", path, String::new(), status)
}

fn sessions() -> Vec<Case> {
    let change = json!({"events": [{
        "id": "0190a4c2-7d5e-7000-8000-000000000001",
        "timestamp": 1,
        "author": "user",
        "actions": {"stateDelta": {"k": 1}},
        "invocationId": "e-0190a4c2-7d5e-7000-8000-000000000002",
    }]});
    let deep = format!("{}1{}", "{\"a\":".repeat(300), "}".repeat(300));
    let nothing = "/apps/nothing/users/user/sessions";
    let nobody = "/apps/writing/users/user/sessions/nobody";
    let existing = "/apps/writing/users/user/sessions/s";
    vec![
        case("POST", SESSIONS, json!({"sessionId": "s"}), 409),
        case("POST", SESSIONS, json!({"sessionId": "x".repeat(200)}), 422),
        case("POST", SESSIONS, json!({"state": [1]}), 422),
        case("POST", SESSIONS, json!({"options": {"a": 1}}), 400),
        case("POST", SESSIONS, change, 400),
        case("POST", SESSIONS, json!({"events": [{"author": 1}]}), 422),
        ("POST", SESSIONS, "{".to_owned(), 422),
        ("POST", SESSIONS, format!("{{\"state\": {deep}}}"), 422),
        case("POST", SESSIONS, json!("x".repeat(2 << 20)), 413),
        case("POST", nothing, json!({}), 404),
        get(nobody, 404),
        case("PATCH", nobody, json!({"stateDelta": {}}), 404),
        ("PATCH", existing, String::new(), 422),
        case(
            "PATCH",
            "/apps/writing/users/user/memory",
            json!({"sessionId": "s"}),
            400,
        ),
    ]
}

fn runs() -> Vec<Case> {
    let no_message = json!({"appName": "writing", "userId": "user", "sessionId": "s"});
    let mut nobody = text_body("writing", "x");
    nobody["sessionId"] = json!("nobody");
    vec![
        ("POST", "/run", String::new(), 422),
        case("POST", "/run", json!({"appName": "writing"}), 422),
        case("POST", "/run", no_message, 422),
        case("POST", "/run", text_body("nothing", "x"), 404),
        case("POST", "/run", nobody.clone(), 404),
        case("POST", "/run_sse", nobody, 404),
        case("POST", "/run_sse", json!([]), 422),
    ]
}

fn files() -> Vec<Case> {
    let path = json!({"filename": "../a", "artifact": {"text": "x"}});
    vec![
        get("/apps/writing/users/user/sessions/s/artifacts/none", 404),
        get(
            "/apps/writing/users/user/sessions/s/artifacts/none/versions/x",
            422,
        ),
        get(
            "/apps/writing/users/user/sessions/s/artifacts/none?version=x",
            422,
        ),
        case(
            "POST",
            "/apps/writing/users/user/sessions/s/artifacts",
            path,
            400,
        ),
    ]
}

fn apps() -> Vec<Case> {
    vec![
        get("/apps/nothing/app-info", 404),
        get("/dev/apps/nothing/build_graph", 404),
        get("/dev/apps/writing/build_graph_image?dark_mode=perhaps", 422),
        get("/list-apps?detailed=perhaps", 422),
        get("/dev/apps/writing/build_graph_image?node=nobody", 404),
        get("/dev/apps/writing/debug/trace/none", 404),
        get("/dev/apps/nothing/eval_sets", 404),
        get("/dev-ui/index.html", 404),
    ]
}

#[tokio::test]
async fn invalid_requests_are_refused_in_the_format_of_adk() {
    let served = serve(|server| server).await;
    session(&served, "writing").await;
    let cases = [sessions(), runs(), files(), apps()].concat();
    for (method, path, body, status) in cases {
        let method: Method = method.parse().unwrap();
        let request = served
            .client
            .request(method, format!("http://{}{path}", served.address));
        let (got, error) = send(
            request
                .header("content-type", "application/json")
                .body(body),
        )
        .await;
        assert_eq!(got.as_u16(), status, "{path}: {error}");
        assert!(
            error["detail"].is_string() && error["error"]["message"].is_string(),
            "{path}: {error}"
        );
    }
    let (_, runs) = send(served.get("/v1/runs")).await;
    assert_eq!(runs["runs"], json!([]), "no run was started");
    served.stop().await.unwrap();
}
