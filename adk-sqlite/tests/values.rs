//! The promises about values. Run them also with `--features serde_json/arbitrary_precision`.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod place;
mod support;

use support::Folder;

adk_store_kit::promises!(Folder: values);
