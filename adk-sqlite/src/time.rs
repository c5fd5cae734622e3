//! Times in the format of ADK's tables: UTC without a zone, with microseconds,
//! `2026-11-21 20:15:00.123456`.

use std::time::{Duration, UNIX_EPOCH};

/// The end of the year 9999, the last time that the format can write.
const LATEST: u64 = 253_402_300_799_999_999;

/// Formats microseconds since 1970.
pub(crate) fn to_text(micros: u64) -> String {
    let time = UNIX_EPOCH + Duration::from_micros(micros.min(LATEST));
    let mut text = humantime::format_rfc3339_micros(time).to_string();
    // RFC 3339 has a `T` before the hour and a `Z` at the end.
    text.truncate(26);
    text.replace_range(10..11, " ");
    text
}

/// Parses a time into microseconds since 1970. The fraction is optional. Returns `None` for other
/// text.
pub(crate) fn from_text(text: &str) -> Option<u64> {
    let time = humantime::parse_rfc3339_weak(text).ok()?;
    let micros = time.duration_since(UNIX_EPOCH).ok()?.as_micros();
    u64::try_from(micros).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_tables() {
        for (micros, text) in [
            (0, "1970-01-01 00:00:00.000000"),
            (951_782_399_000_001, "2000-02-28 23:59:59.000001"),
            (951_782_400_000_000, "2000-02-29 00:00:00.000000"),
            (1_795_295_498_154_310, "2026-11-21 21:11:38.154310"),
            (4_107_542_399_999_999, "2100-02-28 23:59:59.999999"),
            (4_107_542_400_000_000, "2100-03-01 00:00:00.000000"),
        ] {
            assert_eq!(to_text(micros), text);
            assert_eq!(from_text(text), Some(micros));
        }
        assert_eq!(
            from_text("2026-11-21 21:11:38"),
            Some(1_795_295_498_000_000)
        );
        assert_eq!(
            from_text("2026-11-21 21:11:38.1"),
            Some(1_795_295_498_100_000)
        );
        assert_eq!(to_text(u64::MAX), "9999-12-31 23:59:59.999999");
        for wrong in [
            "",
            "now",
            "2026-13-01 00:00:00",
            "1969-01-01 00:00:00",
            "2026-11-21T",
        ] {
            assert_eq!(from_text(wrong), None, "{wrong}");
        }
    }
}
