//! Callbacks that follow a script.

use super::agents::Common;
use super::format::{Hook, HookDef};
use super::recorder::Recorder;
use adk::build::LlmAgentBuilder;
use adk::callback::CallbackContext;
use adk::model::{ModelRequest, ModelResponse};
use adk::{Content, Error, FunctionCall, Result};
use serde_json::Value;
use std::sync::Arc;

/// A callback, and its place: `cb:before_agent[0]:a`.
#[derive(Clone)]
pub struct Scripted {
    def: HookDef,
    place: String,
    recorder: Arc<Recorder>,
}

impl Scripted {
    pub fn all<'a>(
        common: &'a Common,
        hook: Hook,
        recorder: &'a Arc<Recorder>,
    ) -> impl Iterator<Item = Self> + 'a {
        let defs = common.callbacks.get(&hook).map_or(&[][..], Vec::as_slice);
        defs.iter().enumerate().map(move |(at, def)| {
            let place = format!("cb:{}[{at}]:{}", hook.name(), common.name);
            Self {
                def: def.clone(),
                place,
                recorder: recorder.clone(),
            }
        })
    }

    fn begin(&self, cx: &mut CallbackContext) -> Result<()> {
        self.recorder.trace(self.place.clone());
        self.def.apply(cx)
    }

    fn begin_tool(&self, cx: &mut CallbackContext, call: &FunctionCall) -> Result<()> {
        self.recorder.trace(format!("{}:{}", self.place, call.name));
        self.def.apply(cx)
    }
}

impl HookDef {
    /// Applies all effects except the effects of a specific hook.
    pub fn apply(&self, cx: &mut CallbackContext) -> Result<()> {
        for (key, value) in &self.state {
            cx.state().set(key.clone(), value)?;
        }
        if let Some(escalate) = self.escalate {
            cx.actions.escalate = escalate;
        }
        match &self.raise {
            Some(message) => Err(Error::other(message.clone())),
            None => Ok(()),
        }
    }

    /// Changes the request to a model.
    pub fn edit(&self, request: &mut ModelRequest) {
        if let Some(text) = &self.append_instruction {
            request.system_instruction.push_str("\n\n");
            request.system_instruction.push_str(text);
        }
    }

    /// Changes the arguments of a call.
    pub fn edit_args(&self, call: &mut FunctionCall) {
        call.args.extend(self.set_args.clone());
    }

    /// Returns the content of the script.
    pub fn content(&self) -> Option<Content> {
        self.text().map(Content::model)
    }

    /// Returns the response of the script.
    pub fn response(&self) -> Option<ModelResponse> {
        self.content().map(ModelResponse::new)
    }

    /// Returns the result of the script.
    pub fn result(&self) -> Option<Value> {
        self.object().cloned().map(Value::Object)
    }
}

impl Scripted {
    /// Runs as a callback of an agent or a block.
    pub fn of_agent(
        self,
    ) -> impl Fn(&mut CallbackContext) -> Result<Option<Content>> + Send + Sync + 'static {
        move |cx| self.begin(cx).map(|()| self.def.content())
    }
}

/// Adds the callbacks of an agent or a block to its builder.
macro_rules! around {
    ($builder:expr, $common:expr, $recorder:expr) => {{
        let mut builder = $builder;
        for one in $crate::conformance_harness::callbacks::Scripted::all(
            $common,
            Hook::BeforeAgent,
            $recorder,
        ) {
            builder = builder.before_agent(one.of_agent());
        }
        for one in $crate::conformance_harness::callbacks::Scripted::all(
            $common,
            Hook::AfterAgent,
            $recorder,
        ) {
            builder = builder.after_agent(one.of_agent());
        }
        builder
    }};
}
pub(super) use around;

/// Adds the callbacks of model calls and tool calls.
pub fn add_call_callbacks(
    mut builder: LlmAgentBuilder,
    common: &Common,
    recorder: &Arc<Recorder>,
) -> LlmAgentBuilder {
    for one in Scripted::all(common, Hook::BeforeModel, recorder) {
        builder = builder.before_model(
            move |cx: &mut CallbackContext, request: &mut ModelRequest| {
                one.begin(cx)?;
                one.def.edit(request);
                Ok::<_, Error>(one.def.response())
            },
        );
    }
    for one in Scripted::all(common, Hook::AfterModel, recorder) {
        builder = builder.after_model(move |cx: &mut CallbackContext, _: &mut ModelResponse| {
            one.begin(cx).map(|()| one.def.response())
        });
    }
    for one in Scripted::all(common, Hook::OnModelError, recorder) {
        builder = builder.on_model_error(
            move |cx: &mut CallbackContext, _: &ModelRequest, _: &Error| {
                one.begin(cx).map(|()| one.def.response())
            },
        );
    }
    for one in Scripted::all(common, Hook::BeforeTool, recorder) {
        builder = builder.before_tool(move |cx: &mut CallbackContext, call: &mut FunctionCall| {
            one.begin_tool(cx, call)?;
            one.def.edit_args(call);
            Ok::<_, Error>(one.def.result())
        });
    }
    for one in Scripted::all(common, Hook::AfterTool, recorder) {
        builder = builder.after_tool(
            move |cx: &mut CallbackContext, call: &FunctionCall, _: &mut Value| {
                one.begin_tool(cx, call).map(|()| one.def.result())
            },
        );
    }
    for one in Scripted::all(common, Hook::OnToolError, recorder) {
        builder = builder.on_tool_error(
            move |cx: &mut CallbackContext, call: &FunctionCall, _: &Error| {
                one.begin_tool(cx, call).map(|()| one.def.result())
            },
        );
    }
    builder
}
