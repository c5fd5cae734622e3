//! [`Source`]: where the value of a parameter comes from, which is a key of the state or an
//! argument of a tool call.

use super::Codec;
use crate::__private::args::ToolInvocation;
use crate::__private::holder::{Lend, LentContext};
use crate::runtime::run::wrong_type_error;
use crate::runtime::tool::{ToolError, decode};
use crate::{Error, ErrorKind, Result, State, ToolContext};
use serde_json::Value;
use std::borrow::Borrow;
use std::sync::Arc;

/// A value before it is decoded.
#[derive(Clone, Copy, Debug)]
pub enum Raw<'a> {
    /// A value of the state, which a holder may share.
    Shared(&'a Arc<Value>),
    /// An argument.
    Own(&'a Value),
}

impl<'a> Raw<'a> {
    pub(super) fn value(self) -> &'a Value {
        match self {
            Self::Shared(value) => value,
            Self::Own(value) => value,
        }
    }
}

/// Values by the names of parameters.
pub trait Source {
    /// The form in which the source keeps a value.
    type Value: Borrow<Value>;
    /// The holder of a context.
    type Context;
    /// The error of a parameter without its value.
    type Error;

    /// Returns the context.
    ///
    /// # Errors
    /// Fails if the context is taken.
    fn context(&mut self) -> Result<Self::Context, Self::Error>;

    /// Returns a value. An argument is removed from its call.
    fn take(&mut self, name: &'static str) -> Option<Self::Value>;

    /// Decodes a value.
    ///
    /// # Errors
    /// Fails if the value has another type.
    fn decode<V>(
        &mut self,
        name: &'static str,
        value: Self::Value,
        codec: &Codec<V>,
    ) -> Result<V, Self::Error>;

    /// Returns the error of a value that is missing.
    fn missing(&mut self, name: &'static str) -> Self::Error;
}

impl Source for State<'_> {
    type Value = Arc<Value>;
    type Context = Lend;
    type Error = Error;

    fn context(&mut self) -> Result<Lend> {
        Ok(Lend)
    }

    fn take(&mut self, name: &'static str) -> Option<Arc<Value>> {
        self.value(name)
    }

    fn decode<V>(&mut self, name: &'static str, value: Arc<Value>, codec: &Codec<V>) -> Result<V> {
        (codec.decode)(Raw::Shared(&value)).map_err(|error| {
            let error = if codec.is_text {
                not_text_error(name, &value)
            } else {
                wrong_type_error::<V>(name, error)
            };
            let error = error.with_help("give the parameter the type that the key is written as");
            self.refuse(error.at(self.writer.path))
        })
    }

    #[cold]
    fn missing(&mut self, name: &'static str) -> Error {
        let around = self.scope.map_or(name, |scope| scope.name_around(name));
        let message = if name == around {
            format!("the parameter `{name}` reads a state key that holds no value")
        } else {
            format!("the parameter `{name}` reads the state key `{around}`, which holds no value")
        };
        let error = Error::new(ErrorKind::KeyMissing, message).with_help(format!(
            "let an earlier step write `{around}`, pass it as an input, or make the parameter an \
             `Option`"
        ));
        self.refuse(error.at(self.writer.path))
    }
}

#[cold]
fn not_text_error(key: &str, value: &Value) -> Error {
    let message = format!(
        "state key `{key}` does not hold a text: it holds {}",
        crate::runtime::tool::schema::describe_value(value)
    );
    Error::new(ErrorKind::KeyType, message)
}

impl<'a> Source for ToolInvocation<'a> {
    type Value = Value;
    type Context = LentContext<&'a mut ToolContext>;
    type Error = ToolError;

    fn context(&mut self) -> Result<Self::Context, ToolError> {
        let taken = self.cx.take();
        taken
            .map(LentContext)
            .ok_or_else(|| ToolError::failed("the tool has two contexts"))
    }

    fn take(&mut self, name: &'static str) -> Option<Value> {
        self.args.remove(name)
    }

    fn decode<V>(
        &mut self,
        name: &'static str,
        value: Value,
        codec: &Codec<V>,
    ) -> Result<V, ToolError> {
        decode::arg(
            name,
            value,
            || self.schema(name),
            |value| (codec.decode)(Raw::Own(value)),
        )
    }

    #[cold]
    fn missing(&mut self, name: &'static str) -> ToolError {
        decode::missing(name, self.schema(name))
    }
}
