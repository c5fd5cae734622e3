//! The tool [`load_artifacts`].

use crate::model::{ModelRequest, ToolDeclaration};
use crate::runtime::callback::CallbackContext;
use crate::runtime::tool::{
    ProcessRequest, Tool, ToolArgs, ToolContext, ToolError, append_instruction,
};
use crate::spec::ToolMeta;
use crate::{BoxFuture, Content, FunctionResponse, Part, Result, Role};
use adk_spec::__private::SHOWS_ARTIFACTS;
use serde_json::{Value, json};
use std::sync::LazyLock;

/// Loads the artifacts and adds them to the session. The model reads the names of all artifacts of
/// the session. The next request contains the artifacts that the model asks for.
///
/// Artifacts are loaded only for that request and do not enter the log. The list of names is
/// recorded.
#[allow(non_camel_case_types, reason = "the name that it has in `tools`")]
#[derive(Clone, Copy, Debug, Default)]
pub struct load_artifacts {}

impl Tool for load_artifacts {
    const META: ToolMeta<'static> = ToolMeta::new(
        "load_artifacts",
        "Loads the artifacts and adds them to the session.",
    )
    .labels(SHOWS_ARTIFACTS);

    fn declaration(&self) -> &ToolDeclaration {
        static DECLARATION: LazyLock<ToolDeclaration> = LazyLock::new(|| {
            let names = json!({"type": "array", "items": {"type": "string"}});
            let parameters = json!({"type": "object", "properties": {"artifact_names": names}});
            ToolDeclaration::new(
                load_artifacts::META.name,
                load_artifacts::META.description,
                parameters,
            )
        });
        &DECLARATION
    }

    async fn call(&self, args: ToolArgs, _: &mut ToolContext) -> Result<Value, ToolError> {
        Ok(json!({"artifact_names": names(&args)?}))
    }

    fn processor(&self) -> Option<&dyn ProcessRequest> {
        Some(self)
    }
}

/// Returns the artifact names in the arguments or in the result of a call.
fn names(args: &ToolArgs) -> Result<Vec<String>, ToolError> {
    let names = args
        .get("artifact_names")
        .cloned()
        .unwrap_or_else(|| json!([]));
    serde_json::from_value(names)
        .map_err(|_| ToolError::argument("argument `artifact_names`: expected a list of texts"))
}

impl ProcessRequest for load_artifacts {
    fn process_request<'a>(
        &'a self,
        request: &'a mut ModelRequest,
        cx: &'a mut CallbackContext,
    ) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let all = cx.artifacts().list_recorded().await?;
            if all.is_empty() {
                return Ok(());
            }
            // The text is ADK's instruction.
            let all = Value::from(all);
            append_instruction(
                request,
                &format!(
                    "You have a list of artifacts:\n  {all}\n\n  When the user asks questions \
                     about any of the artifacts, you should call the\n  `load_artifacts` function \
                     to load the artifact. Do not generate any text other\n  than the function \
                     call."
                ),
            );
            let is_own = |response: &&FunctionResponse| response.name == Self::META.name;
            let answers = request
                .contents
                .last()
                .into_iter()
                .flat_map(Content::function_responses);
            let wanted: Vec<_> = answers
                .filter(is_own)
                .flat_map(|answer| names(&answer.response).unwrap_or_default())
                .collect();
            for name in wanted {
                let parts = match cx.artifacts().load(&name).await? {
                    Some(part) => vec![Part::text(format!("Artifact {name} is:")), part],
                    None => vec![Part::text(format!("There is no artifact {name}."))],
                };
                request.contents.push(Content::new(Role::User, parts));
            }
            Ok(())
        })
    }
}
