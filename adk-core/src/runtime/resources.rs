//! [`Resources`]: values that the program gives to tools, agents and callbacks, such as pools,
//! clients and settings.

use crate::spec::{ResourceSpec, Spec};
use crate::{Error, ErrorKind, Result};
use std::any::{Any, TypeId};
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// Values that a [`Runner`](crate::Runner) gives to its tools and agents.
/// `#[derive(adk::Resources)]` implements the trait for a struct and gives each field by its type.
///
/// Tools and functions take a resource as a parameter, `#[resource] db: &Pool`; hand-written
/// agents, callbacks and plugins call `cx.resource::<Pool>()`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` gives no resources",
    label = "not `Resources`",
    note = "put `#[derive(adk::Resources)]` on the struct"
)]
pub trait Resources: Send + Sync + 'static {
    /// Returns the resource of the type; `None` if the struct has no such field.
    fn get(&self, id: TypeId) -> Option<&(dyn Any + Send + Sync)>;

    /// Returns the types of all resources.
    fn types() -> Vec<ResourceSpec<'static>>
    where
        Self: Sized;

    /// Returns the types of resources that these workflows do not declare as taken. Use it in a
    /// test, since no macro sees all workflows of a program. Resources that are only taken by
    /// `cx.resource()` count as unused.
    fn unused(workflows: &[&Spec<'_>]) -> Vec<&'static str>
    where
        Self: Sized,
    {
        let taken: HashSet<TypeId> = workflows
            .iter()
            .flat_map(|spec| spec.resources())
            .map(|taken| taken.id)
            .collect();
        Self::types()
            .into_iter()
            .filter(|held| !taken.contains(&held.id))
            .map(|held| held.name)
            .collect()
    }
}

/// Resources that hold a `T`: `#[derive(adk::Resources)]` implements this trait for the type of
/// each field.
#[diagnostic::on_unimplemented(
    message = "resource-missing: `{Self}` gives no `{T}`, which a tool or agent of this workflow \
        takes",
    label = "the runner gives no `{T}`",
    note = "help: give the struct that derives `adk::Resources` a field of type `{T}`, and the \
        runner that struct: `Runner::builder().resources(...)`"
)]
pub trait Gives<T>: Resources {
    /// Returns the resource.
    fn give(&self) -> &T;
}

/// Tools, agents and workflows that only take resources which `R` gives. The macros implement the
/// trait from the resources that an item takes and the items that it holds. By hand, write an empty
/// `impl<R: ?Sized> Needs<R> for ...`; the runtime then looks for the resources when the run
/// begins.
#[diagnostic::on_unimplemented(
    message = "it is unknown whether `{R}` gives the resources that `{Self}` takes",
    label = "needs `adk::Needs<{R}>`",
    note = "help: write `W: Workflow + adk::Needs<{R}>` as the bound of a generic function; for a \
        type that implements `Workflow` by hand, write an empty `impl<R: ?Sized> adk::Needs<R> for \
        {Self} {{}}`"
)]
pub trait Needs<R: ?Sized = NoResources> {}

impl<R: ?Sized, W: Needs<R> + ?Sized> Needs<R> for Arc<W> {}

/// The resources of a runner for which the program set none.
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

    /// Returns the resource of a type.
    ///
    /// # Errors
    /// [`ErrorKind::ResourceMissing`] if the runner gives no such resource.
    pub(crate) fn get<T: Send + Sync + 'static>(&self) -> Result<&T> {
        let found = self
            .0
            .get(TypeId::of::<T>())
            .and_then(|found| found.downcast_ref());
        found.ok_or_else(|| missing_resource(std::any::type_name::<T>()))
    }

    /// Checks that the runner gives each of the resources.
    ///
    /// # Errors
    /// [`ErrorKind::ResourceMissing`] for the first resource that is missing.
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
    let message =
        format!("resource-missing: the runner gives no `{name}`, which a tool or agent takes");
    Error::new(ErrorKind::ResourceMissing, message).with_help(
        "give the runner a struct that derives `adk::Resources` and has a field of that type: \
         `Runner::builder().resources(...)`",
    )
}
