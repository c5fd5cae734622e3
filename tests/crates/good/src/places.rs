//! Where macros may stand: in functions, in modules of any visibility, in macros of the user's own.

use adk::prelude::*;

mod private {
    pub(in crate::places) mod deeper {
        adk::llm::agent! {
            /// Seen by its grandparent.
            pub(in crate::places) critic -> criticism: String { instruction: "Review {draft}." }
            pub(super) parent -> secret: String { instruction: "Think." }
            alone { instruction: "Think alone." }
        }

        adk::workflow! {
            pub(in crate::places) Deep() {
                alone
            }
        }
    }

    adk::workflow! {
        pub(super) Deeper() {
            deeper::parent;
            deeper::Deep
        }
    }
}

workflow! {
    /// Private agents, of a module that is as private.
    pub Seen(draft: String) {
        private::deeper::critic;
    }
}

workflow! {
    pub(crate) Inside(draft: String) -> criticism: String {
        private::deeper::critic as reviewer;
        private::Deeper
    }
}

/// A workflow in a function.
#[must_use]
pub fn in_a_function() -> usize {
    #[agent(writes = score)]
    fn grade(text: &str) -> f64 {
        f64::from(u8::try_from(text.len()).unwrap_or(u8::MAX))
    }

    workflow! {
        Local(text: String) -> score: f64 {
            agent refiner -> text: String { instruction: "Improve {text}." }

            refinement: loop(max = 2) < refiner; grade >
        }
    }

    drop(Local::default());
    Local::SPEC.steps.len()
}

macro_rules! writing {
    ($(#[$doc:meta])* $vis:vis $name:ident, $key:ident: $ty:ty, $agent:ident, $prompt:literal, $rounds:expr) => {
        workflow! {
            $(#[$doc])*
            $vis $name($key: $ty) -> draft: String {
                agent $agent -> draft: String { instruction: $prompt }

                refinement: loop(max = $rounds) < $agent >
                match $key < $crate::places::NONE => (), _ => () >
            }
        }
    };
}

/// A pattern.
pub const NONE: u64 = 0;

writing! {
    /// Made by a macro of the user's.
    pub Made, number: u64, author, "Write about {number}.", 1 + 2
}

#[test]
fn they_can_be_made() {
    drop((Seen::default(), Inside::default(), Made::default(), private::Deeper::default()));
    assert_eq!(in_a_function(), 4);
}
