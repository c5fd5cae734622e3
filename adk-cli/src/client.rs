//! `adk client ts`: a client in TypeScript, from the OpenAPI of a server.

use adk_core::{Error, ErrorKind, Result};
use clap::{Args, Subcommand};
use serde_json::{Map, Value};
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;

/// What does not depend on the workflows.
const CLIENT: &str = include_str!("client.ts");

/// Write clients of a server.
#[derive(Subcommand)]
pub enum Client {
    /// Write a client in TypeScript to the standard output: its compiler refuses a program that forgets a question
    Ts(Ts),
}

#[derive(Args)]
pub struct Ts {
    /// The OpenAPI of the server, such as `curl http://127.0.0.1:8000/openapi.json` gives it; `-` reads the standard input
    #[arg(value_name = "FILE")]
    openapi: PathBuf,
}

impl Ts {
    pub fn run(self) -> Result<()> {
        let name = self.openapi.display();
        let text = if self.openapi.as_os_str() == "-" {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).map(|_| text)
        } else {
            std::fs::read_to_string(&self.openapi)
        };
        let refuse = |why: String| {
            Error::new(ErrorKind::Config, format!("`{name}` is no OpenAPI of a server: {why}"))
                .with_help("save `/openapi.json` of the server to it")
        };
        let text = text.map_err(|error| refuse(error.to_string()))?;
        let document: Value = serde_json::from_str(&text).map_err(|error| refuse(error.to_string()))?;
        let client = typescript(&document).ok_or_else(|| refuse("it has no workflows".to_owned()))?;
        Ok(std::io::stdout().write_all(client.as_bytes())?)
    }
}

/// The client for a document; `None` where it is none of a server.
fn typescript(document: &Value) -> Option<String> {
    let paths = document.get("paths")?.as_object()?;
    let schemas = document.pointer("/components/schemas")?.as_object()?;
    let mut text = String::from("// Written by `adk client ts`. Do not change it: write it again.\n\n");
    for (name, schema) in schemas {
        let _ = writeln!(text, "export type {name} = {};\n", of(schema, 0));
    }
    text.push_str("/** The workflows of the server: what each takes and gives, and what it may ask. */\nexport interface Workflows {\n");
    for (path, item) in paths {
        let Some(name) = path.strip_prefix("/v1/").and_then(|rest| rest.strip_suffix("/runs")) else {
            continue;
        };
        let post = item.get("post")?;
        let input = post.pointer("/requestBody/content/application~1json/schema")?;
        let output =
            post.pointer("/responses/200/content/application~1json/schema/allOf/1/properties/output");
        comment(&mut text, 1, post.get("description"));
        let _ = writeln!(text, "  {}: {{", quoted(name));
        let _ = writeln!(text, "    input: {};", of(input, 2));
        let _ = writeln!(
            text,
            "    output: {};",
            output.map_or_else(|| "null".to_owned(), |schema| of(schema, 2))
        );
        text.push_str("    questions: {\n");
        for (path, question) in post.get("x-questions")?.as_object()? {
            comment(&mut text, 3, question.get("question"));
            let schema = question.get("schema").unwrap_or(&Value::Null);
            let _ = writeln!(text, "      {}: {};", quoted(path), of(schema, 3));
        }
        text.push_str("    };\n  };\n");
    }
    text.push_str("}\n\n");
    text.push_str(CLIENT);
    Some(text)
}

/// The type that a schema lets in.
fn of(schema: &Value, depth: usize) -> String {
    let Some(map) = schema.as_object() else { return "unknown".to_owned() };
    if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
        return reference.rsplit('/').next().unwrap_or("unknown").to_owned();
    }
    if let Some(value) = map.get("const") {
        return value.to_string();
    }
    if let Some(Value::Array(values)) = map.get("enum") {
        return union(values.iter().map(ToString::to_string));
    }
    for (word, with) in [("oneOf", " | "), ("anyOf", " | "), ("allOf", " & ")] {
        if let Some(Value::Array(all)) = map.get(word) {
            let all: Vec<_> = all.iter().map(|one| format!("({})", of(one, depth))).collect();
            return if all.is_empty() { "unknown".to_owned() } else { all.join(with) };
        }
    }
    match map.get("type") {
        Some(Value::Array(kinds)) => {
            union(kinds.iter().filter_map(Value::as_str).map(|kind| of_kind(kind, map, depth)))
        }
        Some(Value::String(kind)) => of_kind(kind, map, depth),
        _ => "unknown".to_owned(),
    }
}

fn of_kind(kind: &str, map: &Map<String, Value>, depth: usize) -> String {
    match kind {
        "string" | "boolean" | "null" => kind.to_owned(),
        "integer" | "number" => "number".to_owned(),
        "array" => match (map.get("prefixItems"), map.get("items")) {
            (Some(Value::Array(items)), _) => {
                format!("[{}]", items.iter().map(|item| of(item, depth)).collect::<Vec<_>>().join(", "))
            }
            (_, Some(item)) => format!("Array<{}>", of(item, depth)),
            _ => "unknown[]".to_owned(),
        },
        "object" => object(map, depth),
        _ => "unknown".to_owned(),
    }
}

fn object(map: &Map<String, Value>, depth: usize) -> String {
    let fields = map.get("properties").and_then(Value::as_object);
    let Some(fields) = fields.filter(|fields| !fields.is_empty()) else {
        let values = map.get("additionalProperties").filter(|values| values.is_object());
        return match values {
            Some(values) => format!("Record<string, {}>", of(values, depth)),
            None if fields.is_some() => "Record<string, never>".to_owned(),
            None => "Record<string, unknown>".to_owned(),
        };
    };
    let required: Vec<_> = map.get("required").and_then(Value::as_array).into_iter().flatten().collect();
    let mut text = String::from("{\n");
    for (name, schema) in fields {
        comment(&mut text, depth + 1, schema.get("description"));
        let sign = if required.iter().any(|one| *one == name) { ":" } else { "?:" };
        let _ = writeln!(text, "{}{}{sign} {};", "  ".repeat(depth + 1), quoted(name), of(schema, depth + 1));
    }
    text.push_str(&"  ".repeat(depth));
    text.push('}');
    text
}

fn union(all: impl Iterator<Item = String>) -> String {
    let all: Vec<_> = all.collect();
    if all.is_empty() { "never".to_owned() } else { all.join(" | ") }
}

fn quoted(name: &str) -> String {
    Value::from(name).to_string()
}

fn comment(text: &mut String, depth: usize, says: Option<&Value>) {
    if let Some(says) = says.and_then(Value::as_str).filter(|says| !says.is_empty()) {
        // What would end it.
        let says = says.replace("*/", "* /").replace('\n', " ");
        let _ = writeln!(text, "{}/** {says} */", "  ".repeat(depth));
    }
}
