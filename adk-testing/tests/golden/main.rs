//! Golden tests of recorded runs, as users write them.

mod calls;
mod files;
mod linear;
mod merge;
mod order;
mod secrets;
mod support;
