//! Parameters that borrow their values.
#![allow(clippy::ptr_arg, clippy::unnecessary_debug_formatting)]

use adk::prelude::*;
use adk::testing::ScriptedModel;
use adk::tool::Tool as _;
use adk::{Runner, json};
use std::path::{Path, PathBuf};

/// A place.
#[data]
pub struct Place {
    name: String,
}

/// Takes every type that can be borrowed.
#[tool]
fn lent(
    path: &Path,
    maybe_path: Option<&Path>,
    bytes: Option<&[u8]>,
    texts: Option<&[String]>,
    place: Option<&Place>,
    places: Option<&[Place]>,
    owned: &PathBuf,
) -> String {
    let place = place.map(|place| &place.name);
    let places = places.map(|places| places.iter().map(|place| &place.name).collect::<Vec<_>>());
    format!("{path:?} {maybe_path:?} {bytes:?} {texts:?} {place:?} {places:?} {owned:?}")
}

/// Returns the path of a file.
#[agent(writes = file)]
fn named(folder: &Path, prefix: Option<&Path>) -> PathBuf {
    prefix.unwrap_or(Path::new("/")).join(folder).join("a.txt")
}

/// Reads the agent's own name.
#[agent(writes = size)]
fn size(file: &Path, folder: &PathBuf) -> usize {
    file.as_os_str().len() + folder.as_os_str().len()
}

workflow! {
    /// Works on files.
    Files(folder: PathBuf) -> size: usize {
        named;
        size
    }
}

#[tokio::test]
async fn tools_take_borrowed_parameters() {
    let all = json!({
        "path": "a/b",
        "maybe_path": "c",
        "bytes": [1, 2],
        "texts": ["x"],
        "place": {"name": "Bern"},
        "places": [{"name": "Chur"}],
        "owned": "d",
    });
    let (result, _) = super::tools::call(&lent::default(), all).await;
    let expected = r#""a/b" Some("c") Some([1, 2]) Some(["x"]) Some("Bern") Some(["Chur"]) "d""#;
    assert_eq!(result.expect("a result"), expected);
    let (result, _) = super::tools::call(
        &lent::default(),
        json!({ "path": "a", "owned": "d", "bytes": null }),
    )
    .await;
    assert_eq!(
        result.expect("a result"),
        r#""a" None None None None None "d""#
    );
    let lent = lent::default();
    let parameters = &lent.declaration().parameters;
    assert_eq!(parameters["required"], json!(["path", "owned"]));
    assert_eq!(
        parameters["properties"]["maybe_path"],
        json!({ "type": ["string", "null"] })
    );
    assert_eq!(
        parameters["properties"]["places"]["items"]["required"],
        json!(["name"])
    );
}

#[tokio::test]
async fn agents_take_borrowed_parameters() {
    let runner = Runner::builder()
        .model(ScriptedModel::new())
        .build()
        .expect("a runner");
    let outcome = runner
        .run(&Files::default(), PathBuf::from("xy"))
        .await
        .expect("an outcome");
    assert_eq!(outcome.output, "/xy/a.txtxy".len());
}
