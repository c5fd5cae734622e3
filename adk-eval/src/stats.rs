//! Numbers over repeated runs: means with intervals, pass^k, and the comparison with a baseline.

mod baseline;
mod exact;
mod summary;

pub use baseline::{Baseline, BaselineCase, CaseChange, Comparison, REGRESSION_LEVEL};
pub use exact::{fisher_p, pass_hat};
pub use summary::Summary;
