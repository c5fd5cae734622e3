//! Tests with a malicious server, which is this program in another process.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    reason = "these are tests"
)]

mod http;
mod server;
#[path = "../support/mod.rs"]
mod support;

use adk_build::{ErrorKind, ToolsetErrorKind};
use adk_mcp::{HttpServer, Limits, McpToolset, StdioServer};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};
use support::{calls, run_error, run_with_answers};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let [_, word, badly] = &args[..]
        && word == "serve"
    {
        server::serve(badly);
        return;
    }
    let trials = vec![
        trial("an_invalid_list_of_tools_is_an_error_with_its_fault", lists),
        trial("an_unreachable_server_is_an_error_of_the_run", absent),
        trial("a_server_that_dies_is_started_again", deaths),
        trial("a_call_without_an_answer_ends_and_is_cancelled", silences),
        trial("odd_answers_are_errors_that_the_model_reads", answers),
        trial("an_answer_that_cannot_be_read_ends_its_call", unreadable),
        trial("arguments_are_validated_before_they_are_sent", arguments),
        trial("results_are_validated_against_their_schema", results),
        trial("what_cannot_be_read_is_left_out_and_named", left_out),
        trial("a_changed_list_is_listed_again", changes),
        #[cfg(target_os = "linux")]
        trial("a_server_ends_with_the_last_clone_of_its_toolset", ends),
        trial("a_server_may_request_nothing_by_default", questions),
        trial("a_server_asks_the_user_if_the_toolset_allows_it", people),
        trial(
            "a_bad_server_over_http_is_an_error_of_the_run_or_of_the_call",
            over_http,
        ),
        trial("secrets_of_a_server_are_hidden", secrets),
        trial(
            "a_filter_leaves_bad_tools_out_and_a_prefix_renames",
            filters,
        ),
        trial("a_run_that_is_dropped_cancels_its_call", drops),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn trial<F: Future<Output = ()> + 'static>(name: &str, test: fn() -> F) -> Trial {
    Trial::test(name, move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build();
        runtime
            .map_err(|error| Failed::from(error.to_string()))?
            .block_on(test());
        Ok(())
    })
}

/// Counts the running processes of the malicious server that this process started.
#[cfg(target_os = "linux")]
fn running(badly: &str) -> usize {
    let is_one = |folder: &std::path::Path| {
        let read = |file| std::fs::read(folder.join(file)).unwrap_or_default();
        let parent = format!("\nPPid:\t{}\n", std::process::id());
        read("cmdline").ends_with(format!("serve\0{badly}\0").as_bytes())
            && String::from_utf8_lossy(&read("status")).contains(&parent)
    };
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|entry| is_one(&entry.path()))
        .count()
}

fn bad(badly: &str) -> McpToolset {
    let program = std::env::current_exe().unwrap();
    let server = StdioServer::new(program)
        .args(["serve", badly])
        .env("KEY", "sesame-open");
    McpToolset::new("bad", server).connect_timeout(Duration::from_secs(300))
}

async fn lists() {
    for (badly, fault) in [
        ("reserved", "tool-reserved"),
        ("twice", "tool-duplicate"),
        ("clash", "tool-duplicate"),
        ("long name", "at most 64 characters"),
        ("odd name", "a name has letters"),
        ("array", "its schema does not describe an object"),
        ("no schema", "its schema does not describe an object"),
        ("pattern", "its schema is not a JSON schema"),
        ("deep", "more than 32 levels deep"),
        ("bomb", "levels deep"),
        ("words", "its description has more than 8192 bytes"),
        ("many", "more than 128 tools"),
        ("endless", "more than 100 pages"),
    ] {
        let error = run_error(bad(badly)).await;
        assert_eq!(
            error.kind(),
            ErrorKind::Toolset(ToolsetErrorKind::Invalid),
            "{badly}: {error}"
        );
        let text = error.to_string();
        assert!(
            text.contains(fault) && text.contains("toolset `bad`"),
            "{badly}: {text}"
        );
        assert!(
            text.starts_with("agent `clerk` (at clerk)") && error.help().is_some(),
            "{text}"
        );
        assert!(text.len() < 1000, "{text}");
    }
}

async fn absent() {
    let nowhere = McpToolset::new("bad", StdioServer::new("/no/such/program"));
    let silent = bad("silent").connect_timeout(Duration::from_millis(300));
    for (toolset, fault) in [
        (nowhere, "cannot be started: No such file"),
        (
            silent,
            "did not list its tools in 300ms, the `connect_timeout` of the toolset",
        ),
        (
            bad("exits"),
            "(exit status: 3); standard error ends with: no license; the key is [secret]",
        ),
        (
            bad("huge list"),
            "it sent a message of more than 16777216 bytes",
        ),
    ] {
        let error = run_error(toolset).await;
        assert_eq!(
            error.kind(),
            ErrorKind::Toolset(ToolsetErrorKind::Unavailable),
            "{error}"
        );
        assert!(
            error.to_string().contains(fault) && error.is_retryable(),
            "{error}"
        );
        assert!(error.to_string().contains("toolset `bad`"), "{error}");
    }
    // Lines of standard output that are not messages are ignored.
    assert!(
        calls(bad("junk"), &[])
            .await
            .unwrap()
            .tools
            .contains(&"echo".to_owned())
    );
}

async fn deaths() {
    let call = |name| (name, json!({}));
    let heard = calls(
        bad(""),
        &[call("pid"), call("die"), call("pid"), call("pid")],
    )
    .await
    .unwrap();
    let error = heard.error(1);
    assert!(
        error.contains(
            "the connection ended (exit status: 9); standard error ends with: out of memory"
        ),
        "{error}"
    );
    assert!(
        error.contains("The effects of the call are unknown"),
        "{error}"
    );
    assert_ne!(heard.result(0), heard.result(2), "another process");
    assert_eq!(
        heard.result(2),
        heard.result(3),
        "one process for all calls"
    );

    let heard = calls(bad(""), &[call("huge"), call("pid")]).await.unwrap();
    assert!(
        heard
            .error(0)
            .contains("it sent a message of more than 16777216 bytes"),
        "{}",
        heard.error(0)
    );
    assert!(heard.answers[1].contains_key("result"));
}

async fn silences() {
    let toolset = bad("").timeout(Duration::from_secs(2));
    let heard = calls(toolset, &[("hang", json!({})), ("cancelled", json!({}))])
        .await
        .unwrap();
    assert_eq!(heard.error(0), "`hang` gave no result in 2s, its `timeout`");
    assert_eq!(heard.result(1), "1", "the server was asked to cancel");
}

async fn answers() {
    let call = |name| (name, json!({}));
    let toolset = bad("");
    let script = [
        "answer_twice",
        "wrong",
        "large",
        "deep",
        "base64",
        "refuse",
        "fail",
        "answer_twice",
    ];
    let heard = calls(toolset, &script.map(call)).await.unwrap();
    assert_eq!(heard.result(0), "first");
    for (number, error) in [
        (1, "did not answer with a result"),
        (2, "has 2097152 bytes, the limit is 1048576"),
        (3, "is nested 115 levels deep, above the limit of 100"),
        (4, "not valid base64"),
        (5, "not today"),
        (6, "no such file"),
    ] {
        assert!(
            heard.error(number).contains(error),
            "{number}: {}",
            heard.error(number)
        );
    }
    assert_eq!(heard.result(7), "first");
}

/// Parts that cannot be read.
async fn left_out() {
    let args = json!({"page": {"page_number": null}, "all": [{"page_number": null}]});
    let wrong = json!({"page": {"page_number": "one"}});
    let heard = calls(bad("bare"), &[("video", args), ("video", wrong)])
        .await
        .unwrap();
    assert_eq!(heard.tools, ["video"]);
    assert_eq!(
        heard.result(0),
        "{\"page\":{},\"all\":[{}]}\n[a part of type `video` is left out: it cannot be read]\n\
         [a part of type `image` is left out: it cannot be read]\nend"
    );
    assert!(
        heard.error(1).contains("(at /page/page_number)"),
        "{}",
        heard.error(1)
    );
    let left_out = |kind: &str| format!("[a part of type `{kind}` is left out: it cannot be read]");
    let prompt = bad("bare").prompt("greeting", &[]).await.unwrap();
    let unknown = left_out("unknown");
    let parts = [
        "Greet them.",
        &left_out("video"),
        "In German.",
        &unknown,
        &unknown,
        &unknown,
        "Goodbye.",
    ];
    assert_eq!(prompt, parts.join("\n\n"));
}

/// Answers that `rmcp` drops. The call ends at once, and its error names the fault.
async fn unreadable() {
    let answer = |rest: &str| format!("{{\"jsonrpc\":\"2.0\",{rest}}}");
    let text = |text: &str| {
        answer(&format!(
            "\"id\":ID,\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}"
        ))
    };
    let lines = [
        (text("a\\ud83d"), "end of hex escape"),
        (text("a\\ud83d and \\\" more"), "end of hex escape"),
        (text("caf~"), "invalid unicode code point"),
        (
            answer("\"id\":ID,\"result\":{\"content\":[],\"structuredContent\":{\"v\":NaN}}"),
            "expected value",
        ),
        (
            answer("\"result\":{\"v\":-Infinity},\"id\":ID"),
            "invalid number",
        ),
        (
            answer("\"id\":ID,\"result\":{\"content\":[]},\"error\":null"),
            "it has a `result` and an `error`",
        ),
        (
            answer("\"id\":null,\"error\":{\"code\":-32700,\"message\":\"cannot read that\"}"),
            "cannot read that",
        ),
        (
            answer("\"error\":{\"code\":-32600,\"message\":\"not now\"}"),
            "not now",
        ),
        (
            answer("\"id\":\"server-error\",\"error\":{\"code\":-1,\"message\":\"no session\"}"),
            "no session",
        ),
        (
            answer("\"id\":ID,\"error\":{\"message\":\"no code\"}"),
            "no code",
        ),
        (
            answer("\"id\":null,\"result\":{\"content\":[]}"),
            "it does not name its request",
        ),
        (
            answer("\"id\":4711,\"result\":{\"content\":[]}"),
            "a request that does not exist",
        ),
        (
            "{\"id\":ID,\"result\":{\"content\":[]}}".to_owned(),
            "it has no `jsonrpc`",
        ),
        (
            answer("\"id\":ID,\"result\":{\"content\":[{\"type\":\"te"),
            "EOF while parsing",
        ),
        (
            format!("[{}]", text("of a batch")),
            "an answer that cannot be read",
        ),
    ];
    let script: Vec<_> = lines
        .iter()
        .map(|(line, _)| ("raw", json!({"line": line})))
        .collect();
    let begun = Instant::now();
    let heard = calls(bad("").timeout(Duration::from_secs(60)), &script)
        .await
        .unwrap();
    assert!(
        begun.elapsed() < Duration::from_secs(30),
        "{:?}",
        heard.answers
    );
    for (number, (line, fault)) in lines.iter().enumerate() {
        let error = heard.error(number);
        assert!(error.contains(fault), "{line}: {error}");
    }
}

async fn arguments() {
    let slow = "a".repeat(40) + "!";
    let script: Vec<(&str, Value)> = [
        json!({"text": "short"}),
        json!({"text": "too long"}),
        json!({"times": 3}),
        json!({"text": "a", "times": 0, "more": 1}),
        json!({"text": "a", "times": null, "next": {"text": "b", "next": 7}}),
        json!({"text": "a", "slow": slow}),
    ]
    .map(|args| ("echo", args))
    .into();
    let heard = calls(bad(""), &script).await.unwrap();
    assert_eq!(heard.result(0), "{\"text\":\"short\"}");
    for (number, faults) in [
        (1, vec!["longer than 5", "(at /text)"]),
        (2, vec!["\"text\" is a required property"]),
        (
            3,
            vec!["less than the minimum of 1", "'more' was unexpected"],
        ),
        (5, vec!["slow"]),
    ] {
        let error = heard.error(number);
        assert!(
            faults.iter().all(|fault| error.contains(fault)),
            "{number}: {error}"
        );
        assert!(
            error.starts_with("the arguments of `echo` do not fit: "),
            "{error}"
        );
    }
    // Null values of optional arguments are removed, and a recursion allows any value from the
    // third level on.
    assert_eq!(
        heard.result(4),
        "{\"text\":\"a\",\"next\":{\"text\":\"b\",\"next\":7}}"
    );
}

async fn results() {
    let promise = |result: Value| ("promise", json!({"result": result}));
    let script = [
        promise(json!({"structuredContent": {"degrees": 21.5}, "content": []})),
        promise(json!({"structuredContent": {"degrees": "warm"}, "content": []})),
        promise(json!({"content": [{"type": "text", "text": "warm"}]})),
        promise(json!({"content": [{"type": "text", "text": "no such city"}], "isError": true})),
    ];
    let heard = calls(bad(""), &script).await.unwrap();
    assert_eq!(heard.answers[0]["degrees"], 21.5);
    for (number, fault) in [
        (1, "\"warm\" is not of type \"number\" (at /degrees)"),
        (2, "no structured content"),
    ] {
        let error = heard.error(number);
        assert!(
            error.starts_with(
                "the server of `bad` returned a result of `promise` that does not match"
            ),
            "{error}"
        );
        assert!(error.contains(fault), "{error}");
    }
    assert_eq!(heard.error(3), "no such city");
}

async fn changes() {
    let script = ["grown", "grow", "grown"].map(|name| (name, json!({})));
    let heard = calls(bad("").timeout(Duration::from_secs(2)), &script)
        .await
        .unwrap();
    assert!(
        heard.error(0).contains("no tool with that name"),
        "{}",
        heard.error(0)
    );
    assert!(
        heard.error(2).contains("gave no result"),
        "it is offered by now: {}",
        heard.error(2)
    );
}

#[cfg(target_os = "linux")]
async fn ends() {
    let toolset = bad("stays");
    let other = toolset.clone();
    calls(toolset, &[("pid", json!({}))]).await.unwrap();
    assert_eq!(running("stays"), 1);
    drop(other);
    run_error(bad("deaf").connect_timeout(Duration::from_millis(300))).await;
    for _ in 0..6000 {
        if running("stays") + running("deaf") == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the server continues without its toolset");
}

async fn questions() {
    let heard = calls(bad(""), &[("ask", json!({}))]).await.unwrap();
    let answers = heard.result(0);
    assert!(
        answers.contains("-32601") && answers.contains("decline"),
        "{answers}"
    );
}

async fn people() {
    let choose = [("choose", json!({})), ("pid", json!({}))];
    let toolset = bad("").elicitation(true);
    let same = || toolset.clone();
    let green = json!({"tea": "green"});
    // Another call runs while one call waits for an answer.
    let (questions, answers) =
        run_with_answers(same, &choose, &[json!({"tea": "x"}), green.clone()]).await;
    assert_eq!(
        questions[0],
        "The server of `bad` asks in a call of `choose`: Which tea?"
    );
    assert!(questions[1].starts_with(&format!("{} (The last answer does not fit: ", questions[0])));
    assert_eq!(
        answers[0]["result"],
        "{\"action\":\"accept\",\"content\":{\"tea\":\"green\"}}"
    );
    assert!(answers[1].contains_key("result"), "{answers:?}");
    let (_, answers) = run_with_answers(same, &choose, &[Value::Null]).await;
    assert_eq!(answers[0]["result"], "{\"action\":\"decline\"}");

    // Another process does not have the connection of the call, and does not repeat the call.
    let (_, answers) = run_with_answers(
        || bad("").elicitation(true),
        &choose,
        std::slice::from_ref(&green),
    )
    .await;
    let error = answers[0]["error"].as_str().unwrap();
    assert!(
        error.contains("the connection of the call has ended"),
        "{error}"
    );

    let heard = calls(same(), &choose[..1]).await.unwrap();
    assert_eq!(
        heard.result(0),
        "{\"action\":\"decline\"}",
        "a run in memory cannot wait"
    );
}

/// Returns a toolset of a malicious server over HTTP, with secrets.
async fn bad_http(badly: &'static str) -> McpToolset {
    let server = HttpServer::new(http::serve(badly).await)
        .bearer("sesame-token")
        .header("x-key", "sesame-header");
    let mut limits = Limits::default();
    limits.message_bytes = 100_000;
    let toolset = McpToolset::new("bad", server).limits(limits);
    match badly {
        "mute" => toolset.connect_timeout(Duration::from_millis(500)),
        "hangs" | "wrong id" => toolset.timeout(Duration::from_secs(2)),
        _ => toolset,
    }
}

const AT_FIRST: [(&str, &str); 4] = [
    ("mute", "did not list its tools in 500ms"),
    (
        "refuses",
        "cannot be reached: unexpected server response: HTTP 401 Unauthorized",
    ),
    (
        "page",
        "cannot be reached: Unexpected content type: Some(\"text/html\")",
    ),
    (
        "moved",
        "cannot be reached: unexpected server response: HTTP 302 Found",
    ),
];

const IN_CALLS: [(&str, &str); 11] = [
    ("hangs", "gave no result in 2s"),
    (
        "cut",
        "error decoding response body. The effects of the call are unknown.",
    ),
    ("large", "exceeded the maximum size of 100000 bytes"),
    (
        "large event",
        "the connection ended. The effects of the call are unknown.",
    ),
    ("fails", "HTTP 500"),
    ("wrong id", "the server did not answer the request"),
    ("breaks", "No valid session ID provided"),
    ("wrong", "No valid session ID provided"),
    (
        "accepts",
        "the server accepted the request without an answer",
    ),
    ("unnamed event", "out of tea"),
    (
        "half an event",
        "an answer that cannot be read: expected value",
    ),
];

async fn over_http() {
    for (badly, fault) in AT_FIRST {
        let toolset = bad_http(badly).await;
        let error = run_error(toolset).await;
        assert_eq!(
            error.kind(),
            ErrorKind::Toolset(ToolsetErrorKind::Unavailable),
            "{badly}: {error}"
        );
        assert!(error.to_string().contains(fault), "{badly}: {error}");
    }
    for (badly, fault) in IN_CALLS {
        let echo = ("echo", json!({}));
        let heard = calls(bad_http(badly).await, &[echo.clone(), echo])
            .await
            .unwrap();
        assert!(
            heard.error(0).contains(fault),
            "{badly}: {}",
            heard.error(0)
        );
        assert!(
            heard.result(1).starts_with("POST /mcp"),
            "the next call is made all the same"
        );
    }
    for badly in ["forgets", "lost", "lost in words"] {
        let heard = calls(bad_http(badly).await, &[("echo", json!({}))])
            .await
            .unwrap();
        assert!(
            heard.result(0).starts_with("POST /mcp"),
            "a session that is forgotten is begun anew: {badly}"
        );
    }
    let count = Arc::new(AtomicUsize::new(0));
    let url = http::serve_counted("breaks", count.clone()).await;
    let toolset = McpToolset::new("bad", HttpServer::new(url));
    calls(toolset, &[("echo", json!({}))]).await.unwrap();
    assert_eq!(
        count.load(SeqCst),
        1,
        "a call that may have been executed is not repeated"
    );
}

async fn secrets() {
    let mut shown = Vec::new();
    for badly in ["exits", "silent", "huge list", "reserved"] {
        let toolset = match badly {
            "silent" => bad(badly).connect_timeout(Duration::from_millis(500)),
            _ => bad(badly),
        };
        shown.push(format!("{toolset:?}"));
        shown.push(everything_of(&run_error(toolset).await));
    }
    let result = calls(
        bad(""),
        &[
            ("tell", json!({})),
            ("tell", json!({"fail": true})),
            ("die", json!({})),
        ],
    )
    .await;
    shown.push(format!("{:?}", result.unwrap().answers));
    for (badly, _) in AT_FIRST {
        let toolset = bad_http(badly).await;
        shown.push(format!("{toolset:?}"));
        shown.push(everything_of(&run_error(toolset).await));
    }
    for badly in IN_CALLS.iter().map(|(badly, _)| *badly).chain([""]) {
        let result = calls(bad_http(badly).await, &[("echo", json!({}))])
            .await
            .unwrap();
        shown.push(format!("{:?} {:?}", result.answers, result.described));
    }
    let odd =
        HttpServer::new("http://127.0.0.1:1/?key=sesame-query").header("x-key", "sesame\n-header");
    shown.push(everything_of(&run_error(McpToolset::new("bad", odd)).await));
    assert!(
        shown.iter().any(|text| text.contains("[secret]")),
        "{shown:?}"
    );
    for text in shown {
        assert!(!text.contains("sesame"), "{text}");
    }
}

/// Formats an error with all its parts.
fn everything_of(error: &adk_build::Error) -> String {
    let mut text = format!("{error} {error:?}");
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text.push_str(&format!(" {cause} {cause:?}"));
        source = cause.source();
    }
    text
}

async fn filters() {
    let toolset = bad("pattern").filter(|tool| tool != "bad");
    assert!(calls(toolset, &[]).await.unwrap().tools.is_empty());
    let toolset = bad("reserved").prefix("other");
    assert_eq!(
        calls(toolset, &[]).await.unwrap().tools,
        ["other_set_model_response"]
    );
    let toolset = bad("").filter(|tool| tool == "echo").prefix("my");
    let heard = calls(toolset, &[("my_echo", json!({"text": "a"}))])
        .await
        .unwrap();
    assert_eq!(heard.tools, ["my_echo"]);
    assert_eq!(heard.result(0), "{\"text\":\"a\"}");
}

async fn drops() {
    let toolset = bad("");
    let begun = std::env::temp_dir().join(format!("adk-malice-{}", std::process::id()));
    let script = [("hang", json!({"creates": begun}))];
    tokio::select! {
        _ = calls(toolset.clone(), &script) => panic!("it hangs"),
        () = async {
            while !begun.exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        } => {}
    }
    std::fs::remove_file(begun).unwrap();
    let heard = calls(toolset, &[("cancelled", json!({}))]).await.unwrap();
    assert_eq!(heard.result(0), "1");
}
