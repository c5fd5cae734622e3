//! [`CallStep`]: a recorded tool call; and [`Caller`], the agent that makes it.

use super::{Context, Meter};
use crate::store::engine::{CallKind, CallLabel};
use crate::store::event::StateDelta;
use crate::{Name, Path};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// The agent that makes an update, with its path and branch.
#[derive(Clone, Copy)]
pub(crate) struct Caller<'a> {
    pub(crate) agent: &'a Name,
    pub(crate) path: &'a Path,
    pub(crate) branch: &'a Option<Arc<str>>,
}

/// The recorded tool call of an agent: `tool.add@2`.
#[derive(Debug)]
pub(crate) struct CallStep {
    pub(super) kind: CallKind,
    pub(super) name: Name,
    pub(super) index: u32,
    /// The meter of the enclosing workflows.
    pub(crate) meter: Option<Arc<Meter>>,
    /// The keys that earlier calls of the turn have set and not committed. This call sees them.
    pub(crate) seen: StateDelta,
    /// Whether the call was made in this execution, and not answered from its record.
    is_made: AtomicBool,
}

impl CallStep {
    /// Returns the next call of that kind and name by the current agent.
    pub(crate) fn next(
        cx: &Context,
        kind: CallKind,
        name: &Name,
        seen: Option<&StateDelta>,
    ) -> Arc<Self> {
        let (meter, is_made) = (cx.around.meter.clone(), AtomicBool::new(false));
        let seen = seen.cloned().unwrap_or_default();
        let index = cx.frame.calls.next(kind, name);
        Arc::new(Self {
            kind,
            name: name.clone(),
            index,
            meter,
            seen,
            is_made,
        })
    }

    /// Executes the call, and marks it as made.
    pub(crate) async fn execute<T>(self: Arc<Self>, work: impl Future<Output = T>) -> T {
        self.is_made.store(true, Relaxed);
        work.await
    }

    pub(crate) fn is_made(&self) -> bool {
        self.is_made.load(Relaxed)
    }
}

impl fmt::Display for CallStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind, name, index, ..
        } = self;
        CallLabel {
            within: None,
            kind: *kind,
            name,
            index: *index,
        }
        .fmt(f)
    }
}
