//! Commas and semicolons in every allowed place, and in places where they are optional.

use adk::prelude::*;

workflow! {
    /// Has nothing after the name.
    pub Least { agents::llm::summarizer }
}

workflow! {
    pub Writing(topic: String, tone: String = "plain",) -> (draft: String,) {
        let done: String = "done";
        agent writer -> draft: String { instruction: "Write about {topic}, {tone}, {done}", tools: [], }
        agent critic { instruction: "Review." }

        writer;
        sequence < critic as b > parallel < critic as c; critic as d; >
        < critic as e; < critic as f >>
        loop(max = 2,) { critic as g; };
        sequence < < critic as h >> critic as i;
        parallel < < critic as j >> sequence < critic as k >
        critic;
    }
}

/// A function with the name of a key is not a key.
mod called_like_a_key {
    use adk::prelude::*;

    fn tone() -> String {
        "plain".into()
    }

    #[agent(writes = draft)]
    fn write(tone: &str) -> String {
        tone.to_owned()
    }

    workflow! {
        pub Toned(length: u32 = Some(2).map_or(0, twice)) -> draft: String {
            let tone: String = None.unwrap_or_else(tone);
            let twice: u32 = 2;

            write;
        }
    }

    fn twice(length: u32) -> u32 {
        length * 2
    }
}

/// A function from a glob import, or from outside the block, is not a key either.
mod imported_like_a_key {
    use adk::prelude::*;

    mod sums {
        pub fn least() -> u32 {
            1
        }

        pub fn most() -> u32 {
            least() + 4
        }
    }

    mod imported {
        use super::sums::*;
        use adk::prelude::*;

        #[agent(writes = score)]
        fn rate(least: u32) -> u32 {
            least
        }

        workflow! {
            pub Rated(count: u32 = least()) -> score: u32 {
                let least: u32 = least();
                let most: u32 = most();

                rate;
                match score { found if found > most() => rate as again, _ => rate as more }
            }
        }
    }

    pub fn in_a_block() -> u64 {
        fn least() -> u32 {
            2
        }
        {
            #[agent(writes = score)]
            fn rate(least: u32) -> u32 {
                least
            }

            workflow! {
                Rated() -> score: u32 {
                    let least: u32 = least();

                    rate;
                    match score { found if found > least() => rate as again, _ => rate as more }
                }
            }
            Rated::SPEC.bounds().rounds.unwrap_or_default()
        }
    }
}

/// The text after the `>` of a block is the pattern of the next arm, and not a comparison.
mod blocks_as_arms {
    use adk::prelude::*;

    #[agent(writes = score)]
    fn rate(text: &str) -> i64 {
        i64::try_from(text.len()).unwrap_or_default()
    }

    #[agent(writes = text)]
    fn fix(text: &str) -> String {
        text.to_owned()
    }

    #[agent]
    fn other(score: i64) {
        let _ = score;
    }

    workflow! {
        pub Rated(text: String) -> text: String {
            rate;
            match score <
                0 => < fix > 5 => fix as b,
                -1 => parallel < fix as c; other as d > -9..=-2 => (),
                6 | 7 => < fix as e; rate as f > n if n > 8 && n < 20 => loop(max = 2) < fix as g > n @ 30..=40 => fix as h,
                _ => ()
            >
            match score <
                0 => match score < 1 => fix as i, _ => fix as j, > 5 => fix as k,
                6 => < match score < 1 => fix as l, _ => (), > > 7 => fix as m,
                _ => ()
            >
        }
    }
}

/// A `'static` borrow is allowed if it is not read.
mod borrowed_for_ever {
    use adk::prelude::*;
    use std::borrow::Cow;
    use std::marker::PhantomData;

    #[data]
    pub struct Unit {
        pub name: Cow<'static, str>,
        #[serde(skip_deserializing)]
        pub symbol: &'static str,
        #[serde(skip)]
        pub make: Option<fn(&'static str)>,
        pub of: PhantomData<&'static str>,
    }

    #[agent(writes = unit)]
    fn longer(unit: Unit) -> Unit {
        unit
    }

    workflow! {
        /// Measures.
        pub Measuring(unit: Unit) -> unit: Unit {
            longer
        }
    }
}

/// Braces that name no part of a key are text, and so are escaped braces.
mod braces_that_are_text {
    use adk::prelude::*;

    workflow! {
        /// Writes JSON.
        pub Writing(topic: String) -> text: String {
            agent writer -> text: String {
                instruction: r#"Write about {topic} as {"title": "...", "parts": [{"n": 1}]}, {}, {0}, {0.5}, {other.part}, \{topic.title}."#,
            }
            writer
        }
    }
}

/// A string is an error of the library's `Result`.
mod errors_from_texts {
    use adk::prelude::*;

    #[agent(writes = text)]
    fn check(draft: &str) -> Result<String> {
        if draft.is_empty() {
            return Err("the draft is empty".into());
        }
        Err(format!("`{draft}` is no draft"))?
    }

    /// Searches.
    #[tool]
    fn search(query: &str) -> Result<String> {
        if query.is_empty() {
            Err("no query".into())
        } else {
            Ok(query.to_owned())
        }
    }
}
