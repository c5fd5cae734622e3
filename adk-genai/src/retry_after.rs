//! [`retry_after`]: the time that a provider asks to wait.

use reqwest::header::HeaderMap;
use serde_json::Value;
use std::time::{Duration, SystemTime};

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
        let date = |text| httpdate::parse_http_date(text).ok();
        // Prefer the server's clock, so that a wrong local clock does not matter.
        let now = text("date").and_then(date).unwrap_or_else(SystemTime::now);
        return date(after).map(|then| then.duration_since(now).unwrap_or_default());
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
}
