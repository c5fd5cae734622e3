//! [`Answers`]: a transport that assigns each answer of the server to a request. [`read`] reads a
//! message.
//!
//! `rmcp` drops an answer that it cannot read, and an error without the id of a request. The
//! request would then wait until its time limit.

use rmcp::RoleClient;
use rmcp::model::{ClientNotification, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Error, Value, json};
use std::collections::HashSet;

/// Field of a tool's `_meta` with the annotation `privateHint`, which `rmcp` does not know.
pub(crate) const PRIVATE_HINT: &str = "adk-workflow/privateHint";

/// A message of the server.
pub(crate) type Message = RxJsonRpcMessage<RoleClient>;

/// The result of reading a message.
#[expect(
    clippy::large_enum_variant,
    reason = "it is matched at once, and a box would cost an allocation per message"
)]
pub(crate) enum Read {
    /// A message, or the error of an answer that cannot be read.
    Message(Message),
    /// A request of the server that cannot be read.
    BadRequest(RequestId),
    /// Something else, such as a line of a log.
    Nothing,
}

/// Reads a message. An answer that cannot be read becomes an error for its request.
pub(crate) fn read(text: &[u8]) -> Read {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let message = match keep_private_hints(text) {
        Some(message) => serde_json::from_value(message),
        None => serde_json::from_slice(text),
    };
    let error = match message {
        Ok(message) => return Read::Message(message),
        Err(error) => error,
    };
    let outline = Outline::read(text);
    if outline.method {
        return outline.id.map_or(Read::Nothing, Read::BadRequest);
    }
    let is_answer = outline.result || outline.error;
    if !is_answer || (!outline.jsonrpc && outline.id.is_none()) {
        return Read::Nothing;
    }
    let fault = outline.fault(text, &error);
    let why = format!("the server sent an answer that cannot be read: {fault}");
    Read::Message(error_for(outline.id, why))
}

/// Returns a message whose tools have [`PRIVATE_HINT`], if the message has such annotations.
pub(crate) fn keep_private_hints(text: &[u8]) -> Option<Value> {
    const NAME: &[u8] = b"\"privateHint\"";
    if !text.windows(NAME.len()).any(|part| part == NAME) {
        return None;
    }
    let mut message: Value = serde_json::from_slice(text).ok()?;
    for tool in message.pointer_mut("/result/tools")?.as_array_mut()? {
        let hint = tool.pointer("/annotations/privateHint").cloned();
        if let (Some(hint @ Value::Bool(_)), Some(tool)) = (hint, tool.as_object_mut()) {
            let meta = tool.entry("_meta").or_insert(Value::Null);
            match meta.as_object_mut() {
                Some(meta) => drop(meta.insert(PRIVATE_HINT.to_owned(), hint)),
                None => *meta = json!({PRIVATE_HINT: hint}),
            }
        }
    }
    Some(message)
}

/// Creates an error of the server for a request.
pub(crate) fn error_for(id: Option<RequestId>, why: impl Into<String>) -> Message {
    JsonRpcMessage::error(ErrorData::internal_error(why.into(), None), id)
}

/// Reports whether an answer with this id belongs to a request. `rmcp` accepts the number as a
/// string.
pub(crate) fn is_same(answered: Option<&RequestId>, request: &RequestId) -> bool {
    answered == Some(request) || (answered.and_then(number) == number(request))
}

fn number(id: &RequestId) -> Option<i64> {
    match id {
        RequestId::Number(number) => Some(*number),
        RequestId::String(text) => text.parse().ok(),
    }
}

/// Members of a JSON object that may be invalid.
#[derive(Default)]
struct Outline {
    jsonrpc: bool,
    method: bool,
    result: bool,
    error: bool,
    id: Option<RequestId>,
}

impl Outline {
    fn read(text: &[u8]) -> Self {
        let mut outline = Self::default();
        let (mut depth, mut at) = (0_usize, 0);
        while let Some(byte) = text.get(at) {
            match byte {
                b'{' => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                b'"' => {
                    let end = string_end(text, at + 1);
                    let name = &text[at + 1..end];
                    let rest = text.get(end + 1..).unwrap_or_default().trim_ascii_start();
                    if let Some(value) = rest.strip_prefix(b":").filter(|_| depth == 1) {
                        match name {
                            b"jsonrpc" => outline.jsonrpc = true,
                            b"method" => outline.method = true,
                            b"result" => outline.result = true,
                            b"error" => outline.error = true,
                            b"id" => outline.id = read_id(value.trim_ascii_start()),
                            _ => {}
                        }
                    }
                    at = end;
                }
                _ => {}
            }
            at += 1;
        }
        outline
    }

    /// Describes what is wrong with an answer.
    fn fault(&self, text: &[u8], error: &Error) -> String {
        if !error.is_data() {
            return error.to_string();
        }
        if self.result && self.error {
            return "it has a `result` and an `error`".to_owned();
        }
        let value: Value = serde_json::from_slice(text).unwrap_or_default();
        match &value["error"]["message"] {
            Value::String(message) => message.clone(),
            _ if !self.jsonrpc => "it has no `jsonrpc`".to_owned(),
            _ if self.id.is_none() => "it does not name its request".to_owned(),
            _ => "it is not an answer of JSON-RPC".to_owned(),
        }
    }
}

/// Returns the index of the quote that ends a string, or the length of the text.
fn string_end(text: &[u8], mut at: usize) -> usize {
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

fn read_id(value: &[u8]) -> Option<RequestId> {
    let end = match value.strip_prefix(b"\"") {
        Some(_) => (string_end(value, 1) + 1).min(value.len()),
        None => value
            .iter()
            .position(|byte| matches!(byte, b',' | b'}'))
            .unwrap_or(value.len()),
    };
    match serde_json::from_slice(&value[..end]).ok()? {
        Value::String(text) => Some(RequestId::String(text.into())),
        Value::Number(number) => {
            let whole = number.as_f64().filter(|number| number.fract() == 0.0);
            let id = number.as_i64().or(whole.map(|whole| whole as i64));
            id.map(RequestId::Number)
        }
        _ => None,
    }
}

/// A transport that assigns each answer to a request. An answer that names no request ends all
/// requests that it can belong to.
pub(crate) struct Answers<T> {
    inner: T,
    /// Requests that wait for an answer.
    waiting: HashSet<i64>,
    /// The highest id of a request.
    last: i64,
    /// Requests that ended with `why`.
    ended: Vec<i64>,
    why: String,
}

impl<T> Answers<T> {
    pub(crate) fn new(inner: T) -> Self {
        Self {
            inner,
            waiting: HashSet::new(),
            last: -1,
            ended: Vec::new(),
            why: String::new(),
        }
    }

    /// Returns a message for the client. Returns `None` for an answer that names no request.
    fn assign(&mut self, message: Message) -> Option<Message> {
        let id = match &message {
            JsonRpcMessage::Response(answer) => Some(&answer.id),
            JsonRpcMessage::Error(answer) => answer.id.as_ref(),
            _ => return Some(message),
        };
        if let Some(id) = id
            .and_then(number)
            .filter(|id| (0..=self.last).contains(id))
        {
            self.waiting.remove(&id);
            return Some(message);
        }
        self.why = match message {
            JsonRpcMessage::Error(answer) => answer.error.message.into_owned(),
            _ => "the server answered a request that does not exist".to_owned(),
        };
        self.ended.extend(self.waiting.drain());
        None
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Answers<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        match &item {
            JsonRpcMessage::Request(request) => {
                if let Some(id) = number(&request.id) {
                    self.waiting.insert(id);
                    self.last = self.last.max(id);
                }
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = cancelled.params.request_id.as_ref().and_then(number)
                {
                    self.waiting.remove(&id);
                }
            }
            _ => {}
        }
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<Message> {
        loop {
            if let Some(id) = self.ended.pop() {
                return Some(error_for(Some(RequestId::Number(id)), self.why.clone()));
            }
            let message = self.inner.receive().await?;
            if let Some(message) = self.assign(message) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::ServerResult;

    #[test]
    fn the_private_hint_of_a_tool_is_kept() {
        let tool = |annotations: Value, meta: Value| {
            json!({
                "name": "find",
                "inputSchema": {},
                "annotations": annotations,
                "_meta": meta,
            })
        };
        let hint = json!({"privateHint": true});
        let tools = [
            tool(hint.clone(), json!({"trace": 1})),
            tool(json!({"readOnlyHint": true}), json!({})),
            tool(json!({"privateHint": "yes"}), json!({})),
            tool(hint, Value::Null),
        ];
        let text = json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}}).to_string();
        let Read::Message(JsonRpcMessage::Response(answer)) = read(text.as_bytes()) else {
            panic!("it is an answer")
        };
        let ServerResult::ListToolsResult(page) = answer.result else {
            panic!("it is a list of tools")
        };
        let hint = |tool: &rmcp::model::Tool| Some(tool.meta.as_ref()?.get(PRIVATE_HINT)?.clone());
        let hints: Vec<_> = page.tools.iter().map(hint).collect();
        assert_eq!(hints, [Some(json!(true)), None, None, Some(json!(true))]);
        for odd in [
            "\"privateHint\"",
            "{\"privateHint\"",
            r#"{"result": {"tools": {"privateHint": 1}}}"#,
            r#"{"result": {"tools": [7, "privateHint", {"annotations": "privateHint"}]}}"#,
        ] {
            read(odd.as_bytes());
        }
    }
}
