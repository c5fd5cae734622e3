//! [`Eval`]: the cases of a set, run on a runner.

mod effects;
mod eval;
mod turns;

pub use eval::{Eval, MetricRun, eval};
