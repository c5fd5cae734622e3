//! Evals through the facade, as users write them.

mod files;
mod numbers;
mod peer;
mod reports;
mod runs;
