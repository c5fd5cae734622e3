//! Functions and types of ours beside imports of their names: one message for each.

use adk::prelude::*;

mod steps {
    use adk::prelude::*;

    #[agent(writes = score)]
    pub fn grade(text: &str) -> usize {
        text.len()
    }

    #[allow(non_camel_case_types)]
    pub struct judge {
        pub x: u8,
    }

    pub fn plain(x: u8) -> u8 {
        x
    }

    #[data]
    pub struct Draft {
        pub text: String,
        pub words: u8,
    }

    pub struct Other {
        pub a: u8,
    }

    pub mod far {
        pub enum Far {
            A,
        }
    }
}

use self::steps::Other;
use steps::{Draft, far::Far, grade, judge, plain};

#[agent(writes = score)]
fn grade(text: &str) -> usize {
    text.len()
}

#[agent(writes = verdict)]
fn judge(text: &str) -> usize {
    text.len()
}

/// Adds one.
#[tool]
fn plain(x: u8) -> u8 {
    x + 1
}

#[data]
pub struct Draft {
    pub title: String,
}

#[data]
pub struct Other(String);

#[data]
pub enum Far {
    Near(u8),
    Away,
}

workflow! {
    /// Grades.
    pub Grading(text: String, draft: Draft) {
        grade; judge
    }
}

fn main() {}
