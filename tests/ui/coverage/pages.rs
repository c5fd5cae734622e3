//! `docs/checks`: a page for each check, with a wrong program, the output of rustc and the right
//! program.
//!
//! The pages are the only source. The wrong program is copied from its page to a file, and trybuild
//! compares the output of rustc with the page, on which the file is called `src/main.rs`. The right
//! program, which is the wrong program without the mistake, is a test of the facade's
//! documentation. `TRYBUILD=overwrite` updates the output, and the headings and the table of all
//! pages from the list in the code.

use super::{folder, messages, read};
use adk::check::Check;
use std::fs;
use std::path::{Path, PathBuf};

/// The name of the wrong program on its page.
const SHOWN: &str = "src/main.rs";

/// The first lines of the blocks of a page, and the last line of each.
const WRONG: &str = "```rust,compile_fail\n";
const OUTPUT: &str = "```text\n";
const RIGHT: &str = "```rust\n";
const END: &str = "```\n";

/// Splits a page into the text before a block, the block, and the text after it.
fn split<'a>(page: &'a str, begin: &str) -> Result<(&'a str, &'a str, &'a str), String> {
    let found = page
        .match_indices(begin)
        .next()
        .ok_or_else(|| format!("no {begin}"))?;
    let (before, rest) = page.split_at(found.0 + begin.len());
    let end = if rest.starts_with(END) {
        0
    } else {
        rest.find("\n```\n").ok_or("a block has no end")? + 1
    };
    Ok((before, &rest[..end], &rest[end..]))
}

/// Returns the wrong program and its output. The right program must follow.
fn parts(page: &str) -> Result<(&str, &str), String> {
    let (_, program, rest) = split(page, WRONG)?;
    let (_, output, rest) = split(rest, OUTPUT)?;
    let (_, right, rest) = split(rest, RIGHT)?;
    match (
        is_close(program, right),
        rest.contains("```rust,") || rest.contains(OUTPUT),
    ) {
        (false, _) => Err("the right program differs in more than the mistake".into()),
        (_, true) => Err("only right programs may follow the first right program".into()),
        _ => Ok((program, output)),
    }
}

/// Whether two programs differ only by a mistake: both have two of three lines of the first.
fn is_close(wrong: &str, right: &str) -> bool {
    let lines = |text: &str| -> Vec<String> {
        text.lines()
            .map(|line| line.trim().to_owned())
            .filter(|line| !line.is_empty())
            .collect()
    };
    let (wrong, mut right) = (lines(wrong), lines(right));
    let common = wrong.iter().filter(|line| {
        let found = right.iter().position(|other| other == *line);
        found.map(|at| right.swap_remove(at)).is_some()
    });
    common.count() * 3 >= wrong.len() * 2
}

/// Replaces the heading and the output of a page.
fn rewrite(page: &str, check: &Check, output: &str) -> Result<String, String> {
    let (before, _, after) = split(page, OUTPUT)?;
    let (_, before) = before.split_once('\n').ok_or("no heading")?;
    Ok(format!("{}{before}{output}{after}", heading(check)))
}

fn heading(check: &Check) -> String {
    format!("# `{}`: {}\n", check.name(), check.rejects())
}

/// Whether the files are updated instead of compared.
fn overwrite() -> bool {
    std::env::var_os("TRYBUILD").is_some_and(|value| value == "overwrite")
}

/// A page and the files that trybuild reads.
struct Page {
    check: &'static Check,
    page: PathBuf,
    program: PathBuf,
}

impl Page {
    fn new(check: &'static Check, home: &Path) -> Self {
        let page = folder("../../docs/checks")
            .join(check.name())
            .with_extension("md");
        Self {
            check,
            page,
            program: home.join(check.name()).with_extension("rs"),
        }
    }

    fn output(&self) -> PathBuf {
        self.program.with_extension("stderr")
    }

    /// Writes the wrong program and its output to files.
    fn extract(&self) -> Result<(), String> {
        let page = read(&self.page);
        let (program, output) = parts(&page)?;
        let output = output.replace(SHOWN, &self.program.to_string_lossy());
        fs::write(&self.program, format!("{program}\nfn main() {{}}\n")).expect("a program");
        fs::write(self.output(), output).expect("an output");
        Ok(())
    }

    /// Compares the heading, or updates the page; returns what is wrong.
    fn update(&self) -> Result<(), String> {
        let (page, output) = (read(&self.page), read(&self.output()));
        let output = output.replace(&*self.program.to_string_lossy(), SHOWN);
        let rewritten = rewrite(&page, self.check, &output)?;
        if overwrite() {
            fs::write(&self.page, rewritten).expect("a page");
        } else if page != rewritten {
            return Err(format!(
                "`TRYBUILD=overwrite` updates {}",
                self.page.display()
            ));
        }
        let name = format!("{}: ", self.check.name());
        match messages(&output)
            .find(|message| !message.lines().next().unwrap_or_default().contains(&name))
        {
            Some(other) => Err(format!(
                "its output has a message of another check:\n{other}"
            )),
            None => Ok(()),
        }
    }
}

#[test]
fn pages_show_the_current_messages() {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
    fs::create_dir_all(&home).expect("a folder for the programs");
    let pages: Vec<_> = Check::ALL
        .iter()
        .map(|check| Page::new(check, &home))
        .collect();
    let faults = |work: fn(&Page) -> Result<(), String>| -> Vec<String> {
        let fault = |page: &Page| {
            work(page)
                .err()
                .map(|fault| format!("{}: {fault}", page.check.name()))
        };
        pages.iter().filter_map(fault).collect()
    };
    assert_eq!(faults(Page::extract), Vec::<String>::new());
    let cases = trybuild::TestCases::new();
    for page in &pages {
        cases.compile_fail(&page.program);
    }
    // trybuild compares when it is dropped.
    drop(cases);
    assert_eq!(faults(Page::update), Vec::<String>::new());
}

/// The table has a row for each check, in their order. Links work in the repository and in rustdoc,
/// which resolves these names to links of its own.
#[test]
fn the_table_lists_every_check() {
    let file = folder("../../docs/checks/README.md");
    let text = read(&file);
    let row = |check: &Check| format!("| [`{}`] | {} |\n", check.name(), check.rejects());
    let link = |check: &Check| format!("[`{0}`]: {0}.md\n", check.name());
    let table: String = Check::ALL.iter().map(row).collect();
    let links: String = Check::ALL.iter().map(link).collect();
    let (before, rest) = text.split_once("|---|---|\n").expect("a table");
    let (_, rest) = rest.split_once("\n\n").expect("an end of the table");
    let (notes, _) = rest.split_once("\n[`").expect("links");
    let page = format!("{before}|---|---|\n{table}\n{notes}\n{links}");
    if overwrite() {
        fs::write(&file, &page).expect("the table");
    }
    assert!(
        page == text || overwrite(),
        "`TRYBUILD=overwrite` updates this table: {page}"
    );
}

/// Rustdoc shows every page.
#[test]
fn rustdoc_shows_every_page() {
    let source = read(&folder("../../src/docs.rs"));
    let (_, list) = source.rsplit_once("pages! {\n").expect("the list");
    let listed: Vec<_> = list
        .lines()
        .map_while(|line| line.strip_prefix("    "))
        .collect();
    let expected = Check::ALL
        .iter()
        .map(|check| format!("{} {:?},", check.name().replace('-', "_"), check.name()));
    assert_eq!(listed, expected.collect::<Vec<_>>());
}
