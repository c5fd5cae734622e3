//! [`RemoteBranchSearch`]: the descent of a context to a remote branch in the process that executes
//! the branch.

use super::Context;
use crate::store::engine::{BranchEnd, BranchTask};
use crate::{At, Error, ErrorKind, Name, Path, Result};
use std::sync::Arc;

/// The remote branch that a context descends to, and the progress of the descent.
pub(crate) struct RemoteBranchSearch {
    task: Arc<BranchTask>,
    /// The steps of the path, from the root down.
    nodes: Vec<(Name, At)>,
    /// The number of steps of the path that the context has reached.
    passed: usize,
    end: Option<BranchEnd>,
}

impl Context {
    /// Creates the task of the branch that this context was made for.
    pub(crate) fn branch_task(&self, path: Path) -> BranchTask {
        let root = std::iter::successors(Some(&path), |path| path.parent())
            .last()
            .unwrap_or(&path);
        let written = self
            .around
            .scope
            .iter()
            .flat_map(|scope| scope.written_keys())
            .collect();
        let branch = self.branch.clone().unwrap_or_default();
        let workflow = root.name().clone();
        let trace = self.trace.as_ref().and_then(|span| span.context());
        let mut task = self.run.branch_task(workflow, path, branch);
        task.written = written;
        task.trace = trace;
        task
    }

    /// Makes this root context descend to a branch, and do nothing else.
    pub(crate) fn search_for(mut self, task: Arc<BranchTask>) -> Self {
        let all = std::iter::successors(Some(&task.path), |path| path.parent());
        let mut nodes: Vec<_> = all.map(|path| (path.name().clone(), path.at())).collect();
        nodes.reverse();
        self.search = Some(Box::new(RemoteBranchSearch {
            task,
            nodes,
            passed: 1,
            end: None,
        }));
        self
    }

    /// Returns the next step on the path to the branch, and moves to the step.
    pub(crate) fn next_sought(&mut self) -> Option<Name> {
        let name = self.peek_sought()?;
        self.search.as_mut()?.passed += 1;
        Some(name)
    }

    /// Returns the next step on the path to the branch.
    pub(crate) fn peek_sought(&self) -> Option<Name> {
        let search = self.search.as_ref()?;
        search
            .nodes
            .get(search.passed)
            .map(|(name, _)| name.clone())
    }

    /// Returns the round of the current step.
    pub(crate) fn sought_at(&self) -> At {
        let here = self
            .search
            .as_ref()
            .and_then(|search| search.nodes.get(search.passed.checked_sub(1)?));
        here.map_or(At::Once, |(_, at)| *at)
    }

    /// Returns whether the current step is the branch.
    pub(crate) fn is_sought(&self) -> bool {
        self.search
            .as_ref()
            .is_some_and(|search| search.passed == search.nodes.len())
    }

    /// Returns whether the next step is the whole branch, and not an element of the step.
    pub(crate) fn is_last_sought(&self) -> bool {
        let Some(search) = &self.search else {
            return false;
        };
        search.passed + 1 == search.nodes.len()
            && matches!(search.nodes.last(), Some((_, At::Once)))
    }

    /// Returns the path of the branch that the context descends to, for an error message.
    pub(crate) fn sought_path(&self) -> String {
        self.search
            .as_ref()
            .map_or_else(String::new, |search| search.task.path.to_string())
    }

    /// Continues as one of the branches of the current block, in place of the old context.
    pub(crate) fn become_branch(&mut self, mut own: Self) {
        own.search = self.search.take();
        drop(std::mem::replace(self, own));
    }

    /// Ends the descent at the branch. Marks the keys that were written in the sending process as
    /// written, and returns the search.
    pub(crate) fn arrive(&mut self) -> Result<Option<Box<RemoteBranchSearch>>> {
        let search = self.search.take();
        let Some(task) = search.as_ref().map(|search| &search.task) else {
            return Ok(None);
        };
        let own = self.branch.as_deref().unwrap_or_default();
        if *own != *task.branch {
            let message = format!(
                "the branch at `{}` is called `{own}` here, and not `{}`",
                task.path, task.branch
            );
            return Err(Error::new(ErrorKind::TopologyChanged, message).at(&self.frame.path));
        }
        if let Some(scope) = &self.around.scope {
            scope.mark_all_written(&task.written);
        }
        Ok(search)
    }

    /// Stores how the branch ended, for [`take_branch_end`](Self::take_branch_end).
    pub(crate) fn set_branch_end(
        &mut self,
        search: Option<Box<RemoteBranchSearch>>,
        end: BranchEnd,
    ) {
        self.search = search.map(|search| {
            Box::new(RemoteBranchSearch {
                end: Some(end),
                ..*search
            })
        });
    }

    /// Takes the stored end of the branch.
    pub(crate) fn take_branch_end(&mut self) -> Option<BranchEnd> {
        self.search.take().and_then(|search| search.end)
    }
}
