//! Language models: the trait and its types, a model without an API key, and models for tests.

pub(crate) mod limit;
pub mod model;
pub(crate) mod rehearsal;
pub mod testing;
