//! Tests that the store returns values unchanged. Run them also with
//! `--features serde_json/arbitrary_precision`.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

#[path = "../../adk-core/tests/support/mod.rs"]
mod trees;

mod place;
mod support;

use support::Folder;
use trees::values;

#[tokio::test]
async fn values_are_read_back_bit_for_bit() {
    values::come_back(&Folder::new()).await;
}

#[tokio::test]
async fn types_read_what_they_wrote() {
    values::are_read_as_their_types(&Folder::new()).await;
}

#[tokio::test]
async fn values_and_keys_may_be_large() {
    values::may_be_large(&Folder::new()).await;
}

#[tokio::test]
async fn values_without_a_json_form_are_rejected_when_they_are_written() {
    values::are_refused_without_a_form(&Folder::new()).await;
}
