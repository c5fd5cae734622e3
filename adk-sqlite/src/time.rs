//! Times in the format of ADK's tables: UTC without a zone, with microseconds,
//! `2026-11-21 20:15:00.123456`.

const DAY: u64 = 86_400;

/// Formats microseconds since 1970.
pub(crate) fn to_text(micros: u64) -> String {
    let (seconds, micros) = (micros / 1_000_000, micros % 1_000_000);
    let (days, seconds) = (seconds / DAY, seconds % DAY);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    // The writer thread formats a time for each event, and `format!` takes ten times as long.
    let mut text = String::with_capacity(26);
    text.push_str(&year.to_string());
    let parts = [
        ('-', month, 2),
        ('-', day, 2),
        (' ', hour, 2),
        (':', minute, 2),
        (':', second, 2),
        ('.', micros, 6),
    ];
    for (before, number, digits) in parts {
        text.push(before);
        for place in (0..digits).rev() {
            text.push(char::from(b'0' + (number / 10_u64.pow(place) % 10) as u8));
        }
    }
    text
}

/// Parses a time into microseconds since 1970. The fraction is optional. Returns `None` for other
/// text.
pub(crate) fn from_text(text: &str) -> Option<u64> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let micros = match text.get(20..) {
        Some(rest) if !rest.is_empty() => format!("{rest:0<6}").get(..6)?.parse::<u64>().ok()?,
        _ => 0,
    };
    let seconds = days(year, month, day)? * DAY + hour * 3600 + minute * 60 + second;
    Some(seconds * 1_000_000 + micros)
}

fn is_leap(year: u64) -> bool {
    (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400)
}

fn months(year: u64) -> [u64; 12] {
    [
        31,
        if is_leap(year) { 29 } else { 28 },
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ]
}

/// Counts the leap days before a year.
fn leaps(year: u64) -> u64 {
    let before = year.saturating_sub(1);
    before / 4 - before / 100 + before / 400
}

fn first_day(year: u64) -> u64 {
    (year - 1970) * 365 + leaps(year) - leaps(1970)
}

fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || day == 0 {
        return None;
    }
    let before: u64 = months(year).iter().take(month as usize - 1).sum();
    Some(first_day(year) + before + day - 1)
}

fn date(days: u64) -> (u64, u64, u64) {
    let mut year = 1970 + days / 366;
    while first_day(year + 1) <= days {
        year += 1;
    }
    let mut left = days - first_day(year);
    for (month, length) in months(year).into_iter().enumerate() {
        if left < length {
            return (year, month as u64 + 1, left + 1);
        }
        left -= length;
    }
    (year, 12, 31)
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
        assert!(
            (0..60_000).all(
                |day| from_text(&to_text(day * DAY * 1_000_000)) == Some(day * DAY * 1_000_000)
            )
        );
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
