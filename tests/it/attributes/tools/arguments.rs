//! Arguments that come from models.

use super::{call, call_error, everything, weather};
use adk::tool::ToolErrorKind;
use serde_json::{Value, json};

#[tokio::test]
async fn arguments_are_read() {
    let (result, mut cx) = call(&weather::default(), json!({ "city": "Bern" })).await;
    let expected =
        json!({ "city": "Bern", "days": null, "unit": "celsius", "language": "en", "hours": 2 });
    assert_eq!(result.expect("a result"), expected);
    assert_eq!(
        cx.state().get::<String>("city").expect("a text").as_deref(),
        Some("Bern")
    );

    let with = json!({
        "city": "Bern", "days": null, "unit": null, "language": "de", "hours": 3.0, "other": 1,
    });
    let expected =
        json!({ "city": "Bern", "days": null, "unit": "celsius", "language": "de", "hours": 3 });
    assert_eq!(
        call(&weather::default(), with).await.0.expect("a result"),
        expected
    );

    let error = call(&weather::default(), json!({ "city": "" }))
        .await
        .0
        .expect_err("an error");
    assert_eq!(error.kind(), ToolErrorKind::Failed);
    assert_eq!(error.to_string(), std::fmt::Error.to_string());
}

fn all() -> Value {
    let place = json!({ "lat": 1, "lon": 2.5 });
    json!({
        "place": place,
        "unit": "kelvin",
        "plain": "Long",
        "shape": { "kind": "Square", "a": 1.5 },
        "any": "text",
        "tree": { "value": 1, "children": [{ "value": 2, "children": [] }] },
        "mixed": { "Some": 3 },
        "table": { "x": -1 },
        "pair": [1, "a"],
        "tags": ["a"],
        "letter": "x",
        "raw": { "any": [null] },
        "at": { "lat": 1, "lon": 2, "height": null },
    })
}

#[tokio::test]
async fn all_kinds_of_arguments_are_read() {
    let (result, _) = call(&everything::default(), all()).await;
    let expected = "Place { lat: 1.0, lon: 2.5, name: None, height: 0 } None Kelvin Long Square { \
        a: 1.5 } Text(\"text\") Tree { value: 1, children: [Tree { value: 2, children: [] }] } \
        Some(3) {\"x\": -1} (1, \"a\") [\"a\"] x {\"any\":[null]} Place { lat: 1.0, lon: 2.0, \
        name: None, height: 0 } None";
    assert_eq!(result.expect("a result"), expected);
}

#[tokio::test]
async fn an_invalid_argument_is_named() {
    let tool = everything::default();
    let with = |name: &str, value: Value| {
        let mut all = all();
        all[name] = value;
        all
    };
    let cases = [
        (
            "unit",
            json!("warm"),
            "argument `unit`: expected one of \"kelvin\", \"celsius\", \"fahrenheit\", got the \
             string \"warm\"",
        ),
        (
            "plain",
            json!(1),
            r#"argument `plain`: expected one of "Short", "Long", got the number 1"#,
        ),
        (
            "place",
            json!("here"),
            r#"argument `place`: expected an object with `lat`, `lon`, got the string "here""#,
        ),
        (
            "place",
            json!({ "lat": 1 }),
            "argument `place.lon` is missing: expected a number",
        ),
        (
            "place",
            json!({ "lat": 1, "lon": "2" }),
            r#"argument `place.lon`: expected a number, got the string "2""#,
        ),
        (
            "tags",
            json!("a"),
            r#"argument `tags`: expected a list, each a string, got the string "a""#,
        ),
        (
            "tags",
            json!(["a", 1]),
            "argument `tags[1]`: expected a string, got the number 1",
        ),
        (
            "tree",
            json!({ "value": 300, "children": [] }),
            "argument `tree.value`: expected an integer (u8), got the number 300",
        ),
        (
            "any",
            json!([]),
            "argument `any`: expected an integer (i64), or a string: data did not match any \
             variant of untagged enum Any",
        ),
        (
            "letter",
            json!("xy"),
            "argument `letter`: expected a string: invalid value: string \"xy\", expected a \
             character",
        ),
        (
            "place",
            Value::Null,
            "argument `place`: expected an object with `lat`, `lon`, got null",
        ),
    ];
    for (name, value, expected) in cases {
        assert_eq!(call_error(&tool, with(name, value)).await, expected);
    }
    let tool = weather::default();
    assert_eq!(
        call_error(&tool, json!({})).await,
        "argument `city` is missing: expected a string"
    );
    let with = json!({ "city": "Bern", "days": "three" });
    assert_eq!(
        call_error(&tool, with).await,
        r#"argument `days`: expected an integer (u8), got the string "three""#
    );
    let with = json!({ "city": "Bern", "hours": -1 });
    assert_eq!(
        call_error(&tool, with).await,
        "argument `hours`: expected an integer (u32), got the number -1"
    );
}
