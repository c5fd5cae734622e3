//! [`KeyScope`]: the map from key names to stored keys. Scopes nest: a workflow that is a step of
//! another, an element of an `each`, and an instance with other keys each have one.

use crate::Name;
use crate::store::engine::BlockScope;
use crate::store::session::{MARKED_ARTIFACTS, Scope};
use crate::sync::{read, write};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock, RwLock};

/// A map from the names of keys to stored keys, built when its workflow, element or instance
/// begins. A name with a prefix, such as `user:plan`, is a key of the session in every scope,
/// unless the enclosing workflow maps this name.
#[derive(Debug)]
pub(crate) struct KeyScope {
    outer: Option<Arc<KeyScope>>,
    kind: ScopeKind,
    /// The mapped names, sorted.
    names: Vec<MappedName>,
    /// Stored keys that were written in this scope. `None` if reads do not depend on earlier
    /// writes.
    written: Option<RwLock<BTreeSet<Name>>>,
}

#[derive(Clone, Debug)]
enum ScopeKind {
    /// The scope of a workflow. A name without a mapping is an own key, stored after this prefix.
    Closed(Prefix),
    /// The scope of an element. A name without a mapping belongs to the enclosing scope. Own keys
    /// are stored after this prefix, and values from earlier rounds or runs are hidden.
    Element(Prefix),
    /// A scope without own keys.
    Renames,
}

/// The prefix of the own keys of a scope: the prefix of the enclosing scope, then the name of the
/// step. The text is built on demand, because most keys of a workflow are mapped.
#[derive(Clone, Debug)]
struct Prefix {
    name: Name,
    item: Option<u32>,
    text: OnceLock<Box<str>>,
}

#[derive(Clone, Debug)]
struct MappedName {
    name: Name,
    /// The stored key for writes.
    key: Name,
    /// The name in the enclosing scope that a read uses until this scope has written the key;
    /// `None` to read the stored key.
    read: Option<Name>,
}

/// The result of the search for the stored key to which a name is written.
enum KeyTarget<'a> {
    Itself,
    Mapped(&'a Name),
    Own(&'a str),
}

impl KeyScope {
    /// Creates a scope where every name without a mapping is an own key, stored as `STEP/name`.
    /// `place` is the name of the step.
    pub(crate) fn closed(outer: Option<Arc<KeyScope>>, place: Name) -> Self {
        let kind = ScopeKind::Closed(Prefix {
            name: place,
            item: None,
            text: OnceLock::new(),
        });
        Self {
            outer,
            kind,
            names: Vec::new(),
            written: None,
        }
    }

    /// Creates the scope of an element. Names are those of the enclosing scope, except own keys,
    /// which are stored as `EACH[item]/name`. A key with that prefix has no value before this scope
    /// writes it.
    pub(crate) fn element(outer: Option<Arc<KeyScope>>, each: Name, item: u32) -> Self {
        let kind = ScopeKind::Element(Prefix {
            name: each,
            item: Some(item),
            text: OnceLock::new(),
        });
        Self {
            outer,
            kind,
            names: Vec::new(),
            written: Some(RwLock::default()),
        }
    }

    /// Creates a scope where names without a mapping are those of the enclosing scope.
    pub(crate) fn renames(outer: Option<Arc<KeyScope>>) -> Self {
        Self {
            outer,
            kind: ScopeKind::Renames,
            names: Vec::new(),
            written: Some(RwLock::default()),
        }
    }

    /// Creates a scope with one own key, stored as `STEP/name`. Other names are those of the
    /// enclosing scope. `place` is the name of the step.
    pub(crate) fn with_own(outer: Option<Arc<KeyScope>>, place: &Name, name: Name) -> Self {
        let key = Name::from(format!("{}{place}/{name}", outer_prefix(outer.as_ref())));
        let mut scope = Self::renames(outer);
        scope.insert(MappedName {
            name,
            key,
            read: None,
        });
        scope
    }

    /// Maps a name. Reads use `read` of the enclosing scope until this scope has written the key;
    /// writes go to `write` of the enclosing scope.
    pub(crate) fn map(&mut self, name: Name, read: Name, write: &Name) {
        let key = match &self.outer {
            Some(outer) => outer.write(write),
            None => write.clone(),
        };
        self.insert(MappedName {
            name,
            key,
            read: Some(read),
        });
    }

    /// Makes a name an own key.
    pub(crate) fn map_to_own(&mut self, name: Name) {
        let key = Name::from([self.prefix(), &*name].concat());
        self.insert(MappedName {
            name,
            key,
            read: None,
        });
    }

    /// Maps a name to the key of the session with the same name.
    pub(crate) fn map_to_session(&mut self, name: Name) {
        self.insert(MappedName {
            key: name.clone(),
            name,
            read: None,
        });
    }

    fn insert(&mut self, mapped: MappedName) {
        match self
            .names
            .binary_search_by(|other| other.name.cmp(&mapped.name))
        {
            Ok(at) => self.names[at] = mapped,
            Err(at) => self.names.insert(at, mapped),
        }
    }

    /// Copies the scope for work that may fail or be cancelled. Writes in the copy are not writes
    /// in this scope.
    pub(crate) fn fork(self: &Arc<Self>) -> Arc<Self> {
        if self.outward().all(|scope| scope.written.is_none()) {
            return self.clone();
        }
        Arc::new(Self {
            outer: self.outer.as_ref().map(Self::fork),
            kind: self.kind.clone(),
            names: self.names.clone(),
            written: self
                .written
                .as_ref()
                .map(|written| RwLock::new(read(written).clone())),
        })
    }

    /// Returns this scope and the enclosing scopes, innermost first.
    fn outward(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |scope| scope.outer.as_deref())
    }

    /// Returns the prefix of the own keys, or that of the nearest enclosing scope with own keys.
    fn prefix(&self) -> &str {
        match &self.kind {
            ScopeKind::Closed(prefix) | ScopeKind::Element(prefix) => self.text(prefix),
            ScopeKind::Renames => outer_prefix(self.outer.as_ref()),
        }
    }

    fn text<'a>(&'a self, Prefix { name, item, text }: &'a Prefix) -> &'a str {
        text.get_or_init(|| {
            let around = outer_prefix(self.outer.as_ref());
            match item {
                Some(item) => format!("{around}{name}[{item}]/").into(),
                None => [around, name, "/"].concat().into(),
            }
        })
    }

    fn find(&self, name: &str) -> Option<&MappedName> {
        let at = self
            .names
            .binary_search_by(|mapped| mapped.name.as_str().cmp(name))
            .ok()?;
        self.names.get(at)
    }

    fn has_written(&self, key: &str) -> bool {
        self.written
            .as_ref()
            .is_some_and(|written| read(written).contains(key))
    }

    fn place(&self, name: &str) -> KeyTarget<'_> {
        for scope in self.outward() {
            match (scope.find(name), &scope.kind) {
                (Some(mapped), _) => return KeyTarget::Mapped(&mapped.key),
                (None, ScopeKind::Closed(_)) if Scope::of(name) != Scope::Session => {
                    return KeyTarget::Itself;
                }
                (None, ScopeKind::Closed(prefix)) => return KeyTarget::Own(scope.text(prefix)),
                (None, _) => {}
            }
        }
        KeyTarget::Itself
    }

    /// Returns the stored key for writes of a name.
    pub(crate) fn write(&self, name: &Name) -> Name {
        match self.place(name) {
            KeyTarget::Itself => name.clone(),
            KeyTarget::Mapped(key) => key.clone(),
            KeyTarget::Own(prefix) => Name::from([prefix, name].concat()),
        }
    }

    /// Returns the stored key for writes of a name, as [`write`](Self::write) does, but without an
    /// allocation for a new [`Name`].
    pub(crate) fn written_key<'a>(&'a self, name: &'a str) -> Cow<'a, str> {
        match self.place(name) {
            KeyTarget::Itself => Cow::Borrowed(name),
            KeyTarget::Mapped(key) => Cow::Borrowed(key),
            KeyTarget::Own(prefix) => Cow::Owned([prefix, name].concat()),
        }
    }

    /// Returns the stored key for reads of a name; `None` if the key belongs to an element that has
    /// not written it.
    pub(crate) fn read_key<'a>(&'a self, name: &'a str) -> Option<Cow<'a, str>> {
        let (scope, key) = self.source(name);
        scope
            .is_none_or(|scope| scope.is_current(&key))
            .then_some(key)
    }

    /// Returns the stored key for reads of a name, also before any write.
    pub(crate) fn source_key<'a>(&'a self, name: &'a str) -> Cow<'a, str> {
        self.source(name).1
    }

    /// Returns the stored key for reads of a name, and the scope that maps the name.
    fn source<'a>(&'a self, mut name: &'a str) -> (Option<&'a Self>, Cow<'a, str>) {
        for scope in self.outward() {
            let key = match (scope.find(name), &scope.kind) {
                (
                    Some(MappedName {
                        key,
                        read: Some(other),
                        ..
                    }),
                    _,
                ) if !scope.has_written(key) => {
                    name = other;
                    continue;
                }
                (Some(mapped), _) => Cow::Borrowed(mapped.key.as_str()),
                (None, ScopeKind::Closed(_)) if Scope::of(name) != Scope::Session => break,
                (None, ScopeKind::Closed(prefix)) => {
                    Cow::Owned([scope.text(prefix), name].concat())
                }
                (None, _) => continue,
            };
            return (Some(scope), key);
        }
        (None, Cow::Borrowed(name))
    }

    /// Returns false if the stored key belongs to an element that has not written it in this run.
    fn is_current(&self, key: &str) -> bool {
        let is_in = |scope: &&Self| match &scope.kind {
            ScopeKind::Element(prefix) => key.starts_with(scope.text(prefix)),
            _ => false,
        };
        let element = self.outward().find(is_in);
        element.is_none_or(|scope| scope.has_written(key))
    }

    /// Returns whether a name in this scope may be read from the stored key. The key of the
    /// conversation and the keys of artifacts are seen in each scope.
    pub(crate) fn sees(&self, key: &str) -> bool {
        let is_read = |scope: &Self| {
            let mut names = scope.names.iter();
            names.any(|mapped| *mapped.key == *key || *scope.source_key(&mapped.name) == *key)
        };
        for scope in self.outward() {
            if is_read(scope) {
                return true;
            }
            if let ScopeKind::Closed(prefix) = &scope.kind {
                return key.starts_with(scope.text(prefix))
                    || Scope::of(key) != Scope::Session
                    || key.is_empty()
                    || key == MARKED_ARTIFACTS;
            }
        }
        true
    }

    /// Finds the name whose writes go to this stored key, and returns the stored key for reads of
    /// the name. Without such a name, reads use `key` itself. Returns `None` if the key belongs to
    /// an element that has not written it.
    pub(crate) fn read_key_of<'a>(&'a self, key: &'a str) -> Option<Cow<'a, str>> {
        for scope in self.outward() {
            if let Some(mapped) = scope.names.iter().find(|mapped| *mapped.key == *key) {
                return scope.read_key(&mapped.name);
            }
        }
        self.is_current(key).then_some(Cow::Borrowed(key))
    }

    /// Returns the name in the enclosing scope that is read as `name` here. The names differ in an
    /// instance with renamed keys.
    pub(crate) fn name_around<'a>(&'a self, name: &'a str) -> &'a str {
        self.find(name)
            .and_then(|mapped| mapped.read.as_deref())
            .unwrap_or(name)
    }

    /// Returns the keys that were written in this scope and the enclosing scopes, innermost first.
    pub(crate) fn written_keys(&self) -> Vec<Vec<Name>> {
        let keys = |written: &RwLock<BTreeSet<Name>>| read(written).iter().cloned().collect();
        self.outward()
            .map(|scope| scope.written.as_ref().map_or_else(Vec::new, keys))
            .collect()
    }

    /// Marks the keys that [`written_keys`](Self::written_keys) returned in another process as
    /// written, in the scopes of the same step here.
    pub(crate) fn mark_all_written(&self, all: &[Vec<Name>]) {
        for (scope, keys) in self.outward().zip(all) {
            if let Some(written) = &scope.written {
                write(written).extend(keys.iter().cloned());
            }
        }
    }

    /// Marks a stored key as not written.
    pub(crate) fn mark_unwritten(&self, key: &str) {
        for written in self.outward().filter_map(|scope| scope.written.as_ref()) {
            write(written).remove(key);
        }
    }

    /// Marks a stored key as written, so that reads find it.
    pub(crate) fn mark_written(&self, key: &Name) {
        for written in self.outward().filter_map(|scope| scope.written.as_ref()) {
            write(written).insert(key.clone());
        }
    }
}

impl BlockScope for KeyScope {
    fn is_of_element_inside(&self, key: &str) -> bool {
        key.strip_prefix(self.prefix())
            .is_some_and(|own| own.contains('['))
    }

    fn is_current(&self, key: &str) -> bool {
        self.is_current(key)
    }
}

/// Returns the prefix of the enclosing scope.
fn outer_prefix(outer: Option<&Arc<KeyScope>>) -> &str {
    outer.map_or("", |outer| outer.prefix())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(scope: &KeyScope, name: &str) -> Option<String> {
        scope.read_key(name).map(Cow::into_owned)
    }

    #[test]
    fn an_instance_reads_one_key_and_writes_another_until_it_has_written() {
        let mut scope = KeyScope::renames(None);
        scope.map("draft".into(), "essay".into(), &"essay_2".into());
        assert_eq!(found(&scope, "draft").as_deref(), Some("essay"));
        assert_eq!(scope.write(&"draft".into()), "essay_2");
        assert_eq!(
            (scope.name_around("draft"), scope.name_around("tone")),
            ("essay", "tone")
        );
        assert_eq!(
            scope.read_key_of("essay_2").as_deref(),
            Some("essay"),
            "what both tools of a turn saw"
        );
        scope.mark_written(&"essay_2".into());
        assert_eq!(found(&scope, "draft").as_deref(), Some("essay_2"));
        assert_eq!(found(&scope, "tone").as_deref(), Some("tone"));
    }

    #[test]
    fn scopes_nest() {
        let mut first = KeyScope::closed(None, "first".into());
        first.map("out".into(), "out".into(), &"out".into());
        first.map_to_session("plan".into());
        let mut instance = KeyScope::renames(Some(Arc::new(first)));
        instance.map("name".into(), "user:name".into(), &"out".into());
        let mut second = KeyScope::closed(Some(Arc::new(instance)), "second".into());
        second.map("name".into(), "name".into(), &"name".into());
        for (name, from, to) in [
            ("own", "first/second/own", "first/second/own"),
            ("plan", "first/second/plan", "first/second/plan"),
            ("temp:x", "temp:x", "temp:x"),
            ("name", "user:name", "out"),
        ] {
            assert_eq!(found(&second, name).as_deref(), Some(from));
            assert_eq!(
                (&*second.write(&name.into()), &*second.written_key(name)),
                (to, to)
            );
        }
        second.mark_written(&"out".into());
        assert_eq!(found(&second, "name").as_deref(), Some("out"));
        let instance = second.outer.as_deref().unwrap();
        assert_eq!(found(instance, "plan").as_deref(), Some("plan"));
        assert_eq!(found(instance, "own").as_deref(), Some("first/own"));
    }

    #[test]
    fn a_key_with_a_prefix_belongs_to_the_session_unless_the_workflow_maps_it() {
        let mut instance = KeyScope::renames(None);
        instance.map("user:plan".into(), "plan".into(), &"plan".into());
        let mut workflow = KeyScope::closed(Some(Arc::new(instance)), "w".into());
        workflow.map("user:plan".into(), "user:plan".into(), &"user:plan".into());
        // An element, and an instance inside of it, map the name as their workflow does.
        let element = KeyScope::element(Some(Arc::new(workflow)), "each_1".into(), 0);
        let inner = KeyScope::renames(Some(Arc::new(element)));
        assert_eq!(inner.write(&"user:plan".into()), "plan");
        assert_eq!(found(&inner, "user:plan").as_deref(), Some("plan"));
        assert_eq!(found(&inner, "user:name").as_deref(), Some("user:name"));
        // A nested workflow does not inherit this mapping.
        let other = KeyScope::closed(Some(Arc::new(inner)), "other".into());
        assert_eq!(other.write(&"user:plan".into()), "user:plan");
        assert_eq!(found(&other, "user:plan").as_deref(), Some("user:plan"));
    }

    #[test]
    fn an_element_has_keys_of_its_own_that_hold_nothing_before_it_writes_them() {
        let around = Arc::new(KeyScope::closed(None, "step".into()));
        let mut element = KeyScope::element(Some(around), "each_1".into(), 3);
        element.map_to_own("note".into());
        assert_eq!(found(&element, "note"), None);
        assert_eq!(element.read_key_of("step/each_1[3]/note"), None);
        assert_eq!(element.write(&"note".into()), "step/each_1[3]/note");
        assert_eq!(found(&element, "topic").as_deref(), Some("step/topic"));
        let element = Arc::new(element);
        let inner = KeyScope::closed(Some(element.clone()), "inner".into());
        assert_eq!(inner.write(&"note".into()), "step/each_1[3]/inner/note");
        assert_eq!(
            found(&inner, "note"),
            None,
            "a nested workflow has no values either"
        );
        inner.mark_written(&"step/each_1[3]/note".into());
        assert_eq!(
            found(&element, "note").as_deref(),
            Some("step/each_1[3]/note")
        );
        inner.mark_written(&"step/each_1[3]/inner/note".into());
        assert_eq!(
            found(&inner, "note").as_deref(),
            Some("step/each_1[3]/inner/note")
        );
    }
}
