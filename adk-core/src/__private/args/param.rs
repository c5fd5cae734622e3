//! Parameters of a tool: arguments, selected by their type, and the context.

use super::ToolInvocation;
use crate::__private::holder::{Borrowed, Maybe, MaybeDeref, Owned};
use crate::runtime::tool::{ToolContext, ToolError, decode, schema};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// A parameter of type `P`. `ToolArg::arg(ToolParam::<P>::NEW.__handle_maker())` returns how it is
/// declared and read.
#[derive(Debug)]
pub struct ToolParam<P>(PhantomData<fn() -> P>);

impl<P> ToolParam<P> {
    /// The parameter.
    pub const NEW: Self = Self(PhantomData);
}

/// How an argument of type `T` is declared and read. The handle holds functions, so a type without
/// a schema gives one error instead of one per use.
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
        Self {
            schema: schema::for_type::<T>,
            decode: |value| T::deserialize(value),
            optional,
        }
    }

    fn value(&self, call: &mut ToolInvocation<'_>, name: &str) -> Result<Option<T>, ToolError> {
        match call.args.remove(name) {
            Some(Value::Null) if self.optional => Ok(None),
            Some(value) => decode::arg(name, value, || call.schema(name), self.decode).map(Some),
            None => Ok(None),
        }
    }

    fn __take(&self, call: &mut ToolInvocation<'_>, name: &str) -> Result<T, ToolError> {
        match self.value(call, name)? {
            Some(value) => Ok(value),
            None if self.optional => {
                decode::arg(name, Value::Null, || call.schema(name), self.decode)
            }
            None => Err(decode::missing(name, call.schema(name))),
        }
    }

    fn __take_or(
        &self,
        call: &mut ToolInvocation<'_>,
        name: &str,
        default: impl FnOnce() -> T,
    ) -> Result<T, ToolError> {
        if call.args.get(name).is_some_and(Value::is_null) {
            return Ok(default());
        }
        Ok(self.value(call, name)?.unwrap_or_else(default))
    }
}

/// A function that makes the schema of a type.
pub type MakeSchema = fn(&mut SchemaGenerator) -> Schema;

/// A parameter as a declaration shows it.
pub trait DeclaredParam {
    /// The type of the argument.
    type Type;

    /// Returns the schema and whether the argument may be absent, or `None` for a parameter that is
    /// not an argument.
    fn declared(&self) -> Option<(MakeSchema, bool)>;
}

macro_rules! arguments {
    (
        $($(#[$doc:meta])* $name:ident<$($generic:ident)?>($value:ty) -> $held:ty, $wrap:expr;)+
    ) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name$(<$generic>)?(Handle<$value>);

        impl$(<$generic>)? $name$(<$generic>)? {
            /// Reads the argument.
            ///
            /// # Errors
            /// Fails if the argument is missing or has another type.
            pub fn __take(
                &self,
                call: &mut ToolInvocation<'_>,
                name: &str,
            ) -> Result<$held, ToolError> {
                self.0.__take(call, name).map($wrap)
            }

            /// Reads the argument, or returns the default if it is absent.
            ///
            /// # Errors
            /// Fails if the argument has another type.
            pub fn __take_or(
                &self,
                call: &mut ToolInvocation<'_>,
                name: &str,
                default: impl FnOnce() -> $value,
            ) -> Result<$held, ToolError> {
                self.0.__take_or(call, name, default).map($wrap)
            }
        }

        impl$(<$generic>)? DeclaredParam for $name$(<$generic>)? {
            type Type = $value;

            fn declared(&self) -> Option<(MakeSchema, bool)> {
                Some((self.0.schema, self.0.optional))
            }
        }
    )+};
}

arguments! {
    /// A parameter that takes a `T`.
    OwnedArg<T>(T) -> Owned<T>, Owned::new;
    /// A parameter that takes a `&T`.
    BorrowedArg<T>(T) -> Borrowed<T>, Borrowed::new;
    /// A parameter that takes an `Option<&T>`.
    MaybeArg<T>(Option<T>) -> Maybe<T>, Maybe::new;
    /// A parameter that takes an optional reference to the target of a `T`, such as a text, a list
    /// or a path.
    MaybeDerefArg<T>(Option<T>) -> MaybeDeref<T>, MaybeDeref::new;
}

/// A parameter that takes the context as `&mut`.
#[derive(Debug)]
pub struct ContextArg;

/// A parameter that takes the context as `&`.
#[derive(Debug)]
pub struct SharedContextArg;

/// The context of a call, lent to a parameter as `&mut`.
#[derive(Debug)]
pub struct LentToolContext<'a>(&'a mut ToolContext);

/// The context of a call, lent to a parameter as `&`.
#[derive(Debug)]
pub struct LentSharedToolContext<'a>(&'a ToolContext);

impl<'a> LentToolContext<'a> {
    /// Returns the argument.
    pub fn __give(self) -> &'a mut ToolContext {
        self.0
    }
}

impl<'a> LentSharedToolContext<'a> {
    /// Returns the argument.
    pub fn __give(self) -> &'a ToolContext {
        self.0
    }
}

impl ContextArg {
    /// Takes the context out of the call.
    ///
    /// # Errors
    /// Fails if another parameter has taken the context. A const check rejects such a tool first.
    pub fn __take<'a>(
        &self,
        call: &mut ToolInvocation<'a>,
        _: &str,
    ) -> Result<LentToolContext<'a>, ToolError> {
        call.cx
            .take()
            .map(LentToolContext)
            .ok_or_else(second_context_error)
    }
}

impl SharedContextArg {
    /// Takes the context out of the call.
    ///
    /// # Errors
    /// Fails if another parameter has taken the context. A const check rejects such a tool first.
    pub fn __take<'a>(
        &self,
        call: &mut ToolInvocation<'a>,
        _: &str,
    ) -> Result<LentSharedToolContext<'a>, ToolError> {
        call.cx
            .take()
            .map(|cx| LentSharedToolContext(cx))
            .ok_or_else(second_context_error)
    }
}

#[cold]
fn second_context_error() -> ToolError {
    ToolError::failed("the tool has two contexts")
}

impl DeclaredParam for ContextArg {
    type Type = ();

    fn declared(&self) -> Option<(MakeSchema, bool)> {
        None
    }
}

impl DeclaredParam for SharedContextArg {
    type Type = ();

    fn declared(&self) -> Option<(MakeSchema, bool)> {
        None
    }
}

/// A function that makes the handle `H` of a parameter from the handles of its type `T`. Only
/// argument types have handles.
#[derive(Debug)]
pub struct HandleMaker<T, H>(fn(Handles<T>) -> H);

impl<T, H> HandleMaker<T, H> {
    pub(super) fn make(self, handles: Handles<T>) -> H {
        (self.0)(handles)
    }
}

/// The handles of the parameters that an argument type `T` allows.
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

impl ToolParam<&mut ToolContext> {
    /// Returns the maker of a context, which is not an argument.
    pub fn __handle_maker(self) -> HandleMaker<(), ContextArg> {
        HandleMaker(|_| ContextArg)
    }
}

impl ToolParam<&ToolContext> {
    /// Returns the maker of a context, which is not an argument.
    pub fn __handle_maker(self) -> HandleMaker<(), SharedContextArg> {
        HandleMaker(|_| SharedContextArg)
    }
}

impl ToolParam<&str> {
    /// Returns the maker of a text.
    pub fn __handle_maker(self) -> HandleMaker<String, BorrowedArg<String>> {
        HandleMaker(|handles| BorrowedArg((handles.one)()))
    }
}

impl ToolParam<Option<&str>> {
    /// Returns the maker of an optional text.
    pub fn __handle_maker(self) -> HandleMaker<String, MaybeDerefArg<String>> {
        HandleMaker(|handles| MaybeDerefArg((handles.maybe)()))
    }
}

impl ToolParam<&Path> {
    /// Returns the maker of a path.
    pub fn __handle_maker(self) -> HandleMaker<PathBuf, BorrowedArg<PathBuf>> {
        HandleMaker(|handles| BorrowedArg((handles.one)()))
    }
}

impl ToolParam<Option<&Path>> {
    /// Returns the maker of an optional path.
    pub fn __handle_maker(self) -> HandleMaker<PathBuf, MaybeDerefArg<PathBuf>> {
        HandleMaker(|handles| MaybeDerefArg((handles.maybe)()))
    }
}

impl<T> ToolParam<&[T]> {
    /// Returns the maker of a list.
    pub fn __handle_maker(self) -> HandleMaker<T, BorrowedArg<Vec<T>>> {
        HandleMaker(|handles| BorrowedArg((handles.many)()))
    }
}

impl<T> ToolParam<Option<&[T]>> {
    /// Returns the maker of an optional list.
    pub fn __handle_maker(self) -> HandleMaker<T, MaybeDerefArg<Vec<T>>> {
        HandleMaker(|handles| MaybeDerefArg((handles.maybe_many)()))
    }
}

impl<T> ToolParam<Option<&T>> {
    /// Returns the maker of an optional `T`.
    pub fn __handle_maker(self) -> HandleMaker<T, MaybeArg<T>> {
        HandleMaker(|handles| MaybeArg((handles.maybe)()))
    }
}

/// The parameter types `Option<T>` and `&T`. Method resolution tries them after the inherent
/// methods and before [`ArgPlain`].
pub trait ArgMaybe<T> {
    /// The handle of the parameter.
    type Held;

    /// Returns the maker of the handle.
    fn __handle_maker(self) -> HandleMaker<T, Self::Held>;
}

impl<T> ArgMaybe<T> for ToolParam<Option<T>> {
    type Held = OwnedArg<Option<T>>;

    fn __handle_maker(self) -> HandleMaker<T, Self::Held> {
        HandleMaker(|handles| OwnedArg((handles.maybe)()))
    }
}

impl<T> ArgMaybe<T> for ToolParam<&T> {
    type Held = BorrowedArg<T>;

    fn __handle_maker(self) -> HandleMaker<T, Self::Held> {
        HandleMaker(|handles| BorrowedArg((handles.one)()))
    }
}

/// Any other parameter type `T`. Method resolution tries it last, because the method takes a
/// reference to [`ToolParam`].
pub trait ArgPlain<T> {
    /// Returns the maker of the handle.
    fn __handle_maker(self) -> HandleMaker<T, OwnedArg<T>>;
}

impl<T> ArgPlain<T> for &ToolParam<T> {
    fn __handle_maker(self) -> HandleMaker<T, OwnedArg<T>> {
        HandleMaker(|handles| OwnedArg((handles.one)()))
    }
}
