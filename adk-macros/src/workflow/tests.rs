//! The parser as data, and as something that never breaks.

mod fuzz;
mod messages;
mod shapes;
