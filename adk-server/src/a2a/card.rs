//! [`agent_card`]: the card of a workflow, from its description and its schemas.

use crate::app::request_scheme;
use adk_a2a::rpc::BINDING;
use adk_a2a::{AgentCapabilities, AgentCard, AgentInterface, AgentSkill, CARD_PATH, VERSION};
use adk_core::runner::KnownWorkflow;
use adk_core::workflow::FormField;
use axum::http::{HeaderMap, Uri, header};

const TEXT: &str = "text/plain";
const JSON: &str = "application/json";

/// Returns the address of the agent as the client sees it.
pub(super) fn address(uri: &Uri, headers: &HeaderMap) -> String {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text(header::HOST.as_str()).or_else(|| uri.authority().map(|host| host.as_str()));
    // `Host` contains the port of the client's connection.
    let scheme = request_scheme(headers);
    let path = uri.path();
    let path = path
        .strip_suffix(CARD_PATH)
        .unwrap_or(path)
        .trim_end_matches('/');
    format!("{scheme}://{}{path}", host.unwrap_or("localhost"))
}

pub(super) fn agent_card(workflow: &KnownWorkflow, url: &str, pushes: bool) -> AgentCard {
    let form = workflow.form();
    let (name, description) = (
        workflow.name().to_owned(),
        workflow.description().to_owned(),
    );
    // Any workflow accepts text, see `KnownWorkflow::input_of`; only the output modes differ.
    let output_modes = match form.outputs() {
        [one] if is_text(one) => vec![TEXT.to_owned()],
        _ => vec![JSON.to_owned()],
    };
    let skill = AgentSkill {
        id: name.clone(),
        name: name.clone(),
        description: full_description(&description, form.inputs(), form.outputs()),
        tags: vec!["workflow".to_owned()],
        ..AgentSkill::default()
    };
    AgentCard {
        name,
        description,
        supported_interfaces: vec![AgentInterface {
            url: url.to_owned(),
            protocol_binding: BINDING.to_owned(),
            tenant: String::new(),
            protocol_version: VERSION.to_owned(),
        }],
        version: env!("CARGO_PKG_VERSION").to_owned(),
        capabilities: AgentCapabilities {
            streaming: true,
            push_notifications: pushes,
            extended_agent_card: false,
        },
        default_input_modes: vec![TEXT.to_owned(), JSON.to_owned()],
        default_output_modes: output_modes,
        skills: vec![skill],
    }
}

pub(super) fn is_text(field: &FormField) -> bool {
    field
        .schema
        .get("type")
        .is_some_and(|kind| kind == "string")
}

/// Returns the description with the inputs and outputs.
fn full_description(description: &str, inputs: &[FormField], outputs: &[FormField]) -> String {
    let list = |fields: &[FormField]| {
        let fields = fields.iter().map(|field| {
            let kind = field
                .schema
                .get("type")
                .and_then(|kind| kind.as_str())
                .unwrap_or("object");
            let optional = if field.is_required { "" } else { ", optional" };
            let about = if field.description.is_empty() {
                ""
            } else {
                ": "
            };
            format!(
                "`{}` ({kind}{optional}){about}{}",
                field.key, field.description
            )
        });
        fields.collect::<Vec<_>>().join("; ")
    };
    let mut text = description.to_owned();
    for (what, fields) in [("Inputs", inputs), ("Outputs", outputs)] {
        if !fields.is_empty() {
            let gap = if text.is_empty() { "" } else { "\n" };
            text = format!("{text}{gap}{what}: {}", list(fields));
        }
    }
    text
}
