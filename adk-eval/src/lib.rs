//! Evals of workflows, with the files and the numbers of google-adk.

mod text;

pub use text::{Rouge, rouge_1};
