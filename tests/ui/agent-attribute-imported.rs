//! Functions without an attribute that a path leads to, and a path that leads nowhere though something has its name: once each.

use adk::prelude::*;

mod helpers {
    use adk::prelude::*;

    pub fn grade(text: &str) -> usize {
        text.len()
    }

    #[agent(writes = size)]
    pub fn measure(text: &str) -> usize {
        text.len()
    }

    pub mod deep {
        pub fn count(text: &str) -> usize {
            text.len()
        }

        pub fn search(query: String) -> String {
            query
        }
    }
}

use helpers::deep;
use helpers::grade;

#[agent]
fn rate(size: usize) {
    println!("{size}");
}

workflow! {
    pub First(text: String) -> size: usize {
        agent writer -> page: String { instruction: "{text}", tools: [deep::search] }

        writer;
        grade;
        helpers::grade as again;
        deep::count;
        helpers::measure;
        helpers::rate;
        rate as right;
    }
}

workflow! {
    pub Second(text: String) {
        agent writer -> page: String { instruction: "{text}", tools: [deep::search] }

        writer;
        grade;
    }
}

fn main() {}
