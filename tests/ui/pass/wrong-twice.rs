//! What has the name of an item of ours, and is legal beside it.

#![allow(non_snake_case, reason = "functions with the names of workflows")]

use adk::prelude::*;

/// Macros have names of their own.
mod macros {
    macro_rules! grade {
        () => {};
    }
    macro_rules! Reviewing {
        () => {};
    }
    pub(crate) use {Reviewing, grade};
}

/// Functions, in a module that is found by a glob.
mod others {
    pub const TEXT: &str = "text";
    pub struct Shadowed;
    pub fn search() {}
    pub fn judge() {}
    pub fn Judging() {}
}

/// What is imported, and is a macro or a function alone.
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
        (Reviewing::default(), judge::default(), self::Judging::default())
    }
}

/// What is found by a glob.
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

/// In a block of their own.
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
