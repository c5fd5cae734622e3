//! [`Effects`]: what callbacks and tool calls can read and change.

use super::{
    Artifacts, CallCounts, CallStep, Caller, KeyScope, MarkCell, Marks, Overlay, Run, State,
    UpdatedKeys, Updates, WriteRules, Writer, WriterKind, record_call,
};
use crate::memory::MemoryEntry;
use crate::store::engine::{CallInputs, CallKind};
use crate::{Error, Name, Path, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::mem::take;
use std::sync::Arc;

/// The agent of a callback or a tool call.
#[derive(Clone)]
pub(crate) struct CallerPlace {
    pub(crate) agent: Name,
    pub(crate) path: Path,
    pub(crate) branch: Option<Arc<str>>,
}

impl CallerPlace {
    pub(crate) fn caller(&self) -> Caller<'_> {
        Caller {
            agent: &self.agent,
            path: &self.path,
            branch: &self.branch,
        }
    }
}

/// The run as a callback or a tool call sees it, with its uncommitted changes.
#[derive(Clone)]
pub(crate) struct Effects {
    pub(crate) run: Arc<Run>,
    pub(crate) scope: Option<Arc<KeyScope>>,
    pub(crate) by: CallerPlace,
    pub(crate) overlay: Overlay,
    /// The updated stored keys, and for a tool call their new values, one entry per update.
    pub(crate) updated: Vec<(Name, Value)>,
    /// The writes that callbacks may make.
    pub(crate) rules: WriteRules,
    pub(crate) records: Records,
    /// The marks of all that the turn or the call has read; `None` in a workflow without guards.
    pub(crate) marks: Option<Arc<MarkCell>>,
}

/// The form in which side effects are recorded.
#[derive(Clone, Debug)]
pub(crate) enum Records {
    /// Side effects are recorded calls of the agent, numbered by these counts. Updates of state are
    /// refused for the given reason, if they have no slot.
    Numbered(CallCounts, Option<&'static str>),
    /// This tool call is recorded as a whole.
    Within(Arc<CallStep>),
    /// Side effects are not recorded, because a resumed run does not call the callback again.
    /// Updates of state are refused for the given reason.
    Unrecorded(&'static str),
}

impl Effects {
    /// Moves the changes into a copy.
    pub(crate) fn take(&mut self) -> Self {
        let (overlay, updated) = (take(&mut self.overlay), take(&mut self.updated));
        Self {
            overlay,
            updated,
            ..self.clone()
        }
    }

    /// Returns the state for a callback, or for a tool with its rules and the place of its first
    /// forbidden write.
    pub(crate) fn state<'a>(
        &'a mut self,
        tool: Option<(WriterKind<'a>, &'a mut Option<Error>)>,
    ) -> State<'a> {
        let by = self.by.caller();
        let updates = match &mut self.records {
            Records::Numbered(_, Some(why)) | Records::Unrecorded(why) => Updates::Refused(why),
            Records::Numbered(calls, None) => Updates::Agent {
                by,
                calls,
                written: UpdatedKeys::ByCallback(&mut self.updated),
            },
            Records::Within(step) => Updates::Call {
                by,
                step,
                updated: &mut self.updated,
            },
        };
        let path = &self.by.path;
        let (writer, refused) = match tool {
            Some((by, refused)) => (Writer { by, path }, Some(refused)),
            None => (self.rules.callback(path), None),
        };
        State {
            run: &self.run,
            scope: self.scope.as_deref(),
            overlay: &mut self.overlay,
            updates,
            writer,
            marks: self.marks.as_deref(),
            refused,
        }
    }

    pub(crate) fn artifacts(&mut self) -> Artifacts<'_> {
        Artifacts {
            run: &self.run,
            overlay: &mut self.overlay,
            calls: self.records.calls().map(|calls| (&self.by.path, calls)),
            marks: self.marks.as_deref(),
        }
    }

    pub(crate) async fn search_memory(&mut self, query: &str) -> Result<Vec<MemoryEntry>> {
        if let Some(cell) = &self.marks {
            cell.join(Marks::of_memory());
        }
        let work = self.run.search_memory(query);
        let name = Name::literal("memory");
        self.record(CallKind::Memory, name, CallInputs::new(&query, false), work)
            .await
    }

    /// Does a side effect, and records its result unless it is part of a recorded call.
    pub(crate) async fn record<T, W>(
        &mut self,
        kind: CallKind,
        name: Name,
        inputs: CallInputs,
        work: W,
    ) -> Result<T>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        W: Future<Output = Result<T>> + Send + 'static,
    {
        let calls = self.records.calls().map(|calls| (&self.by.path, calls));
        record_call(&self.run, calls, kind, name, inputs, work).await
    }
}

impl Records {
    /// Returns the numbers of the recorded calls of the agent.
    fn calls(&mut self) -> Option<&mut CallCounts> {
        match self {
            Self::Numbered(calls, _) => Some(calls),
            Self::Within(_) | Self::Unrecorded(_) => None,
        }
    }

    /// Takes the numbers of the recorded calls of the agent.
    pub(crate) fn take_calls(&mut self) -> Option<CallCounts> {
        self.calls().map(take)
    }
}
