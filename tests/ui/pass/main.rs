//! Right programs, each similar to the wrong programs of its name in the parent folder.
//!
//! The programs are modules of one crate, which is compiled once; an error or a warning in one of
//! them fails the tests.

#![deny(warnings)]
#![allow(
    dead_code,
    missing_docs,
    missing_debug_implementations,
    reason = "nobody uses them"
)]

#[path = "agent-attribute.rs"]
mod agent_attribute;
#[path = "agent-reused.rs"]
mod agent_reused;
#[path = "block-empty.rs"]
mod block_empty;
#[path = "bounds-exceeded.rs"]
mod bounds_exceeded;
#[path = "boxed-trait-key.rs"]
mod boxed_trait_key;
mod callbacks;
mod closures;
mod conditions;
#[path = "data-by-hand.rs"]
mod data_by_hand;
#[path = "exit-outside-loop.rs"]
mod exit_outside_loop;
#[path = "field-unknown.rs"]
mod field_unknown;
mod included;
#[path = "key-duplicate.rs"]
mod key_duplicate;
#[path = "key-maybe-missing.rs"]
mod key_maybe_missing;
#[path = "key-missing.rs"]
mod key_missing;
#[path = "key-race.rs"]
mod key_race;
#[path = "key-type.rs"]
mod key_type;
#[path = "key-type-half.rs"]
mod key_type_half;
#[path = "lethal-trifecta.rs"]
mod lethal_trifecta;
#[path = "live-loop.rs"]
mod live_loop;
#[path = "loop-endless.rs"]
mod loop_endless;
#[path = "loop-max.rs"]
mod loop_max;
#[path = "name-duplicate.rs"]
mod name_duplicate;
#[path = "name-invalid.rs"]
mod name_invalid;
#[path = "name-reserved.rs"]
mod name_reserved;
#[path = "output-missing.rs"]
mod output_missing;
#[path = "plain-names.rs"]
mod plain_names;
#[path = "resource-missing.rs"]
mod resource_missing;
#[path = "syntax.rs"]
mod syntax;
#[path = "tool-argument.rs"]
mod tool_argument;
#[path = "tool-attribute.rs"]
mod tool_attribute;
#[path = "tool-duplicate.rs"]
mod tool_duplicate;
#[path = "tool-reserved.rs"]
mod tool_reserved;
#[path = "tool-undocumented.rs"]
mod tool_undocumented;
#[path = "transfer-target.rs"]
mod transfer_target;
#[path = "unmarked.rs"]
mod unmarked;
#[path = "untrusted-action.rs"]
mod untrusted_action;
#[path = "wait-in-tool.rs"]
mod wait_in_tool;
#[path = "wrong-slip-field.rs"]
mod wrong_slip_field;
#[path = "wrong-twice.rs"]
mod wrong_twice;
#[path = "wrong-values.rs"]
mod wrong_values;
