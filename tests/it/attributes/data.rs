//! Types with `#[data]` inside other types: their bounds do not form a cycle, and attributes keep
//! their meaning.

use adk::{data, json};
use schemars::{JsonSchema, schema_for};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;

#[data]
#[derive(Copy, Default, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Leaf {
    /// Green.
    #[default]
    GreenOne,
    RedOne,
}

type Named = BTreeMap<String, Vec<Tree>>;

#[data]
#[derive(PartialEq)]
struct Tree {
    children: Vec<Tree>,
    node: Option<Box<Node>>,
    #[serde(default)]
    leaf: Leaf,
}

#[data]
#[derive(PartialEq)]
struct Node {
    named: Named,
    again: Vec<Self>,
    /// How many.
    #[serde(rename = "count", skip_serializing_if = "is_none")]
    counted: Counted<Leaf>,
}

#[data]
#[derive(PartialEq)]
struct Counted<T> {
    leaf: Leaf,
    values: Option<[Leaf; 2]>,
    held: Vec<T>,
}

fn is_none(counted: &Counted<Leaf>) -> bool {
    counted.held.is_empty()
}

#[data]
#[derive(PartialEq)]
#[serde(tag = "kind", content = "of")]
enum Tagged {
    One(Leaf),
    Many {
        leaves: Vec<Leaf>,
        boxed: Box<Tagged>,
    },
}

/// A type without a reader and a writer.
#[derive(Clone, Debug, Default, PartialEq)]
struct Apart;

#[data]
#[derive(PartialEq)]
struct Flat {
    #[serde(flatten)]
    counted: Counted<u8>,
    #[serde(skip)]
    apart: Apart,
}

fn back_and_forth<T: serde::Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(
    value: &T,
    expected: Value,
) {
    assert_eq!(serde_json::to_value(value).expect("JSON"), expected);
    assert_eq!(serde_json::from_value::<T>(expected).expect("JSON"), *value);
}

fn schema<T: JsonSchema>() -> Value {
    schema_for!(T).to_value()
}

#[test]
fn types_contain_each_other() {
    let leaf = Tree {
        children: Vec::new(),
        node: None,
        leaf: Leaf::RedOne,
    };
    let counted = Counted {
        leaf: Leaf::GreenOne,
        values: None,
        held: vec![Leaf::RedOne],
    };
    let named = [("a".to_owned(), vec![leaf.clone()])].into();
    let node = Node {
        named,
        again: Vec::new(),
        counted,
    };
    let tree = Tree {
        children: vec![leaf],
        node: Some(Box::new(node)),
        leaf: Leaf::default(),
    };
    let inside = json!({ "children": [], "node": null, "leaf": "red_one" });
    back_and_forth(
        &tree,
        json!({
            "children": [inside],
            "node": {
                "named": { "a": [inside] },
                "again": [],
                "count": { "leaf": "green_one", "values": null, "held": ["red_one"] },
            },
            "leaf": "green_one",
        }),
    );
    assert_eq!(schema::<Tree>()["required"], json!(["children"]));
    let node = &schema::<Tree>()["$defs"]["Node"]["properties"];
    assert_eq!(node["count"]["description"], "How many.");
}

#[test]
fn attributes_mean_the_same() {
    back_and_forth(
        &Tagged::One(Leaf::RedOne),
        json!({ "kind": "One", "of": "red_one" }),
    );
    let boxed = Box::new(Tagged::One(Leaf::GreenOne));
    back_and_forth(
        &Tagged::Many {
            leaves: vec![Leaf::RedOne],
            boxed,
        },
        json!({
            "kind": "Many",
            "of": { "leaves": ["red_one"], "boxed": { "kind": "One", "of": "green_one" } },
        }),
    );
    let counted = Counted {
        leaf: Leaf::RedOne,
        values: Some([Leaf::RedOne; 2]),
        held: vec![3],
    };
    back_and_forth(
        &Flat {
            counted,
            apart: Apart,
        },
        json!({ "leaf": "red_one", "values": ["red_one", "red_one"], "held": [3] }),
    );
    let flat = schema::<Flat>();
    assert_eq!(flat["required"], json!(["leaf", "held"]));
    assert_eq!(flat["properties"].as_object().unwrap().len(), 3);
}
