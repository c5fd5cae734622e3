//! Values with the type of their key, and texts of any type for a `String`.

use adk::prelude::*;

const PLAIN: &str = "plain";

workflow! {
    /// The key decides a type that the value leaves open.
    Open(topic: String = "frogs".into(), words: u32 = "3".parse().unwrap_or_default(), all: Vec<String> = Vec::new()) {
        let tone: String = Default::default();
        let start: String = "7".parse().unwrap_or_default();
        let list: String = ["a", "b"].into_iter().collect();
        let either: String = match PLAIN { "plain" => "p".into(), _ => String::new() };
        let done: bool = Default::default();
        agent writer {
            instruction: "Write about {topic}, {words}, {all}, {tone}, {start}, {list}, {either}, {done}, {answer}.",
        }

        await(timeout = "1h", default = "yes".into()) answer: String;
        writer
    }
}

workflow! {
    /// Any value that converts into a `String` is allowed.
    Texts(topic: String = PLAIN, letter: String = 'a') {
        let tone: String = PLAIN.trim();
        let copied: String = &String::from(PLAIN);
        let made: String = format!("{PLAIN}!");
        let either: String = if PLAIN.is_empty() { "none" } else { PLAIN };
        let shared: String = std::borrow::Cow::Borrowed(PLAIN);
        agent writer { instruction: "Write about {topic}, {letter}, {tone}, {copied}, {made}, {either}, {shared}, {answer}." }

        await(timeout = "1h", default = PLAIN) answer: String;
        writer
    }
}
