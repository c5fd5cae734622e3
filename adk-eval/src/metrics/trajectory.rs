//! [`trajectory_matches`]: the calls of tools against the expected calls.

use super::equality::objects_eq;
use crate::failure::refused;
use crate::files::{Criterion, ToolUse, settings};
use crate::schema::TRAJECTORY_CRITERION;
use adk_core::Result;
use serde_json::Value;

/// The calls that an expected list permits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchType {
    /// The expected calls, in their order.
    #[default]
    Exact,
    /// The expected calls in their order, with others in between.
    InOrder,
    /// The expected calls, with others, in any order.
    AnyOrder,
}

/// The criterion of `tool_trajectory_avg_score`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TrajectoryCriterion {
    /// The lowest score that passes.
    pub threshold: f64,
    /// The calls that the expected list permits.
    pub match_type: MatchType,
    /// True if only the names of tools count.
    pub ignore_args: bool,
}

impl TrajectoryCriterion {
    /// Reads the settings of a criterion.
    ///
    /// # Errors
    ///
    /// `match_type` is not `EXACT`, `IN_ORDER` or `ANY_ORDER`, or `ignore_args` is not a boolean.
    pub fn new(criterion: &Criterion) -> Result<Self> {
        let metric = "tool_trajectory_avg_score";
        let settings = settings(&TRAJECTORY_CRITERION, criterion, metric)?;
        let match_type = MatchType::from_json(&settings["match_type"]).ok_or_else(|| {
            refused(
                format!(
                    "`criteria.{metric}`: `match_type` is {}",
                    settings["match_type"]
                ),
                "write `EXACT`, `IN_ORDER` or `ANY_ORDER`",
            )
        })?;
        Ok(Self {
            threshold: criterion.threshold,
            match_type,
            ignore_args: settings["ignore_args"] == true,
        })
    }

    /// Returns 1.0 if the calls of a turn match, and 0.0 otherwise.
    pub fn score(&self, actual: &[ToolUse], expected: &[ToolUse]) -> f64 {
        let is_match = trajectory_matches(actual, expected, self.match_type, self.ignore_args);
        f64::from(u8::from(is_match))
    }
}

impl MatchType {
    /// Reads a name in any case with any separator, or the number of google-adk.
    fn from_json(value: &Value) -> Option<Self> {
        let name = match value {
            Value::String(name) => name.trim().to_uppercase().replace(['-', ' '], "_"),
            number => number.to_string(),
        };
        match name.as_str() {
            "EXACT" | "0" => Some(Self::Exact),
            "IN_ORDER" | "1" => Some(Self::InOrder),
            "ANY_ORDER" | "2" => Some(Self::AnyOrder),
            _ => None,
        }
    }
}

/// Returns true if the calls of a turn are those that are expected. Ids never count.
pub fn trajectory_matches(
    actual: &[ToolUse],
    expected: &[ToolUse],
    match_type: MatchType,
    ignore_args: bool,
) -> bool {
    let is_same = |actual: &ToolUse, expected: &ToolUse| {
        actual.name == expected.name && (ignore_args || has_same_args(actual, expected))
    };
    match match_type {
        MatchType::Exact => {
            let mut pairs = actual.iter().zip(expected);
            actual.len() == expected.len() && pairs.all(|(one, other)| is_same(one, other))
        }
        MatchType::InOrder => {
            let mut rest = actual.iter();
            let is_next = |wanted: &ToolUse| rest.any(|call| is_same(call, wanted));
            expected.iter().all(is_next)
        }
        MatchType::AnyOrder => {
            let mut rest: Vec<_> = actual.iter().collect();
            expected.iter().all(|wanted| {
                let place = rest.iter().position(|call| is_same(call, wanted));
                place.map(|place| rest.remove(place)).is_some()
            })
        }
    }
}

fn has_same_args(one: &ToolUse, other: &ToolUse) -> bool {
    match (&one.args, &other.args) {
        (None, None) => true,
        (Some(one), Some(other)) => objects_eq(one, other),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use MatchType::{AnyOrder, Exact, InOrder};
    use serde_json::json;

    fn calls(calls: &Value) -> Vec<ToolUse> {
        let call = |call: &Value| ToolUse {
            name: call[0].as_str().map(str::to_owned),
            args: call[1].as_object().cloned(),
            ..ToolUse::default()
        };
        calls.as_array().unwrap().iter().map(call).collect()
    }

    /// Rows that google-adk 2.13.0 printed: `[actual, expected, scores]`, where the scores are for
    /// each type without and with `ignore_args`.
    #[test]
    fn rows_equal_those_of_google_adk() {
        let rows = json!([
            [[], [], [1, 1, 1, 1, 1, 1]],
            [[["a", {}]], [], [0, 0, 1, 1, 1, 1]],
            [[], [["a", {}]], [0, 0, 0, 0, 0, 0]],
            [
                [["a", {"x": 1}], ["b", {}]],
                [["a", {"x": 1}], ["b", {}]],
                [1, 1, 1, 1, 1, 1],
            ],
            [[["b", {}], ["a", {}]], [["a", {}], ["b", {}]], [0, 0, 0, 0, 1, 1]],
            [
                [["a", {}], ["c", {}], ["b", {}]],
                [["a", {}], ["b", {}]],
                [0, 0, 1, 1, 1, 1],
            ],
            [[["a", {"x": 2}]], [["a", {"x": 1}]], [0, 1, 0, 1, 0, 1]],
            [[["a", {"x": 1.0}]], [["a", {"x": 1}]], [1, 1, 1, 1, 1, 1]],
            [[["a", null]], [["a", {}]], [0, 1, 0, 1, 0, 1]],
        ]);
        for row in rows.as_array().unwrap() {
            let (actual, expected) = (calls(&row[0]), calls(&row[1]));
            let mut scores = Vec::new();
            for match_type in [Exact, InOrder, AnyOrder] {
                for ignore_args in [false, true] {
                    let is_match = trajectory_matches(&actual, &expected, match_type, ignore_args);
                    scores.push(i32::from(is_match));
                }
            }
            assert_eq!(json!(scores), row[2], "{row}");
        }
    }

    #[test]
    fn a_match_type_is_read_as_in_google_adk() {
        let read = |value: Value| {
            let mut criterion = Criterion::new(1.0);
            criterion.settings.insert("matchType".to_owned(), value);
            TrajectoryCriterion::new(&criterion).map(|read| read.match_type)
        };
        assert_eq!(read(json!(" in-order ")).unwrap(), InOrder);
        assert_eq!(read(json!(2)).unwrap(), AnyOrder);
        assert_eq!(read(json!("exact")).unwrap(), Exact);
        assert_eq!(
            read(json!("SUPERSET")).unwrap_err().to_string(),
            "`criteria.tool_trajectory_avg_score`: `match_type` is \"SUPERSET\"; \
             help: write `EXACT`, `IN_ORDER` or `ANY_ORDER`"
        );
    }
}
