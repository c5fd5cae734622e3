//! Names that are keywords, that use other scripts, or that an expansion might use itself.

use adk::prelude::*;

workflow! {
    /// Has raw names of agents, steps, blocks, keys and outputs.
    pub Raw(r#type: String, user:r#match: String = "m") -> (r#fn: String, r#in: Vec<String>) {
        let r#let: Vec<String> = vec![r#"a "raw" text"#.to_owned()];
        state r#state: Option<u8>;

        /// The name in events is a keyword.
        agent r#loop -> r#fn: String { name: "loop", instruction: "Write about {type} and {user:match}." }
        agent r#async -> r#in: Vec<String> { instruction: "List {let}, {state?}." }

        r#while: sequence < r#loop; r#async >
        r#for: loop(max = 2, until = r#true) < done as r#if >
    }
}

#[agent(writes = r#true)]
fn done(r#fn: &str) -> bool {
    r#fn.is_empty()
}

workflow! {
    /// Has letters of many scripts.
    pub Überarbeitung(тема: String) -> черновик: String {
        let café: String = "☕";

        agent автор -> черновик: String { instruction: "Напиши про {тема}: {café}." }
        agent 批评者 -> 意见: String { instruction: "评论 {черновик}" }

        автор;
        улучшение: loop(max = 2) < 批评者; автор(тема = 意见) as второй >
    }
}

workflow! {
    /// Has names that an expansion might use for its own items.
    pub Agent(input: String, keys: u8, values: Vec<u8>, cx: String, value: String, step: String) -> output: String {
        let agent: String = "agent";
        let name: String = step_name();

        agent adk -> settings: String { instruction: "{input}{keys}{values}{cx}{value}{step}{agent}{name}" }
        agent core -> output: String { instruction: "{settings}" }
        agent this -> spec: String { instruction: "{output}" }
        agent max -> meta: String { instruction: "{spec}" }

        adk;
        core;
        std: sequence < this >
        default: loop(max = 1) < max >
    }
}

fn step_name() -> String {
    "name".to_owned()
}

/// Types and traits with the names of items of the standard library.
pub mod shadows {
    /// An item that shadows the standard option.
    #[derive(Debug)]
    pub struct Option;
    /// An item that shadows the standard result.
    #[derive(Debug)]
    pub struct Result;
    /// An item that shadows the standard vector.
    #[derive(Debug)]
    pub struct Vec;
    /// An item that shadows the standard default.
    pub trait Default {}
    /// A name that shadows a variant.
    #[allow(non_upper_case_globals)]
    pub const Some: u8 = 1;
    /// A name that shadows a variant.
    #[allow(non_upper_case_globals)]
    pub const Ok: u8 = 1;
    /// A module that shadows the crate.
    pub mod core {}
    /// A module that shadows the crate.
    pub mod std {}

    adk::workflow! {
        /// Runs with these names in scope.
        pub Shadowed(topic: ::std::string::String) -> draft: ::std::string::String {
            let tone: ::std::string::String = "plain";

            agent writer -> draft: ::std::string::String { instruction: "Write about {topic}, {tone}.", temperature: 0.5 }

            named: loop(max = 2) < writer; note >
            match topic < "a" => look, _ => () >
            each letter in letters < grade >
        }
    }

    /// Returns a note.
    #[adk::agent(writes = letters)]
    pub fn note(draft: &str) -> ::std::vec::Vec<::std::string::String> {
        ::std::vec![draft.to_owned()]
    }

    /// Grades the letter.
    #[adk::agent(writes = grades)]
    pub async fn grade(letter: &str) -> ::std::option::Option<f64> {
        (letter == "a").then_some(0.5)
    }

    /// Looks.
    #[adk::agent]
    pub fn look(topic: &str) -> ::std::result::Result<(), ::std::string::String> {
        if topic.is_empty() {
            ::std::result::Result::Err(topic.to_owned())
        } else {
            ::std::result::Result::Ok(())
        }
    }

    /// A tool.
    #[adk::tool]
    pub fn find(what: ::std::option::Option<&str>) -> usize {
        what.map_or(0, str::len)
    }
}

#[test]
fn names_in_events_are_the_written_names() {
    let raw = Raw::default();
    drop((raw.r#loop, raw.r#async, raw.r#while, raw.r#for, raw.r#if));
    assert!(Raw::SPEC.find("while").is_some() && Raw::SPEC.find("loop").is_some());
    assert!(Überarbeitung::SPEC.find("второй").is_some());
    drop((Agent::default(), shadows::Shadowed::default()));
}
