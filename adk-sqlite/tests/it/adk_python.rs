//! One file, opened by this crate and by the real google-adk for Python, in both directions.
//!
//! Run by `tests/peers/run-adk-python.sh cargo test -p adk-workflow-sqlite --test it -- --ignored python`.

use crate::support::Folder;
use crate::trees::python;

fn url(folder: &Folder) -> String {
    format!("sqlite+aiosqlite:///{}", folder.file().display())
}

#[tokio::test]
#[ignore = "needs google-adk: tests/peers/run-adk-python.sh"]
async fn python_reads_what_was_written_here_and_appends_and_that_is_read_here() {
    let folder = Folder::new();
    python::reads_ours(&folder, &url(&folder)).await;
}

#[tokio::test]
#[ignore = "needs google-adk: tests/peers/run-adk-python.sh"]
async fn a_database_that_python_made_is_read_and_written_here() {
    let folder = Folder::new();
    python::makes_it(&folder, &url(&folder)).await;
}
