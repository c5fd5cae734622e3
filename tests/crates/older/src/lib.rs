//! What the edition, the prelude and the names around a macro call have no part in.
#![deny(warnings, missing_docs)]

pub mod bare;
pub mod named;
pub mod shadowed;
