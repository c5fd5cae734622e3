//! [`AnnouncedKeys`]: the keys that an agent announces to write. Each write is checked against
//! them.

use super::{KeyScope, stored_key};
use crate::spec::{Accepts, AgentKind, AgentMeta, Key, KeySpec, ToolMeta, type_check};
use crate::store::event::{Event, StateDelta};
use crate::store::session::Scope;
use crate::{Error, ErrorKind, Path, Result};
use adk_spec::nearest::nearest;
use serde_json::Value;
use std::any::Any;
use std::cell::RefCell;
use std::sync::Arc;

/// The keys that an agent has announced to write, for one execution of the agent.
#[derive(Clone, Debug)]
pub struct AnnouncedKeys(KeySource);

#[derive(Clone, Debug)]
enum KeySource {
    Constant(&'static AgentMeta<'static>),
    Copied(Arc<CopiedKeys>),
    Anything,
}

#[derive(Debug)]
struct CopiedKeys {
    kind: AgentKind,
    keys: Vec<Key>,
}

impl AnnouncedKeys {
    /// Returns the announced keys of a description.
    pub fn of(meta: &AgentMeta<'_>) -> Self {
        let keys = meta.writes.iter().map(Key::from_spec).collect();
        Self(KeySource::Copied(Arc::new(CopiedKeys {
            kind: meta.kind,
            keys,
        })))
    }

    /// Returns the announced keys of a constant description.
    pub const fn constant(meta: &'static AgentMeta<'static>) -> Self {
        Self(KeySource::Constant(meta))
    }

    /// Allows any key of any type, for an agent that is only known at run time, such as one that a
    /// script describes. Writes of such an agent are not checked.
    pub const fn anything() -> Self {
        Self(KeySource::Anything)
    }

    fn kind(&self) -> Option<AgentKind> {
        match &self.0 {
            KeySource::Constant(meta) => Some(meta.kind),
            KeySource::Copied(made) => Some(made.kind),
            KeySource::Anything => None,
        }
    }

    /// Returns whether the agent is written in Rust by the user, and may emit its own events.
    pub(crate) fn is_by_hand(&self) -> bool {
        matches!(self.kind(), Some(AgentKind::Function | AgentKind::Custom))
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = KeySpec<'_>> {
        let (constant, made): (&[KeySpec<'_>], &[Key]) = match &self.0 {
            KeySource::Constant(meta) => (meta.writes, &[]),
            KeySource::Copied(made) => (&[], &made.keys),
            KeySource::Anything => (&[], &[]),
        };
        constant.iter().copied().chain(made.iter().map(Key::spec))
    }

    /// Checks that an event writes only announced keys. Returns the values to write in place of
    /// those of the event.
    pub(crate) fn check_event(&self, event: &Event, path: &Path) -> Result<StateDelta> {
        let writer = Writer {
            by: WriterKind::Agent(self),
            path,
        };
        let mut own = StateDelta::default();
        for (name, value) in event.actions.state_delta.iter() {
            if let Some(value) = writer.check(name, value)? {
                own.insert(name.clone(), value);
            }
        }
        Ok(own)
    }
}

/// The keys that an agent and its callbacks may write.
#[derive(Clone, Default)]
pub(crate) struct WriteRules {
    /// Whether writes are checked.
    pub(crate) is_checked: bool,
    pub(crate) announced: Option<AnnouncedKeys>,
    /// The `state` keys of the enclosing workflow.
    pub(crate) states: Option<Arc<[Key]>>,
}

impl WriteRules {
    /// Returns the writer for a callback or a plugin at that path.
    pub(crate) fn callback<'a>(&'a self, path: &'a Path) -> Writer<'a> {
        Writer {
            by: if self.is_checked {
                WriterKind::Callback(self)
            } else {
                WriterKind::Anyone
            },
            path,
        }
    }

    /// Checks the writes of an event that a plugin returns, except the writes in `before`, which
    /// the original event made. The keys of the event are stored keys.
    pub(crate) fn check_stored(
        &self,
        event: &Event,
        before: &StateDelta,
        scope: Option<&KeyScope>,
        path: &Path,
    ) -> Result<()> {
        let writer = self.callback(path);
        let changed = event
            .actions
            .state_delta
            .iter()
            .filter(|(key, value)| before.get(key) != Some(*value));
        for (key, value) in changed {
            let known = writer
                .keys()
                .find(|known| *stored_key(scope, known.name) == **key);
            if known.is_some() || before.get(key).is_none() {
                writer.check(known.map_or(key, |known| known.name), value)?;
            }
        }
        Ok(())
    }
}

/// The writer of a key, and its path.
pub(crate) struct Writer<'a> {
    pub(crate) by: WriterKind<'a>,
    pub(crate) path: &'a Path,
}

/// The kind of the writer of a key.
#[derive(Clone, Copy)]
pub(crate) enum WriterKind<'a> {
    Anyone,
    Agent(&'a AnnouncedKeys),
    Tool(&'a ToolMeta<'a>),
    Callback(&'a WriteRules),
}

/// The announced type of a key that is updated.
pub(crate) struct UpdatedType {
    accepts: Accepts,
    ty: String,
    is_closed: bool,
}

impl UpdatedType {
    /// Checks that a value is of the announced type, as [`Writer::check`] does.
    pub(crate) fn check(&self, name: &str, value: &Value) -> Result<Option<Arc<Value>>> {
        check_value(name, (&self.ty, self.is_closed), self.accepts, value)
    }
}

/// Checks that a value is of a type. Returns the value as the type serializes it if the type is
/// closed and the value differs: unknown fields may carry text.
fn check_value(
    name: &str,
    (ty, is_closed): (&str, bool),
    accepts: Accepts,
    value: &Value,
) -> Result<Option<Arc<Value>>> {
    // Plain values have one form.
    if !is_closed || !(value.is_object() || value.is_array()) {
        return check_type(name, ty, accepts, value).map(|()| None);
    }
    let own = RefCell::new(value.clone());
    check_type(name, ty, accepts, &own)?;
    let own = own.into_inner();
    Ok((own != *value).then(|| Arc::new(own)))
}

fn check_type(name: &str, ty: &str, accepts: Accepts, value: &dyn Any) -> Result<()> {
    accepts(value).map_err(|why| {
        let message =
            format!("state key `{name}` is announced as `{ty}`, and is set to another type: {why}");
        Error::new(ErrorKind::KeyType, message)
            .with_help("write a value of that type, or announce the key with the type that it has")
    })
}

impl<'a> Writer<'a> {
    pub(super) fn keys(&self) -> impl Iterator<Item = KeySpec<'a>> {
        let (tool, announced, states): (&[_], _, _) = match self.by {
            WriterKind::Anyone => (&[], None, None),
            WriterKind::Agent(announced) => (&[], Some(announced), None),
            WriterKind::Tool(meta) => (meta.writes, None, None),
            WriterKind::Callback(rules) => (&[], rules.announced.as_ref(), rules.states.as_deref()),
        };
        let announced = announced.into_iter().flat_map(AnnouncedKeys::keys);
        tool.iter()
            .copied()
            .chain(announced)
            .chain(states.unwrap_or_default().iter().map(Key::spec))
    }

    fn key(&self, name: &str) -> Option<KeySpec<'a>> {
        // Nearly every write takes this branch, which is five times as fast as the iterator over
        // all kinds.
        if let WriterKind::Agent(AnnouncedKeys(KeySource::Constant(meta))) = self.by {
            return meta.writes.iter().find(|key| key.name == name).copied();
        }
        self.keys().find(|key| key.name == name)
    }

    /// Returns whether a key may be written without an announcement. `temp:` keys are scratch space
    /// of the run.
    fn is_free(&self, name: &str) -> bool {
        match (self.by, Scope::of(name)) {
            (WriterKind::Anyone, _) | (_, Scope::Temp) => true,
            (WriterKind::Agent(announced), _) => announced.kind().is_none(),
            (WriterKind::Tool(_), _) => false,
            (WriterKind::Callback(rules), scope) => {
                let is_unchecked = |announced: &AnnouncedKeys| announced.kind().is_none();
                scope != Scope::Session || rules.announced.as_ref().is_some_and(is_unchecked)
            }
        }
    }

    /// Checks that a value may be written to a key. Returns the value to write in its place, if the
    /// value has more than its type has.
    pub(crate) fn check(&self, name: &str, value: &Value) -> Result<Option<Arc<Value>>> {
        let Some(key) = self.key(name) else {
            return if self.is_free(name) {
                Ok(None)
            } else {
                Err(self.unannounced_error(name, Some(value)))
            };
        };
        let Some(accepts) = type_check(&key) else {
            return Ok(None);
        };
        check_value(name, (key.ty, key.is_closed()), accepts, value)
            .map_err(|error| error.at(self.path))
    }

    /// Returns the announced type of a key that may be updated.
    pub(crate) fn updated_type(&self, name: &str) -> Result<Option<UpdatedType>> {
        let Some(key) = self.key(name) else {
            return if self.is_free(name) {
                Ok(None)
            } else {
                Err(self.unannounced_error(name, None))
            };
        };
        Ok(type_check(&key).map(|accepts| UpdatedType {
            accepts,
            ty: key.ty.to_owned(),
            is_closed: key.is_closed(),
        }))
    }

    #[cold]
    fn unannounced_error(&self, name: &str, value: Option<&Value>) -> Error {
        let ty = value.map_or("TYPE", type_of);
        let out = match name.rsplit_once(':') {
            Some((_, last)) => format!("`#[key({name})] {last}: Out<{ty}>`"),
            None => format!("`#[key] {name}: Out<{ty}>`"),
        };
        let (fact, announce) = match self.by {
            WriterKind::Tool(tool) => (
                format!(
                    "tool `{}` writes state key `{name}`, which it has not announced",
                    tool.name
                ),
                format!(
                    "{out} as a parameter, or `#[tool(writes({name}: {ty}))]`; a `FunctionTool` \
                     says `.writes::<{ty}>({name:?})`"
                ),
            ),
            WriterKind::Callback(_) => (
                format!(
                    "a callback writes state key `{name}`, which neither its agent nor its \
                     workflow has announced"
                ),
                format!(
                    "`state {name}: Option<{ty}>;` in the workflow, or a key with a prefix, as \
                     `temp:{name}`"
                ),
            ),
            WriterKind::Agent(announced) if announced.kind() == Some(AgentKind::Function) => (
                format!("it writes state key `{name}`, which it has not announced"),
                format!(
                    "return it, as `#[agent(writes = {name})]` says, or take {out} as a parameter"
                ),
            ),
            _ => (
                format!("it writes state key `{name}`, which it has not announced"),
                format!("`#[agent(writes({name}: {ty}))]` on its `impl Agent`"),
            ),
        };
        let help = match nearest(name, self.keys().map(|key| key.name)) {
            Some(near) => format!("did you mean `{near}`? Otherwise announce it: {announce}"),
            None => format!("announce it: {announce}"),
        };
        Error::new(ErrorKind::KeyUnannounced, fact)
            .with_help(help)
            .at(self.path)
    }
}

/// Returns the type that announces a value, if the value determines it.
fn type_of(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "String",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_u64() => "u64",
        Value::Number(number) if number.is_i64() => "i64",
        Value::Number(_) => "f64",
        Value::Null | Value::Array(_) | Value::Object(_) => "TYPE",
    }
}
