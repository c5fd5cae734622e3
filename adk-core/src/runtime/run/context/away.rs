//! The task of a remote branch, and the context of the other process on its way down to that branch.

use super::Context;
use crate::store::engine::{BranchEnd, BranchTask};
use crate::{At, Error, ErrorKind, Name, Path, Result};
use std::sync::Arc;

/// The branch that a context is on its way to.
pub(crate) struct Seek {
    task: Arc<BranchTask>,
    /// From the root down.
    nodes: Vec<(Name, At)>,
    /// How many of them are passed.
    passed: usize,
    end: Option<BranchEnd>,
}

impl Context {
    /// The task of the branch that this context was made for.
    pub(crate) fn branch_task(&self, path: Path) -> BranchTask {
        let root = std::iter::successors(Some(&path), |path| path.parent()).last().unwrap_or(&path);
        let written = self.scope.iter().flat_map(|scope| scope.written_outward()).collect();
        let branch = self.branch.clone().unwrap_or_default();
        let workflow = root.name().clone();
        let trace = self.trace.as_ref().and_then(|span| span.context());
        BranchTask { written, trace, ..self.run.branch_task(workflow, path, branch) }
    }

    /// A root that only goes down to a branch.
    pub(crate) fn seeking(mut self, task: Arc<BranchTask>) -> Self {
        let all = std::iter::successors(Some(&task.path), |path| path.parent());
        let mut nodes: Vec<_> = all.map(|path| (path.name().clone(), path.at())).collect();
        nodes.reverse();
        self.seek = Some(Box::new(Seek { task, nodes, passed: 1, end: None }));
        self
    }

    /// The next place on the way, which is gone to now.
    pub(crate) fn next_sought(&mut self) -> Option<Name> {
        let name = self.peek_sought()?;
        self.seek.as_mut()?.passed += 1;
        Some(name)
    }

    /// The next place on the way.
    pub(crate) fn peek_sought(&self) -> Option<Name> {
        let seek = self.seek.as_ref()?;
        seek.nodes.get(seek.passed).map(|(name, _)| name.clone())
    }

    /// The round of the current place.
    pub(crate) fn sought_at(&self) -> At {
        let here = self.seek.as_ref().and_then(|seek| seek.nodes.get(seek.passed.checked_sub(1)?));
        here.map_or(At::Once, |(_, at)| *at)
    }

    /// Whether this is the place that was looked for.
    pub(crate) fn is_sought(&self) -> bool {
        self.seek.as_ref().is_some_and(|seek| seek.passed == seek.nodes.len())
    }

    /// Whether the next place is the one, as a whole and not an element of it.
    pub(crate) fn is_last_sought(&self) -> bool {
        let Some(seek) = &self.seek else { return false };
        seek.passed + 1 == seek.nodes.len() && matches!(seek.nodes.last(), Some((_, At::Once)))
    }

    /// What is looked for, for an error.
    pub(crate) fn sought(&self) -> String {
        self.seek.as_ref().map_or_else(String::new, |seek| seek.task.path.to_string())
    }

    /// Continues as one of the branches of the current block, in place of the old context.
    pub(crate) fn become_branch(&mut self, mut own: Self) {
        own.seek = self.seek.take();
        drop(std::mem::replace(self, own));
    }

    /// Arrives at the branch: takes over the writes of its scopes, and returns the search.
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

    /// The branch that was looked for has ended.
    pub(crate) fn found(&mut self, seek: Option<Box<Seek>>, end: BranchEnd) {
        self.seek = seek.map(|seek| Box::new(Seek { end: Some(end), ..*seek }));
    }

    /// How the branch has ended that was looked for.
    pub(crate) fn take_found(&mut self) -> Option<BranchEnd> {
        self.seek.take().and_then(|seek| seek.end)
    }
}
