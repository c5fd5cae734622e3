//! A minimal HTTP/1.1: requests with a length, replies with a length or in chunks, one after the
//! other.

use super::{Recorded, Reply, Shared, anthropic, gemini, ollama, openai, responses};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

/// A reply in the format of a provider.
pub(super) struct Rendered {
    pub(super) content_type: &'static str,
    pub(super) body: Body,
}

pub(super) enum Body {
    Whole(Value),
    /// The events of a stream, each with its line ending.
    Events(Vec<String>),
}

/// Serves one connection until one side closes it.
pub(super) async fn serve(socket: TcpStream, shared: Arc<Shared>) {
    // Without `nodelay`, each small write may wait for the client's acknowledgement.
    let _ = socket.set_nodelay(true);
    let mut socket = BufReader::new(socket);
    while let Some(request) = read(&mut socket).await {
        let reply = shared.answer(&request);
        match write(&mut socket, &request, &reply, &shared).await {
            Ok(true) => {}
            Ok(false) => return,
            Err(_) => {
                shared.closed.send_modify(|count| *count += 1);
                return;
            }
        }
    }
}

async fn read(socket: &mut BufReader<TcpStream>) -> Option<Recorded> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(socket.read_u8().await.ok()?);
    }
    let head = String::from_utf8_lossy(&head);
    let mut lines = head.lines();
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let headers: Vec<_> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![
        0;
        length
            .and_then(|(_, value)| value.parse().ok())
            .unwrap_or(0)
    ];
    socket.read_exact(&mut body).await.ok()?;
    Some(Recorded {
        path,
        headers,
        body: serde_json::from_slice(&body).unwrap_or_default(),
    })
}

fn render(request: &Recorded, reply: &Reply) -> Rendered {
    if let Some(events) = &reply.events {
        let (content_type, end) = if reply.lines {
            ("application/x-ndjson", "\n")
        } else {
            ("text/event-stream", "\n\n")
        };
        let events = events.iter().map(|event| format!("{event}{end}")).collect();
        return Rendered {
            content_type,
            body: Body::Events(events),
        };
    }
    let path = request.path.split('?').next().unwrap_or_default();
    if path.ends_with("/chat/completions") {
        openai::render(request, reply)
    } else if path.ends_with("/responses") {
        responses::render(request, reply)
    } else if path.ends_with("/messages") {
        anthropic::render(request, reply)
    } else if path.ends_with("enerateContent") {
        gemini::render(request, reply)
    } else if path.ends_with("/api/chat") {
        ollama::render(request, reply)
    } else {
        let body = Body::Whole(json!({"error": {"message": format!("no such path: {path}")}}));
        Rendered {
            content_type: "application/json",
            body,
        }
    }
}

/// Writes the reply. Returns whether the connection can be used again.
async fn write(
    socket: &mut BufReader<TcpStream>,
    request: &Recorded,
    reply: &Reply,
    shared: &Shared,
) -> std::io::Result<bool> {
    if reply.refuse {
        return Ok(false);
    }
    if reply.pause_after == Some(0) {
        pause(socket, shared).await?;
    }
    let rendered = render(request, reply);
    let mut head = format!("HTTP/1.1 {} Scripted\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let padding = " ".repeat(reply.padding);
    let (content_type, whole) = match (&reply.raw, &rendered.body) {
        (Some((content_type, body)), _) => (content_type.as_str(), Some(body.clone())),
        (None, Body::Whole(body)) => (rendered.content_type, Some(body.to_string())),
        (None, Body::Events(events)) => {
            // Compressed events are sent as one body.
            let events = reply
                .encode
                .map(|_| pad(events, rendered.content_type, &padding).concat());
            (rendered.content_type, events)
        }
    };
    head.push_str(&format!("content-type: {content_type}\r\n"));
    if let Some(body) = whole {
        let mut body = body.into_bytes();
        if matches!(rendered.body, Body::Whole(_)) {
            body.extend_from_slice(padding.as_bytes());
        }
        if let Some(encode) = reply.encode {
            body = encode(&body);
        }
        head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
        socket.write_all(head.as_bytes()).await?;
        if reply.break_after.is_some() {
            socket.write_all(&body[..body.len() / 2]).await?;
            socket.flush().await?;
            return Ok(false);
        }
        socket.write_all(&body).await?;
        socket.flush().await?;
        return Ok(true);
    }
    let Body::Events(events) = rendered.body else {
        return Ok(true);
    };
    head.push_str("transfer-encoding: chunked\r\n\r\n");
    socket.write_all(head.as_bytes()).await?;
    for (at, event) in pad(&events, rendered.content_type, &padding)
        .iter()
        .enumerate()
    {
        if reply.break_after == Some(at) {
            socket.flush().await?;
            return Ok(false);
        }
        if reply.end_after == Some(at) {
            break;
        }
        if at > 0 && reply.pause_after == Some(at) {
            pause(socket, shared).await?;
        }
        let size = if reply.shredded {
            3
        } else {
            event.len().max(1)
        };
        for piece in event.as_bytes().chunks(size) {
            socket
                .write_all(format!("{:x}\r\n", piece.len()).as_bytes())
                .await?;
            socket.write_all(piece).await?;
            socket.write_all(b"\r\n").await?;
            socket.flush().await?;
        }
    }
    socket.write_all(b"0\r\n\r\n").await?;
    socket.flush().await?;
    Ok(true)
}

/// Pads each event after the first with a comment, or a line of JSON with white space.
fn pad(events: &[String], content_type: &str, padding: &str) -> Vec<String> {
    let colon = if content_type == "text/event-stream" {
        ":"
    } else {
        ""
    };
    let end = if colon.is_empty() { "" } else { "\n" };
    let pad = |(at, event): (usize, &String)| match (at, padding) {
        (0, _) | (_, "") => event.clone(),
        _ => format!("{colon}{padding}{end}{event}"),
    };
    events.iter().enumerate().map(pad).collect()
}

/// Waits for the test. A client that disconnects is an error.
async fn pause(socket: &mut BufReader<TcpStream>, shared: &Shared) -> std::io::Result<()> {
    socket.flush().await?;
    shared.paused.send_modify(|count| *count += 1);
    let mut byte = [0];
    tokio::select! {
        permit = shared.gate.acquire() => {
            permit.map_err(std::io::Error::other)?.forget();
            Ok(())
        }
        read = socket.read(&mut byte) => match read {
            Ok(0) | Err(_) => Err(std::io::ErrorKind::ConnectionReset.into()),
            Ok(_) => Ok(()),
        },
    }
}

/// Formats a server-sent event of one line.
pub(super) fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

/// Formats a server-sent event with a name, which is also its `type`.
pub(super) fn event(value: &Value) -> String {
    format!(
        "event: {}\ndata: {value}\n\n",
        value["type"].as_str().unwrap_or_default()
    )
}

pub(super) fn json_body(value: Value) -> Rendered {
    Rendered {
        content_type: "application/json",
        body: Body::Whole(value),
    }
}

pub(super) fn sse(events: Vec<String>) -> Rendered {
    Rendered {
        content_type: "text/event-stream",
        body: Body::Events(events),
    }
}
