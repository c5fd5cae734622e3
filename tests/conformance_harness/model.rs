//! A model that replies to an agent's calls with the replies of its script, in order.

use super::agents::{CallDef, Llm, OnExhausted, ReplyDef};
use super::recorder::Recorder;
use adk::model::{
    FinishReason, Model, ModelChunk, ModelError, ModelErrorKind, ModelRequest, ModelResponse,
    ModelStream,
};
use adk::{Content, FunctionCall, Part, Role, Thought};
use futures_util::{StreamExt, stream};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

pub struct ScriptedReplies {
    replies: Vec<ReplyDef>,
    repeats: bool,
    next: AtomicUsize,
    recorder: Arc<Recorder>,
}

impl ScriptedReplies {
    pub fn new(llm: &Llm, recorder: Arc<Recorder>) -> Self {
        let repeats = llm.model_on_exhausted == Some(OnExhausted::RepeatLast);
        Self {
            replies: llm.model.clone(),
            repeats,
            next: AtomicUsize::new(0),
            recorder,
        }
    }

    fn reply(&self) -> Option<&ReplyDef> {
        let at = self.next.fetch_add(1, Ordering::Relaxed);
        let last = self.replies.last().filter(|_| self.repeats);
        self.replies.get(at).or(last)
    }
}

impl Model for ScriptedReplies {
    fn name(&self) -> &str {
        "scripted"
    }

    fn generate(&self, request: Arc<ModelRequest>) -> ModelStream {
        self.recorder.record_request(&request);
        let Some(reply) = self.reply() else {
            let error = ModelError::new(ModelErrorKind::Other, "the script has no more replies");
            return Box::pin(stream::iter([Err(error)]));
        };
        let (chunks, wait) = (
            chunks(reply, request.stream),
            Duration::from_millis(reply.sleep_ms),
        );
        let waited = stream::once(async move {
            if !wait.is_zero() {
                tokio::time::sleep(wait).await;
            }
            stream::iter(chunks)
        });
        Box::pin(waited.flatten())
    }
}

fn chunks(reply: &ReplyDef, streams: bool) -> Vec<Result<ModelChunk, ModelError>> {
    let mut chunks = Vec::new();
    if streams {
        chunks.extend(
            reply
                .partials
                .iter()
                .map(|text| Ok(ModelChunk::Text(text.clone()))),
        );
    }
    chunks.push(match &reply.raise {
        Some(message) => Err(ModelError::new(ModelErrorKind::Other, message)),
        None => Ok(ModelChunk::Done(response(reply))),
    });
    chunks
}

fn response(reply: &ReplyDef) -> ModelResponse {
    let mut parts = Vec::new();
    if let Some(text) = &reply.thought {
        parts.push(Part::from(Thought {
            text: text.clone(),
            signature: None,
        }));
    }
    if let Some(text) = &reply.text {
        parts.push(Part::text(text));
    }
    parts.extend(
        reply
            .function_calls
            .iter()
            .map(|call| Part::from(function_call(call))),
    );
    let mut response = ModelResponse::new(Content::new(Role::Model, parts));
    response.error_code.clone_from(&reply.error_code);
    response.error_message.clone_from(&reply.error_message);
    // The case uses ADK's spelling, so it is parsed like ADK's JSON.
    response.finish_reason = reply.finish_reason.clone().map(|reason| {
        serde_json::from_value(Value::String(reason.clone())).unwrap_or(FinishReason::Other(reason))
    });
    response
}

fn function_call(call: &CallDef) -> FunctionCall {
    FunctionCall {
        id: call.id.clone().unwrap_or_default(),
        name: call.name.clone(),
        args: call.args.clone(),
        ..FunctionCall::default()
    }
}
