//! Parameters of a tool: arguments by their type, and the context.

use super::Call;
use crate::runtime::tool::{ToolContext, ToolError, decode, schema};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::marker::PhantomData;
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// A parameter of type `P`: `ToolArg::arg(Arg::<P>::NEW.__slot())` says how to declare and how to read it.
#[derive(Debug)]
pub struct Arg<P>(PhantomData<fn() -> P>);

impl<P> Arg<P> {
    /// The parameter.
    pub const NEW: Self = Self(PhantomData);
}

/// How an argument of type `T` is declared and read. It carries functions, so that a type without a schema gives one
/// error and not one at each use.
#[derive(Debug)]
pub struct Handle<T> {
    schema: MakeSchema,
    decode: fn(&Value) -> Result<T, serde_json::Error>,
    optional: bool,
}

impl<T> Handle<T> {
    fn new(optional: bool) -> Self
    where
        T: DeserializeOwned + JsonSchema,
    {
        Self { schema: schema::for_type::<T>, decode: |value| T::deserialize(value), optional }
    }

    fn value(&self, call: &mut Call<'_>, name: &str) -> Result<Option<T>, ToolError> {
        match call.args.remove(name) {
            Some(Value::Null) if self.optional => Ok(None),
            Some(value) => decode::arg(name, value, || call.schema(name), self.decode).map(Some),
            None => Ok(None),
        }
    }

    fn __take(&self, call: &mut Call<'_>, name: &str) -> Result<T, ToolError> {
        match self.value(call, name)? {
            Some(value) => Ok(value),
            None if self.optional => decode::arg(name, Value::Null, || call.schema(name), self.decode),
            None => Err(decode::missing(name, call.schema(name))),
        }
    }

    fn __take_or(
        &self,
        call: &mut Call<'_>,
        name: &str,
        default: impl FnOnce() -> T,
    ) -> Result<T, ToolError> {
        if call.args.get(name).is_some_and(Value::is_null) {
            return Ok(default());
        }
        Ok(self.value(call, name)?.unwrap_or_else(default))
    }
}

/// Makes the schema of a type.
pub type MakeSchema = fn(&mut SchemaGenerator) -> Schema;

/// What goes into a declaration.
pub trait Declared {
    /// The type that is read.
    type Of;

    /// The schema, and whether the argument may be absent; `None` for what is no argument.
    fn declared(&self) -> Option<(MakeSchema, bool)>;
}

macro_rules! arguments {
    ($($(#[$doc:meta])* $name:ident<$($generic:ident)?>($of:ty) -> $held:ty, $wrap:expr;)+) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name$(<$generic>)?(Handle<$of>);

        impl$(<$generic>)? $name$(<$generic>)? {
            /// Reads the argument.
            ///
            /// # Errors
            /// When it is missing or of another type.
            pub fn __take(&self, call: &mut Call<'_>, name: &str) -> Result<$held, ToolError> {
                self.0.__take(call, name).map($wrap)
            }

            /// Reads the argument, or takes the default.
            ///
            /// # Errors
            /// When it is of another type.
            pub fn __take_or(
                &self,
                call: &mut Call<'_>,
                name: &str,
                default: impl FnOnce() -> $of,
            ) -> Result<$held, ToolError> {
                self.0.__take_or(call, name, default).map($wrap)
            }
        }

        impl$(<$generic>)? Declared for $name$(<$generic>)? {
            type Of = $of;

            fn declared(&self) -> Option<(MakeSchema, bool)> {
                Some((self.0.schema, self.0.optional))
            }
        }
    )+};
}

arguments! {
    /// A `T` by value.
    OwnedArg<T>(T) -> Owned<T>, Owned;
    /// A `T` by reference.
    BorrowedArg<T>(T) -> Borrowed<T>, Borrowed;
    /// A `T` by reference, perhaps.
    MaybeArg<T>(Option<T>) -> Maybe<T>, Maybe;
    /// What a `T` dereferences to, perhaps: a text, a list, a path.
    MaybeDerefArg<T>(Option<T>) -> MaybeDeref<T>, MaybeDeref;
}

/// The value of `T` itself.
#[derive(Debug)]
pub struct Owned<T>(T);

/// A `T` to lend.
#[derive(Debug)]
pub struct Borrowed<T>(T);

/// A `T` to lend, perhaps.
#[derive(Debug)]
pub struct Maybe<T>(Option<T>);

/// A `T` whose target is lent, perhaps.
#[derive(Debug)]
pub struct MaybeDeref<T>(Option<T>);

impl<T> Owned<T> {
    /// The argument.
    pub fn __give(self) -> T {
        self.0
    }
}

impl<T> Borrowed<T> {
    /// The argument.
    pub fn __give(&self) -> &T {
        &self.0
    }
}

impl<T> Maybe<T> {
    /// The argument.
    pub fn __give(&self) -> Option<&T> {
        self.0.as_ref()
    }
}

impl<T: Deref> MaybeDeref<T> {
    /// The argument.
    pub fn __give(&self) -> Option<&T::Target> {
        self.0.as_deref()
    }
}

/// A context to change.
#[derive(Debug)]
pub struct ContextArg;

/// A context to read.
#[derive(Debug)]
pub struct SharedContextArg;

/// The context of a call.
#[derive(Debug)]
pub struct Lent<'a>(&'a mut ToolContext);

/// The context of a call, to read.
#[derive(Debug)]
pub struct LentShared<'a>(&'a ToolContext);

impl<'a> Lent<'a> {
    /// The argument.
    pub fn __give(self) -> &'a mut ToolContext {
        self.0
    }
}

impl<'a> LentShared<'a> {
    /// The argument.
    pub fn __give(self) -> &'a ToolContext {
        self.0
    }
}

impl ContextArg {
    /// Takes the context out of the call.
    ///
    /// # Errors
    /// When another parameter has taken it, which a const has refused.
    pub fn __take<'a>(&self, call: &mut Call<'a>, _: &str) -> Result<Lent<'a>, ToolError> {
        call.cx.take().map(Lent).ok_or_else(taken)
    }
}

impl SharedContextArg {
    /// Takes the context out of the call.
    ///
    /// # Errors
    /// When another parameter has taken it, which a const has refused.
    pub fn __take<'a>(&self, call: &mut Call<'a>, _: &str) -> Result<LentShared<'a>, ToolError> {
        call.cx.take().map(|cx| LentShared(cx)).ok_or_else(taken)
    }
}

#[cold]
fn taken() -> ToolError {
    ToolError::failed("the tool has two contexts")
}

impl Declared for ContextArg {
    type Of = ();

    fn declared(&self) -> Option<(MakeSchema, bool)> {
        None
    }
}

impl Declared for SharedContextArg {
    type Of = ();

    fn declared(&self) -> Option<(MakeSchema, bool)> {
        None
    }
}

/// The place of an argument: `T` is what has to be one, `H` how a parameter made of it is declared and read.
#[derive(Debug)]
pub struct Slot<T, H>(fn(Handles<T>) -> H);

impl<T, H> Slot<T, H> {
    pub(super) fn fill(self, handles: Handles<T>) -> H {
        (self.0)(handles)
    }
}

/// What parameters are made of, once it is known that `T` is an argument.
#[derive(Debug)]
pub struct Handles<T> {
    one: fn() -> Handle<T>,
    maybe: fn() -> Handle<Option<T>>,
    many: fn() -> Handle<Vec<T>>,
    maybe_many: fn() -> Handle<Option<Vec<T>>>,
}

impl<T: DeserializeOwned + JsonSchema> Handles<T> {
    pub(super) fn new() -> Self {
        Self {
            one: || Handle::new(false),
            maybe: || Handle::new(true),
            many: || Handle::new(false),
            maybe_many: || Handle::new(true),
        }
    }
}

impl Arg<&mut ToolContext> {
    /// No argument.
    pub fn __slot(self) -> Slot<(), ContextArg> {
        Slot(|_| ContextArg)
    }
}

impl Arg<&ToolContext> {
    /// No argument.
    pub fn __slot(self) -> Slot<(), SharedContextArg> {
        Slot(|_| SharedContextArg)
    }
}

impl Arg<&str> {
    /// A text.
    pub fn __slot(self) -> Slot<String, BorrowedArg<String>> {
        Slot(|handles| BorrowedArg((handles.one)()))
    }
}

impl Arg<Option<&str>> {
    /// A text, perhaps.
    pub fn __slot(self) -> Slot<String, MaybeDerefArg<String>> {
        Slot(|handles| MaybeDerefArg((handles.maybe)()))
    }
}

impl Arg<&Path> {
    /// A path.
    pub fn __slot(self) -> Slot<PathBuf, BorrowedArg<PathBuf>> {
        Slot(|handles| BorrowedArg((handles.one)()))
    }
}

impl Arg<Option<&Path>> {
    /// A path, perhaps.
    pub fn __slot(self) -> Slot<PathBuf, MaybeDerefArg<PathBuf>> {
        Slot(|handles| MaybeDerefArg((handles.maybe)()))
    }
}

impl<T> Arg<&[T]> {
    /// A list.
    pub fn __slot(self) -> Slot<T, BorrowedArg<Vec<T>>> {
        Slot(|handles| BorrowedArg((handles.many)()))
    }
}

impl<T> Arg<Option<&[T]>> {
    /// A list, perhaps.
    pub fn __slot(self) -> Slot<T, MaybeDerefArg<Vec<T>>> {
        Slot(|handles| MaybeDerefArg((handles.maybe_many)()))
    }
}

impl<T> Arg<Option<&T>> {
    /// A `T`, perhaps.
    pub fn __slot(self) -> Slot<T, MaybeArg<T>> {
        Slot(|handles| MaybeArg((handles.maybe)()))
    }
}

/// `Option<T>` and `&T`: after the special cases, before any other `T`.
pub trait ArgMaybe<T> {
    /// How it is read.
    type Held;

    /// The argument.
    fn __slot(self) -> Slot<T, Self::Held>;
}

impl<T> ArgMaybe<T> for Arg<Option<T>> {
    type Held = OwnedArg<Option<T>>;

    fn __slot(self) -> Slot<T, Self::Held> {
        Slot(|handles| OwnedArg((handles.maybe)()))
    }
}

impl<T> ArgMaybe<T> for Arg<&T> {
    type Held = BorrowedArg<T>;

    fn __slot(self) -> Slot<T, Self::Held> {
        Slot(|handles| BorrowedArg((handles.one)()))
    }
}

/// Any other `T`, found last since it takes a reference.
pub trait ArgPlain<T> {
    /// The argument.
    fn __slot(self) -> Slot<T, OwnedArg<T>>;
}

impl<T> ArgPlain<T> for &Arg<T> {
    fn __slot(self) -> Slot<T, OwnedArg<T>> {
        Slot(|handles| OwnedArg((handles.one)()))
    }
}
