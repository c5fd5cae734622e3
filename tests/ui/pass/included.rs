//! Steps of a file that is included: its attributes are imported elsewhere.

use adk::prelude::*;

include!("included/steps.rs");

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
