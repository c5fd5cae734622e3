use adk::prelude::*;

workflow! {
    pub Looking(items: Vec<String>, numbers: Vec<u32>) -> (note: Vec<String>, sum: Vec<String>) {
        agent looker -> note: String { instruction: "Look at {item}." }
        agent adder -> sum: String { instruction: "Add {numer} to {number}." }

        each one in items < looker >;
        each number in numbers < adder >
    }
}

fn main() {}
