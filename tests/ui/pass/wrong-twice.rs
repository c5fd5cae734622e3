//! Items with the names of generated items, which are legal next to them.

#![allow(non_snake_case, reason = "functions with the names of workflows")]

use adk::prelude::*;

/// Macros have their own namespace.
mod macros {
    macro_rules! grade {
        () => {};
    }
    macro_rules! Reviewing {
        () => {};
    }
    pub(crate) use {Reviewing, grade};
}

/// Functions, in a module that a glob import finds.
mod others {
    pub const TEXT: &str = "text";
    pub struct Shadowed;
    pub fn search() {}
    pub fn judge() {}
    pub fn Judging() {}
}

/// Imports that are only a macro or a function.
mod imported {
    use super::macros::grade;
    use super::macros::{self as of_macros, Reviewing};
    use super::others::{self, Judging, judge};
    use adk::llm::agent;
    use adk::prelude::*;

    /// Grades a text.
    #[agent(writes = grade)]
    fn grade(text: &str) -> usize {
        grade!();
        text.len()
    }

    agent! {
        /// Judges a text.
        pub judge -> grade: u8 { instruction: "Grade {text}." }
    }

    workflow! {
        /// Reviews a text.
        pub Reviewing(text: String) -> grade: usize { grade }
    }

    workflow! {
        /// Judges a text.
        pub(super) Judging(text: String) -> grade: u8 { judge }
    }

    Reviewing!();
    of_macros::grade!();

    pub fn all() -> (Reviewing, judge, Judging) {
        judge();
        Judging();
        others::judge();
        (
            Reviewing::default(),
            judge::default(),
            self::Judging::default(),
        )
    }
}

/// Items that a glob import finds.
mod shadowed {
    use super::others::*;
    use adk::prelude::*;

    /// Searches.
    #[tool]
    fn search(words: &str) -> String {
        words.into()
    }

    pub fn found() -> String {
        search(TEXT)
    }

    workflow! {
        /// Hides a type.
        pub Shadowed(text: String) -> text: String {
            agent writer -> text: String { instruction: "{text}", tools: [search] }

            writer
        }
    }
}

/// Values and types.
mod beside {
    use adk::prelude::*;

    const fn Counting() -> u8 {
        1
    }

    #[cfg(any())]
    struct Grading;

    #[cfg(any())]
    fn counted(text: &str) {}

    #[cfg_attr(all(), cfg(any()))]
    mod counted {}

    /// Counts letters.
    #[agent(writes = letters)]
    fn counted(text: &str) -> usize {
        text.len()
    }

    workflow! {
        /// Counts letters.
        Counting(text: String) -> letters: usize { counted }
    }

    workflow! {
        /// Counts letters.
        Grading(text: String) -> letters: usize { counted }
    }

    pub(super) fn all() -> u8 {
        let _ = (Counting::default(), Grading::default(), counted("text"));
        Counting()
    }
}

/// Items in a block.
fn blocks() -> u8 {
    struct Inner;
    fn count() {}
    {
        #[agent(writes = letters)]
        fn count(text: &str) -> usize {
            text.len()
        }
        workflow! {
            /// Counts letters.
            Inner(text: String) -> letters: usize { count }
        }
        let _ = (Inner::default(), count("text"));
    }
    let (_, ()) = (Inner, count());
    beside::all()
}

/// Items that macros put into modules and blocks.
mod made {
    use adk::prelude::*;

    macro_rules! function {
        ($name:ident) => {
            #[agent(writes = grade)]
            fn $name(text: &str) -> usize {
                text.len()
            }
        };
    }

    macro_rules! apart {
        ($name:ident) => {
            mod first {
                use adk::prelude::*;
                function!($name);
                pub(super) fn call() -> usize {
                    $name("text")
                }
            }
            mod second {
                use adk::prelude::*;
                #[agent(writes = grade)]
                pub(super) fn $name(text: &str) -> usize {
                    text.len()
                }
            }
            mod third {
                use adk::prelude::*;
                workflow! {
                    /// Has the name of a function in another module.
                    pub(super) $name(text: String) -> grade: usize { super::second::$name as counting }
                }
            }
            fn blocks() {
                {
                    function!($name);
                    let _ = $name("text");
                }
                function!($name);
                let _ = $name("text");
            }
            fn $name() -> usize {
                blocks();
                let _ = third::$name::default();
                first::call() + second::$name("text")
            }
        };
    }

    macro_rules! recursive {
        (of $name:ident) => {
            #[agent(writes = grade)]
            pub(super) fn $name(text: &str) -> usize {
                text.len()
            }
        };
        ($name:ident) => {
            mod fourth {
                use adk::prelude::*;
                recursive!(of $name);
            }
            mod fifth {
                use adk::prelude::*;
                recursive!(of $name);
            }
            recursive!(of $name);
        };
    }

    macro_rules! value {
        ($name:ident) => {{
            #[agent(writes = grade)]
            fn $name(text: &str) -> usize {
                text.len()
            }
            $name("text")
        }};
    }

    apart!(grade);
    recursive!(score);

    pub(super) fn all() -> usize {
        let values = value!(grade) + value!(grade);
        grade() + score("text") + fourth::score("text") + fifth::score("text") + values
    }
}

fn made_by_macros() -> usize {
    made::all()
}
