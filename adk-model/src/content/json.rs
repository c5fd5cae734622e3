//! ADK's JSON of a part: an object with one field for its kind, and `thought` and
//! `thoughtSignature` next to it.

use super::*;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PartJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    thought: bool,
    #[serde(alias = "function_call", skip_serializing_if = "Option::is_none")]
    function_call: Option<Cow<'a, FunctionCall>>,
    #[serde(alias = "function_response", skip_serializing_if = "Option::is_none")]
    function_response: Option<Cow<'a, FunctionResponse>>,
    #[serde(alias = "inline_data", skip_serializing_if = "Option::is_none")]
    inline_data: Option<BlobJson<'a>>,
    #[serde(alias = "file_data", skip_serializing_if = "Option::is_none")]
    file_data: Option<Cow<'a, FileData>>,
    #[serde(alias = "thought_signature", skip_serializing_if = "Option::is_none")]
    thought_signature: Option<Cow<'a, str>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlobJson<'a> {
    #[serde(default, alias = "mime_type")]
    mime_type: Cow<'a, str>,
    data: String,
    #[serde(alias = "display_name", skip_serializing_if = "Option::is_none")]
    display_name: Option<Cow<'a, str>>,
}

/// The fields that mark a part of a known kind, in camel case and in snake case.
const KINDS: [&str; 9] = [
    "text",
    "functionCall",
    "function_call",
    "functionResponse",
    "function_response",
    "inlineData",
    "inline_data",
    "fileData",
    "file_data",
];

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut wire = PartJson::default();
        match self {
            Part::Text(text) => wire.text = Some(text.into()),
            Part::Thought(thought) => {
                wire.text = Some((&thought.text).into());
                wire.thought = true;
                wire.thought_signature = thought.signature.as_ref().map(Cow::from);
            }
            Part::FunctionCall(call) => {
                wire.thought_signature = call.signature.as_ref().map(Cow::from);
                wire.function_call = Some(Cow::Borrowed(call));
            }
            Part::FunctionResponse(response) => {
                wire.function_response = Some(Cow::Borrowed(response));
            }
            Part::InlineData(blob) => {
                wire.inline_data = Some(BlobJson {
                    mime_type: (&blob.mime_type).into(),
                    data: URL_SAFE.encode(&blob.data),
                    display_name: blob.display_name.as_ref().map(Cow::from),
                });
            }
            Part::FileData(file) => wire.file_data = Some(Cow::Borrowed(file)),
            Part::Other(part) => return part.serialize(serializer),
        }
        wire.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let part = Map::<String, Value>::deserialize(deserializer)?;
        if !KINDS.iter().any(|kind| part.contains_key(*kind)) {
            return Ok(Part::Other(Box::new(part)));
        }
        let wire = PartJson::deserialize(Value::Object(part)).map_err(D::Error::custom)?;
        let signature = wire.thought_signature.map(Cow::into_owned);
        if let Some(call) = wire.function_call {
            let mut call = call.into_owned();
            call.signature = signature;
            return Ok(Part::from(call));
        }
        if let Some(response) = wire.function_response {
            return Ok(Part::from(response.into_owned()));
        }
        if let Some(blob) = wire.inline_data {
            // ADK writes the URL-safe alphabet, other programs the standard one.
            let data = URL_SAFE
                .decode(&blob.data)
                .or_else(|_| STANDARD.decode(&blob.data))
                .map_err(D::Error::custom)?;
            return Ok(Part::from(Blob {
                mime_type: blob.mime_type.into_owned(),
                data: data.into(),
                display_name: blob.display_name.map(Cow::into_owned),
            }));
        }
        if let Some(file) = wire.file_data {
            return Ok(Part::from(file.into_owned()));
        }
        match wire.text.map(Cow::into_owned) {
            Some(text) if wire.thought => Ok(Part::from(Thought { text, signature })),
            Some(text) => Ok(Part::Text(text)),
            None => Ok(Part::Other(Box::default())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_part_keeps_its_shape_in_json() {
        let parts = json!([
            {"text": "hello"},
            {"text": "hm", "thought": true, "thoughtSignature": "s1"},
            {
                "functionCall": {"id": "c1", "name": "search", "args": {"q": "cat"}},
                "thoughtSignature": "s2",
            },
            {"functionCall": {"id": "c2", "name": "search", "args": {}, "malformed": "{\"q\": ca"}},
            {"functionResponse": {"id": "c1", "name": "search", "response": {"result": null}}},
            {"inlineData": {"mimeType": "image/png", "data": "AQID_w=="}},
            {"fileData": {"fileUri": "gs://a/b", "mimeType": "text/plain"}},
        ]);
        let read: Vec<Part> = serde_json::from_value(parts.clone()).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), parts);
    }

    #[test]
    fn a_part_of_another_kind_is_kept_as_it_is() {
        for part in [
            json!({"executableCode": {"code": "1 + 1"}, "videoMetadata": {}}),
            json!({}),
        ] {
            let read: Part = serde_json::from_value(part.clone()).unwrap();
            assert_eq!(serde_json::to_value(&read).unwrap(), part);
        }
    }

    #[test]
    fn both_spellings_and_both_alphabets_are_read() {
        let data = Part::inline_data("a/b", vec![0xff_u8, 0xfe, 1, 0xfb]);
        for (case, text) in [
            (("inlineData", "mimeType"), "__4B-w=="),
            (("inline_data", "mime_type"), "//4B+w=="),
        ] {
            let part = json!({case.0: {case.1: "a/b", "data": text}});
            assert_eq!(serde_json::from_value::<Part>(part).unwrap(), data);
        }
    }
}
