//! Documentation pages that rustdoc shows, with their programs as doctests.

macro_rules! pages {
    ($($name:ident $file:literal,)*) => {
        /// Targets of the links between the pages. In the repository, the definition at the end of
        /// a page applies; here, the first definition does.
        macro_rules! links {
            () => {
                concat!($("[`", $file, "`]: crate::checks::", stringify!($name), "\n",)* "\n")
            };
        }

        #[doc = links!()]
        #[doc = include_str!("../docs/checks/README.md")]
        pub mod checks {
            $(
                #[doc = links!()]
                #[doc = include_str!(concat!("../docs/checks/", $file, ".md"))]
                pub mod $name {}
            )*
        }
    };
}

pages! {
    name_duplicate "name-duplicate",
    name_reserved "name-reserved",
    name_invalid "name-invalid",
    agent_reused "agent-reused",
    agent_attribute "agent-attribute",
    key_missing "key-missing",
    key_maybe_missing "key-maybe-missing",
    key_race "key-race",
    key_type "key-type",
    key_duplicate "key-duplicate",
    output_missing "output-missing",
    loop_endless "loop-endless",
    loop_max "loop-max",
    block_empty "block-empty",
    exit_outside_loop "exit-outside-loop",
    field_unknown "field-unknown",
    tool_duplicate "tool-duplicate",
    tool_reserved "tool-reserved",
    tool_undocumented "tool-undocumented",
    tool_argument "tool-argument",
    tool_attribute "tool-attribute",
    resource_missing "resource-missing",
    wait_in_tool "wait-in-tool",
    transfer_target "transfer-target",
    bounds_exceeded "bounds-exceeded",
    untrusted_action "untrusted-action",
    lethal_trifecta "lethal-trifecta",
    live_loop "live-loop",
    syntax "syntax",
}
