//! `adk mcp pull` and a real server: `tests/peers/run-mcp.sh cargo test -p adk-workflow-cli --test it -- --ignored mcp`.
use crate::support::{Folder, Ran, ran};
use serde_json::json;
use std::process::Command;

/// `adk mcp pull` with these words, in a folder of its own: what it said, and the file that it wrote.
fn pull(words: &[&str]) -> (Ran, Option<serde_json::Value>) {
    let folder = Folder::new();
    let server = format!("{}/server-filesystem/dist/index.js", std::env::var("ADK_MCP_NODE").unwrap());
    let mut command = Command::new(env!("CARGO_BIN_EXE_adk"));
    command.args(["mcp", "pull"]).args(words).args(["--", "node", &server, "."]);
    command.current_dir(folder.path());
    let ran = ran(command, "");
    let text = std::fs::read_to_string(folder.path().join("files.mcp.json")).ok();
    (ran, text.map(|text| serde_json::from_str(&text).unwrap()))
}

#[test]
#[ignore = "needs the servers of others"]
fn the_tools_that_are_asked_for_are_written_or_it_is_said_why_not() {
    let (ran, file) = pull(&["files", "--prefix", "files", "--only", "read_text_file,list_directory"]);
    assert_eq!((ran.code, &*ran.err), (0, "files.mcp.json: 2 tools\n"), "{ran:?}");
    let names = json!(["files_list_directory", "files_read_text_file"]);
    assert_eq!(file.unwrap()["names"], names);
    for (words, why) in [
        (
            &["files", "--only", "read,list_directory"][..],
            "the server of `files` has no tool `read`; help: it has `read_file`, ",
        ),
        (&["files", "--prefix", "a b"], "toolset `files` has the prefix `a b`"),
        (
            &["files", "--env", "ADK_NO_SUCH_VARIABLE"],
            "the environment has no variable `ADK_NO_SUCH_VARIABLE`",
        ),
        (&["files", "--onyl", "read"], "unexpected argument '--onyl'"),
        (&["files", "--url", "http://127.0.0.1:9/mcp"], "cannot be used with"),
        (&["files", "--bearer-env", "TOKEN"], "cannot be used with"),
        (&["--only", "read"], "<NAME>"),
    ] {
        let (ran, file) = pull(words);
        assert!(file.is_none(), "{words:?}");
        ran.refused(2, why);
    }
}
