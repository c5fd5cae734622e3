//! What the other crates of `adk-workflow` share with this one. It may change in any version.

#![doc(hidden)]

pub mod depth {
    pub use crate::depth::*;
}
pub mod encode {
    pub use crate::encode::*;
}
pub mod id {
    pub use crate::id::*;
}
pub mod limit {
    pub use crate::limit::{Gate, Permit};
}
pub mod model {
    pub use crate::model::MessageSource;
}
pub mod schema {
    pub use crate::schema::*;
}
pub mod secret {
    pub use crate::secret::*;
}
pub mod sync {
    pub use crate::sync::*;
}
