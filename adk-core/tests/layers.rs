//! Dependencies between the rooms of the crate run one way (ARCHITECTURE.md): a room uses only
//! rooms below it.
//!
//! A room is a folder of `src/runtime`, `src/agents` and so on, or a file beside such folders. The
//! folders and files of `src/runtime/workflow` and of `src/agents/llm` are rooms too.
//! Re-exports of `lib.rs` count for the room that defines the item.

#[path = "support/rooms.rs"]
mod rooms;

use rooms::{arrows, exports, paths};
use std::path::{Path, PathBuf};

/// Rooms from the bottom up. Rooms of one line do not use each other.
const LAYERS: &[&[&str]] = &[
    &[GROUND],
    &["runtime/live", "runtime/resources"],
    &["runtime/run"],
    &["runtime/callback"],
    &["runtime/agent"],
    &["runtime/tool"],
    &["runtime/workflow/block", "runtime/workflow/keys"],
    &["runtime/workflow/form"],
    &["runtime/workflow/steps"],
    &[
        "runtime/workflow/blocks",
        "runtime/workflow/nested",
        "runtime/workflow/turn",
    ],
    &[
        "runtime/workflow/prepare",
        "runtime/workflow/root",
        "runtime/workflow/walk",
    ],
    &["runtime/workflow/descend"],
    &["runtime/workflow/entry"],
    &["runtime/workflow"],
    &["runtime/workflow/agent_root"],
    &["runtime/runner"],
    &["agents/description", "agents/tools"],
    &["agents/llm/agent", "agents/llm/trace"],
    &["agents/llm/toolbox"],
    &["agents/llm/provider", "agents/llm/request"],
    &["agents/llm/answer"],
    &["agents/llm/calls", "agents/llm/compact"],
    &["agents/llm/results"],
    &["agents/llm/tool_workflow", "agents/llm/turn"],
    &["agents/llm/live"],
    &["agents/llm"],
    &["agents/agent_tool", "agents/ask"],
    &["__private"],
];

/// The files of the root, and the folders that belong to one of them. They may use each other.
const GROUND: &str = "the ground";

/// Folders that contain rooms.
const FLOORS: [&str; 4] = ["runtime", "runtime/workflow", "agents", "agents/llm"];

/// Returns the room of a module, or of a path to an item.
fn room(module: &[String]) -> String {
    let mut room = match module {
        [first, ..] if first == "__private" || FLOORS.contains(&first.as_str()) => first.clone(),
        _ => return GROUND.to_owned(),
    };
    for next in &module[1..] {
        let inner = format!("{room}/{next}");
        // An item of a floor, such as `agents::llm::LlmAgent`, belongs to the floor.
        if !FLOORS.contains(&room.as_str()) || !sources().join(&inner).with_extension("rs").exists()
        {
            break;
        }
        room = inner;
    }
    room
}

/// Returns the index of a room in [`LAYERS`].
fn layer(room: &str) -> usize {
    let found = LAYERS.iter().position(|layer| layer.contains(&room));
    found.unwrap_or_else(|| panic!("room `{room}` has no place in the layers: give it one"))
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

#[test]
fn no_room_uses_a_room_above_it() {
    let arrows = arrows(&sources(), room);
    assert!(
        arrows.len() > 60,
        "only {} arrows were found: does this test still read the sources?",
        arrows.len()
    );
    // The root files of the other floors only declare their rooms.
    let is_room = |room: &str| room == "agents/llm" || !FLOORS.contains(&room);
    let is_wrong =
        |((own, used), _): &(&(String, String), _)| is_room(own) && layer(used) >= layer(own);
    let wrong: Vec<_> = arrows.iter().filter(is_wrong).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn paths_are_resolved_to_rooms() {
    let module = ["runtime", "run", "context"].map(str::to_owned);
    let code = "use super::{Run, state::{State, decode}}; use crate::{Name, store::event::Event}; \
        super::super::live::f(); crate::Agent::x";
    let found: Vec<_> = paths(code, &module)
        .iter()
        .map(|path| path.join("::"))
        .collect();
    let expected = [
        "Name",
        "store::event::Event",
        "Agent::x",
        "runtime::run::Run",
        "runtime::run::state::State",
        "runtime::run::state::decode",
        "runtime::live::f",
    ];
    assert_eq!(found, expected);
    assert_eq!(
        exports(&sources())["Agent"].join("::"),
        "runtime::agent::Agent"
    );
}
