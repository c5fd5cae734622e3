use super::{differ, have_same_spelling, spelled_name};

#[test]
fn only_what_is_certain_differs() {
    assert!(differ("&str", "f64", 0));
    assert!(differ("u32", "u64", 0));
    assert!(differ("String", "Vec<String>", 0));
    assert!(differ("String", "String", 1));
    assert!(!differ("&str", "std::string::String", 0));
    assert!(!differ("&[String]", "Vec<String>", 0));
    assert!(!differ("Vec<Vec<u8>>", "u8", 2));
    assert!(!differ("Option<&str>", "String", 0));
    // An alias, such as `Score`, may be any type.
    assert!(!differ("Score", "f64", 0));
    assert!(!differ("HashMap<String,u8>", "String", 0));
    assert!(!differ("", "String", 0));
}

#[test]
fn spelled_names_of_reads_and_writes() {
    assert_eq!(spelled_name("Draft", false, false), ("Draft", 0));
    assert_eq!(spelled_name("Option<&Draft>", true, false), ("Draft", 0));
    assert_eq!(
        spelled_name("Option<Draft>", false, false),
        ("Option<Draft>", 0)
    );
    assert_eq!(
        spelled_name("&[Vec<Draft>]", false, true),
        spelled_name("Vec<Vec<Draft>>", true, true)
    );
    assert_ne!(
        spelled_name("Vec<Option<Draft>>", true, true),
        spelled_name("Vec<Draft>", true, true)
    );
    // This `Vec` is a type of the user, and not the `Vec` of the standard library.
    assert_eq!(spelled_name("Vec<Draft>", false, false), ("Vec<Draft>", 0));
    assert_eq!(spelled_name("", true, false), ("", 0));
}

#[test]
fn alike_as_they_are_spelled() {
    assert!(have_same_spelling("&Score", "crate::Score", 0));
    assert!(have_same_spelling("&[Note]", "Note", 1));
    assert!(!have_same_spelling("Score", "f64", 0));
    assert!(have_same_spelling("Option<&str>", "String", 0));
    assert!(have_same_spelling("Option<&str>", "Option<String>", 0));
    assert!(!have_same_spelling("&str", "Option<String>", 0));
    assert!(have_same_spelling("&other::Score", "Score", 0));
    assert!(!have_same_spelling("&Option<String>", "String", 0));
    assert!(!have_same_spelling("Option<Option<String>>", "String", 0));
    assert!(!have_same_spelling(
        "Option<&str>",
        "Option<Option<String>>",
        0
    ));
}
