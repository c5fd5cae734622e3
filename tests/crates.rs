//! Crates of users, compiled with their own lints, and a workflow over the agents of both.

use adk::prelude::*;

workflow! {
    /// Names, keys and descriptions come from other crates.
    pub Everything(topic: String) -> criticism: String {
        minimal::Drafting;
        renamed::critic;
        renamed::Review as review
    }
}

#[test]
fn agents_of_other_crates() {
    let _ = (minimal::make(), Everything::default());
    assert_eq!(
        Everything::SPEC.to_string(),
        "\
everything(topic: String) -> criticism: String
├─ drafting -> draft
│  ├─ outline -> plan
│  └─ writer -> draft
├─ critic -> criticism
└─ review -> criticism
   └─ review::critic -> criticism"
    );
    assert_eq!(Everything::SPEC.find("drafting").unwrap().description, "Drafts a story in two steps.");
}
