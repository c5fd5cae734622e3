//! The official MCP client calls this program over standard input and output.
//!
//! `tests/peers/run-clients.sh cargo test -p adk-workflow-server --test mcp_stdio -- --ignored`

mod support;

use adk::engine::{RunFilter, RunInfo, RunStatus};
use adk::sqlite::SqliteStore;
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::Path;
use std::process::ExitCode;
use tokio::runtime::Runtime;

/// The first argument that makes this program a server. The second argument is the file of the
/// store.
const SERVE: &str = "serve-on-stdio";

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args().collect();
    if let [_, serve, store] = &words[..]
        && serve == SERVE
    {
        Runtime::new()
            .expect("a runtime")
            .block_on(serve_on_stdio(store.as_ref()))
            .expect("a client");
        return ExitCode::SUCCESS;
    }
    let test = Trial::test("the_official_client_calls_tools_over_stdio", run_client)
        .with_ignored_flag(true);
    libtest_mimic::run(&Arguments::from_args(), vec![test]).exit_code()
}

async fn serve_on_stdio(store: &Path) -> adk::Result<()> {
    support::tools::all(adk::serve(&runner(store).await?))
        .stdio()
        .await
}

fn run_client() -> Result<(), Failed> {
    let folder = std::env::temp_dir().join(format!("adk-mcp-stdio-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let store = folder.join("runs.db");
    let program = std::env::current_exe()?;
    let node = support::client("mcp.mjs", |node| {
        node.arg("stdio").arg(program).arg(SERVE).arg(&store)
    });
    let cancelled = Runtime::new()?.block_on(hanging_runs(&store))?;
    std::fs::remove_dir_all(&folder)?;
    node?;
    let statuses: Vec<_> = cancelled.iter().map(|run| &run.status).collect();
    assert_eq!(statuses, [&RunStatus::Cancelled]);
    Ok(())
}

/// Returns the runs that the client has cancelled.
async fn hanging_runs(store: &Path) -> adk::Result<Vec<RunInfo>> {
    let mut filter = RunFilter::any();
    filter.workflows = Some(vec!["hanging".to_owned()]);
    runner(store).await?.runs(&filter).await
}

async fn runner(store: &Path) -> adk::Result<adk::Runner> {
    let store = SqliteStore::open(store).await?;
    adk::Runner::builder().store(store).build()
}
