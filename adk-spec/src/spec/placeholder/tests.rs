//! The scanner, compared with a reference implementation of its rule that tries every position.

use super::*;

fn all(prompt: &str) -> Vec<Placeholder<'_>> {
    let mut scan = Placeholders::new(prompt);
    std::iter::from_fn(|| scan.next()).collect()
}

fn names(prompt: &str) -> Vec<String> {
    let name = |p: Placeholder<'_>| match p.source {
        Source::Key(key) => format!("{key}{}", if p.optional { "?" } else { "" }),
        Source::Artifact(name) => format!("artifact {name}{}", if p.optional { "?" } else { "" }),
    };
    all(prompt).into_iter().map(name).collect()
}

#[test]
fn keys_and_artifacts_are_read() {
    assert_eq!(
        names("{a} { b } {{c}} {{{d}}} {e?}"),
        ["a", "b", "c", "d", "e?"]
    );
    assert_eq!(
        names("{user:x}{app:y?}{temp:z}"),
        ["user:x", "app:y?", "temp:z"]
    );
    assert_eq!(
        names("{artifact.notes.txt} {artifact.a b?}"),
        ["artifact notes.txt", "artifact a b?"]
    );
    assert_eq!(names("{naïve} {名前}"), ["naïve", "名前"]);
    assert_eq!(names("fn f() {x} { {y}"), ["x", "y"]);
    assert_eq!(names("a{b"), [""; 0]);
    assert_eq!(names("{a}}b{c}"), ["a", "c"]);
}

#[test]
fn other_braces_are_text() {
    for prompt in [
        r#"Reply as {"title": "...", "n": 1}"#,
        "{} {?} {1x} {a-b} {a.b} {foo:bar} {user:a-b} {app:} {user:a:b} {_} {name ?} {a??} \
         {artifact.} {artifact.?}",
        r"${name} \{name} \{{name}} ${{name}}",
        "{",
        "}",
        "{{",
        "{ }",
        "{{}",
        "{\u{1f600}}",
    ] {
        assert_eq!(names(prompt), [""; 0], "{prompt}");
    }
    assert_eq!(
        names(r"\{a {b}"),
        ["b"],
        "what an escape leaves open closes nothing"
    );
    assert_eq!(
        names("$ {a}"),
        ["a"],
        "only what stands right before it is an escape"
    );
}

/// Applies ADK's regular expression `(?<![${\\])\{+[^{}]*\}+` at every place, and then ADK's rule
/// for the inner text.
fn reference(prompt: &str) -> Vec<(usize, usize, String, bool, bool)> {
    let chars: Vec<(usize, char)> = prompt.char_indices().collect();
    let place = |at: usize| chars.get(at).map_or(prompt.len(), |(place, _)| *place);
    let (mut found, mut at) = (Vec::new(), 0);
    while at < chars.len() {
        let run = |from: usize, fits: &dyn Fn(char) -> bool| {
            from + chars[from.min(chars.len())..]
                .iter()
                .take_while(|(_, char)| fits(*char))
                .count()
        };
        let escaped = at > 0 && matches!(chars[at - 1].1, '$' | '{' | '\\');
        let opened = run(at, &|char| char == '{');
        let inner = run(opened, &|char| char != '{' && char != '}');
        let end = run(inner, &|char| char == '}');
        if escaped || opened == at || end == inner {
            at += 1;
            continue;
        }
        let whole = &prompt[place(at)..place(end)];
        let text = whole.trim_start_matches('{').trim_end_matches('}').trim();
        let (text, optional) = text
            .strip_suffix('?')
            .map_or((text, false), |text| (text, true));
        let identifier = |text: &str| {
            let mut chars = text.chars();
            text != "_"
                && chars
                    .next()
                    .is_some_and(|char| char == '_' || unicode_ident::is_xid_start(char))
                && chars.all(unicode_ident::is_xid_continue)
        };
        let artifact = text
            .strip_prefix("artifact.")
            .filter(|name| !name.is_empty());
        let key = match text.split_once(':') {
            Some(("user" | "app" | "temp", name)) => identifier(name),
            Some(_) => false,
            None => identifier(text),
        };
        if let Some(name) = artifact {
            found.push((place(at), place(end), name.to_owned(), true, optional));
        } else if key {
            found.push((place(at), place(end), text.to_owned(), false, optional));
        }
        at = end;
    }
    found
}

fn assert_agrees(prompt: &str) {
    let ours: Vec<_> = all(prompt)
        .into_iter()
        .map(|p| {
            let (name, artifact) = match p.source {
                Source::Key(name) => (name, false),
                Source::Artifact(name) => (name, true),
            };
            (p.start, p.end, name.to_owned(), artifact, p.optional)
        })
        .collect();
    assert_eq!(ours, reference(prompt), "{prompt:?}");
}

#[test]
fn every_short_text_follows_the_rule() {
    // All texts of up to seven of these characters.
    let alphabet = ['{', '}', 'a', '$', '\\', '?', ' '];
    for length in 0..=7u32 {
        for mut number in 0..alphabet.len().pow(length) {
            let mut prompt = String::new();
            for _ in 0..length {
                prompt.push(alphabet[number % alphabet.len()]);
                number /= alphabet.len();
            }
            assert_agrees(&prompt);
        }
    }
}

#[test]
fn long_texts_follow_the_rule() {
    let words = [
        "{",
        "}",
        "{{",
        "}}",
        "a",
        "_",
        "1",
        "é",
        "名",
        "😀",
        "\u{3000}",
        " ",
        "?",
        ":",
        "user:",
        "app:",
        "temp:",
        "artifact.",
        ".",
        "$",
        "\\",
        "\n",
        "\"k\": 1",
    ];
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..200_000 {
        let mut prompt = String::new();
        for _ in 0..12 {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            prompt.push_str(words[(seed % words.len() as u64) as usize]);
        }
        assert_agrees(&prompt);
    }
}

/// The plain keys of the scanner equal the parsed keys.
#[test]
fn plain_keys_are_the_parsed_keys() {
    const LETTERS: &[u8] = b"{}a1?$ ";
    let mut plain = 0;
    for len in 0..8 {
        for number in 0..LETTERS.len().pow(len) {
            let prompt: String = (0..len)
                .map(|at| char::from(LETTERS[number / LETTERS.len().pow(at) % LETTERS.len()]))
                .collect();
            let mut scan = Placeholders::new(&prompt);
            while let Some(span) = scan.next_span() {
                let parsed = scan.parse(&span);
                let Some((number, optional)) = span.plain else {
                    let optional_key = |key: &str| {
                        key.starts_with('a') && key.bytes().all(|b| b.is_ascii_alphanumeric())
                    };
                    let text = part(&prompt, span.opened, span.inner);
                    assert!(
                        !optional_key(text.strip_suffix('?').unwrap_or(text)),
                        "{prompt}"
                    );
                    continue;
                };
                let key = part(&prompt, span.opened, span.inner - usize::from(optional));
                assert_eq!(parsed, Some((Source::Key(key), optional)), "{prompt}");
                assert_eq!(number, crate::hash::hash(key), "{prompt}");
                plain += 1;
            }
        }
    }
    assert!(plain > 1_000);
}

#[test]
fn a_part_of_a_key_looks_like_a_field_or_an_element() {
    for (text, key) in [
        ("review.notes", "review"),
        (" review.notes ", "review"),
        ("review.0", "review"),
        ("notes[0]", "notes"),
        ("user:plan.steps[1].name", "user:plan"),
        ("review", ""),
        ("review.", ""),
        ("review. Then", ""),
        ("notes[", ""),
        (".notes", ""),
        ("0.5", ""),
        ("\"title\": \"...\"", ""),
        ("a b.c", ""),
        ("", ""),
    ] {
        assert_eq!(key_of_part(text), key, "{text}");
    }
}
