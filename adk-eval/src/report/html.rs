//! The page: scores over time, a row for each case, and two columns of each failing case: expected
//! and got.

use super::case::{CaseReport, CaseRun, EvalReport};
use super::diff::marked;
use super::history::HistoryPoint;
use super::junit::escaped;
use crate::files::{EvalMetricResult, EvalStatus, InvocationResult, ToolUse};
use std::fmt::Write as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The size of a chart in its own units.
const CHART: (f64, f64) = (300.0, 64.0);

impl EvalReport {
    /// Returns the report as one HTML file without scripts and without other files. `history` has
    /// the means of earlier evals, the oldest first.
    pub fn to_html(&self, history: &[HistoryPoint]) -> String {
        let name = escaped(&self.eval_set_id);
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{name}: eval</title>\n\
             <style>\n{}</style>\n</head>\n<body>\n<main>\n",
            include_str!("page.css")
        );
        page.push_str(&self.header(&name));
        page.push_str(&self.scores(history));
        page.push_str(&self.table());
        let (passed, failed): (Vec<_>, Vec<_>) = self.cases.iter().partition(|case| case.is_pass());
        section(
            &mut page,
            "Failed cases",
            failed.into_iter().map(failed_case),
        );
        section(
            &mut page,
            "Passed cases",
            passed.into_iter().map(passed_case),
        );
        page.push_str("</main>\n</body>\n</html>\n");
        page
    }

    fn header(&self, name: &str) -> String {
        let count = self.cases.len();
        let passed = self.cases.iter().filter(|case| case.is_pass()).count();
        let runs = match self.runs() {
            0 | 1 => String::new(),
            runs => format!(", {runs} runs each"),
        };
        let regression = self.regression();
        let notice = regression.map(|text| format!("<p class=\"notice\">{}</p>", escaped(&text)));
        format!(
            "<header>\n<h1>{name}</h1>\n{}\n\
             <p class=\"soft\">{passed} of {count} cases passed{runs} · {}</p>\n{}</header>\n",
            badge(self.is_pass()),
            time(self.time),
            notice.unwrap_or_default()
        )
    }

    fn scores(&self, history: &[HistoryPoint]) -> String {
        let now = super::history::history_points(&[self.to_result("app")]);
        let points: Vec<_> = history.iter().chain(&now).collect();
        let mut cards = String::new();
        for name in self.metric_names() {
            let means: Vec<_> = points
                .iter()
                .filter_map(|point| {
                    let mean = point.means.iter().find(|(metric, _)| *metric == name);
                    mean.map(|(_, mean)| (point.time, *mean))
                })
                .collect();
            let Some((_, last)) = means.last() else {
                continue;
            };
            let metrics = self.cases.iter().flat_map(CaseReport::metrics);
            let threshold = metrics
                .filter(|metric| metric.name == name)
                .find_map(|m| m.threshold);
            let threshold = threshold.unwrap_or_default();
            let state = if *last >= threshold {
                ""
            } else {
                " style=\"color: var(--failed)\""
            };
            let _ = writeln!(
                cards,
                "<div class=\"card\"><h3>{}</h3><p class=\"score\"><b{state}>{last:.2}</b> \
                 <span class=\"soft\">mean, at least {threshold} needed</span></p>{}</div>",
                escaped(&name),
                chart(&means, threshold)
            );
        }
        if cards.is_empty() {
            String::new()
        } else {
            format!("<section>\n<h2>Scores</h2>\n<div class=\"scores\">{cards}</div></section>\n")
        }
    }

    fn table(&self) -> String {
        if self.cases.is_empty() {
            return "<p class=\"notice\">The set has no cases.</p>\n".to_owned();
        }
        let names = self.metric_names();
        let runs = self.runs();
        let mut table =
            String::from("<section>\n<h2>Cases</h2>\n<table>\n<thead><tr><th>case</th>");
        for name in &names {
            let _ = write!(table, "<th>{}</th>", escaped(name));
        }
        let _ = write!(table, "<th>pass^{runs}</th>");
        if self.comparison.is_some() {
            table.push_str("<th>baseline</th>");
        }
        table.push_str("</tr></thead>\n<tbody>\n");
        for case in &self.cases {
            let id = escaped(&case.eval_id);
            let _ = write!(
                table,
                "<tr><th><a href=\"#{}\">{id}</a> {}</th>",
                anchor(&case.eval_id),
                badge(case.is_pass())
            );
            let metrics = case.metrics();
            for name in &names {
                let metric = metrics.iter().find(|metric| metric.name == *name);
                let summary = metric.and_then(|metric| metric.summary);
                let text =
                    summary.map_or_else(|| "–".to_owned(), |summary| format!("{summary:.2}"));
                let is_bad = metric.is_some_and(|metric| metric.status == EvalStatus::Failed);
                let class = if is_bad { "num bad" } else { "num" };
                let name = escaped(name);
                let _ = write!(
                    table,
                    "<td class=\"{class}\" data-name=\"{name}\">{text}</td>"
                );
            }
            let _ = write!(
                table,
                "<td class=\"num\" data-name=\"pass^{runs}\">{}/{}</td>",
                case.passes(),
                case.runs.len()
            );
            if let Some(change) = self.change(&case.eval_id) {
                let _ = write!(
                    table,
                    "<td class=\"num\" data-name=\"baseline\">{change}</td>"
                );
            }
            table.push_str("</tr>\n");
        }
        table.push_str("</tbody>\n</table>\n</section>\n");
        table
    }
}

fn section(page: &mut String, title: &str, cases: impl Iterator<Item = String>) {
    let cases: String = cases.collect();
    if !cases.is_empty() {
        let _ = write!(page, "<section>\n<h2>{title}</h2>\n{cases}</section>\n");
    }
}

fn badge(is_pass: bool) -> &'static str {
    if is_pass {
        "<span class=\"badge passed\">passed</span>"
    } else {
        "<span class=\"badge failed\">failed</span>"
    }
}

/// Returns an id for a link: letters and digits stay, every other character becomes its number.
fn anchor(id: &str) -> String {
    let mut anchor = String::from("case-");
    for char in id.chars() {
        if char.is_ascii_alphanumeric() {
            anchor.push(char)
        } else {
            anchor.push_str(&format!("-{:x}-", u32::from(char)))
        }
    }
    anchor
}

fn time(seconds: f64) -> String {
    let time = UNIX_EPOCH.checked_add(Duration::from_secs_f64(seconds.clamp(0.0, 1e11)));
    let time: SystemTime = time.unwrap_or(UNIX_EPOCH);
    let text = humantime::format_rfc3339_seconds(time).to_string();
    let minutes = text.get(..16).unwrap_or(&text).replace('T', " ");
    format!("<time datetime=\"{text}\">{minutes} UTC</time>")
}

/// Draws the means over time, with a line at the threshold.
fn chart(means: &[(f64, f64)], threshold: f64) -> String {
    let (width, height) = CHART;
    let values = means
        .iter()
        .map(|(_, mean)| *mean)
        .chain([0.0, 1.0, threshold]);
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.fold(f64::NEG_INFINITY, f64::max);
    let y = |mean: f64| height - (mean - low) / (high - low) * height;
    let step = width / (means.len().max(2) - 1) as f64;
    let x = |place: usize| match means.len() {
        1 => width,
        _ => place as f64 * step,
    };
    let (mut line, mut dots) = (String::new(), String::new());
    for (place, (_, mean)) in means.iter().enumerate() {
        let letter = if place == 0 { 'M' } else { 'L' };
        let (x, y) = (x(place), y(*mean));
        let _ = write!(line, "{letter}{x:.1} {y:.1}");
        let _ = write!(
            dots,
            "<path class=\"dot\" d=\"M{x:.1} {y:.1}h0\"><title>{mean:.2}</title></path>"
        );
    }
    let at = y(threshold);
    let first = means
        .first()
        .map_or_else(String::new, |(seconds, _)| time(*seconds));
    let (left, right) = match means.len() {
        1 => ("the first eval".to_owned(), first),
        count => (first, format!("{count} evals")),
    };
    format!(
        "<svg viewBox=\"0 0 {width} {height}\" preserveAspectRatio=\"none\" role=\"img\" \
         aria-label=\"means over time\"><line x1=\"0\" y1=\"{at:.1}\" x2=\"{width}\" \
         y2=\"{at:.1}\"/><path d=\"{line}\"/>{dots}</svg><p class=\"axis\"><span>{left}</span>\
         <span>{right}</span></p>"
    )
}

fn failed_case(case: &CaseReport) -> String {
    let faults = case
        .faults()
        .into_iter()
        .map(|fault| format!("<li>{}</li>", escaped(&fault)));
    let faults: String = faults.collect();
    // The run that shows the fault: the first that failed, or the first of a low mean.
    let run = case
        .runs
        .iter()
        .position(|run| !run.is_pass())
        .unwrap_or_default();
    let turns = case.runs.get(run).map(turns).unwrap_or_default();
    let which = match case.runs.len() {
        0 | 1 => String::new(),
        _ => format!("<span class=\"soft\">run {}</span>", run + 1),
    };
    format!(
        "<article class=\"card\" id=\"{}\">\n<div class=\"head\"><h3>{}</h3>{}{which}</div>\n\
         <ul class=\"faults\">{faults}</ul>\n{turns}</article>\n",
        anchor(&case.eval_id),
        escaped(&case.eval_id),
        badge(false),
    )
}

fn passed_case(case: &CaseReport) -> String {
    let turns = case.runs.first().map(turns).unwrap_or_default();
    format!(
        "<details class=\"card\" id=\"{}\"><summary>{}</summary>\n{turns}</details>\n",
        anchor(&case.eval_id),
        escaped(&case.eval_id)
    )
}

fn turns(run: &CaseRun) -> String {
    run.result
        .eval_metric_result_per_invocation
        .iter()
        .map(turn)
        .collect()
}

fn turn(turn: &InvocationResult) -> String {
    let actual = &turn.actual_invocation;
    let got = actual.response_text();
    let calls = actual.tool_uses();
    let (expected, expected_calls) = match &turn.expected_invocation {
        Some(expected) => (expected.response_text(), expected.tool_uses()),
        None => (String::new(), Vec::new()),
    };
    let (expected, got) = marked(&expected, &got);
    let chips: String = turn.eval_metric_results.iter().filter_map(chip).collect();
    format!(
        "<div class=\"turn\"><div><h4>User</h4><p class=\"user\">{}</p></div>\n\
         <div class=\"pair\">{}{}</div>\n<p class=\"chips\">{chips}</p></div>\n",
        escaped(&actual.user_content.text()),
        side("Expected", &expected, &expected_calls, &calls),
        side("Got", &got, &calls, &expected_calls)
    )
}

/// Returns a metric with a score as a small label.
fn chip(metric: &EvalMetricResult) -> Option<String> {
    let class = match metric.eval_status {
        EvalStatus::Failed => "chip failed",
        _ => "chip",
    };
    let (name, score) = (escaped(&metric.metric.metric_name), metric.score?);
    let score = (score * 100.0).round() / 100.0;
    Some(format!("<span class=\"{class} num\">{name} {score}</span>"))
}

fn side(title: &str, text: &str, calls: &[ToolUse], others: &[ToolUse]) -> String {
    let text = if text.is_empty() {
        "<p class=\"text soft\">no text</p>".to_owned()
    } else {
        format!("<p class=\"text\">{text}</p>")
    };
    let calls: Vec<_> = calls.iter().map(call).collect();
    let others: Vec<_> = others.iter().map(call).collect();
    let calls = calls.iter().enumerate().map(|(place, call)| {
        if others.get(place) == Some(call) {
            format!("<li>{call}</li>")
        } else {
            format!("<li><mark>{call}</mark></li>")
        }
    });
    let calls: String = calls.collect();
    format!("<div class=\"side\"><h4>{title}</h4>{text}<ol class=\"calls\">{calls}</ol></div>")
}

fn call(call: &ToolUse) -> String {
    let name = call.name.as_deref().unwrap_or("?");
    let args = call
        .args
        .clone()
        .map(serde_json::Value::from)
        .unwrap_or_default();
    let args = if args.is_null() {
        String::new()
    } else {
        args.to_string()
    };
    escaped(&format!("{name}({args})"))
}
