//! The artifacts of a session and its user, with versions. Names may contain slashes.

use crate::answer::{Answer, invalid_body, ok, read};
use crate::owner::AppUser;
use adk_core::Part;
use adk_core::runner::SessionHandle;
use adk_server::protocol::{App, Body, Refusal};
use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query};
use axum::routing::get;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) fn router() -> Router<Arc<App>> {
    const ALL: &str = "/apps/{app}/users/{user}/sessions/{session}/artifacts";
    Router::new()
        .route(ALL, get(list).post(save))
        .route(&format!("{ALL}/{{*file}}"), get(load).delete(delete))
}

/// An artifact with the path of its versions.
struct File {
    session: SessionHandle,
    name: String,
    /// The URL path of the versions.
    path: String,
}

impl File {
    fn new(owner: &AppUser, session: &str, name: &str) -> Self {
        let (app, user) = (owner.workflow.name(), &owner.user);
        let path = format!("/apps/{app}/users/{user}/sessions/{session}/artifacts/{name}/versions");
        Self {
            session: owner.session(session),
            name: name.to_owned(),
            path,
        }
    }

    async fn version(&self, version: Option<u32>) -> Result<Part, Refusal> {
        let part = match version {
            Some(version) => {
                self.session
                    .load_artifact_version(&self.name, version)
                    .await?
            }
            None => self.session.load_artifact(&self.name).await?,
        };
        part.ok_or_else(|| Refusal::missing("artifact", &self.name))
    }

    async fn versions(&self) -> Result<Vec<u32>, Refusal> {
        Ok(self.session.artifact_versions(&self.name).await?)
    }

    async fn metadata(&self, version: u32) -> Result<Value, Refusal> {
        let kind = match self.version(Some(version)).await? {
            Part::InlineData(blob) => Some(blob.mime_type),
            Part::FileData(file) => Some(file.mime_type),
            Part::Text(_) => Some("text/plain".to_owned()),
            _ => None,
        };
        let mut metadata = json!({
            "version": version,
            "canonicalUri": format!("{}/{version}", self.path),
            "customMetadata": {},
        });
        if let Some(kind) = kind {
            metadata["mimeType"] = kind.into();
        }
        Ok(metadata)
    }
}

type SessionPath = Path<(String, String, String)>;
type FilePath = Path<(String, String, String, String)>;

async fn list(owner: AppUser, Path((.., id)): SessionPath) -> Answer {
    Ok(ok(&json!(owner.session(&id).artifacts().await?)))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SaveArtifact {
    filename: String,
    artifact: Part,
}

async fn save(owner: AppUser, Path((.., id)): SessionPath, body: Body) -> Answer {
    let SaveArtifact { filename, artifact } =
        read(body)?.ok_or_else(|| invalid_body("the field `filename` is missing"))?;
    if filename.is_empty()
        || filename
            .split('/')
            .any(|part| matches!(part, "" | "." | ".."))
    {
        return Err(Refusal::bad(
            "name_invalid",
            "the name of the file is empty or contains an invalid path segment",
        )
        .help("use a plain name, such as `report.pdf`")
        .into());
    }
    let file = File::new(&owner, &id, &filename);
    let version = file.session.save_artifact(&filename, artifact).await?;
    Ok(ok(&file.metadata(version).await?))
}

#[derive(Deserialize)]
struct VersionQuery {
    version: Option<u32>,
}

/// Returns an artifact, one version, the list of versions, or their metadata.
async fn load(
    owner: AppUser,
    Path((.., id, tail)): FilePath,
    query: Result<Query<VersionQuery>, QueryRejection>,
) -> Answer {
    let file = |name: &str| File::new(&owner, &id, name);
    if let Some(name) = tail.strip_suffix("/versions") {
        return Ok(ok(&json!(file(name).versions().await?)));
    }
    let Some((name, version)) = tail.rsplit_once("/versions/") else {
        let Query(VersionQuery { version }) =
            query.map_err(|error| invalid_body(error.body_text()))?;
        return Ok(ok(&json!(file(&tail).version(version).await?)));
    };
    let file = file(name);
    if version == "metadata" {
        let mut all = Vec::new();
        for version in file.versions().await? {
            all.push(file.metadata(version).await?);
        }
        return Ok(ok(&json!(all)));
    }
    let plain = version.strip_suffix("/metadata");
    let number = match plain.unwrap_or(version) {
        "latest" => None,
        version => Some(
            version
                .parse()
                .map_err(|_| invalid_body("the version is neither a number nor `latest`"))?,
        ),
    };
    if plain.is_none() {
        return Ok(ok(&json!(file.version(number).await?)));
    }
    let number = match number {
        Some(number) => Some(number),
        None => file.versions().await?.last().copied(),
    };
    let number = number.ok_or_else(|| Refusal::missing("artifact", &file.name))?;
    Ok(ok(&file.metadata(number).await?))
}

async fn delete(owner: AppUser, Path((.., id, file)): FilePath) -> Answer {
    owner.session(&id).delete_artifact(&file).await?;
    Ok(ok(&Value::Null))
}
