//! [`Prepare`]: the checks before the first step of a run.

use super::{Inherited, Run};
use crate::model::ModelRef;
use crate::spec::{ResourceSpec, Step};
use crate::{At, BoxFuture, Error, ErrorKind, Name, Path, Result};
use adk_spec::__private::{LIVE_HELP, describe_live_block};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// The checks of agents before the first step of a run.
pub struct Prepare<'a> {
    run: &'a Run,
    without_model: Vec<Path>,
    path: Path,
    inherited: Option<Arc<Inherited>>,
    /// Whether the agent is used as a tool, or is part of such an agent.
    pub(crate) is_tool: bool,
    error: Option<Error>,
    /// Makes the default of the `await` that was checked last.
    pub(crate) default: Option<fn() -> Result<Value>>,
    /// Work to await before the first step, with the paths that requested it.
    awaited: Vec<(Path, BoxFuture<'static, Result<()>>)>,
}

impl<'a> Prepare<'a> {
    pub(crate) fn new(run: &'a Run, root: Path) -> Self {
        Self {
            run,
            without_model: Vec::new(),
            path: root,
            inherited: None,
            is_tool: run.kind.is_nested(),
            error: None,
            default: None,
            awaited: Vec::new(),
        }
    }

    /// Goes to a step below the current path, and returns the path for [`leave`](Self::leave).
    pub(crate) fn enter(&mut self, name: Name) -> Path {
        let inner = self.path.child(name, At::Once);
        std::mem::replace(&mut self.path, inner)
    }

    /// Returns the current path for [`leave`](Self::leave), without a move.
    pub(crate) fn here(&self) -> Path {
        self.path.clone()
    }

    /// Returns to the path from before [`enter`](Self::enter).
    pub(crate) fn leave(&mut self, outer: Path) {
        self.path = outer;
    }

    /// Returns the path of the current agent.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the settings that the current agent inherits.
    pub(crate) fn inherited(&self) -> Option<&Arc<Inherited>> {
        self.inherited.as_ref()
    }

    /// Checks an agent below the current one, with the settings that it inherits.
    pub(crate) fn check_below(
        &mut self,
        path: Path,
        inherited: Option<Arc<Inherited>>,
        look: impl FnOnce(&mut Self),
    ) {
        let (path, inherited) = (
            std::mem::replace(&mut self.path, path),
            std::mem::replace(&mut self.inherited, inherited),
        );
        look(self);
        (self.path, self.inherited) = (path, inherited);
    }

    /// Checks an agent that the current one uses as a tool. Such an agent inherits nothing.
    pub(crate) fn check_tool(&mut self, name: Name, look: impl FnOnce(&mut Self)) {
        let is_tool = std::mem::replace(&mut self.is_tool, true);
        self.check_below(self.path.child(name, At::Once), None, look);
        self.is_tool = is_tool;
    }

    /// Checks that an agent has a model, either its own or an inherited one, and that its fallback
    /// models exist.
    pub(crate) fn needs_model(&mut self, own: Option<&ModelRef>, fallback: &[ModelRef]) {
        let inherited = self.inherited.clone();
        let own = own.or(inherited
            .as_ref()
            .and_then(|inherited| inherited.model.as_ref()));
        match self.run.services.models.chain(own, fallback) {
            Ok(Some(_)) => {}
            Ok(None) => self.without_model.push(self.path.clone()),
            Err(error) => {
                self.fail(error);
            }
        }
    }

    /// Checks that the runner has the resources of an agent or tool.
    pub(crate) fn needs_resources(&mut self, taken: &[ResourceSpec<'_>]) {
        if let Err(error) = self.run.services.resources.check(taken) {
            self.fail(error);
        }
    }

    /// Checks the state of the run before the first step. An error of `check` rejects the run.
    pub(crate) fn check(&mut self, check: impl FnOnce(&Run) -> Result<()>) {
        if let Err(error) = check(self.run) {
            self.fail(error);
        }
    }

    /// Rejects a live run of a block that cannot run live.
    pub(crate) fn block(&mut self, block: &Step<'_>) {
        if self.run.kind.live().is_some()
            && let Some(message) = describe_live_block(block)
        {
            self.fail(Error::new(ErrorKind::LiveLoop, message).with_help(LIVE_HELP));
        }
    }

    /// Rejects the run.
    pub fn fail(&mut self, error: Error) {
        let error = error.at(&self.path);
        self.error.get_or_insert(error);
    }

    /// Makes the run wait for `work` before its first step. An error of `work` rejects the run.
    pub(crate) fn awaits(&mut self, work: BoxFuture<'static, Result<()>>) {
        self.awaited.push((self.path.clone(), work));
    }

    /// Returns the first error of the checks. Otherwise the run may begin after the returned future
    /// has completed.
    pub(crate) fn finish(self) -> Result<impl Future<Output = Result<()>> + Send + 'static> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if self.without_model.is_empty() {
            let awaited = self.awaited;
            return Ok(async move {
                for (path, work) in awaited {
                    work.await.map_err(|error| error.at(&path))?;
                }
                Ok(())
            });
        }
        let names: Vec<_> = self
            .without_model
            .iter()
            .map(|path| format!("`{path}`"))
            .collect();
        let message = format!("no model for {}", names.join(", "));
        Err(Error::new(ErrorKind::NoModel, message).with_help(
            "give one to the runner, `Runner::builder().model(...)`, or to the agent, `model: ...`",
        ))
    }
}

impl fmt::Debug for Prepare<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Prepare({})", self.path)
    }
}
