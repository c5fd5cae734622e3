//! [`retry_after`]: the time that a provider asks to wait.

use reqwest::header::HeaderMap;
use serde_json::Value;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Reads `retry-after-ms`, `retry-after` (seconds or a date), or Google's `RetryInfo` in the body.
pub(crate) fn retry_after(headers: &HeaderMap, body: &Value) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(ms) = text("retry-after-ms").and_then(|ms| ms.parse::<f64>().ok()) {
        return seconds(ms / 1000.0);
    }
    if let Some(after) = text("retry-after") {
        if let Ok(s) = after.parse::<f64>() {
            return seconds(s);
        }
        // Prefer the server's clock, so that a wrong local clock does not matter.
        let now = text("date").and_then(parse_date).or_else(|| {
            SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .ok()
                .map(|since| since.as_secs())
        })?;
        return parse_date(after).map(|then| Duration::from_secs(then.saturating_sub(now)));
    }
    let details = body
        .pointer("/error/details")
        .or_else(|| body.pointer("/0/error/details"))?;
    let delay = details
        .as_array()?
        .iter()
        .find_map(|detail| detail.get("retryDelay")?.as_str())?;
    seconds(delay.strip_suffix('s')?.parse().ok()?)
}

fn seconds(s: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(s).ok()
}

/// Parses `Sun, 06 Nov 1994 08:49:37 GMT` to seconds since 1970. Servers must use this form today.
fn parse_date(text: &str) -> Option<u64> {
    let text = text.split_once(", ")?.1.strip_suffix(" GMT")?;
    let mut words = text.split(' ');
    let day: u64 = words.next()?.parse().ok()?;
    let name = words.next()?;
    let year: u64 = words.next()?.parse().ok()?;
    let mut clock = words
        .next()?
        .split(':')
        .map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let month = MONTHS.iter().position(|month| *month == name)? as u64;
    if !(1970..10_000).contains(&year)
        || !(1..=31).contains(&day)
        || hour > 23
        || minute > 59
        || second > 60
    {
        return None;
    }
    let leap = |y: u64| y.is_multiple_of(4) && !y.is_multiple_of(100) || y.is_multiple_of(400);
    let leaps = |y: u64| y / 4 - y / 100 + y / 400;
    let before_year = (year - 1970) * 365 + leaps(year - 1) - leaps(1969);
    let before_month = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334][month as usize]
        + u64::from(month > 1 && leap(year));
    Some((((before_year + before_month + day - 1) * 24 + hour) * 60 + minute) * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(pairs: &[(&'static str, &'static str)], body: Value) -> Option<Duration> {
        let headers = pairs
            .iter()
            .map(|(k, v)| (k.parse().unwrap(), v.parse().unwrap()))
            .collect();
        retry_after(&headers, &body)
    }

    #[test]
    fn seconds_milliseconds_and_dates_are_read() {
        assert_eq!(
            parse(&[("retry-after", "7")], Value::Null),
            Some(Duration::from_secs(7))
        );
        assert_eq!(
            parse(&[("retry-after-ms", "250")], Value::Null),
            Some(Duration::from_millis(250))
        );
        let date = ("date", "Fri, 20 Nov 2026 23:59:50 GMT");
        let later = ("retry-after", "Sat, 21 Nov 2026 00:00:20 GMT");
        assert_eq!(
            parse(&[date, later], Value::Null),
            Some(Duration::from_secs(30))
        );
        let earlier = ("retry-after", "Fri, 20 Nov 2026 00:00:00 GMT");
        assert_eq!(parse(&[date, earlier], Value::Null), Some(Duration::ZERO));
        let google = json!({"error": {"details": [{"@type": "x"}, {"retryDelay": "34.5s"}]}});
        assert_eq!(parse(&[], google), Some(Duration::from_millis(34_500)));
    }

    #[test]
    fn an_invalid_time_is_ignored() {
        for text in [
            "",
            "soon",
            "-1",
            "NaN",
            "1e400",
            "Fri, 99 Foo 2026 00:00:00 GMT",
            "Fri, 01 Jan 1 0:0:0 GMT",
        ] {
            assert_eq!(parse(&[("retry-after", text)], Value::Null), None, "{text}");
        }
    }

    #[test]
    fn dates_are_parsed_correctly() {
        assert_eq!(
            parse_date("Sun, 06 Nov 1994 08:49:37 GMT"),
            Some(784_111_777)
        );
        assert_eq!(parse_date("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(
            parse_date("Thu, 29 Feb 2024 12:00:00 GMT"),
            Some(1_709_208_000)
        );
        assert_eq!(
            parse_date("Fri, 01 Mar 2024 12:00:00 GMT"),
            Some(1_709_294_400)
        );
    }
}
