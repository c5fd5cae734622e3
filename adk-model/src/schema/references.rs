//! [`inline`]: replaces the references of a schema by their targets.

use super::{map_parts, parts};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Limits of a schema after its references are replaced, because references may expand a short text
/// exponentially.
#[derive(Clone, Copy, Debug)]
pub struct SchemaLimits {
    /// Maximum size as JSON in bytes.
    pub bytes: usize,
    /// Maximum depth of nested schemas and references.
    pub depth: usize,
}

struct Inliner<'a> {
    /// Schemas with a URI of their own: resources, and anchors as `uri#anchor`.
    named: HashMap<String, &'a Value>,
    limits: SchemaLimits,
    cut: fn(&Value) -> Value,
    /// Targets that contain the current part of the schema. A reference to one of them is
    /// recursive.
    open: Vec<&'a Value>,
    bytes: usize,
}

/// Returns a schema in draft 2020-12 without references and without keywords that identify parts of
/// the schema.
///
/// `cut` returns the replacement of a recursive reference from its target. For a reference to
/// another document, the target is null.
///
/// # Errors
/// Fails if the result exceeds a limit. The text follows the name of the schema.
pub fn inline(
    schema: &Value,
    limits: SchemaLimits,
    cut: fn(&Value) -> Value,
) -> Result<Value, String> {
    let mut inliner = Inliner {
        named: HashMap::from([(String::new(), schema)]),
        limits,
        cut,
        open: Vec::new(),
        bytes: 0,
    };
    inliner.collect_names(schema, "");
    inliner.inline(schema, "", 0)
}

impl<'a> Inliner<'a> {
    fn collect_names(&mut self, schema: &'a Value, base: &str) {
        let Value::Object(object) = schema else {
            return;
        };
        let text = |keyword: &str| object.get(keyword).and_then(Value::as_str);
        let base = &resource(object, base);
        if text("$id").is_some() {
            self.named.entry(base.clone()).or_insert(schema);
        }
        // Draft 7 writes an anchor as an `$id` that is a fragment.
        let old = text("$id").and_then(|id| id.strip_prefix('#'));
        let anchors = [text("$anchor"), text("$dynamicAnchor"), old];
        for anchor in anchors.into_iter().flatten() {
            let name = format!("{base}#{anchor}");
            self.named.entry(name).or_insert(schema);
        }
        for (keyword, value) in object {
            for (_, part) in parts(keyword, value) {
                self.collect_names(part, base);
            }
        }
    }

    fn inline(&mut self, schema: &'a Value, base: &str, depth: usize) -> Result<Value, String> {
        if depth > self.limits.depth {
            return Err(format!("is more than {} levels deep", self.limits.depth));
        }
        let Value::Object(object) = schema else {
            return Ok(schema.clone());
        };
        let base = &resource(object, base);
        let mut out = Map::new();
        let references = ["$ref", "$dynamicRef", "$recursiveRef"];
        let mut references = references
            .iter()
            .filter_map(|key| object.get(*key)?.as_str());
        if let Some(reference) = references.next() {
            match self.target(reference, base, depth)? {
                Value::Object(target) => out = target,
                // `false` accepts nothing, whatever is beside the reference.
                Value::Bool(false) => return Ok(Value::Bool(false)),
                _ => {}
            }
        }
        let mut beside = Map::new();
        for (keyword, value) in object {
            if keyword.starts_with('$') || keyword == "definitions" {
                continue;
            }
            let inner = parts(keyword, value);
            let names = inner
                .iter()
                .map(|(name, _)| name.map_or(2, |name| name.len() + 4));
            self.count(keyword.len() + 4 + names.sum::<usize>())?;
            if inner.is_empty() {
                self.count(value.to_string().len())?;
            }
            let value = map_parts(keyword, value, &mut |part| {
                self.inline(part, base, depth + 1)
            })?;
            beside.insert(keyword.clone(), value);
        }
        modernize(&mut beside);
        let is_other = |(keyword, value): (&String, &Value)| {
            out.get(keyword).is_some_and(|other| other != value)
                && !matches!(&**keyword, "title" | "description" | "default" | "examples")
        };
        if beside.iter().any(is_other) {
            out = Map::from_iter([("allOf".to_owned(), json!([out, beside]))]);
        } else {
            out.extend(beside);
        }
        Ok(Value::Object(out))
    }

    fn target(&mut self, reference: &str, base: &str, depth: usize) -> Result<Value, String> {
        match self.resolve(reference, base) {
            Some((target, _)) if self.open.iter().any(|open| std::ptr::eq(*open, target)) => {
                Ok((self.cut)(target))
            }
            Some((target, base)) => {
                self.open.push(target);
                let target = self.inline(target, &base, depth + 1);
                self.open.pop();
                target
            }
            None => Ok((self.cut)(&Value::Null)),
        }
    }

    /// Finds the target of a reference, and the URI of the resource that contains the target.
    fn resolve(&self, reference: &str, base: &str) -> Option<(&'a Value, String)> {
        let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let (uri, decoded) = (join(base, uri), decode(fragment));
        let within = |uri: &str| {
            let resource = self.named.get(uri)?;
            let named = || self.named.get(&format!("{uri}#{decoded}")).copied();
            let pointed = resource.pointer(&decoded);
            pointed
                .or_else(|| resource.pointer(fragment))
                .or_else(named)
        };
        // Many generators write pointers from the root of the document inside a resource.
        let root = || within("").filter(|_| reference.starts_with('#'));
        within(&uri).or_else(root).map(|target| (target, uri))
    }

    fn count(&mut self, bytes: usize) -> Result<(), String> {
        self.bytes += bytes;
        if self.bytes > self.limits.bytes {
            return Err(format!("is larger than {} bytes", self.limits.bytes));
        }
        Ok(())
    }
}

/// Returns the URI of the resource that contains the parts of a schema.
fn resource(schema: &Map<String, Value>, base: &str) -> String {
    let id = schema
        .get("$id")
        .and_then(Value::as_str)
        .unwrap_or_default();
    join(base, id.split('#').next().unwrap_or_default())
}

/// Resolves a URI without a fragment against a base.
fn join(base: &str, uri: &str) -> String {
    let first = uri.split(['/', '?']).next().unwrap_or_default();
    if uri.is_empty() {
        return base.to_owned();
    }
    if first.contains(':') {
        return uri.to_owned();
    }
    let host = base.find("://").map_or(0, |at| at + 3);
    let path = base[host..].find('/').map_or(base.len(), |at| host + at);
    let (origin, path) = base.split_at(if host == 0 { 0 } else { path });
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let folder = if uri.starts_with('/') { "" } else { folder };
    let mut segments = Vec::new();
    for segment in folder.split('/').chain(uri.split('/')) {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            segment => segments.push(segment),
        }
    }
    format!("{origin}/{}", segments.join("/"))
}

/// Decodes `%3C`. A `%` without two digits stays.
fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(byte) = text.as_bytes().get(at) {
        let digits = text.get(at + 1..at + 3).filter(|_| *byte == b'%');
        let decoded = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(decoded.unwrap_or(*byte));
        at += if decoded.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Writes the keywords of drafts 4 to 7 in draft 2020-12.
fn modernize(schema: &mut Map<String, Value>) {
    let rest = schema.shift_remove("additionalItems");
    if schema.get("items").is_some_and(Value::is_array)
        && let Some(tuple) = schema.shift_remove("items")
    {
        schema.insert("prefixItems".to_owned(), tuple);
        schema.extend(rest.map(|rest| ("items".to_owned(), rest)));
    }
    if let Some(Value::Object(all)) = schema.shift_remove("dependencies") {
        for (name, needs) in all {
            let keyword = if needs.is_array() {
                "dependentRequired"
            } else {
                "dependentSchemas"
            };
            let known = schema.entry(keyword).or_insert_with(|| json!({}));
            if let Value::Object(known) = known {
                known.insert(name, needs);
            }
        }
    }
    for (exclusive, limit) in [
        ("exclusiveMinimum", "minimum"),
        ("exclusiveMaximum", "maximum"),
    ] {
        if let Some(Value::Bool(is_exclusive)) = schema.get(exclusive).cloned() {
            schema.shift_remove(exclusive);
            let value = schema.get(limit).cloned().filter(|_| is_exclusive);
            schema.extend(value.map(|value| (exclusive.to_owned(), value)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inlined(schema: &Value) -> Value {
        let limits = SchemaLimits {
            bytes: 4096,
            depth: 16,
        };
        inline(schema, limits, |target| json!({"type": target["type"]})).unwrap()
    }

    #[test]
    fn a_reference_is_found_by_pointer_by_anchor_and_by_uri() {
        let page = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
        let named = |keyword: &str, name: &str| {
            let mut page = page.clone();
            page[keyword] = name.into();
            page
        };
        for (reference, definitions) in [
            ("#/$defs/Page%3CUser%3E", json!({"Page<User>": page})),
            ("#/$defs/Page<User>", json!({"Page<User>": page})),
            ("#/$defs/Page%3CUser%3E", json!({"Page%3CUser%3E": page})),
            ("#/$defs/a~1b~0c", json!({"a/b~c": page})),
            ("#/$defs/caf%C3%A9", json!({"café": page})),
            ("#/$defs/100%", json!({"100%": page})),
            ("#page", json!({"p": named("$anchor", "page")})),
            ("#page", json!({"p": named("$dynamicAnchor", "page")})),
            ("#page", json!({"p": named("$id", "#page")})),
            ("page.json", json!({"p": named("$id", "page.json")})),
            ("../b/page.json", json!({"p": named("$id", "/b/page.json")})),
            (
                "https://h/a/page.json",
                json!({"p": named("$id", "page.json")}),
            ),
            (
                "https://h/a/page.json#",
                json!({"p": named("$id", "page.json")}),
            ),
            ("urn:page", json!({"p": named("$id", "urn:page")})),
            ("root.json#/$defs/p", json!({"p": page})),
            ("#/$defs/q", json!({"q": {"$ref": "#/$defs/p"}, "p": page})),
            (
                "in.json",
                json!({"p": {"$id": "in.json", "$ref": "#/$defs/x", "$defs": {"x": page}}}),
            ),
            (
                "in.json",
                json!({"p": {"$id": "in.json", "$ref": "#/$defs/x"}, "x": page}),
            ),
        ] {
            let schema = json!({
                "$id": "https://h/a/root.json",
                "properties": {"page": {"$ref": reference}},
                "$defs": definitions,
            });
            let out = json!({"properties": {"page": page}});
            assert_eq!(inlined(&schema), out, "{reference} {definitions}");
        }
    }

    #[test]
    fn a_recursion_is_cut_and_other_documents_are_unknown() {
        let schema = json!({
            "type": "object",
            "properties": {"next": {"$ref": "#"}, "other": {"$ref": "https://h/other.json"}},
        });
        let out = inlined(&schema);
        let next = &out["properties"]["next"]["properties"];
        assert_eq!(next["next"], json!({"type": "object"}));
        assert_eq!(next["other"], json!({"type": null}));
    }

    #[test]
    fn constraints_beside_a_reference_are_added() {
        let schema = json!({
            "$ref": "#/$defs/a",
            "description": "B.",
            "required": ["b"],
            "$defs": {"a": {"required": ["a"]}},
        });
        let all = json!([{"required": ["a"]}, {"description": "B.", "required": ["b"]}]);
        assert_eq!(inlined(&schema), json!({"allOf": all}));
    }

    #[test]
    fn keywords_of_old_drafts_are_converted() {
        let schema = json!({
            "items": [true],
            "additionalItems": false,
            "minimum": 1,
            "exclusiveMinimum": true,
            "dependencies": {"a": ["b"], "c": {"required": ["d"]}},
        });
        let out = json!({
            "prefixItems": [true],
            "items": false,
            "minimum": 1,
            "exclusiveMinimum": 1,
            "dependentRequired": {"a": ["b"]},
            "dependentSchemas": {"c": {"required": ["d"]}},
        });
        assert_eq!(inlined(&schema), out);
    }
}
