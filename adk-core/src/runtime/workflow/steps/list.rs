//! [`Steps`]: the flat list of steps of a workflow, and [`RunPart`], through which blocks run the
//! steps of their branches, elements and attempts.

use super::exit::Walked;
use super::scopes;
use super::step_table::StepTable;
use crate::runtime::run::Context;
use crate::spec::Step;
use crate::{BoxFuture, Error, ErrorKind, Name, Result};
use serde_json::Value;
use std::ops::Range;
use std::sync::Arc;

/// The steps of one workflow.
pub(crate) struct Steps<'a> {
    pub(crate) workflow: &'a (dyn StepTable + Sync),
    pub(crate) steps: &'a [Step<'a>],
}

/// Runs a part of a block in a context of its own. The walk implements this trait, so that blocks
/// do not depend on the walk.
pub(crate) trait RunPart {
    /// Runs the steps of one branch, element or attempt. An element has an item with a value.
    fn run_part<'s>(
        &'s self,
        steps: Range<usize>,
        item: Option<(Name, Arc<Value>)>,
        own: Context,
    ) -> BoxFuture<'s, Result<Walked>>;
}

impl Steps<'_> {
    /// Returns the steps of each branch of a `parallel`, or of each arm of a `match`, without the
    /// steps that mark their begin and end.
    pub(crate) fn parts(&self, block: usize) -> impl Iterator<Item = Range<usize>> {
        let (mut at, end) = (block + 1, self.steps[block].end);
        std::iter::from_fn(move || {
            let marker = (at < end).then(|| &self.steps[at])?;
            let part = at + 1..marker.end;
            at = marker.end + 1;
            Some(part)
        })
    }

    /// Makes the error for a defect in a workflow that no macro has generated.
    pub(crate) fn defect(&self, at: usize, why: &str) -> Error {
        let message = format!("step {at} of `{}` {why}", self.workflow.spec().name);
        Error::new(ErrorKind::Config, message)
    }

    /// Returns the names of the steps of a branch.
    pub(crate) fn step_names(&self, branch: &Range<usize>) -> Vec<Name> {
        let (mut names, mut at) = (Vec::new(), branch.start);
        while at < branch.end {
            names.push(self.workflow.name(at));
            at = self.steps[at].end + 1;
        }
        names
    }

    /// Returns the keys that the steps can write, sorted.
    pub(crate) fn written_keys(&self, steps: Range<usize>) -> Vec<Name> {
        let steps = self.steps.get(steps).unwrap_or_default();
        let keys = steps.iter().flat_map(scopes::written_keys);
        let mut keys: Vec<_> = keys.map(Name::shared).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}

/// Boxes a future outside of the frame that awaits it. Frames that hold such futures would be
/// large, and workflows may be nested deep.
#[inline(never)]
pub(crate) fn boxed<'a, F: Future + Send + 'a>(
    make: impl FnOnce() -> F,
) -> BoxFuture<'a, F::Output> {
    Box::pin(make())
}
