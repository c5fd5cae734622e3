//! `adk mcp pull` with a real server: `tests/peers/run-mcp.sh cargo test -p adk-workflow-cli --test
//! it -- --ignored mcp`.
use crate::support::{Folder, ProgramOutput, run_program};
use serde_json::json;
use std::process::Command;

/// Runs `adk mcp pull` in a new folder. Returns its output and the file that it wrote.
fn pull(words: &[&str]) -> (ProgramOutput, Option<serde_json::Value>) {
    let folder = Folder::new();
    let server = format!(
        "{}/server-filesystem/dist/index.js",
        std::env::var("ADK_MCP_NODE").unwrap()
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_adk"));
    command
        .args(["mcp", "pull"])
        .args(words)
        .args(["--", "node", &server, "."]);
    command.current_dir(folder.path());
    let output = run_program(command, "");
    let text = std::fs::read_to_string(folder.path().join("files.mcp.json")).ok();
    (
        output,
        text.map(|text| serde_json::from_str(&text).unwrap()),
    )
}

#[test]
#[ignore = "needs MCP servers of other projects: tests/peers/run-mcp.sh"]
fn pull_writes_the_selected_tools_or_reports_an_error() {
    let (output, file) = pull(&[
        "files",
        "--prefix",
        "files",
        "--only",
        "read_text_file,list_directory",
    ]);
    assert_eq!(
        (output.code, &*output.err),
        (0, "files.mcp.json: 2 tools\n"),
        "{output:?}"
    );
    let names = json!(["files_list_directory", "files_read_text_file"]);
    assert_eq!(file.unwrap()["names"], names);
    for (words, why) in [
        (
            &["files", "--only", "read,list_directory"][..],
            "the server of `files` has no tool `read`; help: it has `read_file`, ",
        ),
        (
            &["files", "--prefix", "a b"],
            "toolset `files` has the prefix `a b`",
        ),
        (
            &["files", "--env", "ADK_NO_SUCH_VARIABLE"],
            "the environment has no variable `ADK_NO_SUCH_VARIABLE`",
        ),
        (&["files", "--onyl", "read"], "unexpected argument '--onyl'"),
        (
            &["files", "--url", "http://127.0.0.1:9/mcp"],
            "cannot be used with",
        ),
        (&["files", "--bearer-env", "TOKEN"], "cannot be used with"),
        (&["--only", "read"], "<NAME>"),
    ] {
        let (output, file) = pull(words);
        assert!(file.is_none(), "{words:?}");
        output.assert_error(2, why);
    }
}
