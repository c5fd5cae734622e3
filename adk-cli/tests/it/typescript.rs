//! `adk client ts` with the TypeScript compiler, and a front end on Node.js that calls a real
//! server: `tests/peers/run-clients.sh cargo test -p adk-workflow-cli --test it -- --ignored
//! typescript`.
use crate::support::{Folder, run_program, runner};
use std::path::Path;
use std::process::{Command, Output};

/// The front end. It imports the generated client.
const GOOD: &str = r#"
import { AdkError, Client } from "./client.js";
declare const process: { argv: string[] };

const client = new Client(process.argv[2]!);
const post: string = await client.complete("approval", { topic: "a cat" }, {
  "approval/decision": async (wait) => {
    if (!wait.question.includes("A cat sat.")) throw new Error(wait.question);
    return "Publish";
  },
});
console.log(post);
const { runs } = await client.runs({ status: "finished" });
const authors: string[] = [];
const tokens: number | undefined = runs[0]!.usage?.promptTokenCount;
const amount: string | undefined = runs[0]!.usage?.cost?.amount;
if (!tokens || amount !== undefined) throw new Error(JSON.stringify(runs[0]!.usage));
for await (const event of client.events(runs[0]!.run)) authors.push(event.author);
console.log(authors.join(" "));
try {
  await client.run("approval", { topic: 7 } as never);
} catch (error) {
  if (!(error instanceof AdkError)) throw error;
  console.log(error.status, error.fault.fields?.[0]?.field);
}
"#;

fn node(file: &str) -> Command {
    let mut command = Command::new("node");
    command.arg(format!(
        "{}/../node_modules/{file}",
        std::env::var("ADK_CLIENTS").unwrap()
    ));
    command
}

fn compile(folder: &Path, main: &str) -> Output {
    std::fs::write(folder.join("main.ts"), main).unwrap();
    std::fs::write(folder.join("package.json"), r#"{"type": "module"}"#).unwrap();
    let words = [
        "--strict",
        "--noUncheckedIndexedAccess",
        "--target",
        "es2022",
        "--module",
        "nodenext",
        "--types",
        "",
    ];
    let mut command = node("typescript/bin/tsc");
    command
        .args(words)
        .args(["--lib", "es2022,dom,dom.asynciterable", "main.ts"])
        .current_dir(folder)
        .output()
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Node.js: tests/peers/run-clients.sh"]
async fn a_front_end_compiles_only_if_it_answers_all_questions() {
    let folder = Folder::new();
    let store = adk_sqlite::SqliteStore::open(folder.path().join("runs.db"))
        .await
        .unwrap();
    let runner = runner(&store, "app");
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let serving = tokio::spawn(adk::serve(&runner).serve(listener, std::future::pending()));
    let done = tokio::task::spawn_blocking(move || {
        let folder = Folder::new();
        let document = Command::new("curl")
            .args(["-sf", &format!("{address}/openapi.json")])
            .output()
            .unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_adk"));
        command.args(["client", "ts", "-"]);
        let written = run_program(command, std::str::from_utf8(&document.stdout).unwrap());
        assert_eq!(written.code, 0, "{written:?}");
        std::fs::write(folder.path().join("client.ts"), &written.out).unwrap();

        let compiled = compile(folder.path(), GOOD);
        assert!(
            compiled.status.success(),
            "{}",
            String::from_utf8_lossy(&compiled.stdout)
        );
        let output = Command::new("node")
            .arg("main.js")
            .arg(&address)
            .current_dir(folder.path())
            .output()
            .unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<_> = stdout.lines().collect();
        assert_eq!(
            lines.first(),
            Some(&"A cat sat."),
            "{stdout} {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(
            lines[1].starts_with("user writer") && lines[1].ends_with("publish"),
            "{stdout}"
        );
        assert_eq!(lines[2], "422 topic");

        for (good, bad, message) in [
            (
                "const { runs }",
                "await client.complete(\"approval\", { topic: \"a dog\" }, {});\nconst { runs }",
                "\"approval/decision\"",
            ),
            ("return \"Publish\"", "return { Revise: {} }", "note"),
            ("{ topic: \"a cat\" }", "{}", "topic"),
            (
                "const post: string",
                "const post: number",
                "'string' is not assignable to type 'number'",
            ),
        ] {
            assert!(GOOD.contains(good));
            let refused = compile(folder.path(), &GOOD.replacen(good, bad, 1));
            let stdout = String::from_utf8(refused.stdout).unwrap();
            assert!(
                !refused.status.success() && stdout.contains(message),
                "{bad}: {stdout}"
            );
        }
    });
    done.await.unwrap();
    serving.abort();
}
