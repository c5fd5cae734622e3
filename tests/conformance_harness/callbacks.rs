//! Callbacks that follow a script.

use super::agents::Common;
use super::format::{Hook, HookDef};
use super::recorder::Recorder;
use adk::callback::{AgentCallbacks, CallbackContext, ModelCallbacks, ToolCallbacks};
use adk::model::{ModelRequest, ModelResponse};
use adk::{Content, Error, FunctionCall, Result};
use serde_json::Value;
use std::sync::Arc;

/// A callback, and where it stands: `cb:before_agent[0]:a`.
#[derive(Clone)]
struct Scripted {
    def: HookDef,
    place: String,
    recorder: Arc<Recorder>,
}

impl Scripted {
    fn all<'a>(common: &'a Common, hook: Hook, recorder: &'a Arc<Recorder>) -> impl Iterator<Item = Self> + 'a {
        let defs = common.callbacks.get(&hook).map_or(&[][..], Vec::as_slice);
        defs.iter().enumerate().map(move |(at, def)| {
            let place = format!("cb:{}[{at}]:{}", hook.name(), common.name);
            Self { def: def.clone(), place, recorder: recorder.clone() }
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
    /// Does all but what is particular to a hook.
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

    /// Changes the request of a model.
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

    /// The content that it returns.
    pub fn content(&self) -> Option<Content> {
        self.text().map(Content::model)
    }

    /// The response that it returns.
    pub fn response(&self) -> Option<ModelResponse> {
        self.content().map(ModelResponse::new)
    }

    /// The result that it returns.
    pub fn result(&self) -> Option<Value> {
        self.object().cloned().map(Value::Object)
    }
}

/// Those around an agent or a block.
pub fn agent(common: &Common, recorder: &Arc<Recorder>) -> AgentCallbacks {
    let mut callbacks = AgentCallbacks::default();
    for one in Scripted::all(common, Hook::BeforeAgent, recorder) {
        callbacks.before(move |cx: &mut CallbackContext| one.begin(cx).map(|()| one.def.content()));
    }
    for one in Scripted::all(common, Hook::AfterAgent, recorder) {
        callbacks.after(move |cx: &mut CallbackContext| one.begin(cx).map(|()| one.def.content()));
    }
    callbacks
}

/// Those around the calls of a model.
pub fn model(common: &Common, recorder: &Arc<Recorder>) -> ModelCallbacks {
    let mut callbacks = ModelCallbacks::default();
    for one in Scripted::all(common, Hook::BeforeModel, recorder) {
        callbacks.before(move |cx: &mut CallbackContext, request: &mut ModelRequest| {
            one.begin(cx)?;
            one.def.edit(request);
            Ok::<_, Error>(one.def.response())
        });
    }
    for one in Scripted::all(common, Hook::AfterModel, recorder) {
        callbacks.after(move |cx: &mut CallbackContext, _: &mut ModelResponse| {
            one.begin(cx).map(|()| one.def.response())
        });
    }
    for one in Scripted::all(common, Hook::OnModelError, recorder) {
        callbacks.on_error(move |cx: &mut CallbackContext, _: &ModelRequest, _: &Error| {
            one.begin(cx).map(|()| one.def.response())
        });
    }
    callbacks
}

/// Those around the calls of tools.
pub fn tool(common: &Common, recorder: &Arc<Recorder>) -> ToolCallbacks {
    let mut callbacks = ToolCallbacks::default();
    for one in Scripted::all(common, Hook::BeforeTool, recorder) {
        callbacks.before(move |cx: &mut CallbackContext, call: &mut FunctionCall| {
            one.begin_tool(cx, call)?;
            one.def.edit_args(call);
            Ok::<_, Error>(one.def.result())
        });
    }
    for one in Scripted::all(common, Hook::AfterTool, recorder) {
        callbacks.after(move |cx: &mut CallbackContext, call: &FunctionCall, _: &mut Value| {
            one.begin_tool(cx, call).map(|()| one.def.result())
        });
    }
    for one in Scripted::all(common, Hook::OnToolError, recorder) {
        callbacks.on_error(move |cx: &mut CallbackContext, call: &FunctionCall, _: &Error| {
            one.begin_tool(cx, call).map(|()| one.def.result())
        });
    }
    callbacks
}
