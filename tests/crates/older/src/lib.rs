//! Macro calls do not depend on the edition, the prelude and the names around them.
#![deny(warnings, missing_docs)]

pub mod bare;
pub mod named;
pub mod shadowed;
