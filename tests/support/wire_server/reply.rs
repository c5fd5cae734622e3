//! What the server answers.

use serde_json::{Value, json};

/// One answer, in the terms that all formats share.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(super) parts: Vec<Said>,
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) message: String,
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cached: u64,
    pub(super) thought: u64,
    pub(super) finish: Option<String>,
    pub(super) version: Option<String>,
    pub(super) raw: Option<(String, String)>,
    pub(super) events: Option<Vec<String>>,
    pub(super) lines: bool,
    pub(super) split: usize,
    pub(super) break_after: Option<usize>,
    pub(super) end_after: Option<usize>,
    pub(super) pause_after: Option<usize>,
    pub(super) refuse: bool,
    pub(super) shredded: bool,
    pub(super) when: Option<String>,
    pub(super) forever: bool,
    pub(super) padding: usize,
    pub(super) encode: Option<Encode>,
}

/// Compresses a body.
pub type Encode = fn(&[u8]) -> Vec<u8>;

/// A part of an answer.
#[derive(Clone, Debug)]
pub(super) enum Said {
    Text(String),
    Thought { text: String, signature: Option<String> },
    Call { id: String, name: String, arguments: String, signature: Option<String> },
}

impl Default for Reply {
    fn default() -> Self {
        Self {
            parts: Vec::new(),
            status: 200,
            headers: Vec::new(),
            message: String::new(),
            input: 0,
            output: 0,
            cached: 0,
            thought: 0,
            finish: None,
            version: None,
            raw: None,
            events: None,
            lines: false,
            split: 2,
            break_after: None,
            end_after: None,
            pause_after: None,
            refuse: false,
            shredded: false,
            when: None,
            forever: false,
            padding: 0,
            encode: None,
        }
    }
}

impl Reply {
    /// An empty answer, to add to.
    pub fn new() -> Self {
        Self::default()
    }

    /// An answer of text.
    pub fn text(text: &str) -> Self {
        Self::new().and_text(text)
    }

    /// An error status; [`message`](Self::message) says what is wrong, in the provider's own shape.
    pub fn status(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    /// A body that is sent as it is.
    pub fn raw(content_type: &str, body: &str) -> Self {
        Self { raw: Some((content_type.to_owned(), body.to_owned())), ..Self::default() }
    }

    /// A stream of these server-sent events, as they are.
    pub fn events<S: Into<String>>(events: impl IntoIterator<Item = S>) -> Self {
        Self { events: Some(events.into_iter().map(Into::into).collect()), ..Self::default() }
    }

    /// A stream of these lines, as they are.
    pub fn lines<S: Into<String>>(lines: impl IntoIterator<Item = S>) -> Self {
        Self { lines: true, ..Self::events(lines) }
    }

    /// The connection is closed before any answer.
    pub fn drop_connection() -> Self {
        Self { refuse: true, ..Self::default() }
    }

    /// The status of the answer.
    pub fn and_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// Adds text.
    pub fn and_text(mut self, text: &str) -> Self {
        self.parts.push(Said::Text(text.to_owned()));
        self
    }

    /// Adds thinking.
    pub fn thought(mut self, text: &str) -> Self {
        self.parts.push(Said::Thought { text: text.to_owned(), signature: None });
        self
    }

    /// Adds a call; its id is `call_NAME_N`, N being its place in the answer.
    pub fn call(self, name: &str, arguments: Value) -> Self {
        self.raw_call(name, &arguments.to_string())
    }

    /// Adds a call with the arguments as text, which may be malformed.
    pub fn raw_call(mut self, name: &str, arguments: &str) -> Self {
        let id = format!("call_{name}_{}", self.parts.len());
        let (name, arguments) = (name.to_owned(), arguments.to_owned());
        self.parts.push(Said::Call { id, name, arguments, signature: None });
        self
    }

    /// Gives the last call or thought a signature.
    pub fn signature(mut self, value: &str) -> Self {
        if let Some(Said::Thought { signature, .. } | Said::Call { signature, .. }) = self.parts.last_mut() {
            *signature = Some(value.to_owned());
        }
        self
    }

    /// Token counts of request and answer.
    pub fn usage(mut self, input: u64, output: u64) -> Self {
        (self.input, self.output) = (input, output);
        self
    }

    /// Those of the request that came from a cache, and those of the answer that were thoughts.
    pub fn details(mut self, cached: u64, thought: u64) -> Self {
        (self.cached, self.thought) = (cached, thought);
        self
    }

    /// The reason to stop, in the provider's words; by default what the provider says in this case.
    pub fn finish(mut self, reason: &str) -> Self {
        self.finish = Some(reason.to_owned());
        self
    }

    /// The version of the model that answers; by default what was asked for.
    pub fn version(mut self, version: &str) -> Self {
        self.version = Some(version.to_owned());
        self
    }

    /// The words of an error.
    pub fn message(mut self, message: &str) -> Self {
        self.message = message.to_owned();
        self
    }

    /// A header of the answer.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// In how many pieces texts and arguments are streamed; 2 by default.
    pub fn split(mut self, pieces: usize) -> Self {
        self.split = pieces.max(1);
        self
    }

    /// The connection breaks after that many events of the stream; for a whole answer, in its middle.
    pub fn break_after(mut self, events: usize) -> Self {
        self.break_after = Some(events);
        self
    }

    /// The stream ends after that many events, in good order but without what ends an answer.
    pub fn end_after(mut self, events: usize) -> Self {
        self.end_after = Some(events);
        self
    }

    /// The answer waits after that many events, for [`WireServer::release`](super::WireServer::release) or for
    /// the client to close the connection; 0 is before its status line.
    pub fn pause_after(mut self, events: usize) -> Self {
        self.pause_after = Some(events);
        self
    }

    /// The stream arrives in pieces of 3 bytes, across the borders of events and characters.
    pub fn shredded(mut self) -> Self {
        self.shredded = true;
        self
    }

    /// Adds that many bytes which mean nothing: to a whole answer, or to each event after the first.
    pub fn padding(mut self, bytes: usize) -> Self {
        self.padding = bytes;
        self
    }

    /// Sends the body through this function and says `content-encoding: gzip`.
    pub fn gzip(mut self, encode: Encode) -> Self {
        self.encode = Some(encode);
        self.header("content-encoding", "gzip")
    }

    /// Serves only a request whose body has this text in it.
    pub fn when(mut self, text: &str) -> Self {
        self.when = Some(text.to_owned());
        self
    }

    /// Serves any number of requests.
    pub fn forever(mut self) -> Self {
        self.forever = true;
        self
    }

    pub(super) fn fits(&self, body: &str) -> bool {
        self.when.as_ref().is_none_or(|text| body.contains(text.as_str()))
    }

    pub(super) fn calls(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Said::Call { .. }))
    }

    pub(super) fn model(&self, asked: &Value) -> Value {
        self.version.as_ref().map_or_else(|| asked.clone(), |version| json!(version))
    }

    /// A text in as many pieces as asked for, at the borders of characters.
    pub(super) fn pieces(&self, text: &str) -> Vec<String> {
        let chars: Vec<char> = text.chars().collect();
        let size = chars.len().div_ceil(self.split).max(1);
        chars.chunks(size).map(|piece| piece.iter().collect()).collect()
    }
}
