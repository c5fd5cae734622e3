//! A workflow that is a step of another: its keys are its own, its inputs and outputs those of the other.

use super::scopes::{has_defaults, of_workflow, written};
use super::wired::Wired;
use super::{Form, Keys};
use crate::runtime::run::{Context, stored_key};
use crate::spec::{InputSpec, Key, Spec};
use crate::store::event::StateDelta;
use crate::store::session::Scope;
use crate::{BoxFuture, Error, ErrorKind, Event, EventId, Name, Result};
use std::sync::Arc;

/// Commits an event.
type Emit<'c> = BoxFuture<'c, Result<EventId>>;

/// Goes into the keys of a nested workflow. What comes back commits its inputs and `let` values, where it has some.
pub(super) fn enter<'c>(workflow: &(dyn Wired + Sync), cx: &'c mut Context) -> Result<Option<Emit<'c>>> {
    let spec = workflow.spec();
    let (mut keys, mut delta, mut wanted) = (Keys::default(), Vec::new(), Vec::new());
    for input in spec.inputs {
        let value = if may_be_known(input, cx) { cx.committed_value(input.name) } else { None };
        match value {
            Some(_) if is_there(spec, input, cx) => {}
            Some(value) => delta.push((Name::shared(input.name), value)),
            None => wanted.push(Name::shared(input.name)),
        }
    }
    if !wanted.is_empty() {
        let mut form = Form::wanting(wanted);
        workflow.form(&mut form);
        let (defaults, without) = form.defaults()?;
        if let Some(name) = without.first() {
            return Err(missing(name, cx));
        }
        keys = defaults;
    }
    workflow.lets(&mut keys)?;
    let outer = cx.scope.take();
    cx.scope = Some(Arc::new(of_workflow(spec, cx.path().name().clone(), outer)));
    let own = keys.into_delta();
    if delta.is_empty() && own.is_empty() {
        return Ok(None);
    }
    let is_given = own.is_empty();
    let mut event = Event::new();
    event.actions.state_delta = delta.into_iter().collect();
    event.actions.state_delta.extend(own);
    Ok(Some(if is_given { cx.emit_boxed(event) } else { Box::pin(cx.emit_call(async move { Ok(event) })) }))
}

/// Commits, for the workflow around, outputs that are keys of the session in here: it may call them something else.
pub(super) fn leave<'c>(spec: &Spec<'_>, cx: &'c mut Context) -> Option<Emit<'c>> {
    let mut written = StateDelta::default();
    for output in spec.outputs.iter().filter(|output| spec.states.iter().any(|key| key.name == output.name)) {
        let is_other = *stored_key(cx.scope.as_deref(), output.name) != *output.name;
        if is_other && let Some(value) = cx.run.get(output.name) {
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

/// Whether the value of an input is looked for: one with a default is, when its key can have been written.
fn may_be_known(input: &InputSpec<'_>, cx: &Context) -> bool {
    let key = cx.name_around(input.name);
    let Some(known) = cx.known.as_ref().filter(|_| input.has_default) else { return true };
    // What the session holds under a prefix is not for a workflow to know.
    Scope::of(key) != Scope::Session || known.iter().any(|known| **known == *key)
}

/// Whether the value of an input is where it is looked for inside: an output of the same name is the key of the
/// workflow around, and a key with a prefix is the session's everywhere. Not so for an instance that reads one key and
/// writes another.
fn is_there(spec: &Spec<'_>, input: &InputSpec<'_>, cx: &Context) -> bool {
    let scope = cx.scope.as_deref();
    let is_output = spec.outputs.iter().any(|output| output.name == input.name);
    let inside = if is_output { stored_key(scope, input.name) } else { input.name.into() };
    let from = scope.map_or(Some(input.name.into()), |scope| scope.read_key(input.name));
    (is_output || Scope::of(input.name) != Scope::Session) && from.is_some_and(|from| from == inside)
}

fn missing(name: &str, cx: &Context) -> Error {
    let key = cx.name_around(name);
    let message = if name == key {
        format!("the workflow's input `{name}` reads a key that nothing has written")
    } else {
        format!("the workflow's input `{name}` reads the key `{key}`, which nothing has written")
    };
    Error::new(ErrorKind::KeyMissing, message)
        .with_help(format!("write `{key}` before it, or give the input a default"))
}

/// The `state` keys in there: those of the workflow, also those around a tree that was built at run time.
pub(super) fn states(workflow: &dyn Wired, cx: &Context) -> Option<Arc<[Key]>> {
    let own = workflow.spec().states.iter().map(Key::owned);
    let around = cx.states.iter().filter(|_| !workflow.is_closed());
    let mut all = own.chain(around.flat_map(|keys| keys.iter().cloned())).peekable();
    all.peek().is_some().then(|| all.collect())
}

/// The keys that this workflow can write, for the defaults of workflows inside it: such a default applies only
/// when no key of its name can have been written, whatever an older run has left in the session.
pub(super) fn known(spec: &Spec<'_>) -> Option<Arc<[Box<str>]>> {
    if !spec.steps.iter().any(has_defaults) {
        return None;
    }
    let inputs = spec.inputs.iter().map(|input| input.name);
    let declared = spec.lets.iter().chain(spec.states).chain(spec.outputs).map(|key| key.name);
    let steps = spec.steps.iter().flat_map(written);
    Some(inputs.chain(declared).chain(steps).map(Box::from).collect())
}
