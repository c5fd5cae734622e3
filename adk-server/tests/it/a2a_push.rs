//! Push notifications of A2A.

use crate::a2a::{call, state, text_message};
use crate::support::{Served, send};
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::post;
use serde_json::{Value, json};
use tokio::sync::mpsc;

type Posted = mpsc::UnboundedSender<(HeaderMap, Value)>;

/// Starts a receiver of notifications. Returns its address and the notifications.
async fn receive() -> (String, mpsc::UnboundedReceiver<(HeaderMap, Value)>) {
    let (posted, received) = mpsc::unbounded_channel();
    let hook = async |State(posted): State<Posted>, headers: HeaderMap, body: Bytes| {
        posted
            .send((headers, serde_json::from_slice(&body).unwrap()))
            .unwrap();
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let hooks = format!("http://{}", listener.local_addr().unwrap());
    let router = axum::Router::new()
        .route("/hooks/{*rest}", post(hook))
        .with_state(posted);
    tokio::spawn(axum::serve(listener, router).into_future());
    (hooks, received)
}

/// Starts a server that may send notifications to the receiver, below `/hooks`.
async fn serve(hooks: &str) -> Served {
    let runner = adk::Runner::builder().build().unwrap();
    Served::new(&runner, |server| server.push_to(format!("{hooks}/hooks"))).await
}

/// Returns the parameters of a message with an address for notifications.
fn begin(id: &str, url: String) -> Value {
    let config = json!({"taskPushNotificationConfig": {"url": url, "token": "sesame"}});
    json!({"message": text_message(id, "x"), "configuration": config})
}

#[tokio::test]
async fn addresses_that_are_not_allowed_are_refused() {
    let (hooks, _received) = receive().await;
    let served = serve(&hooks).await;
    let elsewhere = hooks.replace("127.0.0.1", "localhost");
    for url in [
        "http://169.254.169.254/latest".to_owned(),
        format!("{hooks}/other"),
        format!("{hooks}/hooksies"),
        format!("{hooks}/hooks/../other"),
        format!("{hooks}/hooks/%2e%2e/other"),
        format!("{hooks}/hooks/..%2fother"),
        format!("{elsewhere}/hooks/a"),
        hooks.replace("http://", "http://u:p@") + "/hooks/a",
        "file:///etc/passwd".to_owned(),
        "x".to_owned(),
    ] {
        let refused = call(&served, "approval", "SendMessage", begin("m", url.clone())).await;
        assert_eq!(refused["error"]["code"], -32602, "{url} {refused}");
    }
    let (_, runs) = send(served.get("/v1/runs")).await;
    assert_eq!(runs["runs"], json!([]), "no task was started");
    served.stop().await.unwrap();
}

#[tokio::test]
async fn changes_are_pushed() {
    let (hooks, mut received) = receive().await;
    let served = serve(&hooks).await;
    let sent = call(
        &served,
        "approval",
        "SendMessage",
        begin("m", format!("{hooks}/hooks/a")),
    )
    .await;
    let id = sent["result"]["task"]["id"].clone();
    let (headers, notification) = received.recv().await.unwrap();
    assert_eq!(
        (
            state(&notification["statusUpdate"]),
            &notification["statusUpdate"]["taskId"]
        ),
        ("TASK_STATE_INPUT_REQUIRED", &id)
    );
    assert_eq!(
        (
            &headers["x-a2a-notification-token"],
            &headers["content-type"]
        ),
        (
            &"sesame".parse().unwrap(),
            &"application/a2a+json".parse().unwrap()
        )
    );
    check_addresses(&served, &hooks, &id).await;

    let mut answer = text_message("a", "Publish");
    answer["taskId"] = id.clone();
    call(
        &served,
        "approval",
        "SendMessage",
        json!({"message": answer}),
    )
    .await;
    let (headers, notification) = loop {
        let next = received.recv().await.unwrap();
        if state(&next.1["statusUpdate"]) != "TASK_STATE_WORKING" {
            break next;
        }
    };
    assert_eq!(
        (
            &headers["authorization"],
            state(&notification["statusUpdate"])
        ),
        (&"Basic dTpw".parse().unwrap(), "TASK_STATE_COMPLETED")
    );
    let (_, card) = send(served.get("/a2a/approval/.well-known/agent-card.json")).await;
    assert_eq!(card["capabilities"]["pushNotifications"], true);
    served.stop().await.unwrap();
}

/// Checks the list of the addresses of a task, and replaces the first by an address with Basic
/// authentication.
async fn check_addresses(served: &Served, hooks: &str, id: &Value) {
    let list = call(
        served,
        "approval",
        "ListTaskPushNotificationConfigs",
        json!({"taskId": id}),
    )
    .await;
    let first = &list["result"]["configs"][0];
    assert_eq!(
        (&first["taskId"], &first["token"]),
        (id, &json!("sesame")),
        "{list}"
    );
    let basic = json!({
        "taskId": id,
        "id": "b",
        "url": format!("{hooks}/hooks/b"),
        "authentication": {"scheme": "Basic", "credentials": "dTpw"},
    });
    let made = call(
        served,
        "approval",
        "CreateTaskPushNotificationConfig",
        basic.clone(),
    )
    .await;
    assert_eq!(made["result"], basic);
    let got = call(
        served,
        "approval",
        "GetTaskPushNotificationConfig",
        json!({"taskId": id, "id": "b"}),
    )
    .await;
    assert_eq!(got["result"], basic);
    let gone = json!({"taskId": id, "id": first["id"]});
    let deleted = call(
        served,
        "approval",
        "DeleteTaskPushNotificationConfig",
        gone.clone(),
    )
    .await;
    assert_eq!(deleted.get("result"), Some(&Value::Null), "{deleted}");
    let missing = call(served, "approval", "GetTaskPushNotificationConfig", gone).await;
    assert_eq!(missing["error"]["code"], -32001);
}
