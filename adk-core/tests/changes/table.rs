//! The table in `docs/operating.md`, which has a row for each test in [`rows`](super::rows).

use super::rows;

/// Converts the words of a row to the name of its test.
fn name(row: &str) -> String {
    let words = row
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("_")
}

#[test]
fn each_row_of_the_table_is_a_test() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/operating.md");
    let page = std::fs::read_to_string(page).unwrap();
    let section = page
        .split("\n## ")
        .find(|section| section.starts_with("A program changes"))
        .unwrap();
    let rows = section.lines().filter(|line| line.starts_with('|')).skip(2);
    let names: Vec<_> = rows
        .map(|row| name(row.split('|').nth(1).unwrap()))
        .collect();
    assert_eq!(names, rows::NAMES);
}
