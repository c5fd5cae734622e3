//! Tools that follow a script.

use super::agents::{Act, FunctionDef, ParamDef};
use super::recorder::Recorder;
use adk::model::ToolDeclaration;
use adk::spec::ToolMeta;
use adk::{BoxFuture, DynTool, ToolArgs, ToolContext, ToolError};
use serde_json::{Map, Number, Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Returns the JSON schema of a type, which is a type name or a schema.
pub fn schema(ty: &Value) -> Value {
    match ty.as_str() {
        Some(name) => json!({"type": json_type(name)}),
        None => ty.clone(),
    }
}

/// Returns JSON's name of a type that may have Python's name.
fn json_type(name: &str) -> &str {
    match name {
        "str" => "string",
        "int" => "integer",
        "float" => "number",
        "bool" => "boolean",
        "list" => "array",
        "dict" => "object",
        other => other,
    }
}

/// Returns the schema of the arguments. Arguments without a default are required.
pub fn parameters(params: &[ParamDef]) -> Value {
    let property = |param: &ParamDef| {
        let mut property = json!({"type": json_type(&param.ty)});
        if let Some(default) = &param.default {
            property["default"] = default.clone();
        }
        (param.name.clone(), property)
    };
    let properties: Map<String, Value> = params.iter().map(property).collect();
    let required: Vec<_> = params
        .iter()
        .filter(|param| param.default.is_none())
        .map(|param| &param.name)
        .collect();
    json!({"type": "object", "properties": properties, "required": required})
}

/// A tool whose declaration is known only at run time.
pub struct ScriptedTool {
    /// The description is leaked, since it borrows from the tool.
    meta: &'static ToolMeta<'static>,
    declaration: ToolDeclaration,
    def: Arc<FunctionDef>,
    recorder: Arc<Recorder>,
}

impl ScriptedTool {
    pub fn new(def: &FunctionDef, recorder: &Arc<Recorder>) -> Self {
        let leak = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
        let meta =
            ToolMeta::new(leak(&def.name), leak(&def.description)).long_running(def.long_running);
        let declaration =
            ToolDeclaration::new(meta.name, meta.description, parameters(&def.params));
        Self {
            meta: Box::leak(Box::new(meta)),
            declaration,
            def: def.clone().into(),
            recorder: recorder.clone(),
        }
    }
}

impl DynTool for ScriptedTool {
    fn meta(&self) -> &ToolMeta<'_> {
        self.meta
    }

    fn declaration_dyn(&self) -> &ToolDeclaration {
        &self.declaration
    }

    fn call_dyn<'a>(
        &'a self,
        mut args: ToolArgs,
        cx: &'a mut ToolContext,
    ) -> BoxFuture<'a, Result<Value, ToolError>> {
        let mut missing = Vec::new();
        for param in &self.def.params {
            match &param.default {
                _ if args.contains_key(&param.name) => {}
                Some(default) => drop(args.insert(param.name.clone(), default.clone())),
                None => missing.push(&*param.name),
            }
        }
        if !missing.is_empty() {
            let text = missing_arguments(&self.def.name, &missing);
            return Box::pin(std::future::ready(Err(ToolError::argument(text))));
        }
        Box::pin(act(self.def.clone(), self.recorder.clone(), args, cx))
    }
}

/// Returns the reference's message for a call without mandatory arguments.
fn missing_arguments(name: &str, missing: &[&str]) -> String {
    format!(
        "Invoking `{name}()` failed as the following mandatory input parameters are not present:\n\
         {}\nYou could retry calling this tool, but it is IMPORTANT for you to provide all the \
         mandatory parameters.",
        missing.join("\n")
    )
}

/// Executes the script, and returns the result of the tool.
///
/// # Errors
/// The error of a `raise`.
pub async fn act(
    def: Arc<FunctionDef>,
    recorder: Arc<Recorder>,
    args: ToolArgs,
    cx: &mut ToolContext,
) -> Result<Value, ToolError> {
    recorder.trace(format!("tool:{}", def.name));
    let argument = |name: &str| args.get(name).cloned().unwrap_or(Value::Null);
    for act in &def.behavior {
        match act {
            Act::SetState(state) => {
                for (key, value) in state {
                    cx.state().set(key.clone(), value)?;
                }
            }
            Act::AppendState(append) => {
                let mut list = cx
                    .state()
                    .get::<Vec<Value>>(&append.key)?
                    .unwrap_or_default();
                list.push(append.value.clone());
                cx.state().set(append.key.clone(), list)?;
            }
            Act::SleepMs(millis) => tokio::time::sleep(Duration::from_millis(*millis)).await,
            Act::Escalate(yes) => cx.actions.escalate = *yes,
            Act::SkipSummarization(yes) => cx.actions.skip_summarization = *yes,
            Act::TransferToAgent(name) => cx.actions.transfer_to_agent = Some(name.clone().into()),
            Act::Raise(message) => return Err(ToolError::failed(message)),
            Act::Return(value) => return Ok(value.clone()),
            Act::ReturnArg(name) => return Ok(argument(name)),
            Act::ReturnSum(names) => return Ok(sum(names.iter().map(|name| argument(name)))),
            Act::ReturnState(key) => {
                return Ok(cx
                    .state()
                    .value(key)
                    .as_deref()
                    .cloned()
                    .unwrap_or(Value::Null));
            }
        }
    }
    Ok(Value::Null)
}

/// Sums numbers. The sum of integers is an integer, as in the reference.
fn sum(values: impl Iterator<Item = Value> + Clone) -> Value {
    match values
        .clone()
        .map(|value| value.as_i64())
        .sum::<Option<i64>>()
    {
        Some(sum) => sum.into(),
        None => Number::from_f64(values.filter_map(|value| value.as_f64()).sum()).into(),
    }
}
