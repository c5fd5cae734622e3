//! [`Answer`]: converts genai's answer to a [`ModelResponse`].

use crate::adapter::Family;
use crate::depth::{is_text_too_deep, is_too_deep};
use crate::error::ErrorContext;
use crate::frames::Refusal;
use crate::plan::Plan;
use adk_model::model::{FinishReason, ModelError, ModelResponse, Usage};
use adk_model::{Content, FunctionCall, Part, Role, Thought};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use genai::chat::{BinarySource, ContentPart, StopReason, ToolCall};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::sync::Arc;

/// A whole or streamed answer of genai.
#[derive(Default)]
pub(crate) struct Answer {
    pub(crate) parts: Vec<ContentPart>,
    /// All thoughts in one text, used only if the parts contain none.
    pub(crate) reasoning: Option<String>,
    pub(crate) stop: Option<StopReason>,
    pub(crate) usage: genai::chat::Usage,
    pub(crate) version: Option<String>,
    pub(crate) refusal: Option<Refusal>,
    /// The sources that the provider has found.
    pub(crate) grounding: Option<Value>,
}

impl Answer {
    /// Converts the answer.
    ///
    /// # Errors
    /// Fails if a value of the answer is nested too deeply.
    pub(crate) fn finish(
        self,
        plan: &Plan,
        context: &ErrorContext<'_>,
    ) -> Result<ModelResponse, ModelError> {
        if let Some(what) = self.too_deep(plan) {
            return Err(context.too_deep(&what));
        }
        Ok(self.convert(plan))
    }

    /// Describes a value that is nested too deeply.
    fn too_deep(&self, plan: &Plan) -> Option<String> {
        let texts = self
            .parts
            .iter()
            .filter(|_| plan.has_schema())
            .filter_map(ContentPart::as_text);
        if is_text_too_deep(&texts.collect::<String>()) {
            return Some("a value".to_owned());
        }
        let custom = self.parts.iter().filter_map(ContentPart::as_custom);
        let mut found = custom.map(|part| &part.data).chain(&self.grounding);
        if found.any(is_too_deep) {
            return Some("a result of the provider's tools".to_owned());
        }
        let mut calls = self.parts.iter().filter_map(ContentPart::as_tool_call);
        let deep = calls.find(|call| is_too_deep(&call.fn_arguments))?;
        Some(format!("arguments of `{}`", deep.fn_name))
    }

    fn convert(self, plan: &Plan) -> ModelResponse {
        let Self {
            parts,
            reasoning,
            stop,
            usage,
            version,
            refusal,
            grounding,
        } = self;
        let content = Content::new(Role::Model, convert(parts, reasoning, plan));
        let refused = matches!(&stop, Some(StopReason::ContentFilter(raw)) if raw == "refusal");
        let mut response = ModelResponse::new(content).with_usage(count(&usage));
        response.finish_reason = stop.map(finish_reason);
        response.model_version = version;
        response.grounding_metadata = grounding.map(Arc::new);
        // As in ADK, an answer without content and with a reason has an error code.
        let empty = !response
            .content
            .parts
            .iter()
            .any(|part| !matches!(part, Part::Thought(_)));
        let reason = response
            .finish_reason
            .as_ref()
            .filter(|reason| **reason != FinishReason::Stop);
        if empty {
            if let Some(refusal) = refusal {
                response.error_code = Some(refusal.code);
                response.error_message = Some(refusal.message);
            } else if let Some(reason) = reason {
                let code = match reason {
                    FinishReason::MaxTokens => "MAX_TOKENS",
                    _ if refused => "REFUSAL",
                    FinishReason::Safety => "SAFETY",
                    FinishReason::Other(raw) => raw,
                    _ => "OTHER",
                };
                response.error_message = Some(format!("the model gave no answer ({code})"));
                response.error_code = Some(code.to_owned());
            }
        }
        response
    }
}

fn convert(parts: Vec<ContentPart>, reasoning: Option<String>, plan: &Plan) -> Vec<Part> {
    let gemini = plan.family == Family::Gemini;
    // In Gemini's format, the signature of a call arrives twice: before the call, as a thought, and
    // on the call. Only the second is kept.
    let on_calls: HashSet<String> = parts
        .iter()
        .filter(|_| gemini)
        .filter_map(|part| part.as_tool_call()?.thought_signatures.clone())
        .flatten()
        .collect();
    let mut out: Vec<Part> = Vec::new();
    let mut text = String::new();
    if !parts.iter().any(|part| {
        part.as_reasoning_content()
            .is_some_and(|text| !text.is_empty())
    }) && let Some(reasoning) = reasoning.filter(|reasoning| !reasoning.is_empty())
    {
        out.push(Part::from(Thought {
            text: reasoning,
            signature: None,
        }));
    }
    for part in parts {
        match part {
            ContentPart::Text(more) => {
                text.push_str(&more);
                continue;
            }
            part => flush(&mut text, &mut out, plan, &part),
        }
    }
    flush(&mut text, &mut out, plan, &ContentPart::from_text(""));
    out.retain(|part| match part {
        Part::Thought(thought) if thought.text.is_empty() => !thought
            .signature
            .as_ref()
            .is_some_and(|signature| on_calls.contains(signature)),
        _ => true,
    });
    out
}

/// Adds the collected text as one part, and then the given part.
fn flush(text: &mut String, out: &mut Vec<Part>, plan: &Plan, part: &ContentPart) {
    if !text.is_empty() {
        out.push(Part::Text(plan.settle_text(std::mem::take(text))));
    }
    match part {
        ContentPart::ThoughtSignature(signature) => {
            out.push(Part::from(Thought {
                text: String::new(),
                signature: Some(plan.mark(signature)),
            }));
        }
        ContentPart::ReasoningContent(reasoning) => match out.last_mut() {
            // genai emits the signature before the text that it signs.
            Some(Part::Thought(thought))
                if thought.text.is_empty() && thought.signature.is_some() =>
            {
                thought.text.clone_from(reasoning);
            }
            _ if reasoning.is_empty() => {}
            _ => out.push(Part::from(Thought {
                text: reasoning.clone(),
                signature: None,
            })),
        },
        ContentPart::ToolCall(call) => out.push(Part::from(function_call(call, plan))),
        ContentPart::Binary(binary) => {
            if let BinarySource::Base64(data) = &binary.source
                && let Ok(data) = STANDARD.decode(data.as_bytes())
            {
                out.push(Part::inline_data(&binary.content_type, data));
            }
        }
        // A block without a form in ADK, such as Anthropic's `redacted_thinking` or OpenRouter's
        // `reasoning.encrypted`, must be sent back unchanged with the next request, so it is stored
        // as the signature of an empty thought.
        // Code that Gemini has run, and its output.
        ContentPart::Custom(custom) if plan.family == Family::Gemini => {
            if let Value::Object(part) = &custom.data {
                out.push(Part::Other(Box::new(part.clone())));
            }
        }
        ContentPart::Custom(custom) => {
            if let Some(kind) = custom.data.get("type").cloned() {
                let mut block = Map::from_iter([("type".to_owned(), kind)]);
                block.extend(
                    custom
                        .data
                        .as_object()
                        .into_iter()
                        .flatten()
                        .map(|(k, v)| (k.clone(), v.clone())),
                );
                let signature = Some(plan.mark(&Value::Object(block).to_string()));
                out.push(Part::from(Thought {
                    text: String::new(),
                    signature,
                }));
            }
        }
        ContentPart::Text(_) | ContentPart::ToolResponse(_) => {}
    }
}

fn function_call(call: &ToolCall, plan: &Plan) -> FunctionCall {
    let mut out = FunctionCall {
        name: call.fn_name.clone(),
        ..FunctionCall::default()
    };
    // If the provider sends no ids, genai invents ids that repeat from turn to turn. The framework
    // creates unique ids.
    let made_up = call.call_id.starts_with("call#")
        || call
            .call_id
            .strip_prefix("call_")
            .is_some_and(|rest| rest.len() < 4 && rest.parse::<u16>().is_ok());
    if !made_up {
        out.id.clone_from(&call.call_id);
    }
    if plan.family == Family::Gemini {
        out.signature = call
            .thought_signatures
            .as_ref()
            .and_then(|all| all.first().cloned());
    }
    match arguments(&call.fn_arguments) {
        Ok(mut args) => {
            plan.settle_args(&call.fn_name, &mut args);
            if let Value::Object(args) = args {
                out.args = args;
            }
        }
        Err(raw) => out.malformed = Some(raw),
    }
    out
}

/// Parses arguments as an object, or returns the model's text. Empty text counts as no arguments.
fn arguments(value: &Value) -> Result<Value, String> {
    let empty = || Value::Object(Map::new());
    match value {
        Value::Object(_) => Ok(value.clone()),
        Value::Null => Ok(empty()),
        Value::String(text) if text.trim().is_empty() => Ok(empty()),
        Value::String(text) => match serde_json::from_str(text) {
            Ok(value @ Value::Object(_)) => Ok(value),
            Ok(Value::Null) => Ok(empty()),
            _ => Err(text.clone()),
        },
        other => Err(other.to_string()),
    }
}

fn finish_reason(stop: StopReason) -> FinishReason {
    match stop {
        // Only the content shows whether the model called tools, because providers disagree on the
        // reason.
        StopReason::Completed(_) | StopReason::ToolCall(_) | StopReason::StopSequence(_) => {
            FinishReason::Stop
        }
        StopReason::MaxTokens(_) => FinishReason::MaxTokens,
        StopReason::ContentFilter(raw) => match raw.as_str() {
            "content_filter" | "refusal" | "SAFETY" => FinishReason::Safety,
            _ => FinishReason::Other(raw),
        },
        StopReason::Other(raw) if raw == "FUNCTION_CALL" => FinishReason::Stop,
        StopReason::Other(raw) => FinishReason::Other(raw),
    }
}

fn count(usage: &genai::chat::Usage) -> Usage {
    let number = |count: Option<i32>| {
        count
            .and_then(|count| u64::try_from(count).ok())
            .unwrap_or(0)
    };
    let thoughts = number(
        usage
            .completion_tokens_details
            .as_ref()
            .and_then(|details| details.reasoning_tokens),
    );
    let mut out = Usage::new(
        number(usage.prompt_tokens),
        usage
            .completion_tokens
            .map_or(thoughts, |tokens| number(Some(tokens))),
    );
    if let Some(details) = &usage.prompt_tokens_details {
        out.cached_tokens = number(details.cached_tokens);
        out.cache_write_tokens = number(details.cache_creation_tokens);
    }
    out.thought_tokens = thoughts;
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use genai::adapter::AdapterKind;
    use serde_json::json;

    fn plan(kind: AdapterKind) -> Plan {
        Plan::new(kind, "m", &adk_model::model::ModelRequest::default())
    }

    fn tool(id: &str, arguments: Value, signatures: Option<Vec<&str>>) -> ContentPart {
        ContentPart::ToolCall(ToolCall {
            call_id: id.into(),
            fn_name: "f".into(),
            fn_arguments: arguments,
            thought_signatures: signatures.map(|all| all.into_iter().map(str::to_owned).collect()),
        })
    }

    fn calls(parts: Vec<ContentPart>, kind: AdapterKind) -> Vec<FunctionCall> {
        let answer = Answer {
            parts,
            ..Answer::default()
        };
        answer
            .convert(&plan(kind))
            .content
            .function_calls()
            .cloned()
            .collect()
    }

    #[test]
    fn arguments_are_an_object_or_malformed() {
        let args =
            |value: Value| calls(vec![tool("a", value, None)], AdapterKind::OpenAI).remove(0);
        for nothing in [
            json!(null),
            json!(""),
            json!("  "),
            json!("null"),
            json!({}),
        ] {
            let call = args(nothing);
            assert!(call.args.is_empty() && call.malformed.is_none());
        }
        assert_eq!(args(json!("{\"a\": 1}")).args["a"], 1);
        for (bad, raw) in [
            (json!("{\"a\": "), "{\"a\": "),
            (json!([1]), "[1]"),
            (json!("[1]"), "[1]"),
            (json!(7), "7"),
        ] {
            assert_eq!(args(bad).malformed.as_deref(), Some(raw));
        }
    }

    #[test]
    fn ids_that_genai_made_up_are_dropped() {
        let parts = vec![
            tool("call#f#0", json!({}), None),
            tool("call#f#0", json!({}), None),
        ];
        assert!(
            calls(parts, AdapterKind::Gemini)
                .iter()
                .all(|call| call.id.is_empty())
        );
        let ids: Vec<_> = calls(
            vec![
                tool("call_0", json!({}), None),
                tool("call_abc", json!({}), None),
            ],
            AdapterKind::OpenAI,
        )
        .into_iter()
        .map(|call| call.id)
        .collect();
        assert_eq!(ids, ["", "call_abc"]);
    }

    #[test]
    fn signatures_stay_with_the_signed_part() {
        let parts = vec![
            ContentPart::ThoughtSignature("s0".into()),
            ContentPart::from_text("hm"),
            ContentPart::ThoughtSignature("s1".into()),
            tool("call#f#0", json!({}), Some(vec!["s1"])),
        ];
        let answer = Answer {
            parts,
            reasoning: Some("I think".into()),
            ..Answer::default()
        };
        let parts = answer.convert(&plan(AdapterKind::Gemini)).content.parts;
        let thought = |text: &str, signature: Option<&str>| {
            Part::from(Thought {
                text: text.into(),
                signature: signature.map(str::to_owned),
            })
        };
        assert_eq!(
            parts[..3],
            [
                thought("I think", None),
                thought("", Some("s0")),
                Part::text("hm")
            ]
        );
        let Part::FunctionCall(call) = &parts[3] else {
            panic!("{parts:?}")
        };
        assert_eq!((call.signature.as_deref(), parts.len()), (Some("s1"), 4));

        let parts = vec![
            ContentPart::ThoughtSignature("a".into()),
            ContentPart::ReasoningContent("first".into()),
            ContentPart::from_custom(json!({"data": "x", "type": "redacted_thinking"}), None),
            tool("t1", json!({}), Some(vec!["a"])),
        ];
        let answer = Answer {
            parts,
            reasoning: Some("first".into()),
            ..Answer::default()
        };
        let parts = answer.convert(&plan(AdapterKind::Anthropic)).content.parts;
        let block = r#"{"type":"redacted_thinking","data":"x"}"#;
        assert_eq!(
            parts[..2],
            [
                thought("first", Some("adk0anthropic000a")),
                thought("", Some(&format!("adk0anthropic000{block}")))
            ]
        );
        assert!(matches!(&parts[2], Part::FunctionCall(call) if call.signature.is_none()));
    }

    #[test]
    fn an_empty_answer_has_an_error_code() {
        let answer = Answer {
            stop: Some(StopReason::from("MALFORMED_FUNCTION_CALL".to_owned())),
            ..Answer::default()
        };
        let response = answer.convert(&plan(AdapterKind::Gemini));
        assert_eq!(
            response.error_code.as_deref(),
            Some("MALFORMED_FUNCTION_CALL")
        );
        let answer = Answer {
            stop: Some(StopReason::from("stop".to_owned())),
            ..Answer::default()
        };
        assert_eq!(answer.convert(&plan(AdapterKind::OpenAI)).error_code, None);
    }
}
