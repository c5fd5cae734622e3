//! [`CallDeltas`]: assembles the tool calls of a streamed chat completion.
//!
//! OpenAI numbers the calls of a reply, gives each call an id, and sends id and name with the first
//! piece of a call. Servers that copy the format send index 0 for all calls, no index or a text,
//! one id for all calls or a new one with each piece, or the name with each piece. genai relies
//! only on the index: it mixes calls up, and allocates as many calls as a server claims.

use genai::chat::ToolCall;
use serde_json::Value;

#[derive(Debug, Default)]
pub(crate) struct CallDeltas(Vec<CallDelta>);

#[derive(Debug, Default)]
struct CallDelta {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl CallDeltas {
    pub(crate) fn add(&mut self, chunk: &Value) {
        let pieces = chunk
            .pointer("/choices/0/delta/tool_calls")
            .and_then(Value::as_array);
        for piece in pieces.into_iter().flatten() {
            self.add_piece(CallDelta::of(piece));
        }
    }

    fn add_piece(&mut self, piece: CallDelta) {
        if piece.id.is_empty() && piece.name.is_empty() && piece.arguments.is_empty() {
            return;
        }
        match self.continued_by(&piece).and_then(|at| self.0.get_mut(at)) {
            Some(call) => {
                if call.id.is_empty() {
                    call.id = piece.id;
                }
                if call.name.is_empty() {
                    call.name = piece.name;
                }
                call.arguments.push_str(&piece.arguments);
            }
            None => self.0.push(piece),
        }
    }

    /// Finds the call that a piece continues. Returns `None` if the piece begins a call.
    fn continued_by(&self, piece: &CallDelta) -> Option<usize> {
        let last = |is_it: &dyn Fn(&CallDelta) -> bool| self.0.iter().rposition(is_it);
        let at = match piece.index {
            Some(_) => last(&|call| call.index == piece.index),
            None => last(&|call| !piece.id.is_empty() && call.id == piece.id)
                .or_else(|| last(&|_| piece.id.is_empty() || piece.name.is_empty())),
        }?;
        let call = &self.0[at];
        if piece.name.is_empty() || call.name.is_empty() {
            return Some(at);
        }
        let is_other_id = !piece.id.is_empty() && !call.id.is_empty() && piece.id != call.id;
        let begins = piece.name != call.name
            || is_whole(&call.arguments)
            || (is_other_id && call.arguments.is_empty());
        (!begins).then_some(at)
    }

    pub(crate) fn finish(mut self) -> impl Iterator<Item = ToolCall> {
        // A final piece that only repeats the name is not a call.
        self.0.dedup_by(|next, call| {
            next.arguments.is_empty()
                && next.index == call.index
                && next.id == call.id
                && next.name == call.name
        });
        self.0.into_iter().map(
            |CallDelta {
                 id,
                 name,
                 arguments,
                 ..
             }| ToolCall {
                call_id: id,
                fn_name: name,
                fn_arguments: serde_json::from_str(&arguments).unwrap_or(Value::String(arguments)),
                thought_signatures: None,
            },
        )
    }
}

impl CallDelta {
    fn of(piece: &Value) -> Self {
        let text = |value: Option<&Value>| match value {
            Some(Value::String(text)) => text.clone(),
            None | Some(Value::Null) => String::new(),
            Some(other) => other.to_string(),
        };
        let index = piece.get("index");
        let function = piece.get("function");
        Self {
            index: index.and_then(|index| index.as_u64().or_else(|| index.as_str()?.parse().ok())),
            id: text(piece.get("id")),
            name: text(function.and_then(|function| function.get("name"))),
            arguments: text(function.and_then(|function| function.get("arguments"))),
        }
    }
}

/// Reports whether arguments are complete, so that further arguments belong to another call.
fn is_whole(arguments: &str) -> bool {
    serde_json::from_str::<Value>(arguments).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns the calls of a stream, as `id name arguments`.
    fn calls(pieces: &[Value]) -> Vec<String> {
        let mut deltas = CallDeltas::default();
        for piece in pieces {
            deltas.add(&json!({"choices": [{"delta": {"tool_calls": [piece]}}]}));
        }
        deltas
            .finish()
            .map(|call| format!("{} {} {}", call.call_id, call.fn_name, call.fn_arguments))
            .collect()
    }

    fn piece(index: &Value, id: Option<&str>, name: Option<&str>, arguments: &str) -> Value {
        let function = json!({"name": name, "arguments": arguments});
        json!({"index": index, "id": id, "type": "function", "function": function})
    }

    #[test]
    fn two_calls_stay_separate_with_any_numbers() {
        for indices in [
            [json!(0), json!(1)],
            [json!(0), json!(0)],
            [json!(null), json!(null)],
            [json!("0"), json!("1")],
            [json!("a"), json!("b")],
            [json!(7), json!(4_000_000_000_u32)],
        ] {
            for ids in [["x", "y"], ["x", "x"], ["", ""]] {
                // Only the first piece has a name; all pieces have one; the first piece is
                // complete.
                let streams = [
                    vec![(true, ""), (false, "{\"a\""), (false, ": 1}")],
                    vec![(true, "{\"a\""), (true, ": 1}")],
                    vec![(true, "{\"a\": 1}")],
                ];
                for stream in streams {
                    let mut pieces = Vec::new();
                    for (index, id) in indices.iter().zip(ids) {
                        for (has_name, arguments) in &stream {
                            pieces.push(piece(
                                index,
                                has_name.then_some(id),
                                has_name.then_some("f"),
                                arguments,
                            ));
                        }
                    }
                    let wanted = ids.map(|id| format!("{id} f {{\"a\":1}}"));
                    assert_eq!(calls(&pieces), wanted, "{pieces:?}");
                }
            }
        }
    }

    #[test]
    fn a_last_piece_that_repeats_the_name_is_not_a_call() {
        for id in ["x", ""] {
            let named = |arguments: &str| piece(&json!(0), Some(id), Some("f"), arguments);
            assert_eq!(
                calls(&[named("{\"a\": 1}"), named("")]),
                [format!("{id} f {{\"a\":1}}")]
            );
        }
    }

    #[test]
    fn pieces_of_two_calls_may_alternate() {
        let (a, b) = (json!(0), json!(1));
        let by_index = [
            piece(&a, Some("x"), Some("f"), ""),
            piece(&b, Some("y"), Some("f"), ""),
            piece(&a, None, None, "{}"),
            piece(&b, None, None, "{\"b\": 1}"),
        ];
        assert_eq!(calls(&by_index), ["x f {}", "y f {\"b\":1}"]);
        let none = json!(null);
        let by_id = [
            piece(&none, Some("x"), Some("f"), ""),
            piece(&none, Some("y"), Some("f"), ""),
            piece(&none, Some("x"), None, "{}"),
            piece(&none, Some("y"), None, "{\"b\": 1}"),
        ];
        assert_eq!(calls(&by_id), ["x f {}", "y f {\"b\":1}"]);
    }

    #[test]
    fn an_id_of_each_piece_and_arguments_that_are_an_object() {
        let zero = json!(0);
        let pieces = [
            piece(&zero, Some("x"), Some("f"), "{\"a\""),
            piece(&zero, Some("y"), None, ": 1}"),
        ];
        assert_eq!(calls(&pieces), ["x f {\"a\":1}"]);
        let object = json!({"id": "x", "function": {"name": "f", "arguments": {"a": 1}}});
        assert_eq!(calls(&[object]), ["x f {\"a\":1}"]);
        let cut = [piece(&zero, Some("x"), Some("f"), "{\"a\"")];
        assert_eq!(calls(&cut), ["x f \"{\\\"a\\\"\""]);
    }
}
