//! Google's unmodified dev UI in Chromium.
//!
//! Run by `tests/peers/run-adk-python.sh tests/peers/run-clients.sh cargo test -p
//! adk-workflow-web --test it -- --ignored page`. The screenshots are in `ADK_SCREENSHOTS`,
//! where that is set.

use crate::fixtures::{Drafting, serve};
use crate::python::dev_ui;
use adk::server::DevUi;
use std::path::PathBuf;
use std::process::Stdio;
use tokio::process::Command;

#[tokio::test]
#[ignore = "needs google-adk, Node.js and Chromium: tests/peers/run-adk-python.sh \
            tests/peers/run-clients.sh"]
async fn the_unmodified_page_of_google_works() {
    let clients =
        std::env::var("ADK_CLIENTS").expect("ADK_CLIENTS, see tests/peers/run-clients.sh");
    let browser = dev_ui();
    let served = serve(|server| server.workflow(Drafting::default()).dev_ui(browser)).await;
    let program = PathBuf::from(clients).join("adk_web.mjs");
    let output = Command::new("node")
        .arg(program)
        .arg(format!("http://{}", served.address))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .output()
        .await
        .expect("node");
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{stdout}\n{stderr}");
    served.stop().await.unwrap();
}
