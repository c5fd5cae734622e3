//! Tests the promises of the README and of the other pages. `src/lib.rs` compiles and runs their
//! Rust code as documentation tests.

use std::path::Path;

const README: &str = include_str!("../README.md");
const EXAMPLES: &str = include_str!("../docs/examples.md");

/// The blocks of code of one kind in a page.
fn blocks(page: &'static str, kind: &str) -> Vec<&'static str> {
    let fence = format!("\n```{kind}\n");
    let after = page.split(&*fence).skip(1);
    after
        .map(|rest| rest.split_once("```").expect("the block has an end").0)
        .collect()
}

#[test]
fn the_error_messages_are_those_of_the_compiler() {
    // The cases of `tests/ui` compare these two files.
    let (code, messages) = (
        include_str!("ui/readme.rs"),
        include_str!("ui/readme.stderr"),
    );
    assert_eq!(blocks(README, "rust,compile_fail"), [code]);
    let [shown] = &blocks(README, "text")[..] else {
        panic!("one block of messages")
    };
    // The README shows the messages without the name of the file.
    let is_shown = |line: &&str| !line.trim_start().starts_with("-->");
    assert_eq!(
        shown.lines().collect::<Vec<_>>(),
        messages.lines().filter(is_shown).collect::<Vec<_>>()
    );
}

#[test]
fn the_guide_shows_its_examples() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide");
    let index = std::fs::read_to_string(guide.join("README.md")).expect("the file is readable");
    // `| [Title](page.md) | `example`, `example` | ... |`
    let pages: Vec<_> = index
        .lines()
        .filter_map(|line| {
            line.strip_prefix("| [")?
                .split_once("](")?
                .1
                .split_once(')')
        })
        .collect();
    assert_eq!(
        pages.len() + 1,
        std::fs::read_dir(&guide)
            .expect("the guide is a folder")
            .count()
    );
    for (file, columns) in pages {
        let page = std::fs::read_to_string(guide.join(file)).expect("the file is readable");
        let names = columns.split('|').nth(1).expect("a column of examples");
        for name in names.split('`').skip(1).step_by(2) {
            let examples = guide.join("../../examples");
            // An example that is a crate shows its tests.
            let example = std::fs::read_to_string(examples.join(name).with_extension("rs"))
                .or_else(|_| std::fs::read_to_string(examples.join(name).join("tests/kit.rs")))
                .expect("the file is readable");
            assert!(
                page.contains(&format!("\n```rust\n{example}```\n")),
                "docs/guide/{file} shows another program than `{name}`"
            );
        }
    }
}

/// The page on text of strangers shows its wrong programs as changes of the examples, with the
/// messages of the compiler. The cases of `tests/ui` are these programs.
#[test]
fn the_wrong_patterns_are_rejected_as_shown() {
    const PATTERNS: [[&str; 3]; 3] = [
        [
            include_str!("../examples/plan_execute.rs"),
            include_str!("ui/untrusted-action-plan.rs"),
            include_str!("ui/untrusted-action-plan.stderr"),
        ],
        [
            include_str!("../examples/quarantined_reader.rs"),
            include_str!("ui/untrusted-action-reader.rs"),
            include_str!("ui/untrusted-action-reader.stderr"),
        ],
        [
            include_str!("../examples/action_selector.rs"),
            include_str!("ui/untrusted-action-selector.rs"),
            include_str!("ui/untrusted-action-selector.stderr"),
        ],
    ];
    let shown = blocks(include_str!("../docs/guide/strangers.md"), "diff");
    assert_eq!(shown.len(), PATTERNS.len());
    for (block, [right, wrong, output]) in shown.into_iter().zip(PATTERNS) {
        let (changes, messages) = block.split_once("\n\n").expect("changes and messages");
        let lines = |sign| {
            changes
                .lines()
                .filter_map(move |line| line.strip_prefix(sign))
        };
        let (mut program, _) = right.split_once("\n#[tokio::main").expect("a `main`");
        let mut changed = String::new();
        assert_eq!(lines('-').count(), lines('+').count(), "{changes}");
        for (removed, added) in lines('-').zip(lines('+')) {
            let (before, after) = program.split_once(removed).expect("a line of the example");
            changed += before;
            changed += added;
            program = after;
        }
        assert_eq!(changed + program + "\nfn main() {}\n", wrong);
        let errors = output.lines().filter(|line| line.starts_with("error["));
        assert!(
            messages.lines().eq(errors),
            "{messages}\nis not in\n{output}"
        );
    }
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
        "docs/cli.md",
        "docs/decisions/README.md",
        "docs/examples.md",
        "docs/errors.md",
        "docs/from-adk.md",
        "docs/running.md",
        "docs/operating.md",
        "docs/restate.md",
        "docs/scaling.md",
        "docs/guide/README.md",
        "docs/guide/audit.md",
        "docs/guide/resources.md",
        "docs/guide/testing.md",
        "docs/guide/golden.md",
        "docs/guide/explore.md",
        "docs/guide/streaming.md",
        "docs/guide/worker.md",
        "docs/guide/serve.md",
        "docs/guide/sessions.md",
        "docs/guide/elements.md",
        "docs/guide/strangers.md",
        "docs/guide/cost.md",
        "docs/guide/mcp.md",
        "docs/guide/resilience.md",
        "docs/guide/ollama_local.md",
        "docs/guide/structured_review.md",
        "docs/guide/store_json.md",
        "docs/providers.md",
        "docs/guide/traced.md",
        "docs/guide/long_chat.md",
    ] {
        let text = std::fs::read_to_string(root.join(file)).expect("the file is readable");
        let folder = root.join(file);
        let folder = folder.parent().expect("the file is in a folder");
        let inline = text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split_once(')'));
        let listed = text
            .lines()
            .filter_map(|line| line.strip_prefix('[')?.split_once("]: "));
        let links: Vec<_> = inline
            .map(|(link, _)| link)
            .chain(listed.map(|(_, link)| link))
            .collect();
        assert!(links.len() > 1, "{file}: {links:?}");
        for link in links
            .into_iter()
            .filter(|link| !link.starts_with('#') && !link.contains("://"))
        {
            let target = link.split('#').next().unwrap_or(link);
            assert!(folder.join(target).exists(), "{file}: {link}");
        }
    }
}

/// The crate of the macros has no documentation tests of its own.
#[test]
fn the_pages_of_the_macros_are_tested() {
    let macros = include_str!("../adk-macros/src/lib.rs");
    assert!(!macros.contains("/// ```"), "code belongs to a page");
    let pages: Vec<&str> = macros
        .lines()
        .filter(|line| line.contains("/docs/"))
        .collect();
    assert!(pages.len() > 5, "{pages:?}");
    for page in pages {
        let tested = page.replace("../docs/", "../adk-macros/docs/");
        let has_code = !page.contains("links.md");
        assert_eq!(
            include_str!("../src/lib.rs").contains(&tested),
            has_code,
            "{page}"
        );
    }
}

#[test]
fn the_language_names_every_check() {
    let page = include_str!("../adk-macros/docs/language.md");
    // Where the same links lead in rustdoc.
    let links = include_str!("../adk-macros/docs/links.md");
    for check in adk::check::Check::ALL {
        let (name, module) = (check.name(), check.name().replace('-', "_"));
        assert!(
            page.contains(&format!("[`{name}`]: ../../docs/checks/{name}.md\n")),
            "{name}"
        );
        assert!(
            links.contains(&format!("[`{name}`]: ../adk/checks/{module}/index.html\n")),
            "{name}"
        );
        assert!(page.matches(&format!("[`{name}`]")).count() > 1, "{name}");
    }
}

#[test]
fn the_commands_are_there() {
    let commands = [README, EXAMPLES]
        .into_iter()
        .flat_map(|page| blocks(page, "sh"))
        .flat_map(str::lines);
    let (tests, examples): (Vec<&str>, Vec<&str>) =
        commands.partition(|line| line.starts_with("cargo test"));
    let ci = include_str!("../.ci/run");
    let [test] = tests[..] else {
        panic!("one command runs the tests: {tests:?}")
    };
    let called = ci
        .lines()
        .filter_map(|line| line.trim().strip_prefix("step "));
    // Only CI passes `--locked`.
    assert!(
        called
            .map(|line| line.trim_end_matches(" --locked"))
            .any(|line| line == test),
        "`.ci/run` does not call `{test}`"
    );
    assert!(!examples.is_empty());
    for example in examples {
        let words: Vec<_> = example.split(' ').collect();
        let (["cargo", "run", "--example", name, "--", ..]
        | ["cargo", "run", "--features", _, "--example", name, "--", ..]) = words[..]
        else {
            panic!("`{example}` is not a call of an example")
        };
        assert!(exists(name), "there is no example `{name}`");
    }
}

#[test]
fn every_example_is_named() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let entries = folder.read_dir().expect("there are examples");
    let names = entries.map(|entry| entry.expect("the file is readable").path());
    let names = names.filter(|path| path.extension().is_none_or(|end| end == "rs"));
    let mut names: Vec<_> = names
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.retain(|name| exists(name));
    assert!(names.len() >= 32, "{names:?}");
    for name in names {
        assert!(
            EXAMPLES.contains(&format!("`{name}`"))
                || EXAMPLES.contains(&format!("--example {name} ")),
            "{name}"
        );
    }
}

fn exists(example: &str) -> bool {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    folder.join(example).with_extension("rs").exists()
        || folder.join(example).join("main.rs").exists()
}
