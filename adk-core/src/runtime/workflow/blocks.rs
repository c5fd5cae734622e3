//! Blocks that run their steps in contexts of their own: `parallel`, `each` and `try`. They run
//! these steps through [`RunPart`](super::steps::RunPart), which the walk implements.

mod attempts;
mod discard;
mod join;
mod parallel;
mod parts;
mod race;
mod remote;
