//! Workers that are replaced by newer builds in mid-run.

use adk::runner::RunnerBuilder;
pub fn with_desk(builder: RunnerBuilder<adk::DefaultProvider>) -> RunnerBuilder<adk::DefaultProvider> {
    builder
}
