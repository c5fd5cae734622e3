//! `docs/checks`: a page for each check, with a wrong program, what rustc says to it, and the right program.
//!
//! The pages are the only source. The wrong program is taken from there and has to fail with that check alone, and with
//! the very text that the page shows, in which the program is called `src/main.rs`. The right program, which is the wrong
//! one but for the mistake, is a test of the facade's documentation, of which the pages are a part. With `TRYBUILD=overwrite` the messages are written anew, and
//! the headings and the table of all pages after the list in the code.

use super::{folder, overwrite, read};
use adk::check::{CHECKS, Check};
use std::fs;
use std::path::Path;

/// What the wrong program is called on its page.
const SHOWN: &str = "src/main.rs";

/// How the blocks of a page begin, and how each of them ends.
const WRONG: &str = "```rust,compile_fail\n";
const MESSAGE: &str = "```text\n";
const RIGHT: &str = "```rust\n";
const END: &str = "```\n";

/// The text before a block, the block, and the text after it.
fn split<'a>(page: &'a str, begin: &str) -> Result<(&'a str, &'a str, &'a str), String> {
    let found = page.match_indices(begin).next().ok_or_else(|| format!("no {begin}"))?;
    let (before, rest) = page.split_at(found.0 + begin.len());
    let end = if rest.starts_with(END) { 0 } else { rest.find("\n```\n").ok_or("a block has no end")? + 1 };
    Ok((before, &rest[..end], &rest[end..]))
}

/// The wrong program and its message; the right program comes after them.
fn parts(page: &str) -> Result<(&str, &str), String> {
    let (_, program, rest) = split(page, WRONG)?;
    let (_, message, rest) = split(rest, MESSAGE)?;
    let (_, right, rest) = split(rest, RIGHT)?;
    match (is_close(program, right), rest.contains("```rust,") || rest.contains(MESSAGE)) {
        (false, _) => Err("the right program is another one than the wrong one".into()),
        (_, true) => Err("nothing is tested behind the right program but other right ones".into()),
        _ => Ok((program, message)),
    }
}

/// Whether one program is another but for a mistake: two of three of its lines stand in both.
fn is_close(wrong: &str, right: &str) -> bool {
    let lines = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
    };
    let (wrong, mut right) = (lines(wrong), lines(right));
    let common = wrong.iter().filter(|line| {
        let found = right.iter().position(|other| other == *line);
        found.map(|at| right.swap_remove(at)).is_some()
    });
    common.count() * 3 >= wrong.len() * 2
}

/// Which check each error of a message is about: what stands before the colon, after rustc's own words.
fn checks(message: &str) -> Vec<&str> {
    let errors = message.lines().filter(|line| line.starts_with("error"));
    let texts = errors.map(|line| line.split_once(": ").map_or("", |(_, text)| text));
    let texts = texts.map(|text| text.strip_prefix("evaluation panicked: ").unwrap_or(text));
    texts.map(|text| text.split(": ").next().unwrap_or_default()).collect()
}

/// The page with its heading and with that message.
fn written(page: &str, check: &Check, message: &str) -> Result<String, String> {
    let (before, _, after) = split(page, MESSAGE)?;
    let (_, before) = before.split_once('\n').ok_or("no heading")?;
    Ok(format!("{}{before}{message}{after}", heading(check)))
}

fn heading(check: &Check) -> String {
    format!("# `{}`: {}\n", check.name, check.rejects)
}

#[test]
fn pages() {
    let (pages, cases) = (folder("../../docs/checks"), Path::new(env!("CARGO_TARGET_TMPDIR")).join("checks"));
    fs::create_dir_all(&cases).expect("a folder for the cases");
    let mut wrong = Vec::new();
    let mut run = Vec::new();
    for check in CHECKS {
        let text = read(&pages.join(check.name).with_extension("md"));
        match parts(&text) {
            Ok((program, message)) => {
                let case = cases.join(check.name).with_extension("rs");
                let message = message.replace(SHOWN, &case.to_string_lossy());
                fs::write(&case, format!("{program}\nfn main() {{}}\n")).expect("a program");
                fs::write(case.with_extension("stderr"), message).expect("a message");
                run.push((check, text, case));
            }
            Err(why) => wrong.push(format!("{}: {why}", check.name)),
        }
    }
    let tests = trybuild::TestCases::new();
    run.iter().for_each(|(_, _, case)| tests.compile_fail(case));
    // It runs them now.
    drop(tests);
    for (check, text, case) in run {
        let message = read(&case.with_extension("stderr")).replace(&*case.to_string_lossy(), SHOWN);
        let about = checks(&message);
        if about.is_empty() || about.iter().any(|about| *about != check.name) {
            wrong.push(format!("{}: the message is about {about:?}", check.name));
        }
        match written(&text, check, &message) {
            Ok(page) if page == text => {}
            Ok(page) if overwrite() => {
                fs::write(pages.join(check.name).with_extension("md"), page).expect("a page")
            }
            Ok(_) => wrong.push(format!("{}: its heading is not that of the list", check.name)),
            Err(why) => wrong.push(format!("{}: {why}", check.name)),
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// The table has a row for each check, in their order; the links work in the repository, and in rustdoc as well, which
/// has links of its own for these names.
#[test]
fn table() {
    let file = folder("../../docs/checks/README.md");
    let text = read(&file);
    let row = |check: &Check| format!("| [`{}`] | {} |\n", check.name, check.rejects);
    let link = |check: &Check| format!("[`{0}`]: {0}.md\n", check.name);
    let table: String = CHECKS.iter().map(row).collect();
    let links: String = CHECKS.iter().map(link).collect();
    let (before, rest) = text.split_once("|---|---|\n").expect("a table");
    let (_, rest) = rest.split_once("\n\n").expect("an end of the table");
    let (notes, _) = rest.split_once("\n[`").expect("links");
    let page = format!("{before}|---|---|\n{table}\n{notes}\n{links}");
    if overwrite() {
        fs::write(&file, &page).expect("the table");
    }
    assert!(page == text || overwrite(), "`TRYBUILD=overwrite` writes this table: {page}");
}

/// Rustdoc shows every page.
#[test]
fn modules() {
    let source = read(&folder("../../src/docs.rs"));
    let (_, list) = source.rsplit_once("pages! {\n").expect("the list");
    let listed: Vec<_> = list.lines().map_while(|line| line.strip_prefix("    ")).collect();
    let expected = CHECKS.iter().map(|check| format!("{} {:?},", check.name.replace('-', "_"), check.name));
    assert_eq!(listed, expected.collect::<Vec<_>>());
}
