//! [`StoredPart`]: the form of a part in a store, as JSON and separate bytes.

use crate::engine::{from_text, to_text};
use crate::{Blob, Error, ErrorKind, Part, Result, StoreErrorKind};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The form of a part in a store: JSON text, and the bytes of [`Part::InlineData`] next to it. The
/// part can be restored exactly. JSON alone would not allow that: base64 makes bytes a third
/// larger, and a [`Part::Other`] may look like a part of another kind.
///
/// ```
/// # use adk_build as adk;
/// use adk::{Part, StoredPart};
/// let part = Part::inline_data("image/png", vec![1, 2, 3]);
/// let stored = StoredPart::new(&part)?;
/// assert_eq!(stored.json, r#"{"inlineData":{"mimeType":"image/png","data":""}}"#);
/// assert_eq!(stored.data.as_deref(), Some(&[1, 2, 3][..]));
/// assert_eq!(stored.into_part()?, part);
/// # Ok::<_, adk::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPart {
    /// ADK's JSON of the part, without the bytes of inline data. A part of another kind is under
    /// `other`. The text contains neither a line break nor a NUL character.
    pub json: String,
    /// The bytes of inline data.
    pub data: Option<Arc<[u8]>>,
}

impl StoredPart {
    /// Converts a part to its stored form.
    ///
    /// # Errors
    /// When the part could not be read again, because its values are nested too deep.
    pub fn new(part: &Part) -> Result<Self> {
        match part {
            Part::InlineData(blob) => {
                let empty = Part::from(Blob {
                    data: Arc::new([]),
                    ..(**blob).clone()
                });
                Ok(Self {
                    json: to_text(&empty)?,
                    data: Some(blob.data.clone()),
                })
            }
            Part::Text(_) | Part::Thought(_) | Part::FileData(_) => Ok(Self {
                json: to_text(part)?,
                data: None,
            }),
            Part::Other(fields) => {
                let fields = Value::Object((**fields).clone());
                Self::check_readable(to_text(&Map::from_iter([(OTHER.to_owned(), fields)]))?)
            }
            _ => Self::check_readable(to_text(part)?),
        }
    }

    /// Checks that the values of a part are not nested too deep to be read again.
    fn check_readable(json: String) -> Result<Self> {
        if let Err(error) = from_text::<Value>(&json, "the part") {
            let message = format!(
                "a part cannot be stored, since it could not be read again: {}",
                error.message()
            );
            return Err(Error::new(ErrorKind::Store(StoreErrorKind::Other), message)
                .with_help("nest its values less deep"));
        }
        Ok(Self { json, data: None })
    }

    /// Restores the part.
    ///
    /// # Errors
    /// [`StoreErrorKind::Corrupt`], when the JSON is not an output of [`new`](Self::new).
    pub fn into_part(self) -> Result<Part> {
        match from_text(&self.json, "an artifact")? {
            Part::InlineData(blob) => {
                let data = self.data.unwrap_or(blob.data);
                Ok(Part::from(Blob { data, ..*blob }))
            }
            Part::Other(mut fields) => match fields.remove(OTHER) {
                Some(Value::Object(fields)) => Ok(Part::Other(Box::new(fields))),
                _ => Err(Error::new(
                    ErrorKind::Store(StoreErrorKind::Corrupt),
                    "an artifact cannot be read: its kind is unknown",
                )
                .with_help("check whether another program wrote it")),
            },
            part => Ok(part),
        }
    }
}

/// The JSON key for a [`Part::Other`].
const OTHER: &str = "other";
