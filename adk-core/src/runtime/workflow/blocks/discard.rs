//! [`Discards`]: the writes of cancelled or failed branches and elements, which their block undoes
//! when it ends.
//!
//! The event of the block sets each such key to its value from before the block. A key that held no
//! value is set to null, and the event names it as unwritten. The event is recorded as a whole, so
//! that a resumed run undoes the same writes.

use crate::runtime::run::{Context, Run};
use crate::store::engine::{BlockPart, BlockScope};
use crate::store::event::{Event, LEFT_OUT_KEY, UNWRITTEN_KEY};
use crate::{Name, Path, Result};
use serde_json::{Value, json};
use std::sync::Arc;

/// A block whose branches or elements may be discarded, from its begin to its end.
pub(super) struct Discards {
    run: Arc<Run>,
    block: Path,
}

impl Drop for Discards {
    fn drop(&mut self) {
        self.run.delivery.blocks().close(&self.block);
    }
}

impl Discards {
    /// Registers the block of this context.
    pub(super) fn begin(cx: &Context) -> Self {
        let scope = cx
            .around
            .scope
            .clone()
            .map(|scope| scope as Arc<dyn BlockScope>);
        cx.run.delivery.blocks().open(cx.path().clone(), scope);
        Self {
            run: cx.run.clone(),
            block: cx.path().clone(),
        }
    }

    /// Commits the event of the block. After this event, all keys hold the values that the
    /// remaining branches or elements have written.
    pub(super) async fn commit(
        &self,
        event: Event,
        discarded: impl Fn(&BlockPart) -> bool + Send + 'static,
        cx: &mut Context,
    ) -> Result<()> {
        let (run, block) = (self.run.clone(), self.block.clone());
        let made = async move {
            Ok(undo(
                event,
                run.delivery.blocks().values_to_restore(&block, discarded),
            ))
        };
        cx.emit_stored(made).await.map(drop)
    }

    /// Commits the event of a block in which an exit has cancelled the other branches or elements.
    /// Without a write to undo, the block emits no event.
    pub(super) async fn commit_cancelled(
        &self,
        discarded: impl Fn(&BlockPart) -> bool + Clone + Send + 'static,
        cx: &mut Context,
    ) -> Result<()> {
        let is_any = || {
            !self
                .run
                .delivery
                .blocks()
                .values_to_restore(&self.block, discarded.clone())
                .is_empty()
        };
        let is_due = match self.run.kind.active_replay() {
            Some(replay) => {
                let is_said = replay.next_event(&self.block).is_some();
                is_said || !replay.journal.is_past(&self.block, cx.branch()) && is_any()
            }
            None => is_any(),
        };
        if !is_due {
            return Ok(());
        }
        let parts = self
            .run
            .delivery
            .blocks()
            .discarded_parts(&self.block, discarded.clone());
        let paths: Vec<_> = parts
            .iter()
            .map(|part| part.path(&self.block).to_string())
            .collect();
        let event = Event::new().with_metadata(LEFT_OUT_KEY, json!({"cancelled": paths}));
        self.commit(event, discarded, cx).await
    }
}

fn undo(mut event: Event, undone: Vec<(Name, Option<Arc<Value>>)>) -> Event {
    let mut unwritten = Vec::new();
    for (key, value) in undone {
        if value.is_none() {
            unwritten.push(Value::from(key.as_str()));
        }
        event
            .actions
            .state_delta
            .insert(key, value.unwrap_or_default());
    }
    if unwritten.is_empty() {
        event
    } else {
        event.with_metadata(UNWRITTEN_KEY, unwritten)
    }
}
