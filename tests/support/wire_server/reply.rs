//! The replies of the server.

use serde_json::{Value, json};

/// One reply, in the terms that all formats share.
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

/// A function that compresses a body.
pub type Encode = fn(&[u8]) -> Vec<u8>;

/// A part of a reply.
#[derive(Clone, Debug)]
pub(super) enum Said {
    Text(String),
    Thought {
        text: String,
        signature: Option<String>,
    },
    Call {
        id: String,
        name: String,
        arguments: String,
        signature: Option<String>,
    },
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
    /// Returns an empty reply, to which parts are added.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a reply with text.
    pub fn text(text: &str) -> Self {
        Self::new().and_text(text)
    }

    /// Returns an error status; [`message`](Self::message) sets its text, in the provider's own
    /// format.
    pub fn status(status: u16) -> Self {
        Self {
            status,
            ..Self::default()
        }
    }

    /// Returns a body that is sent unchanged.
    pub fn raw(content_type: &str, body: &str) -> Self {
        Self {
            raw: Some((content_type.to_owned(), body.to_owned())),
            ..Self::default()
        }
    }

    /// Returns a stream of these server-sent events, sent unchanged.
    pub fn events<S: Into<String>>(events: impl IntoIterator<Item = S>) -> Self {
        Self {
            events: Some(events.into_iter().map(Into::into).collect()),
            ..Self::default()
        }
    }

    /// Returns a stream of these lines, sent unchanged.
    pub fn lines<S: Into<String>>(lines: impl IntoIterator<Item = S>) -> Self {
        Self {
            lines: true,
            ..Self::events(lines)
        }
    }

    /// Returns a reply that closes the connection before any output.
    pub fn drop_connection() -> Self {
        Self {
            refuse: true,
            ..Self::default()
        }
    }

    /// Sets the status of the reply.
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
        self.parts.push(Said::Thought {
            text: text.to_owned(),
            signature: None,
        });
        self
    }

    /// Adds a call. Its id is `call_NAME_N`, where N is its index in the reply.
    pub fn call(self, name: &str, arguments: Value) -> Self {
        self.raw_call(name, &arguments.to_string())
    }

    /// Adds a call with the arguments as text, which may be malformed.
    pub fn raw_call(mut self, name: &str, arguments: &str) -> Self {
        let id = format!("call_{name}_{}", self.parts.len());
        let (name, arguments) = (name.to_owned(), arguments.to_owned());
        self.parts.push(Said::Call {
            id,
            name,
            arguments,
            signature: None,
        });
        self
    }

    /// Sets the signature of the last call or thought.
    pub fn signature(mut self, value: &str) -> Self {
        if let Some(Said::Thought { signature, .. } | Said::Call { signature, .. }) =
            self.parts.last_mut()
        {
            *signature = Some(value.to_owned());
        }
        self
    }

    /// Sets the token counts of request and reply.
    pub fn usage(mut self, input: u64, output: u64) -> Self {
        (self.input, self.output) = (input, output);
        self
    }

    /// Sets the numbers of input tokens from a cache, and of reply tokens that were thoughts.
    pub fn details(mut self, cached: u64, thought: u64) -> Self {
        (self.cached, self.thought) = (cached, thought);
        self
    }

    /// Sets the stop reason in the provider's words. The default is the provider's word for this
    /// case.
    pub fn finish(mut self, reason: &str) -> Self {
        self.finish = Some(reason.to_owned());
        self
    }

    /// Sets the version of the replying model. The default is the requested model.
    pub fn version(mut self, version: &str) -> Self {
        self.version = Some(version.to_owned());
        self
    }

    /// Sets the text of an error.
    pub fn message(mut self, message: &str) -> Self {
        self.message = message.to_owned();
        self
    }

    /// Adds a header of the reply.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the number of pieces in which texts and arguments are streamed; 2 by default.
    pub fn split(mut self, pieces: usize) -> Self {
        self.split = pieces.max(1);
        self
    }

    /// Breaks the connection after `events` events of the stream; a complete reply breaks in its
    /// middle.
    pub fn break_after(mut self, events: usize) -> Self {
        self.break_after = Some(events);
        self
    }

    /// Ends the stream after `events` events, without an error and without the end marker of a
    /// reply.
    pub fn end_after(mut self, events: usize) -> Self {
        self.end_after = Some(events);
        self
    }

    /// Pauses the reply after `events` events, until
    /// [`WireServer::release`](super::WireServer::release) or until the client closes the
    /// connection; 0 is before the status line.
    pub fn pause_after(mut self, events: usize) -> Self {
        self.pause_after = Some(events);
        self
    }

    /// Sends the stream in pieces of 3 bytes, across the borders of events and characters.
    pub fn shredded(mut self) -> Self {
        self.shredded = true;
        self
    }

    /// Adds `bytes` meaningless bytes: to a complete reply, or to each event after the first.
    pub fn padding(mut self, bytes: usize) -> Self {
        self.padding = bytes;
        self
    }

    /// Encodes the body with this function and sets `content-encoding: gzip`.
    pub fn gzip(mut self, encode: Encode) -> Self {
        self.encode = Some(encode);
        self.header("content-encoding", "gzip")
    }

    /// Serves only a request whose body contains this text.
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
        self.when
            .as_ref()
            .is_none_or(|text| body.contains(text.as_str()))
    }

    pub(super) fn calls(&self) -> bool {
        self.parts
            .iter()
            .any(|part| matches!(part, Said::Call { .. }))
    }

    pub(super) fn model(&self, asked: &Value) -> Value {
        self.version
            .as_ref()
            .map_or_else(|| asked.clone(), |version| json!(version))
    }

    /// Splits a text into the set number of pieces, at the borders of characters.
    pub(super) fn pieces(&self, text: &str) -> Vec<String> {
        let chars: Vec<char> = text.chars().collect();
        let size = chars.len().div_ceil(self.split).max(1);
        chars
            .chunks(size)
            .map(|piece| piece.iter().collect())
            .collect()
    }
}
