//! Classification of replies without an answer by the codes of providers, with error messages and
//! remedies.

use crate::model::{FinishReason, ModelResponse};
use crate::runtime::run::NothingWritten;
use crate::store::event::Event;
use crate::{Error, ErrorKind, NoAnswerKind};
use std::borrow::Cow;

/// ADK's error code for a complete reply without content.
pub(in crate::agents::llm) const NO_CONTENT: &str = "MODEL_RETURNED_NO_CONTENT";

const MORE_TOKENS: &str = "give the agent more `max_output_tokens`";

/// The response for each call of a reply that was cut off.
pub(in crate::agents::llm) const NOT_RUN: &str = "This call was not run: your reply reached the limit of output \
    tokens and was cut off in the middle of its calls. Call again with less in one reply.";

/// Error codes of providers. All other codes are [`NoAnswerKind::Other`].
const CODES: &[(&str, NoAnswerKind)] = &[
    ("SAFETY", NoAnswerKind::Safety),
    ("IMAGE_SAFETY", NoAnswerKind::Safety),
    ("CONTENT_FILTER", NoAnswerKind::Safety),
    ("REFUSAL", NoAnswerKind::Refused),
    ("PROHIBITED_CONTENT", NoAnswerKind::Prohibited),
    ("IMAGE_PROHIBITED_CONTENT", NoAnswerKind::Prohibited),
    ("BLOCKLIST", NoAnswerKind::Prohibited),
    ("SPII", NoAnswerKind::Prohibited),
    ("RECITATION", NoAnswerKind::Recitation),
    ("IMAGE_RECITATION", NoAnswerKind::Recitation),
    ("MALFORMED_FUNCTION_CALL", NoAnswerKind::MalformedCall),
    ("UNEXPECTED_TOOL_CALL", NoAnswerKind::MalformedCall),
    ("MALFORMED_RESPONSE", NoAnswerKind::MalformedCall),
    (NO_CONTENT, NoAnswerKind::Empty),
    ("MAX_TOKENS", NoAnswerKind::CutOff),
];

/// Returns the fact and the remedy.
fn fact_and_help(kind: NoAnswerKind) -> (&'static str, &'static str) {
    match kind {
        NoAnswerKind::Safety => (
            "a safety filter of the provider withheld the model's answer",
            "look for what it objects to in the prompt and the conversation, or change the \
             provider's filters",
        ),
        NoAnswerKind::Refused => (
            "the model refused to answer",
            "read its words, then change what is asked or choose another model",
        ),
        NoAnswerKind::Prohibited => (
            "the provider does not answer what it prohibits",
            "take what it prohibits, such as personal data, out of the prompt and the conversation",
        ),
        NoAnswerKind::Recitation => (
            "the provider stopped the model's answer, since it repeated a text that is protected",
            "ask for an answer in the model's own words",
        ),
        NoAnswerKind::MalformedCall => (
            "the model called a tool in a form that its provider could not read",
            "run it again; if it stays, make the tool's arguments simpler or choose another model",
        ),
        NoAnswerKind::Empty => (
            "the model's last reply has no text",
            "run it again, or say in the instruction what to answer in every case",
        ),
        NoAnswerKind::CutOff => (
            "the model's reply was cut off at the limit of output tokens before it said anything",
            MORE_TOKENS,
        ),
        _ => (
            "the model gave no answer",
            "look the reason up in the provider's documentation",
        ),
    }
}

/// Adds ADK's error code to a complete reply without content.
pub(in crate::agents::llm) fn with_no_content_code(mut response: ModelResponse) -> ModelResponse {
    let is_empty =
        response.content.parts.is_empty() && response.finish_reason == Some(FinishReason::Stop);
    if is_empty && response.error_code.is_none() {
        response.error_code = Some(NO_CONTENT.into());
        response.error_message =
            Some("The model returned no content (finish_reason=STOP with empty parts).".into());
    }
    response
}

/// Returns the reason why an agent whose last reply is this event has written no key.
pub(in crate::agents::llm) fn reason(event: &Event) -> NothingWritten {
    let details = event.details.as_deref();
    let code = details.and_then(|details| details.error_code.as_deref());
    let finish = details.and_then(|details| details.finish_reason.as_ref());
    if code.is_none() && event.function_calls().next().is_some() {
        return NothingWritten {
            kind: ErrorKind::KeyNotWritten,
            why: "the model's last reply has no text".into(),
            help: "say in the instruction what to answer in every case",
        };
    }
    let kind = match (code, finish) {
        (Some(code), _) => kind_of_code(code),
        (None, Some(reason)) => kind_of_finish(reason),
        (None, None) => NoAnswerKind::Empty,
    };
    let (what, help) = fact_and_help(kind);
    let mut why = Cow::Borrowed(what);
    let message = details.and_then(|details| details.error_message.as_deref());
    for more in [code, message].into_iter().flatten() {
        *why.to_mut() += ": ";
        *why.to_mut() += more;
    }
    NothingWritten {
        kind: ErrorKind::NoAnswer(kind),
        why,
        help,
    }
}

/// Returns the reason why an agent has written no key after this tool ended the turn without a
/// reply of the model.
pub(in crate::agents::llm) fn summary_skipped(tool: &str) -> NothingWritten {
    NothingWritten {
        kind: ErrorKind::KeyNotWritten,
        why: format!(
            "its tool `{tool}` set `skip_summarization`, which ends the turn before the model \
             answers"
        )
        .into(),
        help: "do not set it for this agent, let the tool write the key, or take the key off the \
            agent",
    }
}

/// Returns the problem of a reply with this finish reason, and the remedy. Returns `None` if there
/// is no problem.
pub(in crate::agents::llm) fn ended_early(
    finish: Option<&FinishReason>,
) -> Option<(&'static str, &'static str)> {
    match finish? {
        FinishReason::Stop => None,
        FinishReason::MaxTokens => Some((
            "the answer was cut off at the limit of output tokens",
            MORE_TOKENS,
        )),
        reason => match kind_of_finish(reason) {
            NoAnswerKind::Other => None,
            kind => Some(fact_and_help(kind)),
        },
    }
}

/// Returns the error for the second reply of a turn whose calls were cut off.
pub(in crate::agents::llm) fn calls_cut_off() -> Error {
    let message = "the model's reply was cut off at the limit of output tokens in the middle of \
        its tool calls for the second time, and no call was executed";
    Error::new(ErrorKind::NoAnswer(NoAnswerKind::CutOff), message).with_help(MORE_TOKENS)
}

fn kind_of_finish(reason: &FinishReason) -> NoAnswerKind {
    match reason {
        FinishReason::Stop => NoAnswerKind::Empty,
        FinishReason::MaxTokens => NoAnswerKind::CutOff,
        FinishReason::Safety => NoAnswerKind::Safety,
        FinishReason::Other(code) => kind_of_code(code),
        _ => NoAnswerKind::Other,
    }
}

fn kind_of_code(code: &str) -> NoAnswerKind {
    let known = CODES
        .iter()
        .find(|(known, _)| code.eq_ignore_ascii_case(known));
    known.map_or(NoAnswerKind::Other, |(_, kind)| *kind)
}
