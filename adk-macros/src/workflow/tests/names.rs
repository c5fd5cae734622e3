//! Keywords of Rust and of the language at every place of a name: each gets one message that names
//! the mistake.

use super::messages::errors;

/// Strict and reserved keywords.
const KEYWORDS: &str = "abstract async await become box break const continue crate do dyn else \
    enum extern false final fn for if impl in let loop macro match mod move mut override priv pub \
    ref return self Self static struct super trait true try type typeof unsafe unsized use virtual \
    where while yield _";

/// Words of `workflow!` that are not keywords of Rust.
const WORDS: &str = "agent state sequence parallel each max until max_concurrency timeout default \
    bounds app temp user model";

/// Places of the name of an agent, an instance or a block.
const NAMES: &[&str] = &[
    "W() { agent NAME { instruction: \"x\" } b; NAME }",
    "W() { agent NAME -> k: String { } b; NAME as other; c }",
    "W() { agent NAME { } loop(max = 2) < b; NAME > }",
    "W() { agent NAME: x::Given; b; NAME }",
    "W() { agent NAME(x: u8) -> k: u8 as T; NAME; b }",
    "W() { a as NAME; b }",
    "W() { NAME: loop(max = 2) < a >; b }",
    "W() { NAME: await key: bool; b }",
];

/// Places of the name of a key.
const KEYS: &[&str] = &[
    "W() { agent a -> NAME: String {} a }",
    "W() { agent a -> user:NAME: String {} a }",
    "W(NAME: u8) { a }",
    "W() -> NAME: u8 { a }",
    "W() { let NAME: u8 = 1; a }",
    "W() { state NAME: u8; a }",
    "W() { a; each NAME in items < b > }",
    "W() { a; each one in NAME < b > }",
    "W() { a(NAME = x); b }",
    "W() { a(x = NAME); b }",
    "W() { a -> NAME; b }",
    "W() { await NAME: bool; b }",
    "W() { loop(max = 2, until = NAME) < a > }",
    "W() { match NAME < _ => a > }",
    "W() { agent a(NAME: u8) -> k: u8 as T; a }",
];

#[test]
fn errors_show_a_keyword_that_is_a_name() {
    let mut wrong = Vec::new();
    for word in KEYWORDS.split_whitespace() {
        // After a prefix the word is a valid key.
        for place in NAMES
            .iter()
            .chain(KEYS)
            .filter(|place| !place.contains("user:"))
        {
            let text = place.replace("NAME", word);
            let errors = errors(&text);
            let quoted = format!("`{word}`");
            let known = |one: &String| {
                let checked = one.starts_with("name-invalid: ") || one.starts_with("syntax: ");
                // `until = true` is reported as an expression.
                let shows = one.contains(&quoted)
                    || matches!(word, "true" | "false" | "break" | "if" | "while");
                checked && shows && (one.contains("; help: ") || one.contains("expected "))
            };
            if !errors.iter().any(known) {
                wrong.push((text, errors));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_raw_keyword_is_a_name() {
    let usable = KEYWORDS
        .split_whitespace()
        .filter(|word| !matches!(*word, "self" | "Self" | "super" | "crate" | "_"));
    let mut wrong = Vec::new();
    for word in usable {
        for place in NAMES.iter().chain(KEYS) {
            let text = place.replace("NAME", &format!("r#{word}"));
            let errors = errors(&text);
            if !errors.is_empty() {
                wrong.push((text, errors));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn words_of_the_language_are_valid_keys() {
    let mut wrong = Vec::new();
    for word in WORDS.split_whitespace() {
        for place in KEYS {
            let text = place.replace("NAME", word);
            let errors = errors(&text);
            // An `await` without a name has the name of its key.
            if !errors.is_empty() && !place.contains("await") {
                wrong.push((text, errors));
            }
        }
        for place in NAMES {
            let text = place.replace("NAME", word);
            let errors = errors(&text);
            let reserved = matches!(word, "sequence" | "parallel" | "each" | "user" | "model");
            let is_reserved = errors
                .iter()
                .all(|one| one.starts_with(&format!("name-reserved: `{word}` ")));
            if errors.len() != usize::from(reserved) || !is_reserved {
                wrong.push((text, errors));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_name_has_no_dashes() {
    let expected = "name-invalid: `my-own-agent` is no name; help: write `my_own_agent`";
    for text in [
        "W() { agent my-own-agent { } a }",
        "W() { my-own-agent; a }",
        "W() { my-own-agent: loop < a > }",
    ] {
        assert_eq!(errors(text), [expected], "{text}");
    }
}
