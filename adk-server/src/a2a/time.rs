//! Times in the format of A2A: `2026-11-26T12:00:00.000Z`.

use adk_core::memory::iso;
use std::time::UNIX_EPOCH;

/// Formats microseconds since 1970.
pub(super) fn timestamp(micros: u64) -> String {
    format!(
        "{}.{:03}Z",
        iso(micros).trim_end_matches('Z'),
        micros / 1000 % 1000
    )
}

/// Parses a time in UTC into microseconds since 1970. Returns `None` for other text.
pub(super) fn micros(text: &str) -> Option<u64> {
    let time = humantime::parse_rfc3339(text).ok()?;
    u64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_micros()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_follow_the_calendar() {
        for (time, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000_000, "2000-02-29T00:00:00.000Z"),
            (4_107_542_400_000_000, "2100-03-01T00:00:00.000Z"),
            (1_795_694_400_001_000, "2026-11-26T12:00:00.001Z"),
        ] {
            assert_eq!(timestamp(time), text);
            assert_eq!(micros(text), Some(time / 1000 * 1000));
        }
        for text in [
            "",
            "Z",
            "2026-11-26",
            "2026-11-26T12:00:00",
            "2026-11-26T12:00:00.1x",
            "2026-13-26T12:00:00Z",
            "2026-11-26T12:00:00+02:00",
            "ä026-11-26T12:00:00Z",
        ] {
            assert_eq!(micros(text), None, "{text}");
        }
    }
}
