//! Data of a run is returned bit for bit, with sessions in memory. A second execution uses
//! `--features serde_json/arbitrary_precision`.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod support;

use adk_build::Runner;
use adk_build::engine::MemoryJournal;
use adk_build::session::{MemoryStore, SessionStore};
use adk_build::testing::ScriptedModel;
use std::sync::Arc;
use support::{limits, values};

/// Sessions and a journal in memory.
#[derive(Default)]
struct Memory(Arc<MemoryStore>, MemoryJournal);

impl limits::Opens for Memory {
    async fn runner(&self, model: ScriptedModel) -> Runner {
        let sessions: Arc<dyn SessionStore> = self.0.clone();
        let runner = Runner::builder()
            .app_name("app")
            .model(model)
            .session_store(sessions);
        runner.engine(self.1.clone()).build().unwrap()
    }
}

#[tokio::test]
async fn written_values_are_returned_bit_for_bit() {
    values::come_back(&Memory::default()).await;
}

#[tokio::test]
async fn typed_reads_return_the_written_values() {
    values::are_read_as_their_types(&Memory::default()).await;
}

#[tokio::test]
async fn values_and_keys_may_be_large() {
    values::may_be_large(&Memory::default()).await;
}

#[tokio::test]
async fn values_that_json_cannot_express_are_refused_at_the_write() {
    values::are_refused_without_a_form(&Memory::default()).await;
}
