//! [`Plan`]: decisions per request, with the dialect, the options, and the conversion of the
//! answer.

use crate::adapter::{Family, SchemaMode};
use crate::error::ErrorContext;
use crate::relay::Framing;
use crate::results;
use crate::schema;
use crate::signature;
use crate::thinking::output_limit;
use adk_model::model::{ModelError, ModelErrorKind, ModelRequest, ToolDeclaration};
use genai::adapter::AdapterKind;
use genai::chat::{ChatOptions, ChatResponseFormat, JsonSpec};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// The dialect of one request.
pub(crate) struct Plan {
    pub(crate) kind: AdapterKind,
    pub(crate) family: Family,
    answer: AnswerFormat,
    /// Canonical schemas of the tools that are sent in strict form, and these forms.
    strict_tools: HashMap<String, (Arc<Value>, Value)>,
}

/// Format of the answer.
enum AnswerFormat {
    Free,
    /// JSON that matches the canonical schema after two corrections: the answer may be wrapped in
    /// an object, and nulls may replace absent values.
    Schema {
        canonical: Arc<Value>,
        wrapped: bool,
        nulls: bool,
        sent: Sent,
    },
}

enum Sent {
    /// In genai's field for schemas.
    Format(Value),
    /// In OpenAI's field with `strict: false`, which genai does not support.
    Loose(Value),
    /// In the system instruction.
    Prompt,
}

impl Plan {
    pub(crate) fn new(kind: AdapterKind, model: &str, request: &ModelRequest) -> Self {
        let family = Family::of(kind, model);
        let answer = match &request.response_schema {
            None => AnswerFormat::Free,
            Some(canonical) => Self::answer(family.schema_mode(kind, model), canonical),
        };
        let strict_tools = match kind {
            AdapterKind::OpenAI | AdapterKind::OpenAIResp => request
                .tools
                .iter()
                .filter_map(|tool| {
                    let strict = schema::strict(&schema::arguments(&tool.parameters).ok()?)?;
                    Some((tool.name.to_string(), (tool.parameters.clone(), strict)))
                })
                .collect(),
            _ => HashMap::new(),
        };
        Self {
            kind,
            family,
            answer,
            strict_tools,
        }
    }

    fn answer(mode: SchemaMode, canonical: &Arc<Value>) -> AnswerFormat {
        // A schema that is too large for a field is sent in the prompt.
        let plain = schema::plain(canonical).ok();
        let wrap = !plain.as_ref().is_some_and(schema::is_object);
        let whole = plain.as_ref().map(|plain| {
            if wrap {
                schema::wrap(plain)
            } else {
                plain.clone()
            }
        });
        let (wrapped, nulls, sent) = match (mode, whole, plain) {
            (SchemaMode::OpenAi, Some(whole), _) => match schema::strict(&whole) {
                Some(strict) => (wrap, true, Sent::Format(strict)),
                None => (wrap, false, Sent::Loose(whole)),
            },
            (SchemaMode::Anthropic, Some(whole), _) => match schema::anthropic(&whole) {
                Some(schema) => (wrap, false, Sent::Format(schema)),
                None => (false, false, Sent::Prompt),
            },
            (SchemaMode::Gemini, _, Some(plain)) => {
                (false, false, Sent::Format(schema::gemini(&plain)))
            }
            _ => (false, false, Sent::Prompt),
        };
        AnswerFormat::Schema {
            canonical: canonical.clone(),
            wrapped,
            nulls,
            sent,
        }
    }

    pub(crate) fn framing(&self, stream: bool) -> Framing {
        match self.kind {
            _ if !stream => Framing::Whole,
            // The events of Bedrock are binary.
            AdapterKind::BedrockApi => Framing::Whole,
            AdapterKind::Cohere => Framing::Lines,
            _ if self.family == Family::Ollama => Framing::Lines,
            _ => Framing::Blocks,
        }
    }

    /// Returns a mark that is appended to a stream as its end, for servers that omit their end mark
    /// after the stop reason. An answer without a stop reason still counts as broken.
    pub(crate) fn end_mark(&self, stream: bool) -> &'static str {
        if stream && self.family == Family::OpenAiChat {
            "data: [DONE]\n\n"
        } else {
            ""
        }
    }

    pub(crate) fn mend(&self) -> fn(Vec<u8>) -> Vec<u8> {
        if self.family == Family::Gemini {
            results::as_objects
        } else {
            |body| body
        }
    }

    /// Adds the mark of the provider to a signature.
    pub(crate) fn mark(&self, signature: &str) -> String {
        signature::mark(self.kind, self.family, signature)
    }

    /// Removes the mark of the provider. Returns `None` if another provider made the signature.
    pub(crate) fn unmark<'a>(&self, signature: &'a str) -> Option<&'a str> {
        signature::unmark(self.kind, self.family, signature)
    }

    /// Reports whether the answer is a JSON value.
    pub(crate) fn has_schema(&self) -> bool {
        matches!(self.answer, AnswerFormat::Schema { .. })
    }

    /// Returns the schema of a tool's arguments, and whether it is strict.
    ///
    /// # Errors
    /// Fails if the provider would reject each request with the tool.
    pub(crate) fn tool_schema(
        &self,
        tool: &ToolDeclaration,
        context: &ErrorContext<'_>,
    ) -> Result<(Value, Option<bool>), ModelError> {
        if let Some((_, strict)) = self.strict_tools.get(&*tool.name) {
            return Ok((strict.clone(), Some(true)));
        }
        let refused = |fault: String| {
            let message = format!(
                "the provider would reject the tool `{}`: {fault}",
                tool.name
            );
            let error = context.error(ModelErrorKind::InvalidRequest, &message, "");
            error.with_help("leave the tool out, or use another provider")
        };
        let plain = schema::arguments(&tool.parameters)
            .map_err(|fault| refused(format!("its schema {fault}")))?;
        match (self.kind, self.family) {
            (AdapterKind::OpenAI | AdapterKind::OpenAIResp, _) => Ok((plain, Some(false))),
            (_, Family::Gemini) => Ok((schema::gemini(&plain), None)),
            (_, Family::Anthropic) => match schema::refused_name(&plain) {
                Some(name) => Err(refused(format!(
                    "the name of its argument `{name:.100}` does not have 1 to 64 letters, digits, \
                     `_`, `.` and `-`"
                ))),
                None => Ok((plain, None)),
            },
            _ => Ok((plain, None)),
        }
    }

    /// Removes nulls from the arguments of a call if they mean "absent" in the strict form.
    pub(crate) fn settle_args(&self, tool: &str, args: &mut Value) {
        if let Some((canonical, _)) = self.strict_tools.get(tool) {
            schema::drop_nulls(canonical, args);
        }
    }

    /// Returns the system instruction, with the schema if the provider has no field for it.
    pub(crate) fn system(&self, instruction: &str) -> String {
        let AnswerFormat::Schema {
            canonical,
            sent: Sent::Prompt,
            ..
        } = &self.answer
        else {
            return instruction.to_owned();
        };
        let gap = if instruction.is_empty() { "" } else { "\n\n" };
        format!(
            "{instruction}{gap}Answer with JSON alone, without any other text, that fits this JSON \
             schema:\n{canonical}"
        )
    }

    /// Reports whether pieces of the answer must be held because [`settle_text`](Self::settle_text)
    /// unwraps it.
    pub(crate) fn holds_text(&self) -> bool {
        matches!(self.answer, AnswerFormat::Schema { wrapped: true, .. })
    }

    /// Converts the text of the answer to the canonical schema. Text that is not valid JSON stays
    /// unchanged, so that the caller's error can show it.
    pub(crate) fn settle_text(&self, text: String) -> String {
        let AnswerFormat::Schema {
            canonical,
            wrapped,
            nulls,
            ..
        } = &self.answer
        else {
            return text;
        };
        let inner = unfence(&text);
        let Ok(mut value) = serde_json::from_str::<Value>(inner) else {
            return text;
        };
        let mut changed = inner.len() != text.len();
        if *wrapped
            && let Some(object) = value.as_object_mut().filter(|object| object.len() == 1)
            && let Some(content) = object.remove(schema::WRAPPED)
        {
            value = content;
            changed = true;
        }
        changed |= *nulls && schema::drop_nulls(canonical, &mut value);
        if changed { value.to_string() } else { text }
    }

    /// Returns genai's options.
    ///
    /// # Errors
    /// Fails if the provider lacks an option whose omission would change the answer.
    pub(crate) fn options(
        &self,
        request: &ModelRequest,
        thoughts: bool,
        context: &ErrorContext<'_>,
    ) -> Result<ChatOptions, ModelError> {
        let config = &request.config;
        let responses = self.family == Family::OpenAiResponses;
        if responses && !config.stop.is_empty() {
            let error = context.error(
                ModelErrorKind::InvalidRequest,
                "OpenAI's responses API has no stop sequences",
                "",
            );
            return Err(error.with_help("use `openai::NAME`, or remove the stop sequences"));
        }
        let mut options = ChatOptions::default()
            .with_capture_usage(true)
            .with_capture_content(true)
            .with_capture_tool_calls(!(request.stream && self.family == Family::OpenAiChat))
            .with_capture_raw_body(true);
        // Gemini and OpenAI's responses API send thoughts only if a parameter requests them, and
        // some models reject the parameter. Other providers send thoughts without a request.
        let asks = matches!(self.family, Family::Gemini | Family::OpenAiResponses);
        options.capture_reasoning_content = Some(thoughts || !asks);
        options.temperature = config.temperature;
        options.top_p = config.top_p;
        options.max_tokens = config
            .max_output_tokens
            .map(|limit| output_limit(self.family, context.model, limit));
        options.stop_sequences.clone_from(&config.stop);
        // OpenAI's responses API rejects seeds. The other providers read a seed as a signed
        // integer.
        options.seed = config
            .seed
            .filter(|_| !responses)
            .map(|seed| match self.family {
                Family::Gemini => seed & (i32::MAX as u64),
                _ => seed & (i64::MAX as u64),
            });
        if let AnswerFormat::Schema { sent, .. } = &self.answer {
            match sent {
                Sent::Format(schema) => {
                    options.response_format = Some(JsonSpec::new("answer", schema.clone()).into());
                }
                Sent::Loose(schema) => options.extra_body = Some(self.loose(schema)),
                // JSON mode cannot be combined with tool calls.
                Sent::Prompt if request.tools.is_empty() => {
                    options.response_format = Some(ChatResponseFormat::JsonMode);
                }
                Sent::Prompt => {}
            }
        }
        Ok(options)
    }

    fn loose(&self, schema: &Value) -> Value {
        if self.family == Family::OpenAiResponses {
            json!({"text": {"format": {
                "type": "json_schema",
                "name": "answer",
                "strict": false,
                "schema": schema,
            }}})
        } else {
            let format = json!({"name": "answer", "strict": false, "schema": schema});
            json!({"response_format": {"type": "json_schema", "json_schema": format}})
        }
    }
}

/// Removes a byte order mark and a Markdown fence around the whole text.
fn unfence(text: &str) -> &str {
    let text = text.trim().trim_start_matches('\u{feff}').trim();
    let Some(inner) = text
        .strip_prefix("```")
        .and_then(|text| text.strip_suffix("```"))
    else {
        return text;
    };
    inner.strip_prefix("json").unwrap_or(inner).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(kind: AdapterKind, schema: Value) -> Plan {
        let mut request = ModelRequest::default();
        request.response_schema = Some(Arc::new(schema));
        Plan::new(kind, "m", &request)
    }

    #[test]
    fn answers_that_are_not_objects_are_wrapped_and_unwrapped() {
        let plan = plan(AdapterKind::OpenAI, json!({"type": "number"}));
        assert!(plan.holds_text());
        assert_eq!(plan.settle_text(r#"{"value": 3.5}"#.into()), "3.5");
        assert_eq!(plan.settle_text("3.5".into()), "3.5");
        assert_eq!(plan.settle_text("I cannot".into()), "I cannot");
    }

    #[test]
    fn nulls_of_optional_properties_are_removed_and_other_text_is_unchanged() {
        let schema = json!({
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
            "required": ["a"],
        });
        let plan = plan(AdapterKind::OpenAI, schema);
        assert_eq!(
            plan.settle_text(r#"{"a": "x", "b": null}"#.into()),
            r#"{"a":"x"}"#
        );
        assert_eq!(
            plan.settle_text(r#"{ "a": "x", "b": 1 }"#.into()),
            r#"{ "a": "x", "b": 1 }"#
        );
    }

    #[test]
    fn a_provider_without_schemas_gets_the_schema_in_the_instruction() {
        let plan = plan(AdapterKind::DeepSeek, json!({"type": "number"}));
        assert!(
            plan.system("Grade it.")
                .starts_with("Grade it.\n\nAnswer with JSON alone")
        );
        assert_eq!(plan.settle_text("```json\n3.5\n```".into()), "3.5");
    }

    #[test]
    fn gemini_and_anthropic_get_their_own_form() {
        let schema = json!({
            "type": "object",
            "properties": {"n": {"type": "integer", "format": "uint8", "minimum": 0}},
            "required": ["n"],
        });
        for (kind, property) in [
            (
                AdapterKind::Gemini,
                json!({"type": "integer", "minimum": 0}),
            ),
            (AdapterKind::Anthropic, json!({"type": "integer"})),
        ] {
            let AnswerFormat::Schema {
                sent: Sent::Format(sent),
                ..
            } = plan(kind, schema.clone()).answer
            else {
                panic!("{kind} has a field for schemas");
            };
            assert_eq!(sent["properties"]["n"], property);
        }
    }
}
