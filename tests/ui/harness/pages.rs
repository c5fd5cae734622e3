//! `docs/checks`: a page for each check, with a wrong program, what rustc says to it, and the right program.
//!
//! The pages are the only source. The wrong program is taken from there and has to fail with that check alone, with the
//! errors and at the places that the page shows, in which the program is called `src/main.rs`. The right program, which is
//! the wrong one without the mistake, is a test of the facade's documentation. `UI=overwrite` writes the messages anew, and
//! the headings and the table of all pages after the list in the code.

use super::{compile, folder, overwrite, read};
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
        (_, true) => Err("after the right program only other right ones are tested".into()),
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

/// The errors and their places: the rest is rustc's layout, which changes with the compiler.
fn said(message: &str) -> Vec<&str> {
    message
        .lines()
        .map(str::trim_start)
        .filter(|line| line.starts_with("error") || line.starts_with("--> src/main.rs"))
        .collect()
}

/// The page with its heading and with that message.
fn written(page: &str, check: &Check, message: &str) -> Result<String, String> {
    let (before, _, after) = split(page, MESSAGE)?;
    let (_, before) = before.split_once('\n').ok_or("no heading")?;
    Ok(format!("{}{before}{message}\n{after}", heading(check)))
}

fn heading(check: &Check) -> String {
    format!("# `{}`: {}\n", check.name, check.rejects)
}

#[test]
fn pages() {
    let (pages, home) = (folder("../../docs/checks"), Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages"));
    fs::create_dir_all(&home).expect("a folder for the programs");
    let mut wrong = Vec::new();
    let mut run = Vec::new();
    for check in CHECKS {
        match parts(&read(&pages.join(check.name).with_extension("md"))) {
            Ok((program, _)) => {
                let path = home.join(check.name).with_extension("rs");
                fs::write(&path, format!("{program}\nfn main() {{}}\n")).expect("a program");
                run.push((check.name.to_owned(), path));
            }
            Err(why) => wrong.push(format!("{}: {why}", check.name)),
        }
    }
    let mut found = compile::programs("pages", &run);
    let root = folder("../..").canonicalize().expect("the root");
    for check in CHECKS {
        let Some(messages) = found.remove(check.name) else { continue };
        let about: Vec<_> = messages.iter().map(compile::Message::check).collect();
        if about.is_empty() || about.iter().any(|about| *about != Some(check.name)) {
            wrong.push(format!("{}: the message is about {about:?}", check.name));
        }
        let shown: String = messages
            .iter()
            .map(|message| {
                message
                    .rendered
                    .replace(&format!("{}.rs", check.name), SHOWN)
                    .replace(&*root.to_string_lossy(), "$WORKSPACE")
            })
            .collect();
        let page = pages.join(check.name).with_extension("md");
        let text = read(&page);
        let (_, message) = parts(&text).expect("it was split above");
        let changed = said(message) != said(&shown) || !text.starts_with(&heading(check));
        match written(&text, check, shown.trim_end()) {
            Ok(anew) if changed && overwrite() => fs::write(&page, anew).expect("a page"),
            Ok(_) if changed => {
                wrong.push(format!("{}: its heading or its message is another one:\n{shown}", check.name))
            }
            Ok(_) => {}
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
    assert!(page == text || overwrite(), "`UI=overwrite` writes this table: {page}");
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
