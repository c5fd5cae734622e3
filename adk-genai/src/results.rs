//! [`as_objects`]: results of tools in Gemini's format, because genai sends their JSON as text
//! inside another object.

use serde_json::Value;

/// Replaces each result in the body of a request by its object. Leaves other bodies unchanged.
pub(crate) fn as_objects(body: Vec<u8>) -> Vec<u8> {
    const MARK: &[u8] = b"\"functionResponse\"";
    if !body.windows(MARK.len()).any(|window| window == MARK) {
        return body;
    }
    let Ok(mut json) = serde_json::from_slice::<Value>(&body) else {
        return body;
    };
    let contents = json
        .get_mut("contents")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten();
    let parts = contents
        .filter_map(|content| content.get_mut("parts")?.as_array_mut())
        .flatten();
    for response in parts.filter_map(|part| part.pointer_mut("/functionResponse/response")) {
        let text = response.get("content").and_then(Value::as_str);
        if let Some(object @ Value::Object(_)) =
            text.and_then(|text| serde_json::from_str(text).ok())
        {
            *response = object;
        }
    }
    serde_json::to_vec(&json).unwrap_or(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn convert(body: &Value) -> Value {
        serde_json::from_slice(&as_objects(body.to_string().into_bytes())).unwrap()
    }

    #[test]
    fn results_become_objects_and_the_rest_is_unchanged() {
        let body = |response: Value| {
            let text = r#"a "functionResponse" {"response": {"content": "{}"}}"#;
            let function = json!({"functionResponse": {"name": "f", "response": response}});
            json!({"contents": [
                {"role": "user", "parts": [{"text": text}]},
                {"role": "user", "parts": [function]},
            ], "generationConfig": {"seed": 1}})
        };
        let result = json!({"b": [1.5, "x"], "a": {"content": "{}"}});
        let sent = json!({"name": "f", "content": result.to_string()});
        assert_eq!(convert(&body(sent)).to_string(), body(result).to_string());
        for other in [
            json!({"name": "f", "content": "no JSON"}),
            json!({"name": "f", "content": "[1]"}),
            json!({}),
        ] {
            assert_eq!(convert(&body(other.clone())), body(other));
        }
        for text in ["", "no JSON \"functionResponse\"", "{}"] {
            assert_eq!(as_objects(text.as_bytes().to_vec()), text.as_bytes());
        }
    }
}
