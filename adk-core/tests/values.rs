//! The promises about values, for the store in memory. A second execution uses
//! `--features serde_json/arbitrary_precision`.

mod memory_place;

use memory_place::Memory;

adk_store_kit::promises!(Memory: values);
