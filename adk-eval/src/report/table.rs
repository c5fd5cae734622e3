//! The table of a terminal.

use super::case::{CaseReport, EvalReport, MetricSummary};
use crate::files::EvalStatus;
use crate::stats::REGRESSION_LEVEL;
use std::fmt::{self, Write as _};

impl fmt::Display for EvalReport {
    /// Writes a row for each case, and the reasons below.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.rows();
        let columns = rows.first().map_or(0, Vec::len);
        let width = |column: usize| {
            let widths = rows.iter().map(|row| row[column].chars().count());
            widths.max().unwrap_or_default()
        };
        let widths: Vec<_> = (0..columns).map(width).collect();
        let total = widths.iter().map(|width| width + 3).sum::<usize>();
        let exit = format!("exit {}", u8::from(!self.is_pass()));
        let title = self.title();
        let gap = total
            .saturating_sub(3 + title.chars().count() + exit.len())
            .max(3);
        writeln!(f, "{title}{}{exit}", " ".repeat(gap))?;
        for row in &rows {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                write!(line, "{cell:width$}   ")?;
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        self.write_reasons(f)
    }
}

impl EvalReport {
    fn title(&self) -> String {
        let count = self.cases.len();
        let cases = if count == 1 { "case" } else { "cases" };
        let runs = match self.runs() {
            0 | 1 => String::new(),
            runs => format!(", {runs} runs each"),
        };
        format!("{}: {count} {cases}{runs}", self.eval_set_id)
    }

    /// Returns the number of runs of a case.
    pub(super) fn runs(&self) -> usize {
        self.cases.first().map_or(0, |case| case.runs.len())
    }

    /// Returns the metrics with a threshold, by name, in the order of the config.
    pub(super) fn metric_names(&self) -> Vec<String> {
        let metrics = self.cases.iter().map(CaseReport::metrics);
        let metrics = metrics.max_by_key(Vec::len).unwrap_or_default();
        let gates = metrics
            .into_iter()
            .filter(|metric| metric.threshold.is_some());
        gates.map(|metric| metric.name).collect()
    }

    /// Returns the heads and the cells.
    fn rows(&self) -> Vec<Vec<String>> {
        let names = self.metric_names();
        let mut head = vec!["case".to_owned()];
        head.extend(names.iter().cloned());
        head.push(format!("pass^{}", self.runs()));
        if self.comparison.is_some() {
            head.push("baseline".to_owned());
        }
        let row = |case: &CaseReport| {
            let metrics = case.metrics();
            let mut row = vec![case.eval_id.clone()];
            row.extend(names.iter().map(|name| cell(&metrics, name)));
            row.push(format!("{}/{}", case.passes(), case.runs.len()));
            row.extend(self.change(&case.eval_id));
            row
        };
        let rows = self.cases.iter().map(row);
        std::iter::once(head).chain(rows).collect()
    }

    /// Returns the difference of a case to the baseline as text.
    pub(super) fn change(&self, id: &str) -> Option<String> {
        let comparison = self.comparison.as_ref()?;
        Some(match comparison.cases.get(id) {
            None => "new".to_owned(),
            Some(change) if change.passes == 0.0 => "=".to_owned(),
            Some(change) => {
                let passes = (change.passes * 10.0).round() / 10.0;
                if change.passes < 0.0 {
                    format!("{passes:+}, p = {:.2}", change.p)
                } else {
                    format!("{passes:+}")
                }
            }
        })
    }

    /// Returns a sentence if the set regressed.
    pub(super) fn regression(&self) -> Option<String> {
        let comparison = self
            .comparison
            .as_ref()
            .filter(|found| found.is_regression())?;
        let ((passes, runs), (before, all)) = (comparison.passes, comparison.base_passes);
        Some(format!(
            "the set regressed: {passes} of {runs} runs passed, in the baseline {before} of {all} \
             (p = {:.1e}, limit {REGRESSION_LEVEL})",
            comparison.p
        ))
    }

    fn write_reasons(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Vec::new();
        if self.cases.is_empty() {
            lines.push("the set has no cases; help: add one to `eval_cases`".to_owned());
        }
        for case in self.cases.iter().filter(|case| !case.is_pass()) {
            lines.extend(
                case.faults()
                    .into_iter()
                    .map(|fault| format!("{}: {fault}", case.eval_id)),
            );
        }
        let runs = self.cases.iter().flat_map(|case| &case.runs);
        for (metric, reason) in runs.flat_map(|run| &run.reasons) {
            let line = format!("{metric} was not evaluated: {reason}");
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines.extend(self.regression());
        for line in lines {
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}

fn cell(metrics: &[MetricSummary], name: &str) -> String {
    let Some(metric) = metrics.iter().find(|metric| metric.name == name) else {
        return "error".to_owned();
    };
    let Some(summary) = metric.summary else {
        return "not evaluated".to_owned();
    };
    match (metric.status, metric.threshold) {
        (EvalStatus::Failed, Some(threshold)) => format!("{summary:.2}  FAILED ({threshold:?})"),
        _ => format!("{summary:.2}"),
    }
}
