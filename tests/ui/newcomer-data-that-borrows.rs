use adk::prelude::*;

#[data]
struct Review<'a> {
    notes: &'a str,
}

fn main() {}
