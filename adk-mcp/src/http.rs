//! [`HttpClient`]: the client for servers over HTTP. It assigns each answer to its request, and
//! detects a lost session.

use crate::answers::{Message, Read, error_for, is_same, keep_private_hints, read};
use crate::turn::lock;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use http::{HeaderName, HeaderValue, header};
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, RequestId};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    StreamableHttpResponseLimits,
};
use serde_json::{Value, json};
use sse_stream::Sse;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

/// Maximum size of a refusal in bytes.
const REFUSAL: usize = 64 << 10;

type Headers = HashMap<HeaderName, HeaderValue>;
type Failure = StreamableHttpError<reqwest::Error>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

/// A client that posts messages, and reads their answers.
#[derive(Clone)]
pub(crate) struct HttpClient {
    http: reqwest::Client,
    /// Requests that are repeated in a new session.
    repeated: Arc<Mutex<HashSet<RequestId>>>,
    /// Whether the server may send an answer over a stream of its own.
    has_stream: Arc<AtomicBool>,
}

impl HttpClient {
    pub(crate) fn new(http: reqwest::Client) -> Self {
        Self {
            http,
            repeated: Arc::default(),
            has_stream: Arc::new(AtomicBool::new(true)),
        }
    }

    /// Reports whether the server refused a request because it does not know the session.
    ///
    /// Servers do this in different ways, and `rmcp` does not report the status of a refusal.
    /// Therefore this function sends a ping in the session: if the server refuses it as a wrong
    /// request with the same words, it refused the request before it read it.
    async fn is_lost(&self, uri: &str, session: &str, headers: &Headers, words: &str) -> bool {
        let ping = json!({"jsonrpc": "2.0", "id": "ping", "method": "ping"});
        let mut request = self
            .http
            .post(uri)
            .header(header::ACCEPT, "text/event-stream, application/json")
            .header("mcp-session-id", session)
            .json(&ping);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let Ok(mut response) = request.send().await else {
            return false;
        };
        let status = response.status();
        if !matches!(status.as_u16(), 400 | 404 | 410) {
            return false;
        }
        let mut body = Vec::new();
        while let Ok(Some(part)) = response.chunk().await {
            if body.len() + part.len() > REFUSAL {
                return false;
            }
            body.extend_from_slice(&part);
        }
        let refusal: Value = serde_json::from_slice(&body).unwrap_or_default();
        refusal["error"]["message"] == *words || words.starts_with(&format!("HTTP {status}"))
    }
}

/// Returns the words of a refusal.
fn refusal_words(answer: &Result<StreamableHttpPostResponse, Failure>) -> Option<String> {
    match answer {
        Ok(StreamableHttpPostResponse::Json(JsonRpcMessage::Error(refusal), _)) => {
            Some(refusal.error.message.to_string())
        }
        // It begins with the status.
        Err(StreamableHttpError::UnexpectedServerResponse(text)) => Some(text.to_string()),
        _ => None,
    }
}

/// Returns the answer to a request.
fn answer_to(id: &RequestId, message: Message) -> Message {
    match message {
        JsonRpcMessage::Error(mut answer) => {
            answer.id = Some(id.clone());
            JsonRpcMessage::Error(answer)
        }
        JsonRpcMessage::Response(answer) if is_same(Some(&answer.id), id) => {
            JsonRpcMessage::Response(answer)
        }
        _ => error_for(Some(id.clone()), "the server did not answer the request"),
    }
}

/// Replaces events that cannot be read, and errors that do not name the request of the stream.
fn mend(events: Events, request: Option<RequestId>) -> Events {
    let mended = events.map(move |event| {
        let mut event = match (event, &request) {
            (Ok(event), _) => event,
            (Err(error), Some(_)) if !matches!(error, SseError::Body(_)) => {
                let why = format!("the server sent an event that cannot be read: {error}");
                return event_of(&error_for(request.clone(), why));
            }
            (Err(error), _) => return Err(error),
        };
        let is_message = matches!(event.event.as_deref(), None | Some("" | "message"));
        let data = event.data.as_deref().filter(|_| is_message);
        let kept = data.and_then(|data| keep_private_hints(data.as_bytes()));
        if let Some(message) = kept {
            event.data = Some(message.to_string());
        } else if let Some(data) = data
            && let Read::Message(mut message) = read(data.as_bytes())
            && let JsonRpcMessage::Error(error) = &mut message
        {
            if error.id.is_none() || is_text(error.id.as_ref()) {
                error.id = request.clone().or(error.id.take());
            }
            event.data = serde_json::to_string(&message).ok();
        }
        Ok(event)
    });
    mended.boxed()
}

/// Reports whether an id is a text, such as `server-error`. Requests of `rmcp` have numbers.
fn is_text(id: Option<&RequestId>) -> bool {
    matches!(id, Some(RequestId::String(text)) if text.parse::<i64>().is_err())
}

fn event_of(message: &Message) -> Result<Sse, SseError> {
    let data = serde_json::to_string(message).unwrap_or_default();
    Ok(Sse::default().data(data))
}

impl StreamableHttpClient for HttpClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        auth: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let limits = StreamableHttpResponseLimits::default();
        self.post_message_with_response_limits(uri, message, session, auth, headers, limits)
            .await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        auth: Option<String>,
        headers: Headers,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        use StreamableHttpPostResponse::{Accepted, Json, Sse};
        let id = match &message {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        let answer = self
            .http
            .post_message_with_response_limits(
                uri.clone(),
                message,
                session.clone(),
                auth,
                headers.clone(),
                limits,
            )
            .await;
        let Some(id) = id else {
            // An error in the answer to a notification belongs to no request.
            return answer.map(|answer| match answer {
                Json(JsonRpcMessage::Error(_), _) => Accepted,
                answer => answer,
            });
        };
        let was_repeated = lock(&self.repeated).remove(&id);
        if let Some(session) = session.as_deref().filter(|_| !was_repeated)
            && let Some(words) = refusal_words(&answer)
            && self.is_lost(&uri, session, &headers, &words).await
        {
            lock(&self.repeated).insert(id);
            return Err(StreamableHttpError::SessionExpired);
        }
        Ok(match answer? {
            Json(message, session) => Json(answer_to(&id, message), session),
            Sse(events, session) => Sse(mend(events, Some(id)), session),
            Accepted if session.is_none() || !self.has_stream.load(SeqCst) => {
                let why = "the server accepted the request without an answer";
                Json(error_for(Some(id), why), None)
            }
            answer => answer,
        })
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        auth: Option<String>,
        headers: Headers,
    ) -> Result<Events, Failure> {
        let most = StreamableHttpResponseLimits::default().max_sse_event_size;
        self.get_stream_with_max_sse_event_size(uri, session, last_event, auth, headers, most)
            .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        auth: Option<String>,
        headers: Headers,
        most: usize,
    ) -> Result<Events, Failure> {
        let events = self
            .http
            .get_stream_with_max_sse_event_size(uri, session, last_event, auth, headers, most)
            .await;
        self.has_stream.store(events.is_ok(), SeqCst);
        Ok(mend(events?, None))
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        auth: Option<String>,
        headers: Headers,
    ) -> Result<(), Failure> {
        self.http.delete_session(uri, session, auth, headers).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::PRIVATE_HINT;
    use futures_util::stream;

    #[tokio::test]
    async fn an_event_keeps_the_private_hint_of_a_tool() {
        let tools = json!([{"name": "find", "annotations": {"privateHint": true}}]);
        let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}}).to_string();
        let events = stream::iter([Ok(Sse::default().data(answer))]).boxed();
        let mended: Vec<_> = mend(events, None).collect().await;
        let event = mended.into_iter().next().and_then(Result::ok);
        let data = event.and_then(|event| event.data).expect("data");
        assert!(data.contains(PRIVATE_HINT), "{data}");
    }
}
