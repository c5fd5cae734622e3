//! An agent that follows a script.

use super::agents::{Agent, Emit, Script, Step};
use super::recorder::Recorder;
use adk::{AgentMeta, BoxFuture, Content, Context, DynAgent, Error, Event, Flow, Prepare, Result};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

pub struct Scripted {
    /// The description is leaked, since it borrows from the agent. A test process is short.
    meta: &'static AgentMeta<'static>,
    script: Script,
    next: AtomicUsize,
    recorder: Arc<Recorder>,
}

impl Scripted {
    pub fn new(agent: &Agent, script: &Script, recorder: Arc<Recorder>) -> Self {
        let leak = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
        let (name, description) = (leak(&agent.common.name), leak(&agent.common.description));
        // Each agent of a case is its own definition, even if names are equal.
        static DEFINITIONS: AtomicUsize = AtomicUsize::new(0);
        let number = DEFINITIONS.fetch_add(1, Ordering::Relaxed);
        let definition = leak(&format!("conformance::scripted_{number}"));
        let meta = AgentMeta::custom(name)
            .description(description)
            .definition(definition);
        let meta = Box::leak(Box::new(meta));
        Self {
            meta,
            script: script.clone(),
            next: AtomicUsize::new(0),
            recorder,
        }
    }

    async fn follow(&self, cx: &mut Context) -> Result<()> {
        let run = self.next.fetch_add(1, Ordering::Relaxed);
        let steps = self.script.runs.get(run).or(self.script.runs.last());
        for step in steps.into_iter().flatten() {
            match step {
                Step::Emit(emit) => drop(cx.emit(event(emit)).await?),
                Step::EmitState(key) => {
                    let value = cx.state().value(key);
                    let value = value.as_deref().unwrap_or(&Value::Null);
                    cx.emit(Event::new().with_text(format!("{key}={value}")))
                        .await?;
                }
                Step::Increment { key, escalate_at } => {
                    let value = cx.state().get::<i64>(key)?.unwrap_or(0) + 1;
                    let mut event = Event::new()
                        .with_text(format!("{key}={value}"))
                        .with_state(key.clone(), value);
                    if escalate_at.is_some_and(|at| value >= at) {
                        event = event.with_escalate();
                    }
                    cx.emit(event).await?;
                }
                Step::Sleep(millis) => {
                    let time = Duration::from_millis(*millis);
                    let sleep = async move {
                        tokio::time::sleep(time).await;
                        Ok(())
                    };
                    cx.step("sleep", sleep).await?;
                }
                Step::Raise(message) => return Err(Error::other(message.clone())),
                Step::EndInvocation(yes) => {
                    if *yes {
                        cx.end_invocation();
                    }
                }
            }
        }
        Ok(())
    }
}

impl DynAgent for Scripted {
    fn meta(&self) -> &AgentMeta<'_> {
        self.meta
    }

    fn run_dyn<'a>(&'a self, cx: &'a mut Context) -> BoxFuture<'a, Result<Flow>> {
        Box::pin(async move {
            self.recorder.trace(format!("run:{}", self.meta.name));
            self.follow(cx).await?;
            self.recorder.trace(format!("done:{}", self.meta.name));
            Ok(Flow::Continue)
        })
    }

    fn prepare_dyn(&self, _: &mut Prepare<'_>) {}
}

fn event(emit: &Emit) -> Event {
    let mut event = Event::new();
    event.content = emit.text.clone().map(Content::model);
    for (key, value) in &emit.state {
        event = event.with_state(key.clone(), value.clone());
    }
    event.actions.escalate = emit.escalate;
    event.actions.skip_summarization = emit.skip_summarization;
    event.actions.transfer_to_agent = emit.transfer_to_agent.clone().map(Into::into);
    event.partial = emit.partial;
    event.author = emit.author.clone().map(Into::into).unwrap_or_default();
    event.branch = emit.branch.clone().map(Into::into);
    event
}
