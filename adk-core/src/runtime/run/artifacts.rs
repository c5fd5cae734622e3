//! [`Artifacts`]: the artifacts of a run's session, as agents and tools use them.

use super::{CallCounts, MarkCell, Marks, Overlay, Run, record_call};
use crate::store::engine::{CallInputs, CallKind};
use crate::{Error, ErrorKind, Name, Part, Path, Result, StoreErrorKind};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;
use std::sync::Arc;

/// The artifacts of the session of an agent or a tool. The next event names the saved versions.
pub struct Artifacts<'a> {
    pub(crate) run: &'a Arc<Run>,
    pub(crate) overlay: &'a mut Overlay,
    /// The numbering and the path of recorded calls; `None` in a tool call, which is recorded as a
    /// whole.
    pub(crate) calls: Option<(&'a Path, &'a mut CallCounts)>,
    /// The marks of all that the turn or the call has read; `None` in a workflow without guards.
    pub(crate) marks: Option<&'a MarkCell>,
}

impl Artifacts<'_> {
    /// Stores the next version of a file and returns its number. The save is a recorded step: a
    /// resumed run returns the recorded number, and saves no further version.
    ///
    /// # Errors
    /// [`StoreErrorKind::TooLarge`] when the part exceeds
    /// [`RunConfig::max_artifact_bytes`](crate::RunConfig::max_artifact_bytes), or when the store
    /// fails.
    pub async fn save(&mut self, name: impl Into<Name>, part: Part) -> Result<u32> {
        let name = name.into();
        if let Some(most) = self.run.limits.config.max_artifact_bytes {
            check_size(&name, &part, most)?;
        }
        let (services, key) = (self.run.services.clone(), self.run.session().key().clone());
        let saved = name.clone();
        let work = async move { services.artifacts.save(&key, &saved, part).await };
        let version = self
            .record(CallKind::SaveArtifact, name.clone(), work)
            .await?;
        self.overlay
            .artifact_delta
            .retain(|(other, _)| *other != name);
        self.overlay.artifact_delta.push((name, version));
        Ok(version)
    }

    /// Returns the latest version of a file.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn load(&self, name: &str) -> Result<Option<Part>> {
        self.note_read();
        self.run
            .services
            .artifacts
            .load(self.run.session().key(), name, None)
            .await
    }

    /// Returns a version of a file.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn load_version(&self, name: &str, version: u32) -> Result<Option<Part>> {
        self.note_read();
        self.run
            .services
            .artifacts
            .load(self.run.session().key(), name, Some(version))
            .await
    }

    /// Returns the names of all files of the session and its user.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn list(&self) -> Result<Vec<String>> {
        self.run
            .services
            .artifacts
            .list(self.run.session().key())
            .await
    }

    /// Returns the names of all files, as a recorded step.
    pub(crate) async fn list_recorded(&mut self) -> Result<Vec<String>> {
        let (services, key) = (self.run.services.clone(), self.run.session().key().clone());
        let work = async move { services.artifacts.list(&key).await };
        self.record(CallKind::ListArtifacts, Name::literal("artifacts"), work)
            .await
    }

    /// Returns the numbers of the versions of a file, in ascending order.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn versions(&self, name: &str) -> Result<Vec<u32>> {
        self.run
            .services
            .artifacts
            .versions(self.run.session().key(), name)
            .await
    }

    /// All artifacts count as one.
    fn note_read(&self) {
        if let Some(cell) = self.marks {
            cell.join(Marks::of_artifacts(self.run));
        }
    }

    async fn record<T, W>(&mut self, kind: CallKind, name: Name, work: W) -> Result<T>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        W: Future<Output = Result<T>> + Send + 'static,
    {
        let calls = self
            .calls
            .as_mut()
            .map(|(path, calls)| (*path, &mut **calls));
        record_call(self.run, calls, kind, name, CallInputs::default(), work).await
    }
}

/// Rejects a part with more than `most` bytes.
fn check_size(name: &str, part: &Part, most: u64) -> Result<()> {
    let bytes = match part {
        Part::InlineData(blob) => blob.data.len(),
        Part::Text(text) => text.len(),
        part => serde_json::to_string(part).map_or(0, |json| json.len()),
    };
    if bytes as u64 <= most {
        return Ok(());
    }
    let message = format!(
        "the artifact `{name}` has {bytes} bytes, more than the {most} bytes of \
         `max_artifact_bytes`"
    );
    Err(
        Error::new(ErrorKind::Store(StoreErrorKind::TooLarge), message)
            .with_help("save less, or keep it elsewhere and save its address as `Part::file_data`"),
    )
}

impl fmt::Debug for Artifacts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Artifacts({})", self.run.session().key())
    }
}
