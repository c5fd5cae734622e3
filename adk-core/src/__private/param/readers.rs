//! What may be a parameter of an agent and of a tool. The traits are the table of what is allowed
//! where, with the messages that refuse the rest.
//!
//! The bounds are on the impls and not on the traits. An unsatisfied path such as
//! `<T as StateRead>` is then one error under the type, with the message of the trait and no note
//! about this crate.

use super::{Codecs, Shape};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

macro_rules! readers {
    ($(
        $(#[$meta:meta])*
        $name:ident: $codecs:ident $(+ $bound:tt)*;
    )+) => {$(
        $(#[$meta])*
        pub trait $name: Sized {
            /// Returns the handle of a parameter. Expansions name the trait only here, so rustc
            /// reports a wrong type once.
            fn handle<H>(shape: Shape<Self, H>) -> H;
        }

        #[diagnostic::do_not_recommend]
        impl<T: DeserializeOwned + Send $(+ $bound)*> $name for T {
            fn handle<H>(shape: Shape<Self, H>) -> H {
                (shape.0)(Codecs::$codecs())
            }
        }
    )+};
}

readers! {
    /// A type that a function reads from a state key.
    #[diagnostic::on_unimplemented(
        message = "key-type: `{Self}` cannot be read from a state key; help: put `#[adk::data]` on \
            it, or derive `serde::Deserialize`",
        label = "no parameter of an agent",
        note = "a parameter is `T`, `&T`, `&str`, `&[T]`, an `Option` of these or any JSON value, \
            where `T` owns what it holds; the context of the run is `cx: &mut Context`; what the \
            program has, such as a pool, is a resource: `#[resource] db: &Pool`"
    )]
    StateRead: key + 'static;

    /// A type that a function borrows as `&mut`.
    #[diagnostic::on_unimplemented(
        message = "agent-attribute: `{Self}` is borrowed as `&mut`, and only the context can be; \
            help: take it by value or by `&`, and return the changed value",
        label = "no parameter of an agent",
        note = "an agent writes the value that it returns, to the key in `#[agent(writes = KEY)]`"
    )]
    LentRead: key + 'static;

    /// A type that a function reads or borrows as `&mut`, for a parameter whose type has a name
    /// that ends in `Context`. The message proposes `Context`.
    #[diagnostic::on_unimplemented(
        message = "agent-attribute: `{Self}` is no parameter of an agent; help: take the context \
            of the run as `cx: &mut Context`, in front; a function that takes a `ToolContext` is a \
            `#[tool]`; if this is data of your own, take it by value or by `&`, and put \
            `#[adk::data]` on it",
        label = "no parameter of an agent"
    )]
    ContextRead: key + 'static;

    /// A type that a model can fill in.
    #[diagnostic::on_unimplemented(
        message = "tool-argument: `{Self}` cannot be an argument of a tool; help: put \
            `#[adk::data]` on it, or derive both `serde::Deserialize` and `schemars::JsonSchema`",
        label = "a model cannot fill in a `{Self}`",
        note = "a key of the state is a parameter with `#[key]`; artifacts and the call itself \
            come with `cx: &mut ToolContext`; what the program has, such as a pool, is a resource: \
            `#[resource] db: &Pool`"
    )]
    ToolArg: argument + JsonSchema;

    /// A type that a tool borrows as `&mut`.
    #[diagnostic::on_unimplemented(
        message = "tool-argument: `{Self}` is borrowed as `&mut`, and only the context can be; \
            help: take it by value or by `&`, and return the changed value",
        label = "a model cannot fill in a `{Self}`",
        note = "state, artifacts and the call itself come with a `cx: &mut ToolContext` parameter"
    )]
    LentArg: argument + JsonSchema;

    /// A type that a model can fill in, for a parameter whose type has a name that ends in
    /// `Context`. The message proposes `ToolContext`.
    #[diagnostic::on_unimplemented(
        message = "tool-argument: `{Self}` is no argument of a tool; help: take the context of the \
            call as `cx: &mut ToolContext`; if this is data of your own, take it by value or by \
            `&`, and put `#[adk::data]` on it",
        label = "a model cannot fill in a `{Self}`"
    )]
    ContextLike: argument + JsonSchema;
}

/// A type whose value a model can read as a default.
#[diagnostic::on_unimplemented(
    message = "tool-argument: the default of a `{Self}` cannot be shown to a model; help: put \
        `#[adk::data]` on it, or derive `serde::Serialize`",
    label = "has no form in JSON"
)]
pub trait ToolDefault: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize> ToolDefault for T {}
