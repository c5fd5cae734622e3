//! Trees built at run time.

mod awaits;
mod config;
mod faults;
mod fluent;
mod llm;
mod run;
mod support;
mod tool;
