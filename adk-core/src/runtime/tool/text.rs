//! JSON in the texts of models and users: after a byte order mark, in a Markdown fence, or in
//! prose.

use serde_json::{Deserializer, Value};

/// Maximum number of positions at which a value may begin.
const MAX_STARTS: usize = 64;

/// Reads the JSON value in a text that fits.
///
/// If the whole text is not JSON, the value is the only array or object in the text that fits.
///
/// # Errors
/// Returns the reason if the text has no such value.
pub(crate) fn read(
    text: &str,
    fits: &mut dyn FnMut(&mut Value) -> Result<(), String>,
) -> Result<Value, String> {
    let text = strip_fence(text);
    let error = match serde_json::from_str(text) {
        Ok(mut value) => return fits(&mut value).map(|()| value),
        Err(error) => error,
    };
    let mut misfit = None;
    // A number, a string or a boolean can only be distinguished from prose inside a fence.
    let scalars = text
        .split("```")
        .skip(1)
        .step_by(2)
        .filter_map(|block| serde_json::from_str(strip_language(block)).ok());
    let scalars = scalars.filter(|value: &Value| !value.is_array() && !value.is_object());
    let mut scalars = scalars.filter_map(|mut value| fits(&mut value).is_ok().then_some(value));
    let mut found = scalars.next().filter(|_| scalars.next().is_none());
    drop(scalars);
    let mut rest = text;
    for _ in 0..MAX_STARTS {
        let Some(start) = rest.find(['{', '[']) else {
            break;
        };
        rest = &rest[start..];
        let mut values = Deserializer::from_str(rest).into_iter::<Value>();
        match values.next() {
            Some(Ok(mut value)) => {
                rest = &rest[values.byte_offset()..];
                match fits(&mut value) {
                    Ok(()) if found.is_some() => {
                        return Err("it holds more than one value that fits".into());
                    }
                    Ok(()) => found = Some(value),
                    Err(why) => misfit = Some(why),
                }
            }
            // A truncated value is not valid, and neither are its parts.
            Some(Err(error)) if error.is_eof() => break,
            Some(Err(error)) => rest = skip_error(rest, &error),
            None => break,
        }
    }
    found.ok_or_else(|| misfit.unwrap_or_else(|| format!("it is not JSON ({error})")))
}

/// Removes a byte order mark, and a fence around the whole text.
fn strip_fence(text: &str) -> &str {
    let text = text.trim().trim_start_matches('\u{feff}').trim();
    let inner = text
        .strip_prefix("```")
        .and_then(|rest| rest.strip_suffix("```"));
    match inner {
        Some(inner) => strip_language(inner),
        None => text,
    }
}

/// Removes the language of a fence.
fn strip_language(inner: &str) -> &str {
    inner
        .strip_prefix("json")
        .or(inner.strip_prefix("JSON"))
        .unwrap_or(inner)
        .trim()
}

/// Returns the text after the position of an error.
fn skip_error<'a>(text: &'a str, error: &serde_json::Error) -> &'a str {
    let before: usize = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1))
        .map(str::len)
        .sum();
    let mut at = (before + error.column()).clamp(1, text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    &text[at..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read_bytes(text: &str) -> Result<Value, String> {
        read(text, &mut |value| {
            Vec::<u8>::deserialize(&*value)
                .map(drop)
                .map_err(|error| error.to_string())
        })
    }

    use serde::Deserialize as _;

    #[test]
    fn a_value_is_found_in_fences_and_prose() {
        for text in [
            "[1, 2]",
            "\u{feff}[1, 2]\n",
            "```json\n[1, 2]\n```",
            "```\n[1, 2]```",
            "Here you are: [1, 2]. Anything else?",
            "See [the docs] and {this}:\n\n```json\n[1, 2]\n```\nDone.",
            "ünïcode [ä] [1, 2]",
            r#"{"not": "it"} but [1, 2]"#,
        ] {
            assert_eq!(read_bytes(text), Ok(json!([1, 2])), "{text}");
        }
    }

    #[test]
    fn a_fence_in_prose_may_hold_a_text_or_a_number() {
        let read = |text: &str| {
            read(text, &mut |value| {
                value.is_string().then_some(()).ok_or("no text".into())
            })
        };
        assert_eq!(
            read("It is about money:\n```json\n\"Billing\"\n```\nSure."),
            Ok(json!("Billing"))
        );
        assert!(read("```\n\"A\"\n``` or ```\n\"B\"\n```").is_err());
        assert!(read("```\n1\n``` it is").is_err());
    }

    #[test]
    fn ambiguous_text_is_an_error() {
        for (text, why) in [
            ("[1, [2, 3], ", "not JSON"),
            ("Sure: {\"a\": [1, 2]", "not JSON"),
            ("{\"a\": [1, 2], oops}", "not JSON"),
            ("[1] or [2]", "more than one"),
            ("[1, 300]", "300"),
            ("I think [1, 300]", "300"),
            ("nothing", "not JSON"),
            ("", "not JSON"),
            ("[", "not JSON"),
            ("[ü", "not JSON"),
        ] {
            let error = read_bytes(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        assert!(read_bytes(&"[[x".repeat(100_000)).is_err());
    }
}
