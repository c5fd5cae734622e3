use super::plain_text;

fn text_of(docs: &[&str]) -> String {
    plain_text(&docs.iter().map(|doc| (*doc).to_owned()).collect::<Vec<_>>())
}

#[test]
fn text_does_not_change() {
    assert_eq!(text_of(&[" Grades the", " draft."]), "Grades the\ndraft.");
    assert_eq!(
        text_of(&["", " One.", "", "", " Two", " goes on.", ""]),
        "One.\n\n\nTwo\ngoes on."
    );
    assert_eq!(
        text_of(&[
            " | a |",
            " |---|",
            "",
            " - a",
            "   - b",
            "",
            " > c",
            "",
            "     code"
        ]),
        "| a |\n|---|\n\n- a\n  - b\n\n> c\n\n    code"
    );
    assert_eq!(
        text_of(&[" So:", " ```", " a", "   b", " ```", "", " and  ", " on"]),
        "So:\n```\na\n  b\n```\n\nand  \non"
    );
    assert_eq!(text_of(&["None.", " One."]), "None.\n One.");
    assert_eq!(text_of(&["  ", " "]), "");
}

#[test]
fn blocks_lose_their_stars() {
    assert_eq!(
        text_of(&["\n * Stars.\n *\n * - a\n *   - b\n "]),
        "Stars.\n\n- a\n  - b"
    );
    assert_eq!(
        text_of(&[" Searches.\n     * Twice.\n     "]),
        "Searches.\nTwice."
    );
    assert_eq!(
        text_of(&["\n    Searches.\n\n    * a\n    * b\n"]),
        "Searches.\n\n* a\n* b"
    );
    assert_eq!(
        text_of(&["\n * One.\n * * a\n ", " Two."]),
        "One.\n* a\n\nTwo."
    );
    assert_eq!(text_of(&[" * a", " * b"]), "* a\n* b");
}
