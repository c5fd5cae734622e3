//! Golden tests of recorded runs, as users write them.

mod calls;
mod files;
mod linear;
mod order;
mod support;
