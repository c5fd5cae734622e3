//! The table as data: `columns.json`, and a file for each wire format.

use crate::wire_server::Reply;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The key that must not appear in any output. Fixtures write `{KEY}`.
pub(crate) const KEY: &str = "sk-test-0123456789";

/// A server that deviates from OpenAI's stream, according to its issues or its source.
#[derive(Deserialize)]
pub(crate) struct Server {
    pub(crate) name: String,
    /// Description of the deviation, for the page.
    pub(crate) bends: String,
    pub(crate) stream: Vec<Value>,
    pub(crate) gives: Value,
}

/// A request that is made in every format, with its expected result.
#[derive(Deserialize)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// Whether the request is made for a whole answer. The next field is for a streamed answer.
    #[serde(default)]
    whole: bool,
    #[serde(default)]
    stream: bool,
    pub(crate) fault: Option<Fault>,
    gives: Value,
}

/// Damage that the server does to a good answer.
#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Fault {
    /// The connection closes instead of an answer.
    Drop,
    /// The connection closes after the first words.
    Break,
    /// The server sends nothing.
    Silence,
    /// The server sends nothing after the first words.
    Pause,
    /// The server waits, and the client disconnects.
    Cancel,
}

/// A wire format, with replies as its provider writes them.
#[derive(Deserialize)]
pub(crate) struct Format {
    pub(crate) name: String,
    pub(crate) model: String,
    /// The header with the key, and its value.
    key: Option<[String; 2]>,
    paths: Paths,
    pub(crate) cells: BTreeMap<String, Cell>,
}

#[derive(Deserialize)]
struct Paths {
    whole: String,
    stream: String,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cell {
    /// Remark on the page. A cell with only a note is not tested.
    pub(crate) note: Option<String>,
    whole: Option<Value>,
    stream: Option<Vec<Value>>,
    /// Status of an error. Its headers, and its body as JSON or as text, follow.
    status: Option<u16>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    error: Option<Value>,
    body: Option<String>,
    /// Path and framing, if this cell deviates from its format.
    path: Option<String>,
    #[serde(default)]
    events: bool,
    /// Expected values in the last request, by JSON pointer; null for an absent value.
    #[serde(default)]
    pub(crate) sent: BTreeMap<String, Value>,
    /// Expected result, if it deviates from the column.
    pub(crate) gives: Option<Value>,
    #[serde(rename = "gives whole")]
    gives_whole: Option<Value>,
}

/// A cell, read either as a whole answer or as a stream.
#[derive(Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(crate) column: &'a Column,
    pub(crate) format: &'a Format,
    pub(crate) cell: &'a Cell,
    pub(crate) stream: bool,
}

pub(crate) fn columns() -> Vec<Column> {
    serde_json::from_str(include_str!("columns.json")).expect("the columns are as they are read")
}

pub(crate) fn formats() -> Vec<Format> {
    let files = [
        include_str!("formats/openai_chat.json"),
        include_str!("formats/openai_responses.json"),
        include_str!("formats/anthropic.json"),
        include_str!("formats/gemini.json"),
        include_str!("formats/ollama.json"),
    ];
    files
        .map(|file| serde_json::from_str(file).expect("a format is as it is read"))
        .into()
}

pub(crate) fn servers() -> Vec<Server> {
    serde_json::from_str(include_str!("servers.json")).expect("a server is as it is read")
}

static DEFAULT: Cell = Cell {
    note: None,
    whole: None,
    stream: None,
    status: None,
    headers: BTreeMap::new(),
    error: None,
    body: None,
    path: None,
    events: false,
    sent: BTreeMap::new(),
    gives: None,
    gives_whole: None,
};

/// Returns all cells of a format, each as a whole answer and as a stream if its column has both.
pub(crate) fn cases<'a>(
    columns: &'a [Column],
    format: &'a Format,
) -> impl Iterator<Item = Case<'a>> {
    let modes = |column: &'a Column| [(false, column.whole), (true, column.stream)];
    columns
        .iter()
        .flat_map(move |column| modes(column).map(|(stream, asked)| (column, stream, asked)))
        .filter(|(_, _, asked)| *asked)
        .map(|(column, stream, _)| Case::new(column, format, stream))
        .filter(|case| !case.cell.is_absent())
}

impl Cell {
    /// Reports whether the format does not have this feature.
    pub(crate) fn is_absent(&self) -> bool {
        self.note.is_some() && self.whole.is_none() && self.status.is_none() && self.gives.is_none()
    }
}

impl<'a> Case<'a> {
    pub(crate) fn new(column: &'a Column, format: &'a Format, stream: bool) -> Self {
        let cell = format.cells.get(&column.name).unwrap_or(&DEFAULT);
        Self {
            column,
            format,
            cell,
            stream,
        }
    }

    pub(crate) fn at(&self) -> String {
        let mode = if self.stream { "streamed" } else { "whole" };
        format!("{} / {} / {mode}", self.format.name, self.column.name)
    }

    /// Returns a name without spaces.
    pub(crate) fn id(&self) -> String {
        self.at().replace(" / ", "-").replace(' ', "-")
    }

    /// Returns the expected result.
    pub(crate) fn gives(&self) -> &'a Value {
        let whole = self.cell.gives_whole.as_ref().filter(|_| !self.stream);
        whole
            .or(self.cell.gives.as_ref())
            .unwrap_or(&self.column.gives)
    }

    /// Returns the path of the requests.
    pub(crate) fn path(&self) -> &str {
        let paths = &self.format.paths;
        let usual = if self.stream {
            &paths.stream
        } else {
            &paths.whole
        };
        self.cell.path.as_ref().unwrap_or(usual)
    }

    /// Returns the header with the key, and its value.
    pub(crate) fn key(&self) -> Option<(&str, String)> {
        let [name, value] = self.format.key.as_ref()?;
        Some((name, value.replace("{KEY}", KEY)))
    }

    /// Returns an answer of a few words, which follows the reply that is tested.
    pub(crate) fn words(&self) -> Reply {
        let name = if self.stream { "stream" } else { "text" };
        self.answer(&self.format.cells[name])
    }

    pub(crate) fn reply(&self) -> Reply {
        let answer = match self.cell {
            Cell {
                status: Some(_), ..
            } => return self.error("7"),
            Cell {
                whole: None,
                stream: None,
                ..
            } => self.words(),
            cell => self.answer(cell),
        };
        let in_words = || {
            let events = self.format.cells["stream"]
                .stream
                .as_deref()
                .unwrap_or_default();
            events
                .iter()
                .position(|event| event.to_string().contains("Hello "))
                .expect("it has words")
                + 1
        };
        match self.column.fault {
            None => answer,
            Some(Fault::Drop) => Reply::drop_connection(),
            Some(Fault::Break) => answer.break_after(in_words()),
            Some(Fault::Silence) => answer.pause_after(0),
            Some(Fault::Cancel) if !self.stream => answer.pause_after(0),
            Some(Fault::Pause | Fault::Cancel) => answer.pause_after(in_words()),
        }
    }

    /// Returns the reply of the cell, but with a wait of zero seconds before a retry.
    pub(crate) fn reply_at_once(&self) -> Reply {
        if self.cell.status.is_none() {
            self.reply()
        } else {
            self.error("0")
        }
    }

    fn error(&self, wait: &str) -> Reply {
        let json = self.cell.error.as_ref().map(Value::to_string);
        let kind = if json.is_some() {
            "application/json"
        } else {
            "text/plain"
        };
        let body = json.or_else(|| self.cell.body.clone()).unwrap_or_default();
        let body = with_key(&body).replace("\"7s\"", &format!("\"{wait}s\""));
        let reply = Reply::raw(kind, &body).and_status(self.cell.status.unwrap_or(500));
        self.cell
            .headers
            .iter()
            .fold(reply, |reply, (name, value)| {
                reply.header(name, if name == "retry-after" { wait } else { value })
            })
    }

    fn answer(&self, cell: &Cell) -> Reply {
        if !self.stream {
            let body = cell.whole.as_ref().expect("it has a whole answer");
            return Reply::raw("application/json", &body.to_string());
        }
        let events = cell.stream.iter().flatten();
        if self.format.name == "Ollama" && !cell.events {
            return Reply::lines(events.map(|line| with_key(&line.to_string())));
        }
        Reply::events(events.map(event))
    }
}

/// Formats a server-sent event.
pub(crate) fn event(event: &Value) -> String {
    with_key(&match (event, &event["type"]) {
        (Value::String(mark), _) => format!("data: {mark}"),
        (_, Value::String(kind)) => format!("event: {kind}\ndata: {event}"),
        _ => format!("data: {event}"),
    })
}

fn with_key(text: &str) -> String {
    text.replace("{KEY}", KEY)
}
