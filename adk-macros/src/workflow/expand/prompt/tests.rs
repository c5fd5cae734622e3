use super::plain;

#[test]
fn plain_prompts_have_known_keys() {
    let keys =
        |text| plain(text).map(|keys| keys.into_iter().map(|(key, _)| key).collect::<Vec<_>>());
    assert_eq!(keys(""), Some(vec![]));
    assert_eq!(keys("No key."), Some(vec![]));
    assert_eq!(
        keys("{a}{b_2} and {c?}"),
        Some(vec!["a".into(), "b_2".into(), "c".into()])
    );
    assert_eq!(
        plain("{a?} ü {b}"),
        Some(vec![("a".into(), true), ("b".into(), false)])
    );
}

#[test]
fn other_prompts_are_not_plain() {
    for text in [
        "{",
        "}",
        "{}",
        "{?}",
        "a}",
        "{a",
        "{{a}}",
        "{a}}",
        "{{a}",
        "${a}",
        "\\{a}",
        "{user:a}",
        "{artifact.a}",
        "{a b}",
        "{ a }",
        "{1a}",
        "{_a}",
        "{ä}",
        "{a??}",
        "{\"a\": 1}",
        "{a} {",
        "{a} }",
        "{a{b}}",
    ] {
        assert_eq!(plain(text), None, "{text}");
    }
}
