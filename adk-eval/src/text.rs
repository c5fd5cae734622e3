//! ROUGE-1 of google-adk: [`rouge_1`], with its tokens and its stemmer.

mod rouge;
mod stem;
mod tokens;

pub use rouge::{Rouge, rouge_1};
