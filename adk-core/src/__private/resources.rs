//! Resources in the expansions of tools and functions.

use crate::runtime::resources::SharedResources;
use crate::{Context, Result, ToolContext};

pub use crate::runtime::resources::{Gives, Needs, Resources};
pub use adk_spec::spec::ResourceSpec;

/// The resources of a run, from which a function or a tool takes its own. The type borrows nothing,
/// so the work may run on any thread.
#[derive(Debug)]
pub struct RunResources(SharedResources);

/// Returns the resources of an agent's run.
pub fn run_resources(cx: &Context) -> RunResources {
    RunResources(cx.resources().clone())
}

/// Returns the resources of a tool call's run.
pub fn call_resources(cx: &ToolContext) -> RunResources {
    RunResources(cx.resources().clone())
}

impl RunResources {
    /// Returns the resource of type `T`.
    ///
    /// # Errors
    /// Fails if the runner has no such resource.
    pub fn take<T: Send + Sync + 'static>(&self) -> Result<&T> {
        self.0.get()
    }
}

/// An agent or a tool that declares its resources and therefore implements [`Needs`]. The resources
/// of other types are checked when a run begins.
pub trait DeclaresNeeds {}

/// The type whose [`Needs`] a workflow requires of a step or a tool:
/// `<T as NeedsOf<{ ItemFacts::<T>::NEEDS }>>::Type`.
pub trait NeedsOf<const SAYS: bool> {
    /// The type itself, or [`NoNeeds`].
    type Type;
}

impl<T> NeedsOf<true> for T {
    type Type = T;
}

impl<T> NeedsOf<false> for T {
    type Type = NoNeeds;
}

/// A type that needs no resources.
#[derive(Debug)]
pub enum NoNeeds {}

impl<R: ?Sized> Needs<R> for NoNeeds {}
