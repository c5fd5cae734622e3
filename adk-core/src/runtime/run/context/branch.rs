//! The contexts of branches and elements, and [`Cut`], which ends a branch in the middle of its
//! agent.

use super::{Context, Frame};
use crate::runtime::run::{KeyScope, Overlay, Run};
use crate::store::event::Event;
use crate::{At, Path};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};

impl Context {
    /// Creates the context of a branch of the parallel block at this path: `outer.block.child`, as
    /// in ADK. `index` is the number of the branch in source order.
    pub(crate) fn for_branch(&self, index: u32, child: &str) -> Self {
        let mut own = self.split(Some(&[self.frame.path.name(), ".", child]));
        own.frame.path = self.frame.path.in_branch(index);
        own
    }

    /// Creates a context for steps of the block at this path that have no branch of their own:
    /// `outer/try_1#2`.
    pub(crate) fn for_steps(&self, at: At) -> Self {
        let mut own = self.split(None);
        own.frame.path = self.frame.path.with(at);
        own.frame.author.clone_from(&self.frame.author);
        own
    }

    /// Returns the keys that the enclosing workflow can write, together with `key`.
    pub(crate) fn known_with(&self, key: &str) -> Option<Arc<[Box<str>]>> {
        self.around
            .known
            .as_ref()
            .map(|known| known.iter().cloned().chain([key.into()]).collect())
    }

    /// Creates the context of an element of the `each` at this path: `outer.each_1[3]`.
    pub(crate) fn for_element(&self, index: u32, scope: Arc<KeyScope>) -> Self {
        let mut own = self.split(Some(&[self.frame.path.name(), &format!("[{index}]")]));
        own.frame.path = self.frame.path.with(At::Item(index));
        own.frame.author.clone_from(&self.frame.author);
        own.around.scope = Some(scope);
        own
    }

    /// Copies the context. `branch` is appended to the name of the branch.
    fn split(&self, branch: Option<&[&str]>) -> Self {
        self.run.outbox().live.fetch_add(1, Relaxed);
        let branch = match (&self.branch, branch) {
            (outer, None) => outer.clone(),
            (Some(outer), Some(branch)) => Some([&[outer, "."], branch].concat().concat().into()),
            (None, Some(branch)) => Some(branch.concat().into()),
        };
        Self {
            run: self.run.clone(),
            around: self.around.clone(),
            branch,
            instance: self.instance.clone(),
            frame: Frame::new(
                self.frame.path.clone(),
                self.frame.is_addressable,
                0,
                self.run.new_cell(),
            ),
            overlay: Overlay::default(),
            search: None,
            cut: None,
            trace: self.trace.clone(),
            written: Vec::new(),
        }
    }

    /// Stops counting this context as live while its branches run, because the context cannot
    /// continue before them.
    pub(crate) fn join_branches(&self) -> Joining<'_> {
        self.run.outbox().live.fetch_sub(1, Relaxed);
        Joining(&self.run)
    }
}

/// The end of a branch of a parallel block by an escalate of its direct child. As in ADK, the
/// escalating event ends the branch in the middle of the child's turn.
#[derive(Debug)]
pub(crate) struct Cut {
    block: Path,
    by: OnceLock<Path>,
}

impl Cut {
    /// Creates the cut of a branch of the parallel block at that path.
    pub(crate) fn new(block: Path) -> Arc<Self> {
        Arc::new(Self {
            block,
            by: OnceLock::new(),
        })
    }

    /// Returns the path of the agent that ended the branch.
    pub(crate) fn ended_by(&self) -> Option<&Path> {
        self.by.get()
    }

    pub(super) fn note(&self, event: &Event, frame: &Frame) {
        if event.actions.escalates() && frame.path.parent() == Some(&self.block) {
            let _ = self.by.set(frame.path.clone());
        }
    }

    /// Never returns if the current agent has ended the branch by an escalate. The block then drops
    /// the future of the branch.
    pub(super) async fn wait_if_ended(&self, frame: &Frame) {
        if self.by.get() == Some(&frame.path) {
            std::future::pending().await
        }
    }
}

/// A guard whose drop counts the context of the block as live again.
pub(crate) struct Joining<'a>(&'a Run);

impl Drop for Joining<'_> {
    fn drop(&mut self) {
        self.0.outbox().live.fetch_add(1, Relaxed);
    }
}
