//! A malicious server over HTTP.

use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// Serves on a free port, and misbehaves in the way that `badly` names: at each handshake, or in
/// the first call. Returns the address.
pub async fn serve(badly: &'static str) -> String {
    serve_counted(badly, Arc::default()).await
}

/// Serves like [`serve`], and counts the calls of tools.
pub async fn serve_counted(badly: &'static str, calls: Arc<AtomicUsize>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let called = Arc::new(AtomicBool::new(false));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(hear(stream, badly, called.clone(), calls.clone()));
        }
    });
    format!("http://{address}/mcp?key=sesame-query")
}

/// Answers the requests of one connection.
async fn hear(
    stream: TcpStream,
    badly: &'static str,
    called: Arc<AtomicBool>,
    calls: Arc<AtomicUsize>,
) {
    let mut stream = BufReader::new(stream);
    loop {
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await.unwrap_or_default() == 0 {
                return;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
            head.push_str(&line);
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.unwrap();
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let is_call = message["method"] == "tools/call";
        if is_call {
            calls.fetch_add(1, SeqCst);
        }
        let badly = if is_call && called.swap(true, SeqCst) {
            ""
        } else {
            badly
        };
        let Some(answer) = answer(badly, &head, &message).await else {
            return;
        };
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
        if badly == "cut" && is_call {
            return;
        }
    }
}

fn sent(status: &str, kind: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nmcp-session-id: one\r\ncontent-length: \
         {length}\r\n\r\n{body}"
    )
}

/// Returns a refusal that names no request, like those of the official SDKs.
fn refused(status: &str) -> String {
    let error = json!({"code": -32000, "message": "Bad Request: No valid session ID provided"});
    let body = json!({"jsonrpc": "2.0", "error": error, "id": null}).to_string();
    sent(status, "application/json", &body)
}

/// Returns the answer to a request. `None` closes the connection.
async fn answer(badly: &str, head: &str, message: &Value) -> Option<String> {
    let id = &message["id"];
    let ok = |result: Value| {
        let body = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
        Some(sent("200 OK", "application/json", &body))
    };
    match message["method"].as_str() {
        Some("initialize") if badly == "refuses" => {
            Some(sent("401 Unauthorized", "text/plain", head))
        }
        Some("initialize") if badly == "page" => {
            Some(sent("200 OK", "text/html", "<h1>Welcome</h1>"))
        }
        Some("initialize") if badly == "moved" => Some(
            "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n"
                .to_owned(),
        ),
        Some("initialize") if badly == "mute" => std::future::pending().await,
        Some("initialize") => ok(json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "malice", "version": "1"},
        })),
        Some("tools/list") => {
            let schema = json!({"type": "object"});
            ok(json!({"tools": [{"name": "echo", "description": head, "inputSchema": schema}]}))
        }
        Some("ping" | "tools/call") if badly == "lost" => Some(refused("400 Bad Request")),
        Some("ping" | "tools/call") if badly == "lost in words" => {
            Some(sent("400 Bad Request", "text/plain", "no such session"))
        }
        Some("ping") if badly == "breaks" => Some(refused("500 Internal Server Error")),
        Some("tools/call") => {
            let events = |text: &str| Some(sent("200 OK", "text/event-stream", text));
            let text = |text: &str| json!({"content": [{"type": "text", "text": text}]});
            match badly {
                "hangs" => {
                    tokio::time::sleep(Duration::from_secs(60)).await;
                    None
                }
                "cut" => {
                    let whole = ok(text("never whole"))?;
                    Some(whole[..whole.len() - 20].to_owned())
                }
                "large" => ok(text(&"x".repeat(200_000))),
                "large event" => {
                    let body =
                        json!({"jsonrpc": "2.0", "id": id, "result": text(&"x".repeat(200_000))});
                    Some(sent(
                        "200 OK",
                        "text/event-stream",
                        &format!("data: {body}\n\n"),
                    ))
                }
                "forgets" => Some(sent("404 Not Found", "text/plain", head)),
                "fails" => Some(sent("500 Internal Server Error", "text/plain", head)),
                "breaks" => Some(refused("500 Internal Server Error")),
                "wrong" => Some(refused("400 Bad Request")),
                "accepts" => Some(sent("202 Accepted", "text/plain", "")),
                "unnamed event" => events(
                    "id: 1\ndata: {\"jsonrpc\":\"2.0\",\"id\":null,\
                     \"error\":{\"code\":-1,\"message\":\"out of tea\"}}\n\n",
                ),
                "half an event" => events(&format!(
                    "id: 1\ndata: {{\"jsonrpc\":\"2.0\",\"id\":{id},\
                     \"result\":{{\"content\":[],\"structuredContent\":{{\"v\":NaN}}}}}}\n\n"
                )),
                "wrong id" => {
                    let body = json!({"jsonrpc": "2.0", "id": 4711, "result": text("of another")})
                        .to_string();
                    Some(sent("200 OK", "application/json", &body))
                }
                _ => ok(text(head)),
            }
        }
        // A notification. The server offers no stream of its own.
        Some(_) => Some(sent("202 Accepted", "text/plain", "")),
        None => Some(sent("405 Method Not Allowed", "text/plain", "")),
    }
}
