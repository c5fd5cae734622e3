//! The macros of `adk-workflow`: parse -> check -> lower, nothing else.

mod facade;
