//! Random schemas of tools reach each provider in a form that its documentation accepts.
//!
//! The rules below are written from the documentation and the error messages of the providers, and
//! know nothing of the conversion.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use super::*;
use serde_json::Map;

/// Names of properties and definitions.
const NAMES: [&str; 5] = ["a", "b", "c", "Page<User>", "x/y~z"];

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % end
    }

    fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn list<T>(&mut self, most: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..=self.below(most)).map(|_| make(self)).collect()
    }

    /// Makes a schema of draft 7 or 2020-12.
    fn schema(&mut self, depth: usize, old: bool) -> Value {
        if depth == 0 {
            return self.pick(&[
                json!(true),
                json!({}),
                json!({"type": "string"}),
                json!({"type": "array"}),
            ]);
        }
        match self.below(16) {
            0 => self.pick(&[json!(true), json!({}), json!({"title": "Any"})]),
            1 => {
                let format = self.pick(&["date", "uint8", "uri"]);
                json!({"type": "string", "format": format, "minLength": 1})
            }
            2 => {
                let kind = self.pick(&["integer", "number"]);
                json!({"type": kind, "exclusiveMinimum": 0, "x-unit": "m"})
            }
            3 => json!({"type": ["string", "null"], "default": null}),
            4 => json!({"type": ["array", "number", "object"]}),
            5 => {
                json!({"enum": self.pick(&[json!(["", "p"]), json!([1, "q", null]), json!([true])])})
            }
            6 => json!({"const": self.pick(&[json!("p"), json!(1), json!(null)])}),
            7 if old => {
                let items = json!([self.schema(depth - 1, old), {"type": "string"}]);
                json!({"type": "array", "items": items, "additionalItems": false})
            }
            7 => {
                let (first, rest) = (self.schema(depth - 1, old), [json!(false), json!({})]);
                json!({"type": "array", "prefixItems": [first], "items": self.pick(&rest)})
            }
            8 => {
                json!({"type": "array", "items": self.schema(depth - 1, old), "uniqueItems": true})
            }
            9 => {
                let branches = self.list(3, |random| random.schema(depth - 1, old));
                json!({self.pick(&["anyOf", "oneOf", "allOf"]): branches, "description": "One."})
            }
            10 => {
                json!({"anyOf": [self.schema(depth - 1, old), {"type": "null"}], "default": null})
            }
            11 | 12 => json!({"$ref": self.reference(old)}),
            13 => json!({"type": "object", "additionalProperties": self.schema(depth - 1, old)}),
            _ => self.object(depth, old),
        }
    }

    fn reference(&mut self, old: bool) -> String {
        let keyword = if old { "definitions" } else { "$defs" };
        match self.below(4) {
            0 => "#anchor".to_owned(),
            1 => self
                .pick(&["inner.json", "https://example.com/x/inner.json"])
                .to_owned(),
            2 => "#".to_owned(),
            _ => {
                let name = self.pick(&["Page%3CUser%3E", "x~1y~0z", "a"]);
                format!("#/{keyword}/{name}")
            }
        }
    }

    fn object(&mut self, depth: usize, old: bool) -> Value {
        let depth = depth.max(1);
        let names = self.list(3, |random| random.pick(&NAMES[..3]));
        let all = names
            .into_iter()
            .map(|name| (name.to_owned(), self.schema(depth - 1, old)));
        let mut object = json!({"type": "object", "properties": all.collect::<Map<_, _>>()});
        let mut add = |keyword: &str, value: Value| {
            drop(
                object
                    .as_object_mut()
                    .unwrap()
                    .insert(keyword.to_owned(), value),
            )
        };
        if self.chance(50) {
            add("required", json!([self.pick(&["a", "b", "undeclared"])]));
        }
        if self.chance(30) {
            add("additionalProperties", json!(false));
        }
        if self.chance(30) {
            let branches = self.list(2, |random| {
                match random.below(if depth == 1 { 1 } else { 3 }) {
                    0 => json!({"required": [random.pick(&NAMES)]}),
                    _ => random.object(depth.saturating_sub(1), old),
                }
            });
            add(self.pick(&["anyOf", "oneOf", "allOf"]), json!(branches));
        }
        if self.chance(15) {
            add("if", json!({"required": ["a"]}));
            add("then", json!({"required": ["b"]}));
        }
        if self.chance(10) {
            add("not", json!({"required": ["x"]}));
        }
        if self.chance(10) {
            add(
                "patternProperties",
                json!({"^x": self.schema(depth - 1, old)}),
            );
        }
        if self.chance(10) && old {
            add(
                "dependencies",
                json!({"a": ["b"], "b": {"required": ["c"]}}),
            );
        }
        object
    }

    /// Makes the schema of a tool.
    fn tool(&mut self) -> Value {
        let old = self.chance(50);
        let mut root = self.object(3, old);
        let defs: Map<_, _> = NAMES
            .iter()
            .map(|name| ((*name).to_owned(), self.object(2, old)))
            .collect();
        let mut defs = Value::Object(defs);
        let properties = json!({"c": {"$ref": "#/properties/d"}, "d": {"type": "string"}});
        defs["c"] = json!({"$id": "inner.json", "type": "object", "properties": properties});
        let named = if old { "$id" } else { "$anchor" };
        defs["b"][named] = if old { "#anchor" } else { "anchor" }.into();
        root["$id"] = "https://example.com/x/root.json".into();
        let draft = if old {
            "http://json-schema.org/draft-07/schema#"
        } else {
            "https://json-schema.org/draft/2020-12/schema"
        };
        root["$schema"] = draft.into();
        root[if old { "definitions" } else { "$defs" }] = defs;
        root
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 5 } else { 9 }) {
            0 => json!(null),
            1 => json!(1),
            2 => json!("p"),
            3 => json!([]),
            4 => json!({}),
            5 => json!([self.value(depth - 1), "q"]),
            _ => {
                let names = self.list(3, |random| random.pick(&["a", "b", "c", "d"]));
                names
                    .into_iter()
                    .map(|name| (name.to_owned(), self.value(depth - 1)))
                    .collect::<Map<_, _>>()
                    .into()
            }
        }
    }
}

/// Calls `visit` for each schema in a schema. The list of keywords is that of draft 2020-12.
fn visit(schema: &Value, visit_one: &mut dyn FnMut(&Value)) {
    visit_one(schema);
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        match (&**keyword, value) {
            (
                "properties" | "patternProperties" | "dependentSchemas" | "$defs",
                Value::Object(all),
            ) => {
                all.values().for_each(|one| visit(one, visit_one));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(all)) => {
                all.iter().for_each(|one| visit(one, visit_one));
            }
            (
                "items"
                | "additionalProperties"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames",
                one,
            ) => {
                visit(one, visit_one);
            }
            _ => {}
        }
    }
}

fn has(schema: &Value, keyword: &str) -> bool {
    schema.get(keyword).is_some()
}

fn is_kind(schema: &Value, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::Array(all)) => all.iter().any(|one| one == kind),
        one => one.is_some_and(|one| one == kind),
    }
}

fn names(list: Option<&Value>) -> Vec<&str> {
    list.and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// Rules of all providers for the schema of a tool.
fn check_root(root: &Value) {
    assert_eq!(root["type"], "object");
    assert!(root["properties"].is_object());
    for keyword in ["anyOf", "oneOf", "allOf", "not", "enum"] {
        assert!(!has(root, keyword), "{keyword} at the top");
    }
    assert!(jsonschema::draft202012::meta::is_valid(root));
    visit(root, &mut |schema| {
        assert!(
            !["$ref", "$dynamicRef", "$id", "$schema"]
                .iter()
                .any(|one| has(schema, one))
        );
        assert!(
            !is_kind(schema, "array") || schema["items"].is_object(),
            "a list without items"
        );
    });
}

/// Structured outputs, "Supported schemas" of OpenAI.
fn check_strict(root: &Value) {
    let known = "type title description enum const anyOf properties required additionalProperties items \
                 minItems maxItems minimum maximum exclusiveMinimum exclusiveMaximum multipleOf pattern format";
    visit(root, &mut |schema| {
        if schema.is_boolean() {
            return;
        }
        for keyword in schema.as_object().unwrap().keys() {
            assert!(
                known.split_whitespace().any(|one| one == keyword),
                "{keyword}"
            );
        }
        assert!(
            ["type", "anyOf", "enum", "const"]
                .iter()
                .any(|one| has(schema, one))
        );
        if is_kind(schema, "object") {
            assert_eq!(schema["additionalProperties"], false);
            let all: Vec<_> = schema["properties"]
                .as_object()
                .unwrap()
                .keys()
                .map(|name| &**name)
                .collect();
            assert_eq!(names(schema.get("required")), all);
        }
    });
}

/// `FunctionDeclaration.parametersJsonSchema` of Gemini, and its error messages.
fn check_gemini(root: &Value) {
    let known = "type format title description enum items prefixItems minItems maxItems minimum maximum anyOf \
                 properties additionalProperties required";
    visit(root, &mut |schema| {
        let Some(object) = schema.as_object() else {
            return;
        };
        for keyword in object.keys() {
            assert!(
                known.split_whitespace().any(|one| one == keyword),
                "{keyword}"
            );
        }
        assert!(has(schema, "type") || has(schema, "anyOf"), "no type");
        if has(schema, "type") {
            let is_object = is_kind(schema, "object");
            assert!(is_object || !has(schema, "properties") && !has(schema, "required"));
        }
        let declared = |name: &&str| schema["properties"].get(name).is_some();
        assert!(
            names(schema.get("required")).iter().all(declared),
            "undeclared"
        );
        for value in schema
            .get("enum")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            assert!(value.is_number() || value.as_str().is_some_and(|text| !text.is_empty()));
            assert!(
                ["string", "number", "integer"]
                    .iter()
                    .any(|kind| is_kind(schema, kind))
            );
        }
    });
}

/// The Go types `ToolFunctionParameters` and `ToolProperty` of Ollama.
fn check_ollama(root: &Value) {
    visit(root, &mut |schema| {
        let Some(object) = schema.as_object() else {
            return;
        };
        assert!(object.get("description").is_none_or(Value::is_string));
        assert!(object.get("enum").is_none_or(Value::is_array));
        assert!(
            names(object.get("required")).len()
                == object
                    .get("required")
                    .map_or(0, |all| all.as_array().unwrap().len())
        );
        for property in schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(Map::values)
        {
            assert!(property.is_object());
        }
        for branch in schema
            .get("anyOf")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            assert!(branch.is_object());
        }
    });
}

/// Arguments that fit the schema of a tool fit the schema that the model reads, unless the schema
/// has alternatives of objects: a property of one alternative keeps its schema in all.
fn check_wider(original: &Value, sent: &Value, random: &mut Random) -> usize {
    let text = original.to_string();
    let branches = [
        "[{\"required",
        ",{\"required",
        "[{\"type\":\"object",
        ",{\"type\":\"object",
    ];
    if branches.iter().any(|branch| text.contains(branch)) {
        return 0;
    }
    let valid = jsonschema::validator_for(original).unwrap();
    let wider = jsonschema::draft202012::new(sent).unwrap();
    let args = (0..60)
        .map(|_| random.value(3))
        .filter(|args| args.is_object());
    let fitting: Vec<_> = args.filter(|args| valid.is_valid(args)).collect();
    for args in &fitting {
        assert!(wider.is_valid(args), "{args}");
    }
    fitting.len()
}

#[tokio::test]
async fn random_schemas_of_tools_are_sent_in_the_dialect_of_each_provider() {
    let (mut strict, mut fitting) = (0, 0);
    for seed in 0..30 {
        let mut random = Random(seed);
        let schemas: Vec<_> = (0..20).map(|_| random.tool()).collect();
        let mut request = request("hi", false);
        let tools = schemas.iter().enumerate();
        request.tools = tools
            .map(|(at, one)| ToolDeclaration::new(format!("t{at}"), "T.", one.clone()))
            .collect();
        let server = WireServer::start([Reply::text("ok").forever()]).await;
        for name in ALL {
            ask(&model(&server, name), request.clone()).await;
            let tools = server.last().body["tools"].clone();
            for (at, original) in schemas.iter().enumerate() {
                let (sent, is_strict) = match name {
                    OPENAI | OLLAMA => (
                        &tools[at]["function"]["parameters"],
                        &tools[at]["function"]["strict"],
                    ),
                    RESPONSES => (&tools[at]["parameters"], &tools[at]["strict"]),
                    ANTHROPIC => (&tools[at]["input_schema"], &Value::Null),
                    _ => (
                        &tools[0]["functionDeclarations"][at]["parametersJsonSchema"],
                        &Value::Null,
                    ),
                };
                println!("{seed} {name}: {original}\n  {sent}");
                check_root(sent);
                match name {
                    OLLAMA => check_ollama(sent),
                    GEMINI => check_gemini(sent),
                    _ if *is_strict == true => check_strict(sent),
                    _ => fitting += check_wider(original, sent, &mut random),
                }
                strict += usize::from(*is_strict == true);
            }
        }
    }
    assert!(strict > 20 && fitting > 1_000, "{strict} {fitting}");
}

#[tokio::test]
async fn an_argument_whose_name_anthropic_refuses_is_an_error_with_the_tool() {
    let server = WireServer::start([Reply::text("ok").forever()]).await;
    for bad in ["filter[id]", "$top", "", &"n".repeat(65)] {
        let schema = json!({"type": "object", "properties": {bad: {"type": "string"}}});
        let mut request = request("hi", false);
        request.tools = vec![weather(), ToolDeclaration::new("list", "Lists.", schema)];
        for name in ALL {
            let mut answer = chunks(&model(&server, name), request.clone()).await;
            match (name, answer.remove(0)) {
                (ANTHROPIC, Err(error)) => {
                    assert_eq!(
                        error.kind(),
                        adk_build::model::ModelErrorKind::InvalidRequest
                    );
                    assert!(error.to_string().contains("the tool `list`"), "{error}");
                }
                (ANTHROPIC, Ok(_)) => panic!("{bad} is sent"),
                (_, answer) => drop(answer.unwrap()),
            }
        }
    }
}
