//! Compares the session in `docs/cli.md` with the real output. `DOCS=overwrite cargo test -p
//! adk-workflow-cli --test it page` updates it.
use crate::support::{Folder, run_program, runner};
use adk::Waiting;
use adk_core::memory::iso;
use std::path::Path;
use std::process::Command;

/// The run id in the page.
const RUN: &str = "e-01a21873-8f0b-7229-bffe-d05167240dc6";
const TIME: &str = "2026-11-26T15:22:36Z";
const DEADLINE: &str = "2026-11-29T15:22:36Z";
const SECONDS: &str = "1795706556.196";

/// Replaces ids and times, which differ in each run, by the values in the page.
fn normalized(text: &str, waiting: &Waiting) -> String {
    let deadline = iso(waiting.deadline.unwrap());
    let text = text
        .replace(&waiting.run_id.to_string(), RUN)
        .replace(&deadline, DEADLINE);
    let normalized = text.split_inclusive([' ', '\n', ',']).map(|word| {
        let (bare, end) = word.split_at(word.trim_end_matches([' ', '\n', ',']).len());
        let is_date = bare.len() == TIME.len() && bare.ends_with('Z') && bare != DEADLINE;
        let age = bare
            .trim_start_matches('(')
            .strip_suffix('s')
            .filter(|age| age.parse::<u64>().is_ok());
        match (bare.split_once(':'), age) {
            _ if is_date => format!("{TIME}{end}"),
            (_, Some(age)) => format!("{}{end}", bare.replace(age, "0")),
            (Some((name, value)), _) if value.parse::<f64>().is_ok() && value.contains('.') => {
                format!("{name}:{SECONDS}{end}")
            }
            _ => word.to_owned(),
        }
    });
    normalized.collect()
}

#[tokio::test]
async fn the_session_in_the_page_matches_the_output() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/cli.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once("```console\n").unwrap();
    let (session, after) = rest.split_once("```\n").unwrap();
    let (folder, waiting) = Folder::with_wait().await;
    let run = waiting.run_id.to_string();
    let programs = Path::new(env!("CARGO_BIN_EXE_adk")).parent().unwrap();
    let path = std::env::join_paths(
        [programs.to_owned()]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let path = path.unwrap();
    let mut printed = String::new();
    for command in session.lines().filter(|line| line.starts_with("$ ")) {
        let mut shell = Command::new("sh");
        shell
            .arg("-c")
            .arg(command[2..].replace(RUN, &run))
            .current_dir(folder.path());
        shell.env("PATH", &path).env("ADK_STORE", folder.store());
        let output = run_program(shell, "");
        printed += &format!(
            "{command}\n{}",
            normalized(&(output.out + &output.err), &waiting)
        );
        // Resumes the runs, in place of a program that watches them.
        runner(&folder.open().await, "desk")
            .recover()
            .await
            .unwrap();
    }
    if std::env::var("DOCS").is_ok_and(|what| what == "overwrite") {
        std::fs::write(&page, format!("{before}```console\n{printed}```\n{after}")).unwrap();
    } else {
        // The width of a column depends on the age of a run, so the words of each line are
        // compared.
        let words =
            |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
        assert_eq!(words(&printed), words(session), "{printed}");
    }
}
