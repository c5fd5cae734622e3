//! Workflows that are a step of another workflow. The keys of a nested workflow are its own; its
//! inputs and outputs are keys of the outer workflow.

use super::form::Form;
use super::keys::Keys;
use super::steps::StepTable;
use super::steps::scopes::{has_defaults, workflow_scope, written_keys};
use crate::runtime::run::{Context, Inherited, Marks, Surroundings, stored_key};
use crate::spec::{InputSpec, Key, Spec, StepKind};
use crate::store::event::StateDelta;
use crate::store::session::Scope;
use crate::{BoxFuture, Error, ErrorKind, Event, EventId, Name, Result};
use std::sync::Arc;

/// A future that commits an event.
type EmitFuture<'c> = BoxFuture<'c, Result<EventId>>;

/// Returns the surroundings of the steps of a workflow, with the keys of the enclosing workflow.
pub(super) fn surroundings(workflow: &dyn StepTable, cx: &Context) -> Surroundings {
    let (spec, is_closed) = (workflow.spec(), workflow.is_closed());
    let is_block = spec
        .steps
        .first()
        .is_some_and(|step| !matches!(step.kind, StepKind::Agent { .. }));
    let settled = match workflow.root() {
        Some(_) => is_block.then_some(true),
        None => is_closed.then_some(false),
    };
    let around = &cx.around;
    Surroundings {
        scope: around.scope.clone(),
        known: around.known.clone(),
        states: around.states.clone(),
        inherited: Inherited::settle(&around.inherited, settled),
        meter: cx.meter_of_workflow(spec),
        unchecked: workflow.is_unchecked() || (around.unchecked && !is_closed),
    }
}

/// Enters the key scope of a nested workflow. Returns a future that commits its inputs and `let`
/// values, if it has any.
pub(super) fn enter<'c>(
    workflow: &(dyn StepTable + Sync),
    cx: &'c mut Context,
) -> Result<Option<EmitFuture<'c>>> {
    let spec = workflow.spec();
    let (mut keys, mut wanted) = (Keys::default(), Vec::new());
    let (mut delta, mut copied) = (StateDelta::default(), Vec::new());
    for input in spec.inputs {
        let value = if may_be_known(input, cx) {
            cx.committed_value(input.name)
        } else {
            None
        };
        match value {
            Some(_) if is_readable_inside(spec, input, cx) => {}
            Some(value) => {
                if cx.cell().is_some() {
                    copied.push((input, cx.marks_of(input.name)));
                }
                delta.insert(Name::shared(input.name), value);
            }
            None => wanted.push(Name::shared(input.name)),
        }
    }
    if !wanted.is_empty() {
        let mut form = Form::for_defaults(wanted);
        workflow.form(&mut form);
        let (defaults, without) = form.defaults()?;
        if let Some(name) = without.first() {
            return Err(missing_input(name, cx));
        }
        keys = defaults;
    }
    workflow.lets(&mut keys)?;
    let outer = cx.around.scope.take();
    cx.around.scope = Some(Arc::new(workflow_scope(
        spec,
        cx.path().name().clone(),
        outer,
    )));
    for (input, marks) in copied {
        cx.mark(input.name, marks);
    }
    if let Some(guards) = spec.guards {
        let is_session = |key: &str| {
            Scope::of(key) != Scope::Session || spec.states.iter().any(|state| state.name == key)
        };
        cx.mark_guarded(guards, spec.states, is_session);
    }
    let own = keys.into_delta();
    if delta.is_empty() && own.is_empty() {
        return Ok(None);
    }
    let is_given = own.is_empty();
    let mut event = Event::new();
    event.actions.state_delta = delta;
    event.actions.state_delta.extend(own);
    Ok(Some(if is_given {
        cx.emit_boxed(event)
    } else {
        Box::pin(cx.emit_call(async move { Ok(event) }))
    }))
}

/// Returns a future that copies outputs to the keys of the outer workflow. Only outputs that are
/// session keys inside the nested workflow need a copy, because the outer workflow may use other
/// names for them.
pub(super) fn leave<'c>(spec: &Spec<'_>, cx: &'c mut Context) -> Option<EmitFuture<'c>> {
    let mut written = StateDelta::default();
    for output in spec
        .outputs
        .iter()
        .filter(|output| spec.states.iter().any(|key| key.name == output.name))
    {
        let is_other = *stored_key(cx.around.scope.as_deref(), output.name) != *output.name;
        if is_other && let Some(value) = cx.run.get(output.name) {
            if cx.cell().is_some() {
                let marks = Marks::of_key(output.name, None, &cx.run);
                cx.mark(output.name, marks);
            }
            written.insert(Name::shared(output.name), value);
        }
    }
    if written.is_empty() {
        return None;
    }
    let mut event = Event::new();
    event.actions.state_delta = written;
    Some(cx.emit_boxed(event))
}

/// Returns `true` if the value of an input is looked up. An input with a default is looked up only
/// if the enclosing workflow may have written its key.
fn may_be_known(input: &InputSpec<'_>, cx: &Context) -> bool {
    let key = cx.name_around(input.name);
    let Some(known) = cx.around.known.as_ref().filter(|_| input.has_default) else {
        return true;
    };
    // A key with a prefix is always looked up, because other runs may have written it to the
    // session.
    Scope::of(key) != Scope::Session || known.iter().any(|known| **known == *key)
}

/// Returns `true` if the nested workflow can read an input from the key of the outer workflow, so
/// that no copy is necessary. This holds in two cases: the input is also an output, and both are
/// one key of the outer workflow; or the key has a prefix, and so belongs to the session. If the
/// instance reads one key of the outer workflow and writes another, a copy is necessary.
fn is_readable_inside(spec: &Spec<'_>, input: &InputSpec<'_>, cx: &Context) -> bool {
    let scope = cx.around.scope.as_deref();
    let is_output = spec.outputs.iter().any(|output| output.name == input.name);
    let inside = if is_output {
        stored_key(scope, input.name)
    } else {
        input.name.into()
    };
    let from = scope.map_or(Some(input.name.into()), |scope| scope.read_key(input.name));
    (is_output || Scope::of(input.name) != Scope::Session)
        && from.is_some_and(|from| from == inside)
}

fn missing_input(name: &str, cx: &Context) -> Error {
    let key = cx.name_around(name);
    let message = if name == key {
        format!("the workflow's input `{name}` reads a key that nothing has written")
    } else {
        format!("the workflow's input `{name}` reads the key `{key}`, which nothing has written")
    };
    Error::new(ErrorKind::KeyMissing, message).with_help(format!(
        "write `{key}` before it, or give the input a default"
    ))
}

/// Returns the `state` keys of the workflow. For a tree that was built at run time, these include
/// the `state` keys of the enclosing workflow.
pub(super) fn state_keys(workflow: &dyn StepTable, cx: &Context) -> Option<Arc<[Key]>> {
    let own = workflow.spec().states.iter().map(Key::from_spec);
    let around = cx.around.states.iter().filter(|_| !workflow.is_closed());
    let mut all = own
        .chain(around.flat_map(|keys| keys.iter().cloned()))
        .peekable();
    all.peek().is_some().then(|| all.collect())
}

/// Returns the keys that this workflow can write. A nested workflow uses the default of an input
/// only if no step of the outer workflow can have written the key of that name; a value that an
/// older run left in the session does not count.
pub(super) fn known_keys(spec: &Spec<'_>) -> Option<Arc<[Box<str>]>> {
    if !spec.steps.iter().any(has_defaults) {
        return None;
    }
    let inputs = spec.inputs.iter().map(|input| input.name);
    let declared = spec
        .lets
        .iter()
        .chain(spec.states)
        .chain(spec.outputs)
        .map(|key| key.name);
    let steps = spec.steps.iter().flat_map(written_keys);
    Some(inputs.chain(declared).chain(steps).map(Box::from).collect())
}
