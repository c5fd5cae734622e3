//! [`provider_tool`] and [`function_tool`]: tools in the types of genai.
//!
//! genai tells the tools of a provider from functions by their names. A function that has such a
//! name keeps being a function.

use crate::adapter::Family;
use crate::error::ErrorContext;
use crate::names::without_namespace;
use crate::plan::Plan;
use adk_model::model::{ModelError, ModelErrorKind, ToolDeclaration};
use genai::adapter::AdapterKind;
use genai::chat::{Tool, WebSearchConfig};
use serde_json::{Value, json};

/// Translates a tool that the provider runs.
///
/// # Errors
/// Fails if genai cannot request the tool from the provider of the model, or not beside functions.
pub(crate) fn provider_tool(
    name: &str,
    kind: AdapterKind,
    beside_functions: bool,
    context: &ErrorContext<'_>,
) -> Result<Tool, ModelError> {
    let is_google = matches!(name, "google_search" | "code_execution" | "url_context");
    let model = without_namespace(context.model);
    let refused = |what: &str, help: String| {
        let error = context.error(ModelErrorKind::InvalidRequest, what, "");
        Err(error.with_help(help))
    };
    match (kind, Family::of(kind, context.model)) {
        (AdapterKind::Gemini | AdapterKind::Vertex, Family::Gemini) if is_google => {
            if !model.starts_with("gemini-") || model.starts_with("gemini-1") {
                return refused(
                    &format!("the model has no tool `{name}`"),
                    "use Gemini 2 or later, such as `gemini-2.5-flash`".to_owned(),
                );
            }
            // genai loses the parts of an answer that Gemini 3 expects back with the results of
            // functions, and older models refuse the combination.
            if beside_functions {
                return refused(
                    &format!(
                        "Gemini does not run `{name}` beside functions: other tools, transfers, \
                         or the tool that receives a typed answer"
                    ),
                    format!(
                        "give `{name}` to an agent of its own that answers text, and use that \
                         agent as a step or as a tool, `tools: [agent(NAME)]`; if other agents \
                         hand over to it, set `disallow_transfer_to_parent` and \
                         `disallow_transfer_to_peers`"
                    ),
                );
            }
            let empty = json!({});
            Ok(match name {
                "google_search" => Tool::new_web_search().with_config(WebSearchConfig::default()),
                "code_execution" => Tool::new("codeExecution").with_config(empty),
                _ => Tool::new("urlContext").with_config(empty),
            })
        }
        (AdapterKind::OpenAIResp | AdapterKind::Anthropic, _) if name == "web_search" => {
            Ok(Tool::new_web_search())
        }
        (_, family) => {
            let help = match (name, kind, family) {
                ("web_search", AdapterKind::OpenAI, _) => {
                    format!("use the responses API, `openai_resp::{model}`")
                }
                ("web_search", _, Family::Gemini) => "use `google_search`".to_owned(),
                ("google_search", AdapterKind::OpenAIResp | AdapterKind::Anthropic, _) => {
                    "use `web_search`, or a model of Gemini".to_owned()
                }
                ("web_search", ..) => "use a model of OpenAI or Anthropic".to_owned(),
                _ if is_google => "use a model of Gemini".to_owned(),
                _ => "use `google_search`, `code_execution`, `url_context` or `web_search`"
                    .to_owned(),
            };
            let what = format!("adk cannot request the tool `{name}` from this provider");
            refused(&what, help)
        }
    }
}

/// Translates a tool that the runtime calls.
///
/// # Errors
/// Fails if the provider would reject each request with the tool.
pub(crate) fn function_tool(
    tool: &ToolDeclaration,
    plan: &Plan,
    context: &ErrorContext<'_>,
) -> Result<Tool, ModelError> {
    let (schema, strict) = plan.tool_schema(tool, context)?;
    let name = tool.name.as_str();
    let description = (!tool.description.is_empty()).then(|| tool.description.to_string());
    let is_taken = match plan.family {
        Family::Gemini => {
            let taken = [
                "googleSearch",
                "googleSearchRetrieval",
                "codeExecution",
                "urlContext",
            ];
            if taken.contains(&name) {
                let what = format!("`{name}` is the name of a tool that the provider runs");
                let error = context.error(ModelErrorKind::InvalidRequest, &what, "");
                return Err(error.with_help("give the function another name"));
            }
            false
        }
        Family::Anthropic | Family::OpenAiResponses => name == "web_search",
        _ => false,
    };
    let mut out = Tool::new(name);
    if is_taken {
        // genai writes the fields of the configuration over those of the provider's tool.
        let fields = if plan.family == Family::Anthropic {
            json!({"type": "custom", "input_schema": schema})
        } else {
            json!({"type": "function", "name": name, "parameters": schema, "strict": strict})
        };
        return Ok(out.with_config(with_description(fields, description)));
    }
    out.schema = Some(schema);
    out.description = description;
    out.strict = strict;
    Ok(out)
}

fn with_description(mut fields: Value, description: Option<String>) -> Value {
    if let Some(description) = description {
        fields["description"] = description.into();
    }
    fields
}
