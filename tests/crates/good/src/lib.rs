//! Correct programs of every form, under the lints of a careful user: the expansions of the macros
//! cause no warnings.
#![deny(
    warnings,
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    unused_qualifications
)]
#![deny(
    rust_2018_idioms,
    let_underscore_drop,
    single_use_lifetimes,
    clippy::all,
    clippy::pedantic
)]
#![forbid(unsafe_code)]

pub mod attributes;
pub mod blocks;
pub mod by_hand;
pub mod hooks;
pub mod keys;
pub mod names;
pub mod nested;
pub mod places;
pub mod prompts;
pub mod shapes;
