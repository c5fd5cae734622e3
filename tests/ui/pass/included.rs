//! Steps of an included file, whose attributes are imported elsewhere in the crate, or hidden by a
//! macro.

use adk::prelude::*;

include!("included/steps.rs");

/// A file with a byte order mark.
mod marked;

/// The same file, included by a macro.
mod by_macro {
    macro_rules! prelude {
        () => {
            use adk::prelude::*;
        };
    }

    prelude! {}

    #[data]
    pub struct Page {
        pub text: String,
    }

    #[agent(writes = size)]
    pub fn measure(page: &Page) -> usize {
        page.text.len()
    }

    workflow! {
        pub Measuring(page: Page) -> size: usize { measure }
    }
}
