//! Services of Restate whose names are known at run time.

use crate::Worker;
use adk_core::{BoxFuture, Error, ErrorKind, Result};
use restate_sdk::discovery::{self, HandlerType, InputPayload, OutputPayload, ServiceType};
use restate_sdk::endpoint::{self, ContextInternal, InputMetadata, ServiceOptions};
use restate_sdk::errors::{HandlerResult, TerminalError};
use restate_sdk::serde::Json;
use restate_sdk::service::{Service, ServiceDefinition, macro_support};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;

/// What Restate gives to the handler of an invocation.
pub(crate) type Context = ContextInternal;

/// What a handler gives back.
pub(crate) type Handled = HandlerResult<Json<Value>>;

/// A call of a handler.
pub(crate) struct Invocation<'a> {
    pub(crate) ctx: &'a Context,
    pub(crate) meta: InputMetadata,
    pub(crate) input: Value,
}

impl Invocation<'_> {
    /// The input.
    ///
    /// # Errors
    /// One that is final: a caller of another version has sent it.
    pub(crate) fn read<T: DeserializeOwned>(&mut self) -> Result<T, TerminalError> {
        serde_json::from_value(self.input.take())
            .map_err(|error| TerminalError::new_with_code(400, format!("cannot read the input: {error}")))
    }
}

/// A handler of a service.
pub(crate) type Handler = for<'a> fn(&'a Worker, Invocation<'a>) -> BoxFuture<'a, Handled>;

/// The handlers of a service, with their names.
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
            let found = handlers.iter().find(|(name, ..)| *name == ctx.handler_name());
            let Some((.., handler)) = found else {
                return Err(endpoint::Error::unknown_handler(ctx.service_name(), ctx.handler_name()));
            };
            let (Json(input), meta) = ctx.input().await;
            let handled = handler(&worker, Invocation { ctx: &ctx, meta, input }).await;
            ctx.handle_handler_result(handled);
            ctx.end();
            Ok(())
        })
    }
}

/// A service to be bound to an endpoint.
///
/// # Errors
/// When Restate does not take the name.
pub(crate) fn definition(
    name: &str,
    ty: ServiceType,
    handlers: Handlers,
    worker: &Arc<Worker>,
    options: ServiceOptions,
) -> Result<ServiceDefinition> {
    let invalid = |error: discovery::error::ConversionError| {
        Error::new(ErrorKind::Config, format!("Restate takes no service of the name `{name}`: {error}"))
            .with_help("give the workflow a name of ASCII letters, digits and `_` that begins with a letter")
    };
    let own = handlers.iter().map(|(name, ty, _)| of_handler(name, *ty));
    let service = discovery::Service {
        name: name.parse().map_err(invalid)?,
        ty,
        handlers: own.collect::<Result<_, _>>().map_err(invalid)?,
        documentation: None,
        metadata: Default::default(),
        abort_timeout: None,
        inactivity_timeout: None,
        journal_retention: None,
        idempotency_retention: None,
        enable_lazy_state: None,
        ingress_private: None,
        retry_policy_initial_interval: None,
        retry_policy_max_interval: None,
        retry_policy_max_attempts: None,
        retry_policy_exponentiation_factor: None,
        retry_policy_on_max_attempts: None,
    };
    let dispatcher = Dispatcher { worker: worker.clone(), handlers };
    Ok(macro_support::service_definition(dispatcher, service).options(options))
}

fn of_handler(
    name: &str,
    ty: Option<HandlerType>,
) -> Result<discovery::Handler, discovery::error::ConversionError> {
    Ok(discovery::Handler {
        name: name.parse()?,
        ty,
        input: Some(InputPayload::from_metadata::<Json<Value>>()),
        output: Some(OutputPayload::from_metadata::<Json<Value>>()),
        documentation: None,
        metadata: Default::default(),
        abort_timeout: None,
        inactivity_timeout: None,
        journal_retention: None,
        idempotency_retention: None,
        workflow_completion_retention: None,
        enable_lazy_state: None,
        ingress_private: None,
        retry_policy_initial_interval: None,
        retry_policy_max_interval: None,
        retry_policy_max_attempts: None,
        retry_policy_exponentiation_factor: None,
        retry_policy_on_max_attempts: None,
    })
}
