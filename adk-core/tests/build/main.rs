//! Trees that are made at run time.

mod run;
mod support;
