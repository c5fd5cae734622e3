//! Files of a session and its user, in versions. Names may hold slashes.

use super::{Answer, Place, ok, read, unfit};
use crate::refuse::Refusal;
use crate::routes::Body;
use crate::serve::App;
use adk_core::Part;
use adk_core::runner::SessionHandle;
use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query};
use axum::routing::get;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) fn router() -> Router<Arc<App>> {
    const ALL: &str = "/apps/{app}/users/{user}/sessions/{session}/artifacts";
    Router::new()
        .route(ALL, get(list).post(save))
        .route(&format!("{ALL}/{{*file}}"), get(load).delete(delete))
}

/// A file, where its versions are.
struct File {
    session: SessionHandle,
    name: String,
    /// The path of its versions.
    path: String,
}

impl File {
    fn new(place: &Place, session: &str, name: &str) -> Self {
        let (app, user) = (place.workflow.name(), &place.user);
        let path = format!("/apps/{app}/users/{user}/sessions/{session}/artifacts/{name}/versions");
        Self { session: place.session(session), name: name.to_owned(), path }
    }

    async fn version(&self, version: Option<u32>) -> Result<Part, Refusal> {
        let part = match version {
            Some(version) => self.session.load_artifact_version(&self.name, version).await?,
            None => self.session.load_artifact(&self.name).await?,
        };
        part.ok_or_else(|| Refusal::missing("artifact", &self.name))
    }

    async fn versions(&self) -> Result<Vec<u32>, Refusal> {
        Ok(self.session.artifact_versions(&self.name).await?)
    }

    async fn about(&self, version: u32) -> Result<Value, Refusal> {
        let kind = match self.version(Some(version)).await? {
            Part::InlineData(blob) => Some(blob.mime_type),
            Part::FileData(file) => Some(file.mime_type),
            Part::Text(_) => Some("text/plain".to_owned()),
            _ => None,
        };
        let mut about = json!({
            "version": version,
            "canonicalUri": format!("{}/{version}", self.path),
            "customMetadata": {},
        });
        if let Some(kind) = kind {
            about["mimeType"] = kind.into();
        }
        Ok(about)
    }
}

type OfSession = Path<(String, String, String)>;
type OfFile = Path<(String, String, String, String)>;

async fn list(place: Place, Path((.., id)): OfSession) -> Answer {
    Ok(ok(&json!(place.session(&id).artifacts().await?)))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Save {
    filename: String,
    artifact: Part,
}

async fn save(place: Place, Path((.., id)): OfSession, body: Body) -> Answer {
    let Save { filename, artifact } = read(body)?.ok_or_else(|| unfit("there is no `filename`"))?;
    if filename.is_empty() || filename.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(Refusal::bad("name_invalid", "the name of the file is empty, or leads elsewhere")
            .help("give it a plain name, such as `report.pdf`")
            .into());
    }
    let file = File::new(&place, &id, &filename);
    let version = file.session.save_artifact(&filename, artifact).await?;
    Ok(ok(&file.about(version).await?))
}

#[derive(Deserialize)]
struct Version {
    version: Option<u32>,
}

/// A file, a version of it, its versions, or what is known of them.
async fn load(
    place: Place,
    Path((.., id, rest)): OfFile,
    query: Result<Query<Version>, QueryRejection>,
) -> Answer {
    let file = |name: &str| File::new(&place, &id, name);
    if let Some(name) = rest.strip_suffix("/versions") {
        return Ok(ok(&json!(file(name).versions().await?)));
    }
    let Some((name, version)) = rest.rsplit_once("/versions/") else {
        let Query(Version { version }) = query.map_err(|error| unfit(error.body_text()))?;
        return Ok(ok(&json!(file(&rest).version(version).await?)));
    };
    let file = file(name);
    if version == "metadata" {
        let mut all = Vec::new();
        for version in file.versions().await? {
            all.push(file.about(version).await?);
        }
        return Ok(ok(&json!(all)));
    }
    let plain = version.strip_suffix("/metadata");
    let number = match plain.unwrap_or(version) {
        "latest" => None,
        version => Some(version.parse().map_err(|_| unfit("the version is no number and not `latest`"))?),
    };
    if plain.is_none() {
        return Ok(ok(&json!(file.version(number).await?)));
    }
    let number = match number {
        Some(number) => Some(number),
        None => file.versions().await?.last().copied(),
    };
    let number = number.ok_or_else(|| Refusal::missing("artifact", &file.name))?;
    Ok(ok(&file.about(number).await?))
}

async fn delete(place: Place, Path((.., id, file)): OfFile) -> Answer {
    place.session(&id).delete_artifact(&file).await?;
    Ok(ok(&Value::Null))
}
