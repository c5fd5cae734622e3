//! [`Surroundings`]: what the enclosing workflows give to an agent; and [`Entered`], a context in
//! which a part is replaced for some time.

use super::Context;
use crate::Name;
use crate::runtime::run::{AnnouncedKeys, Inherited, KeyScope, Meter, TraceSpan};
use crate::spec::Key;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// What the enclosing workflows give to an agent: its keys, its settings and its limits.
#[derive(Clone, Default)]
pub(crate) struct Surroundings {
    /// The stored keys to which the names of the agent belong.
    pub(crate) scope: Option<Arc<KeyScope>>,
    /// The keys that the enclosing workflow can write. Set only if the defaults of a nested
    /// workflow need them.
    pub(crate) known: Option<Arc<[Box<str>]>>,
    /// The `state` keys of the enclosing workflow, which callbacks may write.
    pub(crate) states: Option<Arc<[Key]>>,
    /// The settings that the agent inherits from its ancestors.
    pub(crate) inherited: Option<Arc<Inherited>>,
    /// The meter of the enclosing workflows, if one of them has bounds.
    pub(crate) meter: Option<Arc<Meter>>,
    /// Whether the tree was built without flow checks. Agents may then end loops without an
    /// announcement.
    pub(crate) unchecked: bool,
}

/// A part of a [`Context`] that is replaced for the time of a workflow, a block or a turn.
pub(crate) trait ContextPart: Sized {
    /// Returns the part.
    fn part(cx: &mut Context) -> &mut Self;

    /// Puts the outer value back, and leaves the inner value in its place.
    fn restore(cx: &mut Context, outer: &mut Self) {
        mem::swap(Self::part(cx), outer);
    }
}

macro_rules! part {
    ($part:ty, $cx:ident => $place:expr) => {
        impl ContextPart for $part {
            fn part($cx: &mut Context) -> &mut Self {
                &mut $place
            }
        }
    };
}
part!(Surroundings, cx => cx.around);
part!(Option<Arc<KeyScope>>, cx => cx.around.scope);
part!(Option<Arc<Inherited>>, cx => cx.around.inherited);
part!(Option<Arc<Meter>>, cx => cx.around.meter);
part!(Option<AnnouncedKeys>, cx => cx.frame.announced);
part!(Option<Arc<TraceSpan>>, cx => cx.trace);
// The prefix of names inside of an instance.
part!(Option<Name>, cx => cx.instance);

/// A context in which a part is replaced. Its drop puts the outer part back, also if a future that
/// holds the context is dropped before its end.
pub(crate) struct Entered<'c, P: ContextPart> {
    cx: &'c mut Context,
    outer: P,
}

impl Context {
    /// Replaces a part of the context until the returned value is dropped.
    pub(crate) fn enter<P: ContextPart>(&mut self, inner: P) -> Entered<'_, P> {
        let outer = mem::replace(P::part(self), inner);
        Entered { cx: self, outer }
    }
}

impl<P: ContextPart> Entered<'_, P> {
    /// Returns the part that the drop puts back.
    pub(crate) fn outer(&self) -> &P {
        &self.outer
    }
}

impl<P: ContextPart> Deref for Entered<'_, P> {
    type Target = Context;

    fn deref(&self) -> &Context {
        self.cx
    }
}

impl<P: ContextPart> DerefMut for Entered<'_, P> {
    fn deref_mut(&mut self) -> &mut Context {
        self.cx
    }
}

impl<P: ContextPart> Drop for Entered<'_, P> {
    fn drop(&mut self) {
        P::restore(self.cx, &mut self.outer);
    }
}
