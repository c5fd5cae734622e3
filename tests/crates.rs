//! Crates of users, compiled with their own lints, and a workflow over the agents of two crates.

use adk::DynTool as _;
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
fn agents_of_other_crates_are_steps() {
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
    assert_eq!(
        Everything::SPEC.find("drafting").unwrap().description,
        "Drafts a story in two steps."
    );
}

#[test]
fn keywords_of_a_later_edition_are_valid_names() {
    let _ = older::named::make();
    let all = [
        older::named::Declared::SPEC,
        older::named::Blocks::SPEC,
        older::named::Placed::SPEC,
    ];
    assert_eq!(
        all.map(|spec| spec.to_string()),
        [
            "declared(gen: String) -> gen: String\n└─ gen -> gen",
            "blocks(topic: String) -> out: String\n└─ gen: loop(max = 2)\n   └─ writer -> out",
            "placed(seed: u8) -> gen: u8\n├─ gen -> gen\n├─ gen as second -> gen\n└─ again: await \
             gen",
        ]
    );
    assert_eq!(older::named::paths::r#gen::default().meta().name, "gen");
}
