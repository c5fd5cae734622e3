//! Tests of the conformance harness: each change of an expectation makes its case fail, an unknown
//! field is rejected, and new cases run.

#[allow(dead_code, reason = "shared with the cases themselves")]
mod conformance_harness;

use conformance_harness::compare::Comparison;
use conformance_harness::format::{Case, Compare};
use conformance_harness::run;
use conformance_harness::suite::Suite;
use conformance_harness::views::Expect;
use serde_json::{Value, json};
use std::path::Path;

const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");

fn suite(folder: &str) -> Suite {
    Suite::read(&Path::new(HERE).join(folder)).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns all changes of one place of an expectation, each with its name and the changed
/// expectation.
fn mutations(case: &Case, whole: &Value) -> Vec<(String, Value)> {
    let mut places = Vec::new();
    walk(whole, &mut String::new(), &mut places);
    let mut all = Vec::new();
    for place in places {
        for (how, value) in changes(&place, case, whole.pointer(&place).unwrap_or(&Value::Null)) {
            let mut mutated = whole.clone();
            if let Some(slot) = mutated.pointer_mut(&place) {
                *slot = value;
            }
            all.push((format!("{place} {how}"), mutated));
        }
    }
    all
}

/// Collects every place of a value, as JSON pointers.
fn walk(value: &Value, place: &mut String, places: &mut Vec<String>) {
    places.push(place.clone());
    let mut inner = |key: &str, value: &Value| {
        let length = place.len();
        place.push('/');
        place.push_str(&key.replace('~', "~0").replace('/', "~1"));
        walk(value, place, places);
        place.truncate(length);
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| inner(key, value)),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(at, item)| inner(&at.to_string(), item)),
        _ => {}
    }
}

/// Whether the README of the cases excludes a place from the comparison.
fn is_free(place: &str, case: &Case) -> bool {
    let words: Vec<&str> = place.split('/').collect();
    let wording = place.contains("/model_requests/") && words.contains(&"contents");
    let prompt = words.last() == Some(&"system_instruction");
    let templates = case.id.starts_with("tpl-") || case.tags.iter().any(|tag| tag == "templating");
    let of_error =
        place.contains("/error/") && matches!(words.last(), Some(&("class" | "message")));
    wording || (prompt && !templates) || of_error || words.contains(&"adk2")
}

fn changes(place: &str, case: &Case, value: &Value) -> Vec<(&'static str, Value)> {
    if is_free(place, case) {
        return Vec::new();
    }
    let loose = case.compare != Compare::Exact || case.root.is_parallel();
    let last = place.rsplit('/').next().unwrap_or_default();
    let mut all = Vec::new();
    match value {
        Value::String(text) => {
            // With `per_branch`, the harness compares an id by its first appearance in the branch.
            if !(case.compare == Compare::PerBranch && text.starts_with("fc-")) {
                all.push(("other text", Value::String(format!("!{text}"))));
            }
        }
        Value::Number(number) => {
            all.push(("one more", json!(number.as_f64().unwrap_or_default() + 1.0)))
        }
        Value::Bool(yes) => all.push(("the opposite", json!(!yes))),
        Value::Null if last == "error" => all.push(("an error", json!({"kind": "agent_error"}))),
        Value::Null => all.push(("no null", json!("!"))),
        // A cancelled branch may have done less.
        Value::Array(_) if loose && place == "/trace" => {}
        Value::Array(items) => {
            for at in 0..items.len() {
                let mut fewer = items.clone();
                fewer.remove(at);
                all.push(("without an item", fewer.into()));
                let mut more = items.clone();
                more.insert(at, items[at].clone());
                all.push(("an item twice", more.into()));
                if !loose && at > 0 && items[at] != items[at - 1] {
                    let mut swapped = items.clone();
                    swapped.swap(at, at - 1);
                    all.push(("two items exchanged", swapped.into()));
                }
            }
        }
        Value::Object(map) => {
            for key in map.keys() {
                // Skips keys whose absence means the same: the place is not compared, or it is
                // empty.
                let inner = format!("{place}/{key}");
                let says_nothing = is_free(&inner, case)
                    || map[key].is_null()
                    || match &map[key] {
                        Value::Array(items) => items.is_empty(),
                        Value::Object(fields) => fields.is_empty() && key == "args",
                        _ => false,
                    };
                if !says_nothing && key != "system_instruction" {
                    let mut fewer = map.clone();
                    fewer.shift_remove(key);
                    all.push(("without a field", fewer.into()));
                }
            }
            let mut more = map.clone();
            more.insert("!".to_owned(), json!(1));
            all.push(("with another field", more.into()));
        }
    }
    all
}

#[test]
fn each_change_of_an_expectation_is_noticed() {
    let suite = suite("conformance");
    let (mut count, mut unnoticed) = (0, Vec::new());
    for named in &suite.cases {
        let case = named
            .case
            .as_ref()
            .unwrap_or_else(|error| panic!("{}: {error}", named.name));
        if suite.ours.rejects.contains_key(&case.id) {
            continue;
        }
        let measured = run::measure(case).unwrap_or_else(|error| panic!("{}: {error}", case.id));
        let renders = suite.ours.renders.get(&case.id).map(String::as_str);
        let comparison = Comparison::new(case, renders);
        let passes = |expect: &Value| {
            // A change that does not parse is noticed.
            let read = serde_json::from_value::<Expect>(expect.clone());
            read.is_ok_and(|expect| comparison.differences(&expect, &measured).is_none())
        };
        // The changed expectation may be the behaviour of an older reference.
        let written = Expect::raw_expectations(case)
            .into_iter()
            .map(|(_, expect)| Value::Object(expect));
        let met = written
            .into_iter()
            .find(passes)
            .unwrap_or_else(|| panic!("{} fails", case.id));
        for (place, mutated) in mutations(case, &met) {
            count += 1;
            if passes(&mutated) && !(renders.is_some() && place.contains("system_instruction")) {
                unnoticed.push(format!("{}: {place}", case.id));
            }
        }
    }
    assert!(
        unnoticed.is_empty(),
        "{} of {count}:\n{}",
        unnoticed.len(),
        unnoticed.join("\n")
    );
    assert!(count > 10_000, "only {count} mutations");
}

#[test]
fn an_unknown_field_is_rejected_at_each_place() {
    let mut count = 0;
    for named in suite("conformance").cases {
        let path = Path::new(HERE)
            .join("conformance")
            .join(format!("{}.json", named.name));
        let text = std::fs::read_to_string(path).unwrap();
        let whole: Value = serde_json::from_str(&text).unwrap();
        let mut places = Vec::new();
        walk(&whole, &mut String::new(), &mut places);
        for place in places.iter().filter(|place| is_structure(place)) {
            let mut mutated = whole.clone();
            let Some(Value::Object(map)) = mutated.pointer_mut(place) else {
                continue;
            };
            map.insert("unheard_of".to_owned(), json!(1));
            let case = Case::parse(&mutated.to_string());
            let read = case.and_then(|case| Expect::all(&case));
            assert!(read.is_err(), "{}: {place}", named.name);
            count += 1;
        }
    }
    assert!(count > 3_000, "only {count} places");
}

/// Whether an object at this place has the fields of the format, and not the user's data.
fn is_structure(place: &str) -> bool {
    const DATA: [&str; 19] = [
        "state",
        "state_after",
        "state_delta",
        "set_state",
        "args",
        "set_args",
        "response",
        "output_schema",
        "return",
        "artifacts",
        "contents",
        "adk2",
        "variants",
        "callbacks",
        "agent_state",
        "value",
        "default",
        "custom_metadata",
        "artifact_delta",
    ];
    let words: Vec<&str> = place.split('/').collect();
    let data = |word: &&str| DATA.contains(word);
    // The lists in `callbacks` hold structure, and so does each variant.
    match words.iter().position(data) {
        None => true,
        Some(at) if words[at] == "callbacks" => {
            words.len() > at + 2 && !words[at + 1..].iter().any(data)
        }
        Some(at) if words[at] == "variants" => {
            words.len() > at + 1 && !words[at + 2..].iter().any(data)
        }
        Some(_) => false,
    }
}

#[test]
fn new_cases_run() {
    let suite = suite("conformance_made");
    let mut failed = Vec::new();
    for named in suite.cases {
        if let Err(error) = named.case.and_then(|case| suite.ours.judge(&case)) {
            failed.push(format!("{}:\n{error}", named.name));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn a_case_with_an_expected_refusal_fails_when_it_runs() {
    let suite = suite("conformance");
    let case = suite
        .cases
        .into_iter()
        .find_map(|named| named.case.ok().filter(|case| case.id == "seq-two"));
    let case = case.unwrap_or_else(|| panic!("no `seq-two`"));
    let mut ours = suite.ours;
    ours.judge(&case).unwrap_or_else(|error| panic!("{error}"));
    ours.rejects
        .insert(case.id.clone(), "name-duplicate".to_owned());
    let error = ours.judge(&case).expect_err("it is built and run");
    assert!(
        error.contains("should be refused with `name-duplicate`, and was built and run"),
        "{error}"
    );
}

#[test]
fn a_file_that_is_not_a_case_is_a_failure() {
    for (text, why) in [
        ("{", "EOF"),
        (
            r#"{"id": "x", "root": {"type": "tree", "name": "a"}, "expect": {}}"#,
            "no type of an agent",
        ),
        (
            r#"{"format": 2, "id": "x", "root": {"type": "parallel", "name": "a"}, "expect": {}}"#,
            "format 2",
        ),
    ] {
        let error = Case::parse(text).map(|case| case.id).expect_err(text);
        assert!(error.contains(why), "{error}");
    }
    let none = Suite::read(Path::new("/nowhere")).map(|suite| suite.cases.len());
    assert!(none.is_err_and(|error| error.starts_with("/nowhere")));
}
