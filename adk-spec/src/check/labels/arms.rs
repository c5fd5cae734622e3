//! [`excludes`]: the arms of a `match` that the default of an `await` cannot choose.

/// Returns whether an arm excludes a default, both as the user spelled them: each alternative of
/// the pattern is another literal of the same form, or another variant of the same enum.
///
/// Tokens do not distinguish a variant from a constant of its type, so the runner evaluates the
/// default when a run begins, and refuses one that chooses such an arm.
pub(super) const fn excludes(pattern: &str, default: &str) -> bool {
    let mut rest = pattern.as_bytes();
    let default = default.as_bytes().trim_ascii();
    if default.is_empty() {
        return false;
    }
    loop {
        let (one, more) = split_first(rest, b"|");
        // A guard only restricts the arm.
        let (one, guard) = split_first(one, b" if ");
        if !differ(one.trim_ascii(), default) {
            return false;
        }
        match (guard, more) {
            (Some(_), _) | (None, None) => return true,
            (None, Some(more)) => rest = more,
        }
    }
}

/// Splits a text at the first separator.
const fn split_first<'a>(text: &'a [u8], separator: &[u8]) -> (&'a [u8], Option<&'a [u8]>) {
    let mut at = 0;
    while at + separator.len() <= text.len() {
        let (head, tail) = text.split_at(at);
        if begins(tail, separator) {
            return (head, Some(tail.split_at(separator.len()).1));
        }
        at += 1;
    }
    (text, None)
}

const fn begins(text: &[u8], start: &[u8]) -> bool {
    let mut i = 0;
    while i < start.len() {
        if i >= text.len() || text[i] != start[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// Returns whether a pattern and a value are certainly different.
const fn differ(pattern: &[u8], value: &[u8]) -> bool {
    match (literal(pattern), literal(value)) {
        (Literal::None, Literal::None) => are_variants(pattern, value),
        (Literal::Bool, Literal::Bool) | (Literal::Number, Literal::Number) => {
            !(begins(pattern, value) && pattern.len() == value.len())
        }
        _ => false,
    }
}

#[derive(Clone, Copy)]
enum Literal {
    None,
    Bool,
    Number,
}

const fn literal(text: &[u8]) -> Literal {
    match text {
        b"true" | b"false" => Literal::Bool,
        // Each number has only one such spelling.
        [b'-', digits @ ..] if is_decimal(digits) => Literal::Number,
        digits if is_decimal(digits) => Literal::Number,
        _ => Literal::None,
    }
}

const fn is_decimal(text: &[u8]) -> bool {
    matches!(text, [b'0'] | [b'1'..=b'9', ..]) && !any!(byte in text => !byte.is_ascii_digit())
}

/// Returns whether two texts are paths that differ only in their last part, such as `Kind::A` and
/// `Kind::B`.
const fn are_variants(one: &[u8], other: &[u8]) -> bool {
    let (Some((path, name)), Some((other_path, other_name))) = (variant(one), variant(other))
    else {
        return false;
    };
    path.len() == other_path.len()
        && begins(path, other_path)
        && !(name.len() == other_name.len() && begins(name, other_name))
}

/// Splits a path into its type and its last part.
const fn variant(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut end = text.len();
    while end > 0 && is_name(text[end - 1]) {
        end -= 1;
    }
    let (path, name) = text.split_at(end);
    if name.is_empty() || !matches!(path, [_, .., b':', b':']) {
        return None;
    }
    if any!(byte in path => !is_name(*byte) && *byte != b':') {
        return None;
    }
    Some((path, name))
}

const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::excludes;

    #[test]
    fn arms_that_exclude_a_default() {
        let excluded = [
            ("true", "false"),
            ("true if fine", "false"),
            ("1", "0"),
            ("-1 | 2", "1"),
            ("Kind::Send", "Kind::Keep"),
            ("crate::Kind::Send | crate::Kind::Post", "crate::Kind::Keep"),
        ];
        for (pattern, default) in excluded {
            assert!(excludes(pattern, default), "{pattern} {default}");
        }
        let possible = [
            ("true", "true"),
            ("_", "false"),
            ("fine", "false"),
            ("true | false", "false"),
            ("0x1", "1"),
            ("01", "1"),
            ("1u8", "1"),
            ("0..=5", "7"),
            ("1", "1 - 0"),
            ("true", "!true"),
            ("true", ""),
            ("Kind::Send", "Keep"),
            ("Kind::Send", "Other::Keep"),
            ("Kind::Send", "Kind::keep()"),
            ("Kind::Keep", "Kind::Keep"),
            ("Kind::Send(_)", "Kind::Keep"),
            ("true", "?"),
        ];
        for (pattern, default) in possible {
            assert!(!excludes(pattern, default), "{pattern} {default}");
        }
    }
}
