//! [`Connection`]: requests to one remote agent.

use crate::failure::Failure;
use crate::rpc::{BINDING, RpcRequest, RpcResponse};
use crate::sse::{self, Events};
use crate::{AgentCard, CARD_PATH, StreamResponse, VERSION, VERSION_HEADER};
use adk_core::{Error, ErrorKind, RemoteErrorKind, Result};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, Url, redirect};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::OnceCell;

/// The timeout for establishing a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// The timeout of requests that need no work of the agent.
pub(crate) const ANSWER: Duration = Duration::from_secs(30);
/// The maximum length of foreign text in an error, in characters.
const SHOWN: usize = 500;
/// The replacement for a secret.
const HIDDEN: &str = "[secret]";

pub(crate) struct Connection {
    client: Client,
    url: Url,
    /// The headers of each request. Their values are secrets.
    headers: HeaderMap,
    endpoint: OnceCell<Endpoint>,
}

/// The interface that the card of the agent names.
pub(crate) struct Endpoint {
    url: Url,
    tenant: String,
    pub(crate) streams: bool,
}

impl Connection {
    /// # Errors
    /// [`ErrorKind::Config`] if the address or a header is invalid.
    pub(crate) fn new(url: &str, headers: &[(String, String)]) -> Result<Self> {
        let config = |fact: String, help: &str| Error::new(ErrorKind::Config, fact).with_help(help);
        let url: Option<Url> = url.parse().ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let url = url.ok_or_else(|| {
            let help = "write it with its scheme, as in `https://example.org/a2a/writer`";
            config(
                "the address of the remote agent is not an HTTP URL".to_owned(),
                help,
            )
        })?;
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let key: Option<HeaderName> = name.parse().ok();
            let value = HeaderValue::from_str(value).ok();
            let (Some(key), Some(mut value)) = (key, value) else {
                let fact = format!("the header `{name}` of the remote agent is invalid");
                return Err(config(
                    fact,
                    "use an ASCII name, and a value without line breaks",
                ));
            };
            value.set_sensitive(true);
            map.insert(key, value);
        }
        let client = Client::builder()
            .connect_timeout(CONNECT)
            .redirect(redirect::Policy::none());
        let client = client.user_agent(concat!(
            env!("CARGO_PKG_NAME"),
            "/",
            env!("CARGO_PKG_VERSION")
        ));
        let client = client.build().map_err(|error| {
            let help = "check the certificates and the proxy of this machine";
            config(
                format!("cannot create an HTTP client: {}", error.without_url()),
                help,
            )
        })?;
        Ok(Self {
            client,
            url,
            headers: map,
            endpoint: OnceCell::new(),
        })
    }

    /// Returns the address without its query and credentials, for errors.
    pub(crate) fn public_url(&self) -> String {
        format!(
            "{}{}",
            self.url.origin().ascii_serialization(),
            self.url.path()
        )
    }

    /// Replaces the secrets of this connection in a foreign text.
    pub(crate) fn redact(&self, text: &str) -> String {
        let headers = self
            .headers
            .values()
            .filter_map(|value| value.to_str().ok());
        let words = headers.flat_map(|value| [value, value.rsplit(' ').next().unwrap_or_default()]);
        let url_parts = [
            self.url.password(),
            self.url.query(),
            Some(self.url.username()),
        ];
        let secrets = words
            .chain(url_parts.into_iter().flatten())
            .filter(|secret| secret.len() > 5);
        secrets.fold(text.to_owned(), |text, secret| text.replace(secret, HIDDEN))
    }

    /// Replaces the secrets in a foreign text and shortens it, for errors.
    pub(crate) fn redact_short(&self, text: &str) -> String {
        let text = self.redact(text);
        match text.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}...", &text[..end]),
            None => text,
        }
    }

    /// Returns the interface of the agent. The first call reads the card.
    pub(crate) async fn endpoint(&self) -> Result<&Endpoint, Failure> {
        self.endpoint.get_or_try_init(|| self.read_card()).await
    }

    async fn read_card(&self) -> Result<Endpoint, Failure> {
        let mut url = self.url.clone();
        if !url.path().ends_with(".json") {
            let path = format!("{}/{CARD_PATH}", url.path().trim_end_matches('/'));
            url.set_path(&path);
        }
        let response = self.send(self.client.get(url).timeout(ANSWER)).await?;
        if !response.status().is_success() {
            return Err(Failure::from_status(response.status()));
        }
        let card: AgentCard = serde_json::from_slice(&body(response).await?)
            .map_err(|error| Failure::invalid(format!("has an invalid card: {error}")))?;
        let speaks = |version: &str| version.split('.').next() == VERSION.split('.').next();
        let interface = card.supported_interfaces.into_iter().find(|interface| {
            interface.protocol_binding.eq_ignore_ascii_case(BINDING)
                && speaks(&interface.protocol_version)
        });
        let interface = interface.ok_or_else(|| {
            let fact = "has no interface of A2A 1.0 over JSON-RPC in its card";
            Failure::new(
                RemoteErrorKind::Refused,
                fact,
                "use an agent that has such an interface",
            )
        })?;
        let url = self.interface_url(&interface.url)?;
        Ok(Endpoint {
            url,
            tenant: interface.tenant,
            streams: card.capabilities.streaming,
        })
    }

    /// Returns the address for requests, from the card. A card may name any host, but secrets for
    /// the host of the card are not sent to another host.
    fn interface_url(&self, url: &str) -> Result<Url, Failure> {
        let mut url = self
            .url
            .join(url)
            .map_err(|_| Failure::invalid("has an invalid address in its card"))?;
        if url.host() == self.url.host() {
            // An agent at a proxy may not know its public scheme and port, so those of the card's
            // address are used.
            let (path, query) = (url.path().to_owned(), url.query().map(str::to_owned));
            url.clone_from(&self.url);
            url.set_path(&path);
            url.set_query(query.as_deref().or(self.url.query()));
            return Ok(url);
        }
        let has_no_secrets = self.headers.is_empty()
            && self.url.query().is_none()
            && self.url.password().is_none()
            && self.url.username().is_empty();
        if has_no_secrets && url.scheme() == self.url.scheme() {
            return Ok(url);
        }
        let fact = format!(
            "has its interface at another host, `{}`",
            url.host_str().unwrap_or_default()
        );
        let help =
            "pass the address of the card at that host; credentials are sent to one host only";
        Err(Failure::new(RemoteErrorKind::Refused, fact, help))
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, Failure> {
        let request = request
            .header(VERSION_HEADER, VERSION)
            .headers(self.headers.clone());
        request.send().await.map_err(Failure::from_reqwest)
    }

    async fn post(
        &self,
        method: &str,
        params: impl Serialize,
        accept: &'static str,
        timeout: Option<Duration>,
    ) -> Result<Response, Failure> {
        let endpoint = self.endpoint().await?;
        let mut params = serde_json::to_value(params).map_err(|error| {
            Failure::invalid(format!("cannot get parameters that are not JSON: {error}"))
        })?;
        if !endpoint.tenant.is_empty() {
            params["tenant"] = endpoint.tenant.clone().into();
        }
        let request = serde_json::to_vec(&RpcRequest::new(1, method, params)).unwrap_or_default();
        let mut builder = self.client.post(endpoint.url.clone()).body(request);
        builder = builder
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, accept);
        if let Some(timeout) = timeout {
            builder = builder.timeout(timeout);
        }
        self.send(builder).await
    }

    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        params: impl Serialize,
        timeout: Option<Duration>,
    ) -> Result<T, Failure> {
        let response = self
            .post(method, params, "application/json", timeout)
            .await?;
        result(read(response).await?)
    }

    pub(crate) async fn stream(
        &self,
        method: &str,
        params: impl Serialize,
    ) -> Result<Stream, Failure> {
        let response = self.post(method, params, "text/event-stream", None).await?;
        let kind = response
            .headers()
            .get(CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok());
        if kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
            && response.status().is_success()
        {
            return Ok(Stream {
                response,
                events: Events::default(),
                ready: VecDeque::new(),
            });
        }
        match result::<Value>(read(response).await?) {
            Err(failure) => Err(failure),
            Ok(_) => Err(Failure::invalid("did not reply with an event stream")),
        }
    }
}

pub(crate) struct Stream {
    response: Response,
    events: Events,
    ready: VecDeque<Vec<u8>>,
}

impl Stream {
    pub(crate) async fn next(&mut self) -> Result<Option<StreamResponse>, Failure> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return parse(&event).and_then(result).map(Some);
            }
            let Some(bytes) = self.response.chunk().await.map_err(Failure::from_reqwest)? else {
                return Ok(None);
            };
            let events = self.events.push(&bytes);
            let too_large =
                || Failure::invalid(format!("sent an event of more than {} bytes", sse::MOST));
            self.ready.extend(events.ok_or_else(too_large)?);
        }
    }
}

/// Reads the body of a response, up to [`sse::MOST`] bytes.
async fn body(mut response: Response) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await.map_err(Failure::from_reqwest)? {
        body.extend_from_slice(&bytes);
        if body.len() > sse::MOST {
            return Err(Failure::invalid(format!(
                "sent a response of more than {} bytes",
                sse::MOST
            )));
        }
    }
    Ok(body)
}

/// Reads a JSON-RPC response. A response with an HTTP error status may also contain one.
async fn read(response: Response) -> Result<RpcResponse, Failure> {
    let status = response.status();
    let parsed = parse(&body(response).await?);
    match parsed {
        Ok(answer) if status.is_success() => Ok(answer),
        Ok(RpcResponse {
            error: Some(error), ..
        }) => {
            let Failure { kind, help, .. } = Failure::from_status(status);
            let rpc_failure = Failure::from_rpc(error);
            Err(Failure {
                kind,
                help,
                ..rpc_failure
            })
        }
        _ if !status.is_success() => Err(Failure::from_status(status)),
        other => other,
    }
}

fn parse(bytes: &[u8]) -> Result<RpcResponse, Failure> {
    serde_json::from_slice(bytes)
        .map_err(|error| Failure::invalid(format!("replied with invalid JSON-RPC: {error}")))
}

fn result<T: DeserializeOwned>(response: RpcResponse) -> Result<T, Failure> {
    match response.error {
        Some(error) => Err(Failure::from_rpc(error)),
        None => serde_json::from_value(response.result.unwrap_or_default()).map_err(|error| {
            Failure::invalid(format!("returned a result that is not valid A2A: {error}"))
        }),
    }
}
