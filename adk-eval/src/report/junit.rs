//! The JUnit file, in the schema that Jenkins and most other CI servers read.

use super::case::{CaseReport, EvalReport};
use crate::files::EvalStatus;
use std::fmt::Write as _;
use std::time::{Duration, UNIX_EPOCH};

impl EvalReport {
    /// Returns the report as JUnit's XML: the set is a suite, a case a test.
    pub fn to_junit(&self) -> String {
        let failures = self.cases.iter().filter(|case| !case.is_pass()).count();
        let regression = self.regression();
        let failures = failures + usize::from(regression.is_some());
        let tests = self.cases.len() + usize::from(regression.is_some());
        // A fold from 0.0, because the sum of no floats is -0.0, which the schema refuses.
        let seconds = self
            .cases
            .iter()
            .map(seconds)
            .fold(0.0, |sum, part| sum + part);
        let name = escaped(&self.eval_set_id);
        let time = UNIX_EPOCH.checked_add(Duration::from_secs_f64(self.time.clamp(0.0, 1e11)));
        let time = humantime::format_rfc3339_seconds(time.unwrap_or(UNIX_EPOCH));
        let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            xml,
            "<testsuites tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" \
             time=\"{seconds:.3}\">\n  \
             <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" \
             skipped=\"0\" time=\"{seconds:.3}\" timestamp=\"{time}\">"
        );
        for case in &self.cases {
            write_case(&mut xml, &name, case);
        }
        if let Some(regression) = regression {
            write_test(&mut xml, &name, "baseline", 0.0, &[regression], "");
        }
        xml.push_str("  </testsuite>\n</testsuites>\n");
        xml
    }
}

fn seconds(case: &CaseReport) -> f64 {
    case.runs.iter().fold(0.0, |sum, run| sum + run.seconds)
}

fn write_case(xml: &mut String, set: &str, case: &CaseReport) {
    let faults = if case.is_pass() {
        Vec::new()
    } else {
        case.faults()
    };
    let details = if case.is_pass() {
        String::new()
    } else {
        details(case)
    };
    write_test(xml, set, &case.eval_id, seconds(case), &faults, &details);
}

/// Returns the turns of the first failed run that have a failed metric.
fn details(case: &CaseReport) -> String {
    let mut text = String::new();
    let Some(run) = case.runs.iter().find(|run| !run.is_pass()) else {
        return text;
    };
    for turn in &run.result.eval_metric_result_per_invocation {
        let mut failed = turn.eval_metric_results.iter();
        if !failed.any(|metric| metric.eval_status == EvalStatus::Failed) {
            continue;
        }
        let expected = turn.expected_invocation.as_ref();
        let expected = expected
            .map(|turn| turn.response_text())
            .unwrap_or_default();
        let _ = writeln!(
            text,
            "user:     {}\nexpected: {expected}\ngot:      {}",
            turn.actual_invocation.user_content.text(),
            turn.actual_invocation.response_text()
        );
    }
    text
}

fn write_test(
    xml: &mut String,
    set: &str,
    name: &str,
    seconds: f64,
    faults: &[String],
    text: &str,
) {
    let name = escaped(name);
    let _ = write!(
        xml,
        "    <testcase classname=\"{set}\" name=\"{name}\" time=\"{seconds:.3}\""
    );
    if faults.is_empty() {
        xml.push_str("/>\n");
        return;
    }
    let message = escaped(&faults.join("; "));
    let text = escaped(text);
    let _ = writeln!(
        xml,
        ">\n      <failure type=\"eval\" message=\"{message}\">{text}</failure>\n    </testcase>"
    );
}

/// Escapes a text for XML and HTML. Characters that XML forbids become U+FFFD.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' => escaped.push(char),
            '\0'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}' => escaped.push('\u{FFFD}'),
            _ => escaped.push(char),
        }
    }
    escaped
}
