//! Golden tests of recorded runs, as users write them.

mod linear;
mod support;
