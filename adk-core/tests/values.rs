//! What a run keeps comes back bit for bit, with sessions in memory. Run once more with
//! `--features serde_json/arbitrary_precision`.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod support;

use adk_core::Runner;
use adk_core::engine::MemoryJournal;
use adk_core::session::{MemoryStore, SessionStore};
use adk_core::testing::ScriptedModel;
use std::sync::Arc;
use support::{limits, values};

/// Sessions and a journal in memory.
#[derive(Default)]
struct Memory(Arc<MemoryStore>, MemoryJournal);

impl limits::Opens for Memory {
    async fn runner(&self, model: ScriptedModel) -> Runner {
        let sessions: Arc<dyn SessionStore> = self.0.clone();
        let runner = Runner::builder().app_name("app").model(model).session_store(sessions);
        runner.engine(self.1.clone()).build().unwrap()
    }
}

#[tokio::test]
async fn what_is_written_comes_back_bit_for_bit() {
    values::come_back(&Memory::default()).await;
}

#[tokio::test]
async fn types_read_what_they_wrote() {
    values::are_read_as_their_types(&Memory::default()).await;
}

#[tokio::test]
async fn values_and_keys_may_be_large() {
    values::may_be_large(&Memory::default()).await;
}

#[tokio::test]
async fn what_json_has_no_form_for_is_refused_where_it_is_written() {
    values::are_refused_without_a_form(&Memory::default()).await;
}
