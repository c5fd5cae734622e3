//! [`AnnouncedKeys`]: the keys that an agent says it writes. Each write is compared with them.

use super::{KeyScope, stored};
use crate::spec::{Accepts, AgentKind, AgentMeta, Key, KeySpec, ToolMeta, type_check};
use crate::store::event::{Event, StateDelta};
use crate::store::session::Scope;
use crate::{Error, ErrorKind, Path, Result};
use adk_spec::nearest::nearest;
use serde_json::Value;
use std::sync::Arc;

/// The keys that an agent has announced to write, for as long as it runs.
#[derive(Clone, Debug)]
pub struct AnnouncedKeys(Repr);

#[derive(Clone, Debug)]
enum Repr {
    Constant(&'static AgentMeta<'static>),
    Made(Arc<Made>),
    Anything,
}

#[derive(Debug)]
struct Made {
    kind: AgentKind,
    keys: Vec<Key>,
}

impl AnnouncedKeys {
    /// What a description says.
    pub fn of(meta: &AgentMeta<'_>) -> Self {
        let keys = meta.writes.iter().map(Key::from_spec).collect();
        Self(Repr::Made(Arc::new(Made { kind: meta.kind, keys })))
    }

    /// What a description says that is there for ever.
    pub const fn constant(meta: &'static AgentMeta<'static>) -> Self {
        Self(Repr::Constant(meta))
    }

    /// Any key, of any type: for an agent that is known at run time alone, such as one that a script describes. Nothing that
    /// it writes is looked at.
    pub const fn anything() -> Self {
        Self(Repr::Anything)
    }

    fn kind(&self) -> Option<AgentKind> {
        match &self.0 {
            Repr::Constant(meta) => Some(meta.kind),
            Repr::Made(made) => Some(made.kind),
            Repr::Anything => None,
        }
    }

    /// Whether it is written in Rust by the user, and may emit events of its own.
    pub(crate) fn is_by_hand(&self) -> bool {
        matches!(self.kind(), Some(AgentKind::Function | AgentKind::Custom))
    }

    fn keys(&self) -> impl Iterator<Item = KeySpec<'_>> {
        let (constant, made): (&[KeySpec<'_>], &[Key]) = match &self.0 {
            Repr::Constant(meta) => (meta.writes, &[]),
            Repr::Made(made) => (&[], &made.keys),
            Repr::Anything => (&[], &[]),
        };
        constant.iter().copied().chain(made.iter().map(Key::spec))
    }

    /// Sees that an event writes what was announced alone.
    pub(crate) fn check_event(&self, event: &Event, path: &Path) -> Result<()> {
        let writer = Writer { by: WriterKind::Agent(self), path };
        event.actions.state_delta.iter().try_for_each(|(name, value)| writer.check(name, value))
    }
}

/// What may be written at a place: by its agent, and by callbacks.
#[derive(Clone, Default)]
pub(crate) struct WriteRules {
    /// Whether writes are looked at.
    pub(crate) is_checked: bool,
    pub(crate) announced: Option<AnnouncedKeys>,
    /// The `state` keys of the workflow around.
    pub(crate) states: Option<Arc<[Key]>>,
}

impl WriteRules {
    /// A callback or a plugin at that place.
    pub(crate) fn callback<'a>(&'a self, path: &'a Path) -> Writer<'a> {
        Writer { by: if self.is_checked { WriterKind::Callback(self) } else { WriterKind::Anyone }, path }
    }

    /// Sees what the event of a plugin writes beside what was written `before`. Its keys are stored keys.
    pub(crate) fn check_stored(
        &self,
        event: &Event,
        before: &StateDelta,
        scope: Option<&KeyScope>,
        path: &Path,
    ) -> Result<()> {
        let writer = self.callback(path);
        let changed = event.actions.state_delta.iter().filter(|(key, value)| before.get(key) != Some(*value));
        for (key, value) in changed {
            let known = writer.keys().find(|known| *stored(scope, known.name) == **key);
            if known.is_some() || before.get(key).is_none() {
                writer.check(known.map_or(key, |known| known.name), value)?;
            }
        }
        Ok(())
    }
}

/// Who writes a key, and where.
pub(crate) struct Writer<'a> {
    pub(crate) by: WriterKind<'a>,
    pub(crate) path: &'a Path,
}

/// Who writes a key.
#[derive(Clone, Copy)]
pub(crate) enum WriterKind<'a> {
    Anyone,
    Agent(&'a AnnouncedKeys),
    Tool(&'a ToolMeta<'a>),
    Callback(&'a WriteRules),
}

/// What is known of the type of a key that is updated.
pub(crate) struct UpdatedType {
    accepts: Accepts,
    ty: String,
}

impl UpdatedType {
    /// Sees that a value is of the announced type.
    pub(crate) fn check(&self, name: &str, value: &Value) -> Result<()> {
        fits(name, &self.ty, self.accepts, value)
    }
}

fn fits(name: &str, ty: &str, accepts: Accepts, value: &Value) -> Result<()> {
    accepts(value).map_err(|why| {
        let message = format!("state key `{name}` is announced as `{ty}`, and is set to another type: {why}");
        Error::new(ErrorKind::KeyType, message)
            .with_help("write a value of that type, or announce the key with the type that it has")
    })
}

impl<'a> Writer<'a> {
    fn keys(&self) -> impl Iterator<Item = KeySpec<'a>> {
        let (tool, announced, states): (&[_], _, _) = match self.by {
            WriterKind::Anyone => (&[], None, None),
            WriterKind::Agent(announced) => (&[], Some(announced), None),
            WriterKind::Tool(meta) => (meta.writes, None, None),
            WriterKind::Callback(rules) => (&[], rules.announced.as_ref(), rules.states.as_deref()),
        };
        let announced = announced.into_iter().flat_map(AnnouncedKeys::keys);
        tool.iter().copied().chain(announced).chain(states.unwrap_or_default().iter().map(Key::spec))
    }

    fn key(&self, name: &str) -> Option<KeySpec<'a>> {
        // Nearly every write is one of these, and the iterator over all kinds takes five times as long.
        if let WriterKind::Agent(AnnouncedKeys(Repr::Constant(meta))) = self.by {
            return meta.writes.iter().find(|key| key.name == name).copied();
        }
        self.keys().find(|key| key.name == name)
    }

    /// Whether a key may be written without a word. `temp:` keys are scratch of the run.
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

    /// Sees that a value may be written to a key.
    pub(crate) fn check(&self, name: &str, value: &Value) -> Result<()> {
        let Some(key) = self.key(name) else {
            return if self.is_free(name) { Ok(()) } else { Err(self.unannounced(name, Some(value))) };
        };
        let Some(accepts) = type_check(&key) else { return Ok(()) };
        fits(name, key.ty, accepts, value).map_err(|error| error.at(self.path))
    }

    /// What is known of the type of a key that may be updated.
    pub(crate) fn updated_type(&self, name: &str) -> Result<Option<UpdatedType>> {
        let Some(key) = self.key(name) else {
            return if self.is_free(name) { Ok(None) } else { Err(self.unannounced(name, None)) };
        };
        Ok(type_check(&key).map(|accepts| UpdatedType { accepts, ty: key.ty.to_owned() }))
    }

    #[cold]
    fn unannounced(&self, name: &str, value: Option<&Value>) -> Error {
        let ty = value.map_or("TYPE", type_of);
        let out = match name.rsplit_once(':') {
            Some((_, last)) => format!("`#[key({name})] {last}: Out<{ty}>`"),
            None => format!("`#[key] {name}: Out<{ty}>`"),
        };
        let (fact, announce) = match self.by {
            WriterKind::Tool(tool) => (
                format!("tool `{}` writes state key `{name}`, which it has not announced", tool.name),
                format!(
                    "{out} as a parameter, or `#[tool(writes({name}: {ty}))]`; a `FunctionTool` says `.writes::<{ty}>({name:?})`"
                ),
            ),
            WriterKind::Callback(_) => (
                format!(
                    "a callback writes state key `{name}`, which neither its agent nor its workflow has announced"
                ),
                format!(
                    "`state {name}: Option<{ty}>;` in the workflow, or a key with a prefix, as `temp:{name}`"
                ),
            ),
            WriterKind::Agent(announced) if announced.kind() == Some(AgentKind::Function) => (
                format!("it writes state key `{name}`, which it has not announced"),
                format!("return it, as `#[agent(writes = {name})]` says, or take {out} as a parameter"),
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
        Error::new(ErrorKind::KeyUnannounced, fact).with_help(help).at(self.path)
    }
}

/// How the type of a value is announced, as far as the value tells.
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
