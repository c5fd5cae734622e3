//! What tools, agents and callbacks take from the program: pools, clients, settings.

use crate::spec::{ResourceSpec, Spec};
use crate::{Error, ErrorKind, Result};
use std::any::{Any, TypeId};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// What a [`Runner`](crate::Runner) gives to the tools and agents that it runs: `#[derive(adk::Resources)]` implements it
/// for a struct, of which it gives each field by its type.
///
/// Tools and functions take one by a parameter, `#[resource] db: &Pool`; agents that are written by hand, callbacks and
/// plugins by `cx.resource::<Pool>()`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` gives no resources",
    label = "not `Resources`",
    note = "put `#[derive(adk::Resources)]` on the struct"
)]
pub trait Resources: Send + Sync + 'static {
    /// The resource of that type; `None` when there is none.
    fn get(&self, id: TypeId) -> Option<&(dyn Any + Send + Sync)>;

    /// The types that it gives.
    fn types() -> Vec<ResourceSpec<'static>>
    where
        Self: Sized;

    /// The types that it gives and that nothing in these workflows says it takes: for a test, since no macro sees all
    /// workflows of a program. What is taken by `cx.resource()` alone is not seen either.
    fn unused(workflows: &[&Spec<'_>]) -> Vec<&'static str>
    where
        Self: Sized,
    {
        let taken: HashSet<TypeId> =
            workflows.iter().flat_map(|spec| spec.resources()).map(|taken| taken.id).collect();
        Self::types().into_iter().filter(|held| !taken.contains(&held.id)).map(|held| held.name).collect()
    }
}

/// Resources that hold a `T`: `#[derive(adk::Resources)]` implements it for the type of each field.
#[diagnostic::on_unimplemented(
    message = "resource-missing: `{Self}` gives no `{T}`, which a tool or agent of this workflow takes",
    label = "the runner gives no `{T}`",
    note = "help: give the struct that derives `adk::Resources` a field of type `{T}`, and the runner that struct: `Runner::builder().resources(...)`"
)]
pub trait Gives<T>: Resources {
    /// The resource.
    fn give(&self) -> &T;
}

/// What takes from the program only what `R` gives. The macros implement it for tools, agents and workflows, from what they
/// take and hold; by hand it is an empty `impl<R: ?Sized> Needs<R> for ...`, and what is taken is looked for when the run
/// begins.
#[diagnostic::on_unimplemented(
    message = "it is not known whether `{R}` gives what `{Self}` takes",
    label = "needs `adk::Needs<{R}>`",
    note = "a generic function asks for it beside `Workflow`: `W: Workflow + adk::Needs<{R}>`; of a type that implements `Workflow` by hand it is an empty `impl<R: ?Sized> adk::Needs<R> for {Self} {{}}`"
)]
pub trait Needs<R: ?Sized = NoResources> {}

impl<R: ?Sized, W: Needs<R> + ?Sized> Needs<R> for Arc<W> {}

/// The resources of a runner that was given none.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoResources;

impl Resources for NoResources {
    fn get(&self, _: TypeId) -> Option<&(dyn Any + Send + Sync)> {
        None
    }

    fn types() -> Vec<ResourceSpec<'static>> {
        Vec::new()
    }
}

/// The resources of a run, of any type.
#[derive(Clone)]
pub(crate) struct SharedResources(Arc<dyn Resources>);

impl SharedResources {
    pub(crate) fn new(resources: impl Resources) -> Self {
        Self(Arc::new(resources))
    }

    /// The resource of a type.
    ///
    /// # Errors
    /// [`ErrorKind::ResourceMissing`] when there is none.
    pub(crate) fn get<T: Send + Sync + 'static>(&self) -> Result<&T> {
        let found = self.0.get(TypeId::of::<T>()).and_then(|found| found.downcast_ref());
        found.ok_or_else(|| missing_resource(std::any::type_name::<T>()))
    }

    /// Sees that each of these is there.
    ///
    /// # Errors
    /// [`ErrorKind::ResourceMissing`] for the first that is not.
    pub(crate) fn check(&self, taken: &[ResourceSpec<'_>]) -> Result<()> {
        let absent = taken.iter().find(|taken| self.0.get(taken.id).is_none());
        absent.map_or(Ok(()), |taken| Err(missing_resource(taken.name)))
    }
}

impl fmt::Debug for SharedResources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Resources")
    }
}

#[cold]
fn missing_resource(name: &str) -> Error {
    let message = format!("resource-missing: the runner gives no `{name}`, which is taken here");
    Error::new(ErrorKind::ResourceMissing, message).with_help(
        "give it a struct that derives `adk::Resources` and has a field of that type: `Runner::builder().resources(...)`",
    )
}
