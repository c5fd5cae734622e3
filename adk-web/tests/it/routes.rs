//! Each route with valid and with invalid input.

use crate::fixtures::{self, Drafting};
use crate::support::{Hanging, Served, send, sse};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

pub type Server = adk::server::Server<adk::DefaultProvider, adk::NoResources>;

/// Starts a server with two additional workflows, which wait and hang.
pub async fn serve(with: impl FnOnce(Server) -> Server) -> Served {
    let more = |server: Server| {
        server
            .workflow(Drafting::default())
            .workflow(Hanging::default())
    };
    fixtures::serve(|server| with(more(server))).await
}

const SESSIONS: &str = "/apps/writing/users/user/sessions";

pub fn text_body(app: &str, text: &str) -> Value {
    part_body(app, json!({"text": text}))
}

pub fn part_body(app: &str, part: Value) -> Value {
    json!({"appName": app, "userId": "user", "sessionId": "s", "newMessage": {"role": "user", "parts": [part]}})
}

pub fn answer_body(app: &str, call: &Value, response: Value) -> Value {
    let (id, name) = (&call["id"], &call["name"]);
    part_body(
        app,
        json!({"functionResponse": {"id": id, "name": name, "response": response}}),
    )
}

pub async fn session(served: &Served, app: &str) {
    let path = format!("/apps/{app}/users/user/sessions");
    let (status, made) = send(served.post(&path, &json!({"sessionId": "s"}))).await;
    assert_eq!(status, StatusCode::OK, "{made}");
}

/// Runs a workflow over `/run_sse` and returns the events.
pub async fn run_sse(served: &Served, body: &Value) -> Vec<Value> {
    let response = served.post("/run_sse", body).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    sse(&response.text().await.unwrap())
        .into_iter()
        .map(|(_, _, data)| data)
        .collect()
}

/// Returns the function call of the last event.
pub fn call(events: &[Value]) -> &Value {
    &events.last().expect("an event")["content"]["parts"][0]["functionCall"]
}

#[tokio::test]
async fn sessions_are_created_read_changed_and_deleted() {
    sessions(serve(|server| server).await).await;
    let folder = std::env::temp_dir().join(format!("adk-web-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let store = adk::sqlite::SqliteStore::open(folder.join("runs.db"))
        .await
        .unwrap();
    let runner = fixtures::builder().store(store);
    sessions(fixtures::serve_on(&runner.build().unwrap(), |server| server).await).await;
    std::fs::remove_dir_all(&folder).unwrap();
}

async fn sessions(served: Served) {
    let state = json!({"k": 1, "user:n": "Ann", "temp:x": 2});
    let (status, made) = send(served.post(SESSIONS, &json!({"state": state}))).await;
    assert_eq!(status, StatusCode::OK, "{made}");
    assert_eq!(made["state"], json!({"k": 1, "user:n": "Ann"}));
    assert_eq!(
        (&made["appName"], &made["userId"], &made["events"]),
        (&json!("writing"), &json!("user"), &json!([]))
    );
    let one = format!("{SESSIONS}/{}", made["id"].as_str().unwrap());
    let (_, again) = send(served.get(&one)).await;
    assert_eq!(again, made);
    let patch = served
        .client
        .patch(format!("http://{}{one}", served.address));
    let (status, changed) =
        send(patch.json(&json!({"stateDelta": {"k": [2], "user:n": null}}))).await;
    assert_eq!(
        (status, &changed["state"]["k"]),
        (StatusCode::OK, &json!([2])),
        "{changed}"
    );
    assert_eq!(
        changed["events"][0]["actions"]["stateDelta"]["k"],
        json!([2])
    );
    assert!(changed["lastUpdateTime"].as_f64() > made["lastUpdateTime"].as_f64());
    // The list omits sessions of other workflows, which may have the same ids.
    session(&served, "asking").await;
    session(&served, "writing").await;
    let (_, all) = send(served.get(SESSIONS)).await;
    let ids: Vec<_> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|session| &session["id"])
        .collect();
    assert_eq!(ids, [&made["id"], &json!("s")], "{all}");
    assert!(
        all[0]["events"] == json!([]) && all[0]["state"]["k"] == json!([2]),
        "{all}"
    );
    assert_eq!(
        send(served.delete(&one)).await,
        (StatusCode::OK, Value::Null)
    );
    assert_eq!(send(served.get(&one)).await.0, StatusCode::NOT_FOUND);
    let content = json!({"parts": [{"text": "hi"}], "role": "user"});
    let event = json!({
        "id": "0190a4c2-7d5e-7000-8000-000000000001", "timestamp": 1.5, "author": "user", "content": content,
        "invocationId": "e-0190a4c2-7d5e-7000-8000-000000000002",
    });
    let (status, restored) =
        send(served.post(SESSIONS, &json!({"sessionId": "r", "events": [event]}))).await;
    assert_eq!(
        (status, &restored["events"][0]["content"]),
        (StatusCode::OK, &content),
        "{restored}"
    );
    // A run appends its events to the restored session.
    let mut run = text_body("writing", "more");
    run["sessionId"] = json!("r");
    let (_, events) = send(served.post("/run", &run)).await;
    let (_, all) = send(served.get(&format!("{SESSIONS}/r"))).await;
    assert_eq!(
        all["events"].as_array().unwrap().last(),
        events.as_array().unwrap().last(),
        "{all}"
    );
    assert_eq!(all["events"][0], restored["events"][0]);
    served.stop().await.unwrap();
}

#[tokio::test]
async fn invalid_requests_are_refused_in_the_format_of_adk() {
    let served = serve(|server| server).await;
    session(&served, "writing").await;
    let writes = |delta: Value| {
        json!({"events": [{
            "id": "0190a4c2-7d5e-7000-8000-000000000001", "timestamp": 1, "author": "user", "actions": delta,
            "invocationId": "e-0190a4c2-7d5e-7000-8000-000000000002",
        }]})
    };
    let nobody = text_body("writing", "x")
        .to_string()
        .replace("\"s\"", "\"nobody\"");
    for (method, path, body, status) in [
        ("POST", SESSIONS, json!({"sessionId": "s"}).to_string(), 409),
        (
            "POST",
            SESSIONS,
            json!({"sessionId": "x".repeat(200)}).to_string(),
            422,
        ),
        ("POST", SESSIONS, json!({"state": [1]}).to_string(), 422),
        (
            "POST",
            SESSIONS,
            json!({"options": {"a": 1}}).to_string(),
            400,
        ),
        (
            "POST",
            SESSIONS,
            writes(json!({"stateDelta": {"k": 1}})).to_string(),
            400,
        ),
        (
            "POST",
            SESSIONS,
            json!({"events": [{"author": 1}]}).to_string(),
            422,
        ),
        ("POST", SESSIONS, "{".to_owned(), 422),
        (
            "POST",
            SESSIONS,
            format!(
                "{{\"state\": {}1{}}}",
                "{\"a\":".repeat(300),
                "}".repeat(300)
            ),
            422,
        ),
        (
            "POST",
            SESSIONS,
            format!("\"{}\"", "x".repeat(2 << 20)),
            413,
        ),
        (
            "POST",
            "/apps/nothing/users/user/sessions",
            "{}".to_owned(),
            404,
        ),
        (
            "GET",
            "/apps/writing/users/user/sessions/nobody",
            String::new(),
            404,
        ),
        (
            "PATCH",
            "/apps/writing/users/user/sessions/nobody",
            json!({"stateDelta": {}}).to_string(),
            404,
        ),
        (
            "PATCH",
            "/apps/writing/users/user/sessions/s",
            String::new(),
            422,
        ),
        ("POST", "/run", String::new(), 422),
        (
            "POST",
            "/run",
            json!({"appName": "writing"}).to_string(),
            422,
        ),
        (
            "POST",
            "/run",
            json!({"appName": "writing", "userId": "user", "sessionId": "s"}).to_string(),
            422,
        ),
        ("POST", "/run", text_body("nothing", "x").to_string(), 404),
        ("POST", "/run", nobody.clone(), 404),
        ("POST", "/run_sse", nobody, 404),
        ("POST", "/run_sse", "[]".to_owned(), 422),
        (
            "GET",
            "/apps/writing/users/user/sessions/s/artifacts/none",
            String::new(),
            404,
        ),
        (
            "GET",
            "/apps/writing/users/user/sessions/s/artifacts/none/versions/x",
            String::new(),
            422,
        ),
        (
            "GET",
            "/apps/writing/users/user/sessions/s/artifacts/none?version=x",
            String::new(),
            422,
        ),
        (
            "POST",
            "/apps/writing/users/user/sessions/s/artifacts",
            json!({"filename": "../a", "artifact": {"text": "x"}}).to_string(),
            400,
        ),
        (
            "PATCH",
            "/apps/writing/users/user/memory",
            json!({"sessionId": "s"}).to_string(),
            400,
        ),
        ("GET", "/apps/nothing/app-info", String::new(), 404),
        ("GET", "/dev/apps/nothing/build_graph", String::new(), 404),
        (
            "GET",
            "/dev/apps/writing/build_graph_image?dark_mode=perhaps",
            String::new(),
            422,
        ),
        ("GET", "/list-apps?detailed=perhaps", String::new(), 422),
        (
            "GET",
            "/dev/apps/writing/build_graph_image?node=nobody",
            String::new(),
            404,
        ),
        (
            "GET",
            "/dev/apps/writing/debug/trace/none",
            String::new(),
            404,
        ),
        ("GET", "/dev/apps/nothing/eval_sets", String::new(), 404),
        ("GET", "/dev-ui/index.html", String::new(), 404),
    ] {
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

#[tokio::test]
async fn a_run_has_events_files_and_spans() {
    let served = serve(|server| server).await;
    session(&served, "writing").await;
    let (status, events) = send(served.post("/run", &text_body("writing", "cats"))).await;
    assert_eq!(status, StatusCode::OK, "{events}");
    let texts = |events: &[Value]| -> Vec<String> {
        let text = |event: &Value| {
            event["content"]["parts"][0]["text"]
                .as_str()
                .unwrap_or("-")
                .to_owned()
        };
        events.iter().map(text).collect()
    };
    assert_eq!(
        texts(events.as_array().unwrap()),
        ["A cat sat.", "Longer.", "Fine.", "Published."],
        "{events}"
    );
    assert_eq!(
        events[0]["actions"]["requestedToolConfirmations"],
        json!({})
    );
    assert_eq!(
        events[3]["actions"]["artifactDelta"],
        json!({"out/post.txt": 0})
    );
    let mut body = text_body("writing", "more");
    body["stateDelta"] = json!({"mood": "calm"});
    let second = run_sse(&served, &body).await;
    assert_eq!(
        texts(&second),
        ["A cat sat.", "Longer.", "Fine.", "Published."],
        "{second:?}"
    );
    assert_eq!(
        second[3]["actions"]["artifactDelta"],
        json!({"out/post.txt": 1})
    );
    let (_, session) = send(served.get(&format!("{SESSIONS}/s"))).await;
    assert_eq!(
        (&session["state"]["draft"], &session["state"]["mood"]),
        (&json!("A cat sat."), &json!("calm"))
    );
    assert_eq!(
        session["events"].as_array().unwrap().len(),
        10,
        "with those of the user"
    );

    let file = |rest: &str| format!("{SESSIONS}/s/artifacts{rest}");
    let get = |rest: &str| send(served.get(&file(rest)));
    let part = json!({"inlineData": {"mimeType": "text/plain", "data": "QSBjYXQgc2F0Lg=="}});
    assert_eq!(get("").await.1, json!(["out/post.txt"]));
    for rest in [
        "/out/post.txt",
        "/out/post.txt?version=0",
        "/out/post.txt/versions/1",
        "/out/post.txt/versions/latest",
    ] {
        assert_eq!(get(rest).await, (StatusCode::OK, part.clone()), "{rest}");
    }
    assert_eq!(get("/out/post.txt/versions").await.1, json!([0, 1]));
    let (_, about) = get("/out/post.txt/versions/metadata").await;
    assert_eq!(
        (&about[1]["version"], &about[1]["mimeType"]),
        (&json!(1), &json!("text/plain")),
        "{about}"
    );
    assert_eq!(
        get("/out/post.txt/versions/latest/metadata").await.1,
        about[1]
    );
    assert_eq!(
        get(&about[0]["canonicalUri"].as_str().unwrap()[SESSIONS.len() + 12..])
            .await
            .1,
        part
    );
    let save = json!({"filename": "note", "artifact": {"text": "hi"}});
    let (status, saved) = send(served.post(&file(""), &save)).await;
    assert_eq!(
        (status, &saved["version"]),
        (StatusCode::OK, &json!(0)),
        "{saved}"
    );
    assert_eq!(get("/note").await.1, json!({"text": "hi"}));
    assert_eq!(
        send(served.delete(&file("/note"))).await,
        (StatusCode::OK, Value::Null)
    );
    assert_eq!(get("").await.1, json!(["out/post.txt"]));

    let (_, spans) = send(served.get("/dev/apps/writing/debug/trace/session/s")).await;
    let spans = spans.as_array().unwrap();
    let named = |name: &str| {
        spans
            .iter()
            .filter(|span| span["name"] == name)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (
            named("invocation").len(),
            named("invoke_agent critic").len()
        ),
        (2, 4),
        "each round: {spans:?}"
    );
    let critic = named("invoke_agent critic")[0];
    let parent = spans
        .iter()
        .find(|span| span["span_id"] == critic["parent_span_id"])
        .expect("a parent");
    assert_eq!(parent["name"], "invoke_agent polish");
    assert!(
        spans
            .iter()
            .all(|span| span["start_time"].as_u64() <= span["end_time"].as_u64()),
        "{spans:?}"
    );

    let event = events[1]["id"].as_str().unwrap();
    let (_, graph) = send(served.get(&format!(
        "/dev/apps/writing/users/user/sessions/s/events/{event}/graph"
    )))
    .await;
    let dot = graph["dotSrc"].as_str().unwrap();
    let id = dot
        .lines()
        .find(|line| line.contains("label=\"critic"))
        .unwrap()
        .trim()
        .split(' ')
        .next()
        .unwrap();
    assert!(
        dot.contains(&format!("    {id} [fillcolor=\"#0f5223\"")),
        "{dot}"
    );
    let (_, none) =
        send(served.get("/dev/apps/writing/users/user/sessions/s/events/none/graph")).await;
    assert_eq!(none, json!({}));
    served.stop().await.unwrap();
}

#[tokio::test]
async fn apps_are_described() {
    let served = serve(|server| server).await;
    let (_, names) = send(served.get("/list-apps?relative_path=./")).await;
    assert!(
        names.as_array().unwrap().contains(&json!("writing")),
        "{names}"
    );
    let (_, detailed) = send(served.get("/list-apps?detailed=true")).await;
    let writing = detailed["apps"]
        .as_array()
        .unwrap()
        .iter()
        .find(|app| app["name"] == "writing")
        .unwrap();
    assert_eq!(writing["description"], "Writes about a topic.");
    assert_eq!(send(served.get("/apps/writing/app-info")).await.1, *writing);
    assert_eq!(send(served.get("/version")).await.1["language"], "rust");
    assert_eq!(
        send(served.get("/config/telemetry")).await.1,
        json!({"telemetry": false})
    );
    let (_, graph) = send(served.get("/dev/apps/writing/build_graph")).await;
    let polish = &graph["root_agent"]["sub_agents"][1];
    assert_eq!(
        (&polish["name"], &polish["max_iterations"]),
        (&json!("polish"), &json!(3)),
        "{graph}"
    );
    assert_eq!(polish["sub_agents"][0]["name"], "critic");
    let (_, paying) = send(served.get("/dev/apps/paying/build_graph")).await;
    assert_eq!(
        paying["root_agent"]["sub_agents"][0]["tools"],
        json!([{"name": "pay", "type": "tool"}])
    );
    let (_, image) = send(served.get("/dev/apps/writing/build_graph_image?dark_mode=true")).await;
    assert!(
        image[""]["dotSrc"]
            .as_str()
            .unwrap()
            .starts_with("digraph \"writing\""),
        "{image}"
    );
    for (path, body) in [
        ("eval_sets", json!([])),
        ("tests", json!([])),
        ("eval-sets", json!({"evalSetIds": []})),
    ] {
        assert_eq!(
            send(served.get(&format!("/dev/apps/writing/{path}"))).await,
            (StatusCode::OK, body)
        );
    }
    let builder = served
        .get("/dev/apps/writing/builder?ts=1")
        .send()
        .await
        .unwrap();
    assert_eq!(
        (builder.status(), builder.text().await.unwrap()),
        (StatusCode::OK, String::new())
    );
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_failed_run_returns_its_error() {
    let served = serve(|server| server).await;
    session(&served, "failing").await;
    let (status, error) = send(served.post("/run", &text_body("failing", "x"))).await;
    assert_eq!(status, StatusCode::BAD_GATEWAY, "{error}");
    assert!(
        error["detail"].as_str().unwrap().contains("cannot write"),
        "{error}"
    );
    let events = run_sse(&served, &text_body("failing", "x")).await;
    assert_eq!(events.len(), 1, "{events:?}");
    assert!(
        events[0]["error"]
            .as_str()
            .unwrap()
            .contains("cannot write"),
        "{events:?}"
    );
    // A message without text is valid.
    session(&served, "drafting").await;
    let events = run_sse(
        &served,
        &part_body(
            "drafting",
            json!({"functionCall": {"name": "f", "args": {}}}),
        ),
    )
    .await;
    assert!(
        events.last().unwrap()["error"].is_null(),
        "an empty topic is a valid input: {events:?}"
    );
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_wait_is_a_call_whose_response_resumes_the_run() {
    let served = serve(|server| server).await;
    session(&served, "drafting").await;
    let events_before = run_sse(&served, &text_body("drafting", "cats")).await;
    let question = call(&events_before);
    assert_eq!(question["name"], "adk_request_input", "{events_before:?}");
    assert_eq!(
        question["args"]["message"],
        "May this be published? CATS CATS"
    );
    assert!(question["args"]["response_schema"].is_object());
    assert_eq!(
        events_before.last().unwrap()["longRunningToolIds"],
        json!([question["id"]])
    );
    let (_, session_json) = send(served.get("/apps/drafting/users/user/sessions/s")).await;
    assert_eq!(
        session_json["events"].as_array().unwrap().last(),
        events_before.last(),
        "{session_json}"
    );
    let (_, waiting) = send(served.get("/v1/waiting?workflow=drafting")).await;
    assert_eq!(
        waiting["waiting"][0]["id"], question["id"],
        "the own API lists the wait"
    );

    let run = &events_before[0]["invocationId"];
    let attach =
        json!({"appName": "drafting", "userId": "user", "sessionId": "s", "invocationId": run});
    assert_eq!(
        send(served.post("/run", &attach)).await,
        (StatusCode::OK, json!([])),
        "the run still waits"
    );

    let wrong = run_sse(
        &served,
        &answer_body("drafting", question, json!({"result": "perhaps"})),
    )
    .await;
    assert!(
        wrong[0]["error"]
            .as_str()
            .unwrap()
            .contains("of another type"),
        "{wrong:?}"
    );
    let answer = answer_body("drafting", question, json!({"Revise": {"note": "shorter"}}));
    let rest = run_sse(&served, &answer).await;
    assert!(
        rest.iter().all(|event| !events_before.contains(event)),
        "only new events: {rest:?}"
    );
    assert_eq!(
        rest.last().unwrap()["actions"]["stateDelta"]["post"],
        "CATS CATS (shorter)",
        "{rest:?}"
    );
    let second = run_sse(&served, &answer).await;
    assert!(second[0]["error"].is_string(), "{second:?}");
    // The page sends a text under `result`.
    let events_before = run_sse(&served, &text_body("drafting", "dogs")).await;
    let rest = run_sse(
        &served,
        &answer_body(
            "drafting",
            call(&events_before),
            json!({"result": "Publish"}),
        ),
    )
    .await;
    assert_eq!(
        rest.last().unwrap()["actions"]["stateDelta"]["post"],
        "DOGS DOGS",
        "{rest:?}"
    );
    let (_, runs) = send(served.get("/v1/runs?workflow=drafting&status=finished")).await;
    assert_eq!(runs["runs"].as_array().unwrap().len(), 2, "{runs}");
    served.stop().await.unwrap();
}

#[tokio::test]
async fn the_own_api_answers_and_cancels_runs_of_these_routes() {
    let served = serve(|server| server).await;
    session(&served, "drafting").await;
    let last = async || {
        let (_, session) = send(served.get("/apps/drafting/users/user/sessions/s")).await;
        session["events"]
            .as_array()
            .unwrap()
            .last()
            .unwrap()
            .clone()
    };
    let events_before = run_sse(&served, &text_body("drafting", "cats")).await;
    let (question, run) = (
        call(&events_before),
        events_before[0]["invocationId"].as_str().unwrap(),
    );
    let path = format!("/v1/waiting/{}", question["id"].as_str().unwrap());
    assert_eq!(
        send(served.post(&path, &json!("Publish"))).await.0,
        StatusCode::ACCEPTED
    );
    let rest = served
        .get(&format!("/v1/runs/{run}/events"))
        .header("accept", "text/event-stream");
    let rest = sse(&rest.send().await.unwrap().text().await.unwrap());
    assert_eq!(rest.last().unwrap().2["output"], "CATS CATS", "{rest:?}");
    assert_eq!(last().await["actions"]["stateDelta"]["post"], "CATS CATS");
    let events_before = run_sse(&served, &text_body("drafting", "dogs")).await;
    assert_eq!(&last().await, events_before.last().unwrap());
    let run = events_before[0]["invocationId"].as_str().unwrap();
    let (_, cancelled) = send(served.delete(&format!("/v1/runs/{run}"))).await;
    assert_eq!(cancelled["status"], "cancelled", "{cancelled}");
    assert!(
        last().await["longRunningToolIds"].is_null(),
        "no question is open"
    );
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_tool_call_is_confirmed_and_a_long_running_call_is_answered() {
    for (confirmed, result) in [(true, "paid 7"), (false, "This tool call is rejected.")] {
        let served = serve(|server| server).await;
        session(&served, "paying").await;
        let mut pays = text_body("paying", "pay");
        // A request with `streaming` gets the pieces of a reply.
        pays["streaming"] = json!(confirmed);
        let events_before = run_sse(&served, &pays).await;
        let (question, args) = (call(&events_before), &call(&events_before)["args"]);
        assert_eq!(
            question["name"], "adk_request_confirmation",
            "{events_before:?}"
        );
        let original = &args["originalFunctionCall"];
        assert_eq!(
            (&original["name"], &original["args"]),
            (&json!("pay"), &json!({"amount": 7}))
        );
        assert_eq!(
            original["id"],
            events_before[0]["content"]["parts"][0]["functionCall"]["id"]
        );
        assert!(
            args["toolConfirmation"]["hint"]
                .as_str()
                .unwrap()
                .contains("amount"),
            "{args}"
        );
        let answer = answer_body(
            "paying",
            question,
            json!({"confirmed": confirmed, "payload": {}}),
        );
        let rest = run_sse(&served, &answer).await;
        let response = &rest[0]["content"]["parts"][0]["functionResponse"];
        assert_eq!(response["id"], original["id"]);
        assert!(
            response["response"].to_string().contains(result),
            "{rest:?}"
        );
        let text = |event: &Value| {
            event["content"]["parts"][0]["text"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        let texts: Vec<_> = rest[1..].iter().map(text).collect();
        let (partial, whole) = rest[1..].split_at(rest.len() - 2);
        assert_eq!(
            texts,
            if confirmed {
                vec!["Pa", "id.", "Paid."]
            } else {
                vec!["Paid."]
            },
            "{rest:?}"
        );
        assert!(
            partial
                .iter()
                .all(|event| event["partial"] == true && event["id"].is_null()),
            "{rest:?}"
        );
        assert!(
            whole[0]["partial"].is_null() && whole[0]["id"].is_string(),
            "{rest:?}"
        );
        served.stop().await.unwrap();
    }
    let served = serve(|server| server).await;
    session(&served, "asking").await;
    let events_before = run_sse(&served, &text_body("asking", "?")).await;
    assert_eq!(events_before[0]["longRunningToolIds"], json!(["call-1"]));
    let rest = run_sse(
        &served,
        &answer_body("asking", call(&events_before), json!({"color": "red"})),
    )
    .await;
    assert_eq!(
        rest[0]["content"]["parts"][0]["text"], "It is red.",
        "{rest:?}"
    );
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_client_that_disconnects_cancels_its_run() {
    let served = serve(|server| server).await;
    session(&served, "hanging").await;
    let mut response = served
        .post("/run_sse", &text_body("hanging", "x"))
        .send()
        .await
        .unwrap();
    let run = loop {
        let (_, runs) = send(served.get("/v1/runs?workflow=hanging")).await;
        if let Some(run) = runs["runs"].get(0) {
            break run["run"].as_str().unwrap().to_owned();
        }
        let _ = tokio::time::timeout(std::time::Duration::from_millis(10), response.chunk()).await;
    };
    drop(response);
    let rest = served
        .get(&format!("/v1/runs/{run}/events"))
        .header("accept", "text/event-stream");
    let rest = sse(&rest.send().await.unwrap().text().await.unwrap());
    assert_eq!(rest.last().unwrap().2["status"], "cancelled", "{rest:?}");
    served.stop().await.unwrap();
}
