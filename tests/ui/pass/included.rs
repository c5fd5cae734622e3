//! Steps of a file that is included: its attributes are imported elsewhere, or hard to see.

use adk::prelude::*;

include!("included/steps.rs");

/// A file with a mark of its encoding.
mod marked;

/// The same by a macro.
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
