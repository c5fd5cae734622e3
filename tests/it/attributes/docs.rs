//! Doc comments reach models and people unchanged.

use adk::prelude::*;
use adk::tool::Tool as _;

/**
 * A place.
 *
 * - a city
 *   - or a part of it
 */
#[data]
pub struct Place {
    /**
     * Its name.
     *
     * Not translated.
     */
    name: String,
    /// One of:
    ///
    /// | code | country |
    /// |------|---------|
    /// | ch   | here    |
    country: String,
    kind: Kind,
}

/// What kind
/// it is.
#[data]
pub enum Kind {
    /**
     * Large,
     * and old.
     */
    City {
        /** Of how many
         * people. */
        people: u32,
    },
    /// Small.
    Village,
}

/**
 * Searches.
 *
 * * by name
 * * by country
 */
#[tool]
fn search(
    /// One of:
    /// - `x`: first
    /// - `y`: second
    query: &str,
    /**
     * Where.
     */
    #[default(1)]
    most: u8,
    place: Place,
) -> usize {
    query.len() + usize::from(most) + place.name.len()
}

/** Counts.
 * Twice.  
 * > quoted
 *
 *     code
 */
#[agent(writes = count)]
fn count(text: &str) -> usize {
    text.len()
}

workflow! {
    /**
     * Works.
     *
     * 1. First
     *    goes on
     */
    pub Work(
        /**
         * What it is about.
         */
        text: String,
    ) -> ok: bool {
        /**
         * Writes.
         *
         * > quoted
         */
        agent writer { instruction: "Write.", tools: [search], max_turns: 2 }

        writer;
        count;
        /**
         * May it be?
         *
         * - {count} words
         */
        await ok: bool
    }
}

#[test]
fn descriptions_are_as_they_were_written() {
    assert_eq!(
        search::META.description,
        "Searches.\n\n* by name\n* by country"
    );
    assert_eq!(
        count::META.description,
        "Counts.\nTwice.  \n> quoted\n\n    code"
    );
    assert_eq!(Work::SPEC.description, "Works.\n\n1. First\n   goes on");
    assert_eq!(
        Work::SPEC.find("writer").unwrap().description,
        "Writes.\n\n> quoted"
    );
    let await_ = format!("{:?}", Work::SPEC.steps);
    assert!(
        await_.contains(r#"May it be?\n\n- {count} words""#),
        "{await_}"
    );
}

#[test]
fn descriptions_of_parameters_and_fields_are_as_they_were_written() {
    let search = search::default();
    let parameters = &search.declaration().parameters["properties"];
    assert_eq!(
        parameters["query"]["description"],
        "One of:\n- `x`: first\n- `y`: second"
    );
    assert_eq!(parameters["most"]["description"], "Where.");
    let place = &parameters["place"];
    assert_eq!(
        place["description"],
        "A place.\n\n- a city\n  - or a part of it"
    );
    let fields = &place["properties"];
    assert_eq!(
        fields["name"]["description"],
        "Its name.\n\nNot translated."
    );
    let table = "One of:\n\n| code | country |\n|------|---------|\n| ch   | here    |";
    assert_eq!(fields["country"]["description"], table);
    let kind = &fields["kind"];
    assert_eq!(kind["description"], "What kind\nit is.");
    assert_eq!(kind["oneOf"][0]["description"], "Large,\nand old.");
    let people = &kind["oneOf"][0]["properties"]["City"]["properties"]["people"];
    assert_eq!(people["description"], "Of how many\npeople.");
}
