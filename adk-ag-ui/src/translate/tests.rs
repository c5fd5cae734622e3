//! The translator with random events, checked by the rules of AG-UI's client.

use super::*;
use adk_core::model::Usage;
use adk_core::{EventId, FunctionCall, FunctionResponse, LIFECYCLE_KEY, Role, Thought};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// The checks of `verifyEvents` in `@ag-ui/client`, with the messages and the state of the client.
#[derive(Default)]
struct Client {
    messages: BTreeMap<String, String>,
    state: BTreeMap<String, Value>,
    steps: BTreeSet<String>,
    texts: BTreeSet<String>,
    thoughts: BTreeSet<String>,
    calls: BTreeSet<String>,
    has_ended: bool,
}

impl Client {
    fn take(&mut self, event: AgUiEvent) {
        use AgUiEvent::*;
        assert!(!self.has_ended, "{event:?} after the end");
        match event {
            StepStarted { step_name } => {
                assert!(self.steps.insert(step_name.clone()), "{step_name} twice")
            }
            StepFinished { step_name } => {
                assert!(self.steps.remove(&step_name), "{step_name} was not started")
            }
            TextMessageStart { message_id, .. } => {
                self.messages.entry(message_id.clone()).or_default();
                assert!(self.texts.insert(message_id));
            }
            TextMessageContent { message_id, delta } => {
                assert!(self.texts.contains(&message_id));
                self.messages
                    .entry(message_id)
                    .or_default()
                    .push_str(&delta);
            }
            TextMessageEnd { message_id } => assert!(self.texts.remove(&message_id)),
            ReasoningMessageStart { message_id, .. } => {
                assert!(!self.messages.contains_key(&message_id));
                assert!(self.thoughts.insert(message_id));
            }
            ReasoningMessageContent { message_id, .. } => {
                assert!(self.thoughts.contains(&message_id))
            }
            ReasoningMessageEnd { message_id } => assert!(self.thoughts.remove(&message_id)),
            ToolCallStart { tool_call_id, .. } => assert!(self.calls.insert(tool_call_id)),
            ToolCallArgs { tool_call_id, .. } => assert!(self.calls.contains(&tool_call_id)),
            ToolCallEnd { tool_call_id } => assert!(self.calls.remove(&tool_call_id)),
            ToolCallResult { message_id, .. } => {
                assert_eq!(self.messages.insert(message_id, String::new()), None);
            }
            StateDelta { delta } => {
                let keys = delta
                    .into_iter()
                    .map(|set| (set.path[1..].to_owned(), set.value));
                self.state.extend(keys);
            }
            RunFinished { .. } | RunError { .. } => {
                let open = [&self.steps, &self.texts, &self.thoughts, &self.calls];
                assert!(open.iter().all(|open| open.is_empty()), "{open:?}");
                self.has_ended = true;
            }
            Custom { .. } => {}
            RunStarted { .. } | StateSnapshot { .. } => panic!("{event:?}"),
        }
    }

    fn take_all(&mut self, events: Vec<AgUiEvent>) {
        events.into_iter().for_each(|event| self.take(event));
    }
}

fn event(nth: usize, path: &str) -> Event {
    let path: adk_core::Path = path.parse().expect("a path");
    let author = path.name().clone();
    let id = EventId::of_text(&format!("event {nth}"));
    Event {
        id,
        path,
        author,
        ..Event::new()
    }
}

fn lifecycle(nth: usize, path: &str, phase: &str) -> Event {
    let outcome = json!({"type": "completed"});
    let mut metadata =
        json!({"kind": "llm", "phase": phase, "durationMicros": 1, "outcome": outcome});
    if phase == "progress" {
        metadata = json!({"kind": "each", "phase": phase, "ended": 2, "skipped": 1, "total": 3});
    }
    let mut event = event(nth, path).with_metadata(LIFECYCLE_KEY, metadata);
    event.partial = true;
    event
}

fn piece(nth: usize, path: &str, part: Part) -> Event {
    let mut event = event(nth, path).with_content(Content::new(Role::Model, vec![part]));
    event.partial = true;
    event
}

fn thought(text: &str) -> Part {
    Part::from(Thought {
        text: text.to_owned(),
        signature: None,
    })
}

const PATHS: [&str; 9] = [
    "w",
    "w/lp",
    "w/lp#1/a",
    "w/lp#2/a",
    "w/lp#2/inner#1/b",
    "w/par/left",
    "w/par/right",
    "w/par/right@2",
    "w/each_1[0]/c",
];

/// Returns a random event at a random path.
fn any(nth: usize, random: &mut fastrand::Rng) -> Event {
    let path = PATHS[random.usize(..PATHS.len())];
    let word = ["ab", "a", "b", ""][random.usize(..4)];
    let mut event = match random.u8(..10) {
        0 => return lifecycle(nth, path, ["started", "progress"][random.usize(..2)]),
        1 => return lifecycle(nth, path, "started"),
        2 => return lifecycle(nth, path, "finished"),
        3 | 4 => return piece(nth, path, Part::text(word)),
        5 => return piece(nth, path, thought(word)),
        6 => {
            let mut event = event(nth, path).with_metadata("retry", 1);
            event.partial = true;
            return event;
        }
        7 => {
            let call = FunctionCall {
                id: format!("call {}", nth % 3),
                name: "find".into(),
                ..Default::default()
            };
            event(nth, path).with_content(Content::new(
                Role::Model,
                vec![Part::text(word), Part::from(call)],
            ))
        }
        8 => {
            let answer = FunctionResponse {
                id: format!("call {}", nth % 3),
                name: "find".into(),
                ..Default::default()
            };
            event(nth, path).with_content(Content::new(Role::User, vec![Part::from(answer)]))
        }
        _ => {
            let parts = vec![
                thought(word),
                Part::text(["ab", "aab", "ba"][random.usize(..3)]),
            ];
            event(nth, path).with_content(Content::new(Role::Model, parts))
        }
    };
    if random.bool() {
        event = event.with_state(["k", "user:k"][random.usize(..2)], nth);
    }
    if random.u8(..8) == 0 {
        event.author = "user".into();
    }
    event
}

#[test]
fn clients_accept_the_stream_of_any_events() {
    for seed in 0..4000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let (mut client, mut state) = (Client::default(), BTreeMap::new());
        let mut translator = Translator {
            is_replaying: random.bool(),
            ..Translator::default()
        };
        for nth in 0..random.usize(..60) {
            let event = any(nth, &mut random);
            client.take_all(translator.event(&event));
            if event.partial || event.lifecycle().is_some() {
                continue;
            }
            let text = event.text();
            if event.author != "user" && !text.is_empty() {
                assert!(
                    client.messages.values().any(|message| *message == text),
                    "{seed}: all of `{text}`"
                );
            }
            state.extend(
                event
                    .actions
                    .state_delta
                    .iter()
                    .map(|(key, value)| (key.to_string(), Value::clone(value))),
            );
            assert_eq!(client.state, state, "{seed}");
        }
        let failed = || Ending::Failed {
            message: "no luck".into(),
            code: "agent".into(),
        };
        let ending = match random.u8(..3) {
            0 => Ending::Finished(json!(1)),
            1 => Ending::Cancelled,
            _ => failed(),
        };
        client.take_all(translator.end("thread".into(), "run".into(), ending));
        assert!(client.has_ended, "{seed}");
    }
}

/// Formats each event as a short text.
fn summaries(events: Vec<AgUiEvent>) -> Vec<String> {
    let line = |event| match event {
        AgUiEvent::StepStarted { step_name } => format!("+{step_name}"),
        AgUiEvent::StepFinished { step_name } => format!("-{step_name}"),
        AgUiEvent::TextMessageContent { delta, .. }
        | AgUiEvent::ReasoningMessageContent { delta, .. } => delta,
        other => serde_json::to_value(other).expect("JSON")["type"]
            .as_str()
            .expect("a type")
            .to_owned(),
    };
    events.into_iter().map(line).collect()
}

#[test]
fn a_slow_reader_gets_the_complete_reply() {
    let mut translator = Translator::default();
    let mut out = Vec::new();
    for event in [
        lifecycle(0, "w", "started"),
        lifecycle(1, "w/lp", "started"),
        lifecycle(2, "w/lp#1/a", "started"),
        piece(3, "w/lp#1/a", Part::text("A cat")),
        // A piece of the reply and the end of the agent are missing.
        piece(4, "w/lp#1/a", Part::text("mat.")),
        event(5, "w/lp#1/a").with_text("A cat sat on a mat."),
        lifecycle(6, "w/lp", "finished"),
    ] {
        out.extend(translator.event(&event));
    }
    assert_eq!(
        summaries(out),
        [
            "+w",
            "+w/lp",
            "+w/lp#1/a",
            "TEXT_MESSAGE_START",
            "A cat",
            "mat.",
            "TEXT_MESSAGE_END",
            "TEXT_MESSAGE_START",
            "A cat sat on a mat.",
            "TEXT_MESSAGE_END",
            "-w/lp#1/a",
            "-w/lp",
        ]
    );
}

#[test]
fn a_retried_reply_starts_a_new_message() {
    let mut translator = Translator::default();
    let mut again = event(2, "w/a").with_metadata("retry", 1);
    again.partial = true;
    let mut out = Vec::new();
    for event in [
        piece(0, "w/a", thought("Hm.")),
        piece(1, "w/a", Part::text("{")),
        again,
        piece(3, "w/a", Part::text("[")),
        event(4, "w/a").with_text("[1]"),
    ] {
        out.extend(translator.event(&event));
    }
    let begins = "TEXT_MESSAGE_START";
    let ends = "TEXT_MESSAGE_END";
    let reasoning = ["REASONING_MESSAGE_START", "Hm.", "REASONING_MESSAGE_END"];
    assert_eq!(
        summaries(out),
        [
            &reasoning[..],
            &[begins, "{", ends, begins, "[", "1]", ends]
        ]
        .concat()
    );
}

#[test]
fn the_progress_of_an_each_is_a_custom_event() {
    let mut translator = Translator::for_resumed_run([]);
    translator.event(&lifecycle(0, "w/each_1", "started"));
    let sent = json!(translator.event(&lifecycle(1, "w/each_1", "progress")));
    let value = json!({"path": "w/each_1", "ended": 2, "skipped": 1, "total": 3});
    let custom = json!({"type": "CUSTOM", "name": "adk.progress", "value": value});
    assert_eq!(sent, json!([custom]));
}

#[test]
fn a_resumed_run_sends_only_new_steps() {
    let mut translator = Translator::for_resumed_run([]);
    let mut out = Vec::new();
    for event in [
        lifecycle(0, "w", "started"),
        lifecycle(1, "w/a", "started"),
        lifecycle(2, "w/a", "finished"),
        lifecycle(3, "w/ask", "started"),
        event(4, "w/ask").with_state("ok", true),
        lifecycle(5, "w/ask", "finished"),
    ] {
        out.extend(translator.event(&event));
    }
    assert_eq!(summaries(out), ["+w", "+w/ask", "STATE_DELTA", "-w/ask"]);
}

#[test]
fn waits_become_interrupts_with_their_tool_calls() {
    let call = |id: &str, name: &str| {
        Part::from(FunctionCall {
            id: id.into(),
            name: name.into(),
            ..Default::default()
        })
    };
    let calls = [call("1", "look"), call("2", "delete"), call("3", "delete")];
    let mut before = event(0, "w/a").with_content(Content::new(Role::Model, calls.to_vec()));
    before.details_mut().usage = Some(Usage::new(3, 4));
    let mut translator = Translator::default();
    translator.event(&before);
    let wait = |id: &str, path: &str, schema: Value, deadline: Option<u64>| -> Waiting {
        let run = adk_core::RunId::new();
        serde_json::from_value(json!({
            "id": id,
            "run_id": run,
            "path": path,
            "question": "May it?",
            "schema": schema,
            "deadline": deadline,
        }))
        .expect("a wait")
    };
    let waits = vec![
        wait(
            "e-1/w/a:confirm delete@1",
            "w/a",
            json!({"type": "boolean"}),
            None,
        ),
        wait(
            "e-1/w/a:guard delete@2",
            "w/a",
            json!({"type": "object"}),
            None,
        ),
        wait(
            "e-1/w/ok:await@0",
            "w/ok",
            json!({"type": "boolean"}),
            Some(1_795_692_687_000_000),
        ),
        wait("e-1/w/how:await@0", "w/how", json!(null), None),
    ];
    let end = translator.end("t".into(), "r".into(), Ending::Waiting(waits));
    let end = serde_json::to_value(end.last()).expect("JSON");
    let interrupts = end["outcome"]["interrupts"].as_array().expect("interrupts");
    let reasons: Vec<_> = interrupts
        .iter()
        .map(|one| (one["reason"].clone(), one["toolCallId"].clone()))
        .collect();
    assert_eq!(
        reasons,
        [
            (json!("tool_call"), json!("2")),
            (json!("tool_call"), json!("3")),
            (json!("confirmation"), Value::Null),
            (json!("input_required"), Value::Null),
        ]
    );
    assert_eq!(interrupts[2]["expiresAt"], "2026-11-26T11:31:27Z");
    assert_eq!(
        interrupts[3].get("responseSchema"),
        None,
        "the field is omitted, because null is not a schema"
    );
    assert_eq!(end["usage"][0]["totalTokens"], 7);
}
