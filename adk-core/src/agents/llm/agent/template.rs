//! [`render`]: replacement of the placeholders of a prompt.

use crate::runtime::run::{Context, Marks};
use crate::spec::placeholder::{Placeholders, Source};
use crate::store::engine::{CallInputs, CallKind};
use crate::{Blob, Part};
use crate::{Error, ErrorKind, Name, Result, secret};
use serde_json::Value;
use std::fmt::Write;

/// Returns the prompt with its values. Errors name the prompt `what`. Placeholders in inserted
/// values are not replaced.
///
/// # Errors
/// Fails if a key or an artifact is missing and not optional.
pub(crate) async fn render(prompt: &str, what: &str, cx: &mut Context) -> Result<String> {
    let mut text = String::with_capacity(prompt.len());
    let (mut scan, mut done) = (Placeholders::new(prompt), 0);
    while let Some(found) = scan.next() {
        text.push_str(&prompt[done..found.start]);
        done = found.end;
        match found.source {
            Source::Key(key) => match cx.state().value(key) {
                Some(value) if secret::has_secret(&value) => {
                    return Err(shows_secret(what, &prompt[found.start..found.end]));
                }
                Some(value) => insert(&mut text, &value),
                None if found.optional => {}
                None => {
                    return Err(key_missing(
                        what,
                        &prompt[found.start..found.end],
                        key,
                        cx.name_around(key),
                    ));
                }
            },
            // Boxed to keep the future small, because few prompts contain artifacts.
            Source::Artifact(name) => match Box::pin(artifact(name, cx)).await? {
                Artifact::Text(content) => text.push_str(&content),
                Artifact::Missing if found.optional => {}
                other => {
                    return Err(artifact_missing(
                        what,
                        &prompt[found.start..found.end],
                        name,
                        &other,
                    ));
                }
            },
        }
    }
    text.push_str(&prompt[done..]);
    Ok(text)
}

/// Inserts a string unchanged, null as an empty text, and other values as compact JSON.
fn insert(text: &mut String, value: &Value) {
    match value {
        Value::Null => {}
        Value::String(string) => text.push_str(string),
        // Writes to a string do not fail.
        other => drop(write!(text, "{other}")),
    }
}

#[derive(serde::Serialize, serde::Deserialize)]
enum Artifact {
    Text(String),
    /// An artifact of this MIME type, which is not text.
    Other(String),
    Missing,
}

/// Loads an artifact as a recorded step, because the store is outside of the run.
async fn artifact(name: &str, cx: &mut Context) -> Result<Artifact> {
    if let Some(cell) = cx.cell() {
        cell.join(Marks::of_artifacts(&cx.run));
    }
    let (run, wanted) = (cx.run.clone(), name.to_owned());
    let work = async move {
        let part = run
            .services
            .artifacts
            .load(run.session().key(), &wanted, None)
            .await?;
        Ok(match part {
            None => Artifact::Missing,
            Some(Part::Text(text)) => Artifact::Text(text),
            Some(Part::InlineData(blob)) => blob_text(&blob),
            Some(Part::FileData(file)) => Artifact::Other(file.mime_type),
            Some(_) => Artifact::Other("no file".into()),
        })
    };
    let (name, inputs) = (Name::shared(name), CallInputs::default());
    cx.recorded_call(CallKind::LoadArtifact, name, inputs, work)
        .await
}

fn blob_text(blob: &Blob) -> Artifact {
    let kind = blob.mime_type.as_str();
    let textual = kind.starts_with("text/") || kind.contains("json") || kind.contains("xml");
    match std::str::from_utf8(&blob.data) {
        Ok(text) if textual => Artifact::Text(text.to_owned()),
        _ => Artifact::Other(kind.to_owned()),
    }
}

fn shows_secret(what: &str, placeholder: &str) -> Error {
    let message =
        format!("the {what} shows `{placeholder}` to its model, but the key holds a secret");
    let help = "no model sees a secret: remove the placeholder, and let a tool take the key";
    Error::new(ErrorKind::KeyType, message).with_help(help)
}

/// Returns the error for a missing key. `around` is the name of the key outside of the instance.
fn key_missing(what: &str, placeholder: &str, key: &str, around: &str) -> Error {
    let message =
        format!("the {what} reads `{placeholder}`, but nothing has written the key `{around}`");
    let help = format!(
        "pass `{around}` as an input, write it before this agent runs, or read it optionally as \
         `{{{key}?}}`"
    );
    Error::new(ErrorKind::KeyMissing, message).with_help(help)
}

fn artifact_missing(what: &str, placeholder: &str, name: &str, artifact: &Artifact) -> Error {
    let fact = match artifact {
        Artifact::Other(kind) => format!("the artifact `{name}` is not text ({kind})"),
        _ => format!("the artifact `{name}` does not exist"),
    };
    let message = format!("the {what} reads `{placeholder}`, but {fact}");
    let help = format!(
        "save `{name}` before this agent runs, or read it optionally as `{{artifact.{name}?}}`"
    );
    Error::new(ErrorKind::ArtifactMissing, message).with_help(help)
}
