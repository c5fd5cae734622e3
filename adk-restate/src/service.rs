//! [`definition`]: services of Restate whose names are known only at run time.

use crate::Worker;
use adk_core::{BoxFuture, Error, ErrorKind, Result};
use restate_sdk::discovery::{HandlerType, InputPayload, OutputPayload, ServiceType};
use restate_sdk::endpoint::{self, ContextInternal, InputMetadata, ServiceOptions};
use restate_sdk::errors::{HandlerResult, TerminalError};
use restate_sdk::serde::Json;
use restate_sdk::service::{Service, ServiceDefinition, macro_support};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::Arc;

/// The context that Restate's SDK gives to a handler.
pub(crate) type Context = ContextInternal;

pub(crate) type Handled = HandlerResult<Json<Value>>;

pub(crate) struct Invocation<'a> {
    pub(crate) ctx: &'a Context,
    pub(crate) meta: InputMetadata,
    pub(crate) input: Value,
}

impl Invocation<'_> {
    /// Parses the input.
    ///
    /// # Errors
    /// Fails permanently if a caller of another version has sent the input.
    pub(crate) fn read<T: DeserializeOwned>(&mut self) -> Result<T, TerminalError> {
        serde_json::from_value(self.input.take()).map_err(|error| {
            TerminalError::new_with_code(400, format!("cannot read the input: {error}"))
        })
    }
}

pub(crate) type Handler = for<'a> fn(&'a Worker, Invocation<'a>) -> BoxFuture<'a, Handled>;

/// The handlers of a service: name, kind and function of each.
pub(crate) type Handlers = &'static [(&'static str, Option<HandlerType>, Handler)];

struct Dispatcher {
    worker: Arc<Worker>,
    handlers: Handlers,
}

impl Service for Dispatcher {
    type Future = macro_support::ServiceBoxFuture;

    fn handle(&self, ctx: Context) -> Self::Future {
        let (worker, handlers) = (self.worker.clone(), self.handlers);
        Box::pin(async move {
            let found = handlers
                .iter()
                .find(|(name, ..)| *name == ctx.handler_name());
            let Some((.., handler)) = found else {
                return Err(endpoint::Error::unknown_handler(
                    ctx.service_name(),
                    ctx.handler_name(),
                ));
            };
            let (Json(input), meta) = ctx.input().await;
            let handled = handler(
                &worker,
                Invocation {
                    ctx: &ctx,
                    meta,
                    input,
                },
            )
            .await;
            ctx.handle_handler_result(handled);
            ctx.end();
            Ok(())
        })
    }
}

/// Returns a service for an endpoint.
///
/// # Errors
/// Fails when Restate rejects the name.
pub(crate) fn definition(
    name: &str,
    ty: ServiceType,
    handlers: Handlers,
    worker: &Arc<Worker>,
    options: ServiceOptions,
) -> Result<ServiceDefinition> {
    let input = InputPayload::from_metadata::<Json<Value>>();
    let output = OutputPayload::from_metadata::<Json<Value>>();
    let own = handlers
        .iter()
        .map(|(name, ty, _)| json!({"name": name, "ty": ty, "input": input, "output": output}));
    let service = json!({"name": name, "ty": ty, "handlers": own.collect::<Value>()});
    let service = serde_json::from_value(service).map_err(|error| {
        Error::new(
            ErrorKind::Config,
            format!("Restate rejects the service name `{name}`: {error}"),
        )
        .with_help(
            "give the workflow a name of ASCII letters, digits and `_` that begins with a letter",
        )
    })?;
    let dispatcher = Dispatcher {
        worker: worker.clone(),
        handlers,
    };
    Ok(macro_support::service_definition(dispatcher, service).options(options))
}
