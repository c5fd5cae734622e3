//! Dependencies between the rooms of the crate run one way (ARCHITECTURE.md): a room uses only
//! rooms below it. A room is a file or folder of `src`.

#[path = "../../adk-core/tests/support/rooms.rs"]
mod rooms;

use std::path::{Path, PathBuf};

/// Rooms from the bottom up. Rooms of one line do not use each other.
const LAYERS: &[&[&str]] = &[
    &["failure", "schema", "text"],
    &["files"],
    &["metrics", "stats"],
    &["report"],
    &["score"],
    &["run"],
];

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// Returns the room of a module or of a path into it.
fn room(path: &[String]) -> String {
    path.first().cloned().unwrap_or_default()
}

/// Returns the index of a room in [`LAYERS`].
fn layer(room: &str) -> usize {
    let found = LAYERS.iter().position(|layer| layer.contains(&room));
    found.unwrap_or_else(|| panic!("room `{room}` has no place in the layers: give it one"))
}

#[test]
fn no_room_uses_a_room_above_it() {
    let arrows = rooms::arrows(&sources(), room);
    assert!(
        arrows.len() > 8,
        "only {} arrows were found: does this test still read the sources?",
        arrows.len()
    );
    let wrong: Vec<_> = arrows
        .iter()
        .filter(|((own, used), _)| layer(used) >= layer(own))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
