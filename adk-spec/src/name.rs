//! [`Name`]: names and keys as literal or shared text, cheap to clone either way.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// The name of an agent or of a state key.
///
/// A name from a macro is a literal and is never copied. A name that is made at run time is shared.
/// A clone costs nothing or one reference count.
///
/// ```
/// # use adk_spec as adk;
/// use adk::Name;
/// let known = Name::from("critic");
/// let made = Name::from(format!("{}_{}", "critic", 2));
/// assert_eq!(&*made, "critic_2");
/// assert!(known < made);
/// ```
#[derive(Clone)]
pub struct Name(Repr);

#[derive(Clone)]
enum Repr {
    Literal(&'static str),
    Shared(Arc<str>),
}

impl Name {
    /// Creates a name from a literal, in const evaluation.
    pub const fn literal(text: &'static str) -> Self {
        Self(Repr::Literal(text))
    }

    /// Creates a name from borrowed text, which is copied.
    pub fn shared(text: &str) -> Self {
        Self(Repr::Shared(text.into()))
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Repr::Literal(text) => text,
            Repr::Shared(text) => text,
        }
    }
}

impl Default for Name {
    fn default() -> Self {
        Self::literal("")
    }
}

impl Deref for Name {
    type Target = str;
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Name {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl From<&'static str> for Name {
    fn from(text: &'static str) -> Self {
        Self::literal(text)
    }
}

impl From<String> for Name {
    fn from(text: String) -> Self {
        Self(Repr::Shared(text.into()))
    }
}

impl From<Arc<str>> for Name {
    fn from(text: Arc<str>) -> Self {
        Self(Repr::Shared(text))
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Name {}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}
