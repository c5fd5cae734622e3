//! [`Baseline`]: the passes and scores that later runs are compared with.

use super::exact::fisher_p;
use crate::failure::{refused, unwritable};
use crate::files::read_file;
use adk_core::Result;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// A set regresses if its passes are less probable than this under the baseline.
pub const REGRESSION_LEVEL: f64 = 0.01;

/// The passes and scores of a set, by case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// The id of the set.
    pub eval_set_id: String,
    /// The cases by their ids.
    pub cases: BTreeMap<String, BaselineCase>,
}

/// The passes and scores of one case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselineCase {
    /// The number of runs.
    pub runs: usize,
    /// The number of runs that passed.
    pub passes: usize,
    /// The scores of the runs, by metric.
    pub scores: BTreeMap<String, Vec<f64>>,
}

/// The difference between a set and its baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The cases that both have, by their ids.
    pub cases: BTreeMap<String, CaseChange>,
    /// The passes and runs of these cases.
    pub passes: (usize, usize),
    /// The passes and runs of these cases in the baseline.
    pub base_passes: (usize, usize),
    /// The probability of so few passes, if nothing has changed.
    pub p: f64,
}

/// The difference between a case and its baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CaseChange {
    /// The number of passes above the baseline; negative below it. Another number of runs counts
    /// in proportion.
    pub passes: f64,
    /// The probability of so few passes, if nothing has changed. It does not decide.
    pub p: f64,
}

impl Baseline {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// The file is missing, or not a baseline.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        serde_json::from_str(&read_file(path)?).map_err(|error| {
            refused(
                format!("`{}` is not a baseline: {error}", path.display()),
                "write it again with `ADK_EVAL=baseline`",
            )
        })
    }

    /// Writes a file.
    ///
    /// # Errors
    ///
    /// The folder cannot be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let mut json = serde_json::to_string_pretty(self)?;
        json.push('\n');
        std::fs::write(path, json).map_err(|error| unwritable(path, &error))
    }

    /// Compares later runs with this baseline. Cases that only one of them has do not count.
    pub fn compare(&self, later: &Self) -> Comparison {
        let mut comparison = Comparison {
            cases: BTreeMap::new(),
            passes: (0, 0),
            base_passes: (0, 0),
            p: 1.0,
        };
        for (id, case) in &later.cases {
            let Some(base) = self.cases.get(id) else {
                continue;
            };
            comparison.cases.insert(id.clone(), case.change_from(base));
            comparison.passes.0 += case.passes;
            comparison.passes.1 += case.runs;
            comparison.base_passes.0 += base.passes;
            comparison.base_passes.1 += base.runs;
        }
        let ((passes, runs), (base_passes, base_runs)) =
            (comparison.passes, comparison.base_passes);
        comparison.p = fisher_p(passes, runs, base_passes, base_runs);
        comparison
    }
}

impl BaselineCase {
    fn change_from(&self, base: &Self) -> CaseChange {
        let expected = match base.runs {
            0 => 0.0,
            runs => base.passes as f64 * self.runs as f64 / runs as f64,
        };
        CaseChange {
            passes: self.passes as f64 - expected,
            p: fisher_p(self.passes, self.runs, base.passes, base.runs),
        }
    }
}

impl Comparison {
    /// Returns true if so few passes are not noise.
    pub fn is_regression(&self) -> bool {
        self.p < REGRESSION_LEVEL
    }
}
