//! The macros of `adk-workflow`.
