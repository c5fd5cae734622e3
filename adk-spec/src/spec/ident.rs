//! [`is_identifier`]: the rule for identifiers in const evaluation, shared by macros, checks and
//! prompts.

/// The changes of the class of characters outside of ASCII: numbers `code point << 2 | class` of
/// four bytes, the lowest first, sorted. The class applies up to the next number: 2 for a character
/// that may begin an identifier, 1 for a character that may only continue one, 0 for other
/// characters. `tests::the_table_is_unicodes` writes the file.
const CHANGES: &[u8] = include_bytes!("ident/classes.bin");

const fn change(at: usize) -> u32 {
    let at = at * 4;
    u32::from_le_bytes([
        CHANGES[at],
        CHANGES[at + 1],
        CHANGES[at + 2],
        CHANGES[at + 3],
    ])
}

/// Returns whether a text is an identifier of Rust. Unicode letters are allowed, but a single `_`
/// is not an identifier.
///
/// ```
/// # use adk_spec as adk;
/// use adk::spec::ident::is_identifier;
/// const _: () = assert!(is_identifier("naïve") && is_identifier("名前") && !is_identifier("1x"));
/// ```
pub const fn is_identifier(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.is_empty() || (bytes.len() == 1 && bytes[0] == b'_') {
        return false;
    }
    let mut at = 0;
    while at < bytes.len() {
        let (char, next) = decode(bytes, at);
        let fits = if at == 0 {
            char == '_' as u32 || class(char) == 2
        } else {
            class(char) > 0
        };
        if !fits {
            return false;
        }
        at = next;
    }
    true
}

/// Returns 2 for a character that may begin an identifier (XID_Start), 1 for a character that may
/// continue an identifier (XID_Continue), and 0 for other characters.
const fn class(char: u32) -> u32 {
    if char < 0x80 {
        let byte = char as u8;
        return if byte.is_ascii_alphabetic() {
            2
        } else {
            (byte.is_ascii_digit() || byte == b'_') as u32
        };
    }
    let (mut low, mut high) = (0, CHANGES.len() / 4);
    while low < high {
        let middle = (low + high) / 2;
        if change(middle) >> 2 <= char {
            low = middle + 1
        } else {
            high = middle
        }
    }
    if low == 0 { 0 } else { change(low - 1) & 3 }
}

/// Decodes the character at an index of a UTF-8 text. Returns the character and the index after it.
pub(super) const fn decode(bytes: &[u8], at: usize) -> (u32, usize) {
    let first = bytes[at];
    let (more, mut char) = match first {
        0x00..0x80 => (0, first as u32),
        0x80..0xe0 => (1, first as u32 & 0x1f),
        0xe0..0xf0 => (2, first as u32 & 0xf),
        _ => (3, first as u32 & 7),
    };
    let mut next = at + 1;
    while next <= at + more && next < bytes.len() {
        char = char << 6 | (bytes[next] as u32 & 0x3f);
        next += 1;
    }
    (char, next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_unicodes() {
        let mut changes = Vec::new();
        for code in 0x80..=u32::from(char::MAX) {
            let class = match char::from_u32(code) {
                Some(char) if unicode_ident::is_xid_start(char) => 2,
                Some(char) if unicode_ident::is_xid_continue(char) => 1,
                _ => 0,
            };
            if changes.last().map_or(0, |last| last & 3) != class {
                changes.push(code << 2 | class);
            }
        }
        let changes: Vec<u8> = changes.into_iter().flat_map(u32::to_le_bytes).collect();
        if changes != CHANGES {
            let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/spec/ident/classes.bin");
            std::fs::write(file, changes).unwrap();
            panic!("the table was out of date and is written again");
        }
        for code in 0..0x80u8 {
            let char = char::from(code);
            let wanted = match () {
                () if unicode_ident::is_xid_start(char) => 2,
                () => u32::from(unicode_ident::is_xid_continue(char)),
            };
            assert_eq!(class(u32::from(code)), wanted, "{char:?}");
        }
    }

    #[test]
    fn characters_of_any_width_are_read() {
        for char in ['a', 'é', '名', '𝒳', char::MAX] {
            let text = format!("{char}x");
            assert_eq!(
                decode(text.as_bytes(), 0),
                (u32::from(char), char.len_utf8())
            );
        }
    }

    #[test]
    fn identifiers() {
        for text in ["a", "_a", "__", "naïve", "名前", "x1", "𝒳"] {
            assert!(is_identifier(text), "{text}");
        }
        for text in ["", "_", "1x", "a-b", "a.b", "a b", "é!", "·x", "a\u{0}"] {
            assert!(!is_identifier(text), "{text}");
        }
    }
}
