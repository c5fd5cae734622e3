//! What the runtime of `adk-workflow` shares with this crate. It may change in any version.

#![doc(hidden)]

pub mod artifacts {
    pub use crate::artifacts::MissingArtifactStore;
}
pub mod engine {
    pub use crate::engine::call::CallLabel;
    pub use crate::engine::clock::now_micros;
    pub use crate::engine::nested::NestedEngine;
    pub use crate::engine::parts::{BlockPart, BlockScope};
    pub use crate::engine::slot::Delivery;
    pub use crate::engine::update::Change;
    pub use crate::engine::*;
    pub mod record {
        pub use crate::engine::record::*;
    }
}
pub mod event {
    pub use crate::event::*;
}
pub mod outbox {
    pub use crate::outbox::*;
}
pub mod panic {
    pub use crate::panic::*;
}
pub mod session {
    pub use crate::session::own_keys::OwnKeys;
    pub use crate::session::sent_history::{HistoryKey, SentHistories, SentHistory};
    pub use crate::session::store::check_id;
    pub use crate::session::turn::{SessionTurn, TurnPlace};
    pub use crate::session::*;
}
pub mod task {
    pub use crate::task::*;
}
