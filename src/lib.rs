//! Agent workflows that rustc checks.
