//! [`Question`]: a wait as a form of the client. MCP allows only a flat object of strings, numbers,
//! booleans and choices.

use adk_core::engine::Waiting;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::{Map, Value, json};

/// The form field of an answer that is not an object.
const ANSWER: &str = "answer";

/// A wait whose answer a form can hold.
pub(super) struct Question {
    form: ElicitationSchema,
    shape: Shape,
}

/// The conversion from the fields of a form to an answer.
enum Shape {
    /// The object of all fields is the answer.
    Object,
    /// The field [`ANSWER`] is the answer.
    Value,
    /// The field [`ANSWER`] names a variant, and some of the other fields are its fields.
    Variants(Vec<Variant>),
}

/// The name and the field names of a variant.
type Variant = (String, Vec<String>);

impl Question {
    /// Returns `None` if a form cannot hold the answer.
    pub(super) fn new(wait: &Waiting) -> Option<Self> {
        let schema = &wait.schema;
        let (form, shape) = if let Some(form) = object(schema) {
            (form, Shape::Object)
        } else if let Some(answer) = primitive(schema) {
            (
                json!({"type": "object", "properties": {ANSWER: answer}, "required": [ANSWER]}),
                Shape::Value,
            )
        } else {
            let (form, variants) = variants(schema)?;
            (form, Shape::Variants(variants))
        };
        Some(Self {
            form: serde_json::from_value(form).ok()?,
            shape,
        })
    }

    /// Returns the request to the client. `fault` is the error of the last answer.
    pub(super) fn params(&self, wait: &Waiting, fault: Option<&str>) -> ElicitRequestParams {
        let fault = fault.map(|fault| format!(" (Error in the last answer: {fault})"));
        let question = if wait.question.is_empty() {
            wait.path.to_string()
        } else {
            wait.question.clone()
        };
        ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: format!("{question}{}", fault.unwrap_or_default()),
            requested_schema: self.form.clone(),
        }
    }

    /// Extracts the answer from the content of a client.
    pub(super) fn value(&self, content: Option<Value>) -> Value {
        let content = content.unwrap_or_default();
        let Shape::Variants(variants) = &self.shape else {
            return match (&self.shape, content) {
                (Shape::Value, Value::Object(mut fields)) => {
                    fields.remove(ANSWER).unwrap_or_default()
                }
                (_, content) => content,
            };
        };
        let name = content
            .get(ANSWER)
            .and_then(Value::as_str)
            .unwrap_or_default();
        match variants
            .iter()
            .find(|(variant, fields)| variant == name && !fields.is_empty())
        {
            Some((name, fields)) => {
                let field = |key: &String| Some((key.clone(), content.get(key)?.clone()));
                json!({name: fields.iter().filter_map(field).collect::<Map<_, _>>()})
            }
            None => name.into(),
        }
    }
}

pub(super) fn is_declined(result: &ElicitResult) -> bool {
    result.action != ElicitationAction::Accept
}

/// Converts an object schema whose fields a form can hold.
fn object(schema: &Value) -> Option<Value> {
    let fields = schema
        .get("properties")
        .filter(|_| schema["type"] == "object")?
        .as_object()?;
    let fields: Option<Map<_, _>> = fields
        .iter()
        .map(|(key, field)| Some((key.clone(), primitive(field)?)))
        .collect();
    let required = schema.get("required").cloned().unwrap_or_else(|| json!([]));
    Some(json!({"type": "object", "properties": fields?, "required": required}))
}

/// Converts the schema of one field. Keeps only the keywords that a form supports.
fn primitive(schema: &Value) -> Option<Value> {
    const KEPT: [&str; 10] = [
        "type",
        "title",
        "description",
        "default",
        "enum",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "format",
    ];
    const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];
    let mut field: Map<_, _> = schema
        .as_object()?
        .iter()
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    // A field that may be null may be omitted.
    if let Some(Value::Array(types)) = field.get("type") {
        let mut types = types.iter().filter(|one| **one != "null").cloned();
        let (one, None) = (types.next()?, types.next()) else {
            return None;
        };
        field.insert("type".to_owned(), one);
    }
    if let Some(options) = schema.get("anyOf").and_then(Value::as_array) {
        let mut options = options.iter().filter(|one| one["type"] != "null");
        let (one, None) = (options.next()?, options.next()) else {
            return None;
        };
        return primitive(one);
    }
    if let Some(options) = schema.get("oneOf").and_then(Value::as_array) {
        let names: Option<Vec<_>> = options
            .iter()
            .map(|one| one.get("const")?.as_str())
            .collect();
        field.insert("type".to_owned(), "string".into());
        field.insert("enum".to_owned(), names?.into());
    }
    field.retain(|key, value| {
        KEPT.contains(&&**key) && (key != "format" || FORMATS.iter().any(|one| value == one))
    });
    let is_primitive = ["string", "number", "integer", "boolean"]
        .iter()
        .any(|kind| field.get("type").is_some_and(|value| value == kind));
    is_primitive.then_some(Value::Object(field))
}

/// Converts an enum with fields to a choice and the optional fields of all variants.
fn variants(schema: &Value) -> Option<(Value, Vec<Variant>)> {
    let (mut all, mut fields) = (Vec::new(), Map::new());
    for option in schema.get("oneOf")?.as_array()? {
        if let Some(name) = option.get("const").and_then(Value::as_str) {
            all.push((name.to_owned(), Vec::new()));
            continue;
        }
        let (name, inner) = option
            .get("properties")?
            .as_object()
            .filter(|one| one.len() == 1)?
            .iter()
            .next()?;
        let Value::Object(own) = object(inner)?["properties"].take() else {
            return None;
        };
        all.push((name.clone(), own.keys().cloned().collect()));
        for (key, field) in own {
            // A form cannot hold two fields of the same name.
            if key == ANSWER || fields.insert(key, field).is_some() {
                return None;
            }
        }
    }
    let names: Vec<_> = all.iter().map(|(name, _)| name).collect();
    let mut properties =
        Map::from_iter([(ANSWER.to_owned(), json!({"type": "string", "enum": names}))]);
    properties.extend(fields);
    Some((
        json!({"type": "object", "properties": properties, "required": [ANSWER]}),
        all,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(schema: Value) -> Option<(Value, Question)> {
        let run = "e-00000000-0000-0000-0000-000000000000";
        let wait = json!({"id": "w", "run_id": run, "path": "p", "schema": schema});
        let question = Question::new(&serde_json::from_value(wait).expect("a wait"))?;
        Some((json!(question.form), question))
    }

    #[test]
    fn a_flat_object_becomes_a_form() {
        let (form, question) = question(json!({
            "type": "object",
            "properties": {
                "stars": {"type": "integer", "format": "uint8", "minimum": 0, "maximum": 255},
                "note": {"type": ["string", "null"], "description": "Why."},
                "mail": {"type": "string", "format": "email"},
                "tone": {"oneOf": [
                    {"type": "string", "const": "Warm"},
                    {"type": "string", "const": "Cold"},
                ]},
            },
            "required": ["stars"],
        }))
        .expect("a form");
        let expected = json!({
            "type": "object",
            "properties": {
                "stars": {"type": "integer", "minimum": 0, "maximum": 255},
                "note": {"type": "string", "description": "Why."},
                "mail": {"type": "string", "format": "email"},
                "tone": {"type": "string", "enum": ["Warm", "Cold"]},
            },
            "required": ["stars"],
        });
        assert_eq!(form, expected);
        let answer = json!({"stars": 3, "tone": "Warm"});
        assert_eq!(question.value(Some(answer.clone())), answer);
    }

    #[test]
    fn a_value_that_is_not_an_object_becomes_a_field() {
        let (form, question) = question(json!({"type": "boolean"})).expect("a form");
        assert_eq!(form["properties"], json!({"answer": {"type": "boolean"}}));
        assert_eq!(question.value(Some(json!({"answer": true}))), true);
        assert_eq!(question.value(None), Value::Null);
    }

    #[test]
    fn an_enum_with_fields_becomes_a_choice_and_its_fields() {
        let variant = |name: &str, fields: Value| {
            let inner = json!({"type": "object", "properties": fields, "required": []});
            json!({"type": "object", "properties": {name: inner}, "required": [name]})
        };
        let text = json!({"note": {"type": "string"}});
        let constant = json!({"type": "string", "const": "Publish"});
        let (form, question) =
            question(json!({"oneOf": [constant, variant("Revise", text.clone())]}))
                .expect("a form");
        assert_eq!(
            form["properties"]["answer"]["enum"],
            json!(["Publish", "Revise"])
        );
        assert_eq!(form["properties"]["note"], json!({"type": "string"}));
        assert_eq!(form["required"], json!(["answer"]));
        let revised = json!({"answer": "Revise", "note": "shorter"});
        assert_eq!(
            question.value(Some(revised)),
            json!({"Revise": {"note": "shorter"}})
        );
        assert_eq!(
            question.value(Some(json!({"answer": "Publish", "note": "shorter"}))),
            "Publish"
        );
        let twice = json!({"oneOf": [variant("A", text.clone()), variant("B", text)]});
        assert!(
            self::question(twice).is_none(),
            "two fields of the same name"
        );
    }

    #[test]
    fn an_answer_that_no_form_can_hold_has_no_question() {
        let list = json!({"type": "array", "items": {"type": "string"}});
        for schema in [
            json!(null),
            json!({}),
            list.clone(),
            json!({"type": "object", "properties": {"all": list}}),
        ] {
            assert!(question(schema.clone()).is_none(), "{schema}");
        }
    }
}
