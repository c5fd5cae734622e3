//! A workflow that is a step of another: its keys are its own, its inputs and outputs those of the other.

use super::{Keys, Wired};
use crate::run::{Context, KeyScope, stored};
use crate::spec::{AgentKind, Spec, StepKind};
use crate::{Error, ErrorKind, Event, Name, Result};
use std::sync::Arc;

/// Goes into the keys of a nested workflow and commits its inputs and `let` values.
pub(super) async fn enter(workflow: &dyn Wired, cx: &mut Context) -> Result<()> {
    let spec = workflow.spec();
    let mut keys = Keys::default();
    let mut delta = Vec::new();
    for input in spec.inputs {
        let known = !input.has_default
            || cx.known.as_ref().is_none_or(|known| known.iter().any(|key| **key == *input.name));
        let value = match known {
            true => cx.run.get(&stored(cx.scope.as_deref(), input.name)),
            false => None,
        };
        match value {
            // An output of the same name is the key of the workflow around: it is there already.
            Some(_) if spec.outputs.iter().any(|output| output.name == input.name) => {}
            Some(value) => delta.push((Name::shared(input.name), value)),
            None if workflow.default_of(input.name, &mut keys)? => {}
            None => {
                let message =
                    format!("the workflow's input `{}` reads a key that nothing has written", input.name);
                return Err(Error::new(ErrorKind::KeyMissing, message)
                    .with_help(format!("write `{}` before it, or give the input a default", input.name)));
            }
        }
    }
    workflow.lets(&mut keys)?;
    let outer = cx.scope.take();
    let prefix = outer.as_ref().map_or("", |outer| &outer.prefix);
    cx.scope = Some(Arc::new(KeyScope {
        prefix: format!("{prefix}{}/", cx.path().name()),
        shared: spec.outputs.iter().map(|key| key.name.into()).collect(),
        session: spec.states.iter().map(|key| key.name.into()).collect(),
        outer,
    }));
    let mut event = Event::new();
    event.actions.state_delta = delta.into_iter().collect();
    event.actions.state_delta.extend(keys.into_delta());
    if !event.actions.state_delta.is_empty() {
        cx.emit(event).await?;
    }
    Ok(())
}

/// The keys that this workflow can write, for the defaults of workflows inside it: such a default applies only
/// when no key of its name can have been written, whatever an older run has left in the session.
pub(super) fn known(spec: &Spec<'_>) -> Option<Arc<[Box<str>]>> {
    let agents = || {
        spec.steps.iter().filter_map(|step| match step.kind {
            StepKind::Agent { meta, .. } => Some(meta),
            _ => None,
        })
    };
    let nested = |kind: AgentKind| kind == AgentKind::Workflow;
    if !agents().any(|meta| nested(meta.kind) && meta.reads.iter().any(|key| key.optional)) {
        return None;
    }
    let inputs = spec.inputs.iter().map(|input| input.name);
    let declared = spec.lets.iter().chain(spec.states).chain(spec.outputs).map(|key| key.name);
    let tools = agents().flat_map(|meta| meta.tools).flat_map(|tool| tool.writes);
    let written = agents().flat_map(|meta| meta.writes).chain(tools).map(|key| key.name);
    Some(inputs.chain(declared).chain(written).map(Box::from).collect())
}
