use adk::prelude::*;

/// What an editor says.
#[adk::data]
pub enum Decision {
    Publish,
    Revise,
}

/// Nothing can be asked of it.
pub struct Opaque;

workflow! {
    pub Publishing(draft: String) {
        /// Is `{draf}` good?
        await(timeout = "72h", default = "publish") decision: Decision;
        await(timeout = 72 + 1) late: Decision;
        await opaque: Opaque;
        again: await decision: bool;
        await decision: Decision;
        match decision < Decision::Publish => () >
    }
}

fn main() {
    let _ = Publishing::default();
}
