//! What stands inside of another type cannot be borrowed by a parameter, nor can there be any number of them.

use adk::prelude::*;

#[agent(writes = longest)]
fn longest(words: Vec<&str>) -> usize {
    words.iter().map(|word| word.len()).max().unwrap_or(0)
}

#[agent(writes = count)]
fn count<'a>(words: &[&'a str], pairs: Option<(&'a str, &[u8])>) -> usize {
    words.len() + pairs.map_or(0, |pair| pair.1.len())
}

/// Joins them.
#[tool]
fn join(words: Option<&[&'a str]>) -> String {
    words.map(|words| words.join(" ")).unwrap_or_default()
}

#[agent(writes = sum)]
unsafe extern "C" fn sum(first: i32, rest: ...) -> i32 {
    first + unsafe { rest.arg::<i32>() }
}

// Those that are borrowed as a whole are right.
#[agent(writes = all)]
fn all(draft: std::borrow::Cow<str>, words: &Vec<String>, more: Option<&[String]>, last: Option<&str>) -> usize {
    draft.len() + words.len() + more.map_or(0, <[String]>::len) + last.map_or(0, str::len)
}

#[data]
struct Page<'a> {
    words: Vec<&'a str>,
}

fn main() {}
