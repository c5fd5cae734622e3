//! [`Contents`]: the conversation of a request. The session's log and the request share its
//! messages.

use crate::content::Content;
use std::fmt;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

/// Owner of a message: the message itself, or the event that contains it.
pub trait MessageSource: Send + Sync {
    /// Returns the message.
    fn content(&self) -> &Content;

    /// Returns the message for changes, if it is not part of an event.
    fn content_mut(&mut self) -> Option<&mut Content> {
        None
    }
}

impl MessageSource for Content {
    fn content(&self) -> &Content {
        self
    }

    fn content_mut(&mut self) -> Option<&mut Content> {
        Some(self)
    }
}

/// A conversation, oldest message first.
///
/// Clones share the messages with each other and with the session's log, so the cost of a request
/// depends only on its new messages. A change, such as by a callback before the model call, affects
/// only this value.
///
/// ```
/// # use adk_build as adk;
/// use adk::Content;
/// use adk::model::Contents;
/// let mut contents = Contents::from(vec![Content::user("Hello."), Content::model("Hi!")]);
/// contents.push(Content::user("Who are you?"));
/// contents.retain(|content| content.text() != "Hi!");
/// contents[0] = Content::user("Good day.");
/// let texts: Vec<_> = contents.iter().map(Content::text).collect();
/// assert_eq!(texts, ["Good day.", "Who are you?"]);
/// ```
// A conversation without messages has no list, so that an empty request allocates none.
#[derive(Clone, Default)]
pub struct Contents(Option<Arc<Vec<Arc<dyn MessageSource>>>>);

impl Contents {
    fn messages(&self) -> &[Arc<dyn MessageSource>] {
        self.0.as_ref().map_or(&[], |messages| messages)
    }

    /// Returns the list for changes. Copies it only if a clone of the conversation exists.
    fn messages_mut(&mut self) -> &mut Vec<Arc<dyn MessageSource>> {
        Arc::make_mut(self.0.get_or_insert_default())
    }

    /// Returns the number of messages.
    pub fn len(&self) -> usize {
        self.messages().len()
    }

    /// Reports whether the conversation has no messages.
    pub fn is_empty(&self) -> bool {
        self.messages().is_empty()
    }

    /// Returns the messages, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Content> + ExactSizeIterator {
        self.messages().iter().map(|message| message.content())
    }

    /// Returns the oldest message.
    pub fn first(&self) -> Option<&Content> {
        self.messages().first().map(|message| message.content())
    }

    /// Returns the newest message.
    pub fn last(&self) -> Option<&Content> {
        self.messages().last().map(|message| message.content())
    }

    /// Returns the message at an index.
    pub fn get(&self, at: usize) -> Option<&Content> {
        self.messages().get(at).map(|message| message.content())
    }

    /// Adds a message.
    pub fn push(&mut self, content: Content) {
        self.share(Arc::new(content));
    }

    /// Keeps the messages for which `keep` returns `true`.
    pub fn retain(&mut self, mut keep: impl FnMut(&Content) -> bool) {
        self.messages_mut()
            .retain(|message| keep(message.content()));
    }

    /// Keeps the oldest `len` messages.
    pub fn truncate(&mut self, len: usize) {
        self.messages_mut().truncate(len);
    }

    /// Removes all messages.
    pub fn clear(&mut self) {
        match self.0.as_mut().and_then(Arc::get_mut) {
            Some(contents) => contents.clear(),
            None => *self = Self::default(),
        }
    }

    /// Adds a message that the log also holds. Copies the list of messages only if a clone of the
    /// conversation exists.
    pub fn share(&mut self, message: Arc<dyn MessageSource>) {
        self.messages_mut().push(message);
    }
}

impl Index<usize> for Contents {
    type Output = Content;

    fn index(&self, at: usize) -> &Content {
        self.messages()[at].content()
    }
}

/// Changes a message of this value; the log and other requests keep the original.
impl IndexMut<usize> for Contents {
    fn index_mut(&mut self, at: usize) -> &mut Content {
        let message = &mut self.messages_mut()[at];
        *message = Arc::new(message.content().clone());
        Arc::get_mut(message)
            .and_then(MessageSource::content_mut)
            .expect("a new message has no other owner")
    }
}

impl From<Vec<Content>> for Contents {
    fn from(contents: Vec<Content>) -> Self {
        contents.into_iter().collect()
    }
}

impl FromIterator<Content> for Contents {
    fn from_iter<I: IntoIterator<Item = Content>>(contents: I) -> Self {
        let messages = contents.into_iter();
        let messages: Vec<_> = messages
            .map(|content| Arc::new(content) as Arc<dyn MessageSource>)
            .collect();
        Self(Some(Arc::new(messages)))
    }
}

impl Extend<Content> for Contents {
    fn extend<I: IntoIterator<Item = Content>>(&mut self, contents: I) {
        contents.into_iter().for_each(|content| self.push(content));
    }
}

impl PartialEq for Contents {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl fmt::Debug for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
