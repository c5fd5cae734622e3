//! Tests that open one file with this crate and with the real google-adk for Python, in both
//! orders.
//!
//! Run by
//! `tests/peers/run-adk-python.sh cargo test -p adk-workflow-sqlite --test it -- --ignored python`.

use crate::python;
use crate::support::Folder;

fn url(folder: &Folder) -> String {
    format!("sqlite+aiosqlite:///{}", folder.file().display())
}

#[tokio::test]
#[ignore = "needs google-adk: tests/peers/run-adk-python.sh"]
async fn python_reads_and_appends_to_a_database_of_this_crate() {
    let folder = Folder::new();
    python::reads_ours(&folder, &url(&folder)).await;
}

#[tokio::test]
#[ignore = "needs google-adk: tests/peers/run-adk-python.sh"]
async fn this_crate_reads_and_writes_a_database_of_python() {
    let folder = Folder::new();
    python::makes_it(&folder, &url(&folder)).await;
}
