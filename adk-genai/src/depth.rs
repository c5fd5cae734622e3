//! Checks of the depth of values in an answer.

use adk_model::MAX_DEPTH;
use serde_json::Value;

/// Reports whether a value, or the JSON in a text, is nested deeper than [`MAX_DEPTH`].
pub(crate) fn is_too_deep(value: &Value) -> bool {
    match value {
        Value::String(text) => is_text_too_deep(text),
        value => {
            let mut left = vec![(value, 1)];
            while let Some((value, depth)) = left.pop() {
                let inside: Box<dyn Iterator<Item = &Value>> = match value {
                    Value::Array(items) => Box::new(items.iter()),
                    Value::Object(fields) => Box::new(fields.values()),
                    _ => continue,
                };
                if depth > MAX_DEPTH {
                    return true;
                }
                left.extend(inside.map(|value| (value, depth + 1)));
            }
            false
        }
    }
}

/// Reports whether the JSON in a text is nested deeper than [`MAX_DEPTH`], without parsing it.
pub(crate) fn is_text_too_deep(text: &str) -> bool {
    let mut depth = 0_usize;
    let mut quoted = false;
    let mut escaped = false;
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => depth += 1,
            b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_texts_are_measured_alike() {
        for (depth, deep) in [(100, false), (101, true)] {
            let text = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
            assert_eq!(is_text_too_deep(&text), deep);
            assert_eq!(is_too_deep(&Value::from(text.as_str())), deep);
            assert_eq!(is_too_deep(&serde_json::from_str(&text).unwrap()), deep);
        }
        let quoted = format!(r#"{{"a": "\"{}", "b": []}}"#, "[".repeat(200));
        assert!(!is_text_too_deep(&quoted));
        assert!(!is_text_too_deep(&"[]".repeat(200)));
    }
}
