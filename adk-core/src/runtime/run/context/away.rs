//! [`RemoteBranchSearch`]: the descent of a context to a remote branch in the process that executes
//! the branch.

use super::Context;
use crate::store::engine::{BranchEnd, BranchTask};
use crate::{At, Error, ErrorKind, Name, Path, Result};
use std::sync::Arc;

/// The remote branch that a context descends to, and the progress of the descent.
pub(crate) struct Seek {
    task: Arc<BranchTask>,
    /// The steps of the path, from the root down.
    nodes: Vec<(Name, At)>,
    /// The number of passed nodes.
    passed: usize,
    end: Option<BranchEnd>,
}

impl Context {
    /// Creates the task of the branch that this context was made for.
    pub(crate) fn branch_task(&self, path: Path) -> BranchTask {
        let root = std::iter::successors(Some(&path), |path| path.parent()).last().unwrap_or(&path);
        let written = self.scope.iter().flat_map(|scope| scope.written_outward()).collect();
        let branch = self.branch.clone().unwrap_or_default();
        let workflow = root.name().clone();
        let trace = self.trace.as_ref().and_then(|span| span.context());
        BranchTask { written, trace, ..self.run.branch_task(workflow, path, branch) }
    }

    /// Makes this root context descend to a branch, and do nothing else.
    pub(crate) fn seeking(mut self, task: Arc<BranchTask>) -> Self {
        let all = std::iter::successors(Some(&task.path), |path| path.parent());
        let mut nodes: Vec<_> = all.map(|path| (path.name().clone(), path.at())).collect();
        nodes.reverse();
        self.seek = Some(Box::new(Seek { task, nodes, passed: 1, end: None }));
        self
    }

    /// Returns the next step of the path, and moves to it.
    pub(crate) fn next_sought(&mut self) -> Option<Name> {
        let name = self.peek_sought()?;
        self.seek.as_mut()?.passed += 1;
        Some(name)
    }

    /// Returns the next step of the path.
    pub(crate) fn peek_sought(&self) -> Option<Name> {
        let seek = self.seek.as_ref()?;
        seek.nodes.get(seek.passed).map(|(name, _)| name.clone())
    }

    /// Returns the round of the current step.
    pub(crate) fn sought_at(&self) -> At {
        let here = self.seek.as_ref().and_then(|seek| seek.nodes.get(seek.passed.checked_sub(1)?));
        here.map_or(At::Once, |(_, at)| *at)
    }

    /// Returns whether the current step is the branch.
    pub(crate) fn is_sought(&self) -> bool {
        self.seek.as_ref().is_some_and(|seek| seek.passed == seek.nodes.len())
    }

    /// Returns whether the next step is the whole branch, and not an element of the step.
    pub(crate) fn is_last_sought(&self) -> bool {
        let Some(seek) = &self.seek else { return false };
        seek.passed + 1 == seek.nodes.len() && matches!(seek.nodes.last(), Some((_, At::Once)))
    }

    /// Returns the path of the branch, for an error.
    pub(crate) fn sought(&self) -> String {
        self.seek.as_ref().map_or_else(String::new, |seek| seek.task.path.to_string())
    }

    /// Continues as one of the branches of the current block, in place of the old context.
    pub(crate) fn become_branch(&mut self, mut own: Self) {
        own.seek = self.seek.take();
        drop(std::mem::replace(self, own));
    }

    /// Ends the descent at the branch: takes over the writes of its scopes, and returns the search.
    pub(crate) fn arrive(&mut self) -> Result<Option<Box<Seek>>> {
        let seek = self.seek.take();
        let Some(task) = seek.as_ref().map(|seek| &seek.task) else { return Ok(None) };
        let own = self.branch.as_deref().unwrap_or_default();
        if *own != *task.branch {
            let message =
                format!("the branch at `{}` is called `{own}` here, and not `{}`", task.path, task.branch);
            return Err(Error::new(ErrorKind::TopologyChanged, message).at(&self.frame.path));
        }
        if let Some(scope) = &self.scope {
            scope.wrote_outward(&task.written);
        }
        Ok(seek)
    }

    /// Keeps the end of the branch.
    pub(crate) fn found(&mut self, seek: Option<Box<Seek>>, end: BranchEnd) {
        self.seek = seek.map(|seek| Box::new(Seek { end: Some(end), ..*seek }));
    }

    /// Takes the end of the branch.
    pub(crate) fn take_found(&mut self) -> Option<BranchEnd> {
        self.seek.take().and_then(|seek| seek.end)
    }
}
