//! Tests what the README and the other pages promise. Their Rust code is compiled and run as documentation tests, see `src/lib.rs`.

use std::path::Path;

const README: &str = include_str!("../README.md");
const EXAMPLES: &str = include_str!("../docs/examples.md");

/// The blocks of code of one kind in a page.
fn blocks(page: &'static str, kind: &str) -> Vec<&'static str> {
    let fence = format!("\n```{kind}\n");
    let after = page.split(&*fence).skip(1);
    after.map(|rest| rest.split_once("```").expect("the block has an end").0).collect()
}

#[test]
fn the_error_messages_are_those_of_the_compiler() {
    // `tests/ui.rs` holds these two files together.
    let (code, messages) = (include_str!("ui/readme.rs"), include_str!("ui/readme.stderr"));
    assert_eq!(blocks(README, "rust,compile_fail"), [code]);
    let [shown] = &blocks(README, "text")[..] else { panic!("one block of messages") };
    let errors =
        |text: &'static str| text.lines().filter(|line| line.starts_with("error")).collect::<Vec<_>>();
    // The README shows them as rustc prints them.
    let printed = errors(messages)
        .into_iter()
        .map(|line| line.replace("error: ", "error[E0080]: evaluation panicked: "));
    assert_eq!(errors(shown), printed.collect::<Vec<_>>());
}

#[test]
fn every_link_leads_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "adk-macros/docs/language.md",
        "docs/checks/README.md",
        "docs/decisions/README.md",
        "docs/examples.md",
        "docs/from-adk.md",
        "docs/running.md",
    ] {
        let text = std::fs::read_to_string(root.join(file)).expect("it can be read");
        let folder = root.join(file);
        let folder = folder.parent().expect("it stands in a folder");
        let inline = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        let listed = text.lines().filter_map(|line| line.strip_prefix('[')?.split_once("]: "));
        let links: Vec<_> = inline.map(|(link, _)| link).chain(listed.map(|(_, link)| link)).collect();
        assert!(links.len() > 2, "{file}: {links:?}");
        for link in links.into_iter().filter(|link| !link.starts_with('#')) {
            assert!(folder.join(link).exists(), "{file}: {link}");
        }
    }
}

#[test]
fn the_language_names_every_check() {
    let page = include_str!("../adk-macros/docs/language.md");
    // Where the same links lead in rustdoc.
    let links = include_str!("../adk-macros/docs/links.md");
    for check in adk::check::CHECKS {
        let (name, module) = (check.name, check.name.replace('-', "_"));
        assert!(page.contains(&format!("[`{name}`]: ../../docs/checks/{name}.md\n")), "{name}");
        assert!(links.contains(&format!("[`{name}`]: ../adk/checks/{module}/index.html\n")), "{name}");
        assert!(page.matches(&format!("[`{name}`]")).count() > 1, "{name}");
    }
}

#[test]
fn the_commands_are_there() {
    let commands = [README, EXAMPLES].into_iter().flat_map(|page| blocks(page, "sh")).flat_map(str::lines);
    let (tests, examples): (Vec<&str>, Vec<&str>) = commands.partition(|line| line.starts_with("cargo test"));
    let ci = include_str!("../.ci/run");
    let [test] = tests[..] else { panic!("one command runs the tests: {tests:?}") };
    let called = ci.lines().filter_map(|line| line.strip_prefix("step "));
    // `--locked` is for CI alone.
    assert!(
        called.map(|line| line.trim_end_matches(" --locked")).any(|line| line == test),
        "`.ci/run` does not call `{test}`"
    );
    assert!(!examples.is_empty());
    for example in examples {
        let words: Vec<_> = example.split(' ').collect();
        let (["cargo", "run", "--example", name, "--", ..]
        | ["cargo", "run", "--features", "sqlite", "--example", name, "--", ..]) = words[..]
        else {
            panic!("what is `{example}`?")
        };
        assert!(exists(name), "there is no example `{name}`");
    }
}

#[test]
fn every_example_is_named() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let entries = folder.read_dir().expect("there are examples");
    let names = entries.map(|entry| entry.expect("it can be read").path());
    let mut names: Vec<_> = names.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    names.retain(|name| exists(name));
    assert_eq!(names.len(), 23, "{names:?}");
    for name in names {
        assert!(
            EXAMPLES.contains(&format!("`{name}`")) || EXAMPLES.contains(&format!("--example {name} ")),
            "{name}"
        );
    }
}

fn exists(example: &str) -> bool {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    folder.join(example).with_extension("rs").exists() || folder.join(example).join("main.rs").exists()
}
