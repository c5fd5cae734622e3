//! `adk mcp pull` with a real server: `tests/peers/run-mcp.sh cargo test -p adk-workflow-cli --test
//! it -- --ignored mcp`.
use crate::support::{Folder, ProgramOutput, run_program};
use serde_json::{Value, json};
use std::fs;
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
        (
            0,
            "files.mcp.json: 2 tools; review the labels, a proposal\n"
        ),
        "{output:?}"
    );
    let names = json!(["files_list_directory", "files_read_text_file"]);
    let file = file.unwrap();
    assert_eq!(file["names"], names);
    let labels = json!({"files_list_directory": ["private"], "files_read_text_file": ["private"]});
    assert_eq!(file["labels"], labels, "they read, in a closed world");
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

#[test]
#[ignore = "needs MCP servers of other projects: tests/peers/run-mcp.sh"]
fn a_second_pull_keeps_reviewed_labels_and_reports_changes() {
    let folder = Folder::new();
    let path = folder.path().join("weather.mcp.json");
    let read = || -> Value { serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap() };
    let pull = |hints: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_adk"));
        command
            .args(["mcp", "pull", "weather", "--only", "forecast,refuse"])
            .args(["--env", "FORECAST_HINTS", "--"])
            .args(["ADK_MCP_PYTHON", "ADK_MCP_SERVER"].map(|name| std::env::var(name).unwrap()))
            .env("FORECAST_HINTS", hints)
            .current_dir(folder.path());
        run_program(command, "")
    };
    let output = pull(r#"{"readOnlyHint": true, "openWorldHint": false}"#);
    assert_eq!(output.code, 0, "{output:?}");
    let all = json!(["untrusted", "private", "acts", "sends"]);
    let file = read();
    assert_eq!(
        file["labels"],
        json!({"forecast": ["private"], "refuse": all})
    );
    assert_eq!(file["confirm"], json!([]));

    let text = fs::read_to_string(&path).unwrap();
    let edited = text
        .replace("\"confirm\": []", "\"confirm\": [\"forecast\"]")
        .replace(
            &serde_json::to_string_pretty(&all)
                .unwrap()
                .replace('\n', "\n    "),
            "[\"local\"]",
        );
    fs::write(&path, &edited).unwrap();
    assert_eq!(read()["labels"]["refuse"], json!(["local"]));
    let output = pull(r#"{"readOnlyHint": false}"#);
    let changes = [
        "weather.mcp.json: 2 tools, 3 changes",
        "  ~ forecast: readOnlyHint: true is now false",
        "  ~ forecast: openWorldHint: false is now not set",
        "  forecast: labels `private` are now `private`, `untrusted`, `acts`, `sends`",
        "",
    ];
    assert_eq!((output.code, &*output.err), (0, &*changes.join("\n")));
    let forecast = json!(["private", "untrusted", "acts", "sends"]);
    let labels = json!({"forecast": forecast, "refuse": ["local"]});
    assert_eq!(read()["labels"], labels);
    assert_eq!(read()["confirm"], json!(["forecast"]));

    let output = pull(r#"{"readOnlyHint": false}"#);
    assert_eq!(output.err, "weather.mcp.json: 2 tools, no changes\n");
    fs::write(&path, "{}").unwrap();
    let why = "weather.mcp.json: the earlier file of the toolset was not written by `adk mcp \
        pull`; help: remove the file, and pull again";
    pull("{}").assert_error(2, why);
}
