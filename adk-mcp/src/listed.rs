//! [`ListedTool`]: a tool as its server listed it.

use crate::answers::PRIVATE_HINT;
use crate::schema;
use crate::settings::Settings;
use adk_core::ToolMeta;
use adk_core::model::ToolDeclaration;
use adk_core::tool::ToolHints;
use jsonschema::Validator;
use self_cell::self_cell;
use serde_json::Value;
use std::time::Duration;

/// A tool as the server listed it. The connection owns the tool, so the tool does not refer to the
/// connection.
pub(crate) struct ListedTool {
    described: Described,
    /// The annotations of the server.
    pub(crate) hints: ToolHints,
    pub(crate) declaration: ToolDeclaration,
    /// Name of the tool at the server.
    pub(crate) remote: String,
    pub(crate) validator: Validator,
    /// Validator of structured results, from the output schema.
    pub(crate) output: Option<Validator>,
}

/// The data that a [`ToolMeta`] borrows.
struct Owned {
    name: String,
    description: String,
    timeout: Option<Duration>,
    confirm: bool,
}

self_cell!(
    struct Described {
        owner: Owned,
        #[covariant]
        dependent: ToolMeta,
    }
);

impl ListedTool {
    /// Checks a tool, and gives it the name that the agent uses.
    pub(crate) fn new(
        tool: rmcp::model::Tool,
        name: String,
        settings: &Settings,
    ) -> Result<Self, String> {
        let description = settings
            .server
            .without_secrets(tool.description.as_deref().unwrap_or_default());
        if description.len() > settings.limits.description_bytes {
            return Err(format!(
                "its description has more than {} bytes",
                settings.limits.description_bytes
            ));
        }
        let original = Value::Object((*tool.input_schema).clone());
        let parameters = schema::arguments(&original, &settings.limits)
            .and_then(|parameters| Ok((schema::validator(&parameters)?, parameters)));
        let (validator, parameters) = parameters.map_err(|fault| format!("its schema {fault}"))?;
        let output = tool.output_schema.as_ref().map(|schema| {
            let original = Value::Object((**schema).clone());
            let output = schema::inline(&original, &settings.limits)?;
            schema::validator(&output)
        });
        let output = output
            .transpose()
            .map_err(|fault| format!("the schema of its results {fault}"))?;
        let declaration = ToolDeclaration::new(name.clone(), &*description, parameters);
        let owned = Owned {
            description,
            timeout: settings.timeout,
            confirm: settings
                .confirm
                .as_ref()
                .is_some_and(|confirm| confirm(&tool.name)),
            name,
        };
        let described = Described::new(owned, |owned| {
            let meta = ToolMeta::new(&owned.name, &owned.description).confirm(owned.confirm);
            match owned.timeout {
                Some(timeout) => meta.timeout(timeout),
                None => meta,
            }
        });
        Ok(Self {
            described,
            hints: hints(&tool),
            declaration,
            remote: tool.name.into_owned(),
            validator,
            output,
        })
    }

    pub(crate) fn meta(&self) -> &ToolMeta<'_> {
        self.described.borrow_dependent()
    }
}

fn hints(tool: &rmcp::model::Tool) -> ToolHints {
    let hints = tool.annotations.clone().unwrap_or_default();
    let private = tool.meta.as_ref().and_then(|meta| meta.get(PRIVATE_HINT));
    ToolHints::default()
        .read_only(hints.read_only_hint)
        .destructive(hints.destructive_hint)
        .idempotent(hints.idempotent_hint)
        .open_world(hints.open_world_hint)
        .private(private.and_then(Value::as_bool))
}
