//! The places of macro calls: functions, modules of any visibility, macros of the user.

use adk::prelude::*;

mod private {
    pub(in crate::places) mod deeper {
        adk::llm::agent! {
            /// Visible to the grandparent module.
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
    /// Runs private agents of a private module.
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

/// Defines a workflow in a function.
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

/// Has a pattern.
pub const NONE: u64 = 0;

writing! {
    /// Is defined by a macro of the user.
    pub Made, number: u64, author, "Write about {number}.", 1 + 2
}

#[test]
fn the_workflows_can_be_built() {
    drop((
        Seen::default(),
        Inside::default(),
        Made::default(),
        private::Deeper::default(),
    ));
    assert_eq!(in_a_function(), 4);
}
