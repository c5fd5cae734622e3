//! Times in the format of A2A: `2026-11-26T12:00:00.000Z`.

use adk_core::memory::iso;

/// Formats microseconds since 1970.
pub(super) fn timestamp(micros: u64) -> String {
    format!(
        "{}.{:03}Z",
        iso(micros).trim_end_matches('Z'),
        micros / 1000 % 1000
    )
}

/// Converts a UTC time to a text that sorts with [`timestamp`]. Returns `None` for other text.
pub(super) fn comparable(text: &str) -> Option<&str> {
    let time = text
        .strip_suffix('Z')
        .or_else(|| text.strip_suffix("+00:00"))?;
    let fits = time
        .bytes()
        .zip("0000-00-00T00:00:00".bytes())
        .all(|(byte, like)| match like {
            b'0' => byte.is_ascii_digit(),
            like => byte == like,
        });
    let rest = time.get(19..)?;
    let is_fraction = |rest: &str| {
        rest.strip_prefix('.')
            .is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()))
    };
    (fits && (rest.is_empty() || is_fraction(rest))).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_follow_the_calendar() {
        for (micros, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000_000, "2000-02-29T00:00:00.000Z"),
            (4_107_542_400_000_000, "2100-03-01T00:00:00.000Z"),
            (1_795_694_400_001_000, "2026-11-26T12:00:00.001Z"),
        ] {
            assert_eq!(timestamp(micros), text);
            assert_eq!(comparable(text), Some(&text[..23]));
        }
        for text in [
            "",
            "Z",
            "2026-11-26",
            "2026-11-26T12:00:00",
            "2026-11-26T12:00:00.1x",
            "ä026-11-26T12:00:00Z",
        ] {
            assert_eq!(comparable(text), None, "{text}");
        }
    }
}
