//! Requests to one remote agent.

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

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);
/// How long an answer may take that needs no work of the agent.
pub(crate) const ANSWER: Duration = Duration::from_secs(30);
/// The most characters of a text of others in an error.
const SHOWN: usize = 500;
/// What is shown in place of a secret.
const HIDDEN: &str = "[secret]";

pub(crate) struct Connection {
    client: Client,
    url: Url,
    /// The values are secrets.
    headers: HeaderMap,
    endpoint: OnceCell<Endpoint>,
}

/// What its card says.
pub(crate) struct Endpoint {
    url: Url,
    tenant: String,
    pub(crate) streams: bool,
}

impl Connection {
    /// # Errors
    /// When the address or a header cannot be sent.
    pub(crate) fn new(url: &str, headers: &[(String, String)]) -> Result<Self> {
        let config = |fact: String, help: &str| Error::new(ErrorKind::Config, fact).with_help(help);
        let url: Option<Url> = url.parse().ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let url = url.ok_or_else(|| {
            let help = "write it with its scheme, as in `https://example.org/a2a/writer`";
            config("the address of a remote agent is no URL of HTTP".to_owned(), help)
        })?;
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let key: Option<HeaderName> = name.parse().ok();
            let value = HeaderValue::from_str(value).ok();
            let (Some(key), Some(mut value)) = (key, value) else {
                let fact = format!("the header `{name}` of a remote agent cannot be sent");
                return Err(config(fact, "names are ASCII words, and values have no line breaks"));
            };
            value.set_sensitive(true);
            map.insert(key, value);
        }
        let client = Client::builder().connect_timeout(CONNECT).redirect(redirect::Policy::none());
        let client = client.user_agent(concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION")));
        let client = client.build().map_err(|error| {
            let help = "check the certificates and the proxy of this machine";
            config(format!("no request can be made: {}", error.without_url()), help)
        })?;
        Ok(Self { client, url, headers: map, endpoint: OnceCell::new() })
    }

    /// The address as errors show it: without what may be a secret.
    pub(crate) fn shown(&self) -> String {
        format!("{}{}", self.url.origin().ascii_serialization(), self.url.path())
    }

    /// A text of others without the secrets that were sent.
    pub(crate) fn without_secrets(&self, text: &str) -> String {
        let headers = self.headers.values().filter_map(|value| value.to_str().ok());
        let words = headers.flat_map(|value| [value, value.rsplit(' ').next().unwrap_or_default()]);
        let of_url = [self.url.password(), self.url.query(), Some(self.url.username())];
        let secrets = words.chain(of_url.into_iter().flatten()).filter(|secret| secret.len() > 5);
        secrets.fold(text.to_owned(), |text, secret| text.replace(secret, HIDDEN))
    }

    /// The same as errors show it: short.
    pub(crate) fn redacted(&self, text: &str) -> String {
        let text = self.without_secrets(text);
        match text.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}...", &text[..end]),
            None => text,
        }
    }

    /// What its card says, which is read once.
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
            return Err(Failure::of_status(response.status()));
        }
        let card: AgentCard = serde_json::from_slice(&body(response).await?)
            .map_err(|error| Failure::invalid(format!("has a card that cannot be read: {error}")))?;
        let speaks = |version: &str| version.split('.').next() == VERSION.split('.').next();
        let interface = card.supported_interfaces.into_iter().find(|interface| {
            interface.protocol_binding.eq_ignore_ascii_case(BINDING) && speaks(&interface.protocol_version)
        });
        let interface = interface.ok_or_else(|| {
            let fact = "has no interface of A2A 1.0 over JSON-RPC in its card";
            Failure::new(RemoteErrorKind::Refused, fact, "give the address of an agent that has one")
        })?;
        let url = self.of_interface(&interface.url)?;
        Ok(Endpoint { url, tenant: interface.tenant, streams: card.capabilities.streaming })
    }

    /// Where to ask. A card may name any address: what was given for this host is sent to no other one.
    fn of_interface(&self, url: &str) -> Result<Url, Failure> {
        let mut url = self.url.join(url).map_err(|_| Failure::invalid("names no address in its card"))?;
        if url.host() == self.url.host() {
            // With a proxy before it an agent may know neither the scheme nor the port by which it is reached.
            let (path, query) = (url.path().to_owned(), url.query().map(str::to_owned));
            url.clone_from(&self.url);
            url.set_path(&path);
            url.set_query(query.as_deref().or(self.url.query()));
            return Ok(url);
        }
        let is_open = self.headers.is_empty()
            && self.url.query().is_none()
            && self.url.password().is_none()
            && self.url.username().is_empty();
        if is_open && url.scheme() == self.url.scheme() {
            return Ok(url);
        }
        let fact = format!("is asked at another host, `{}`", url.host_str().unwrap_or_default());
        let help = "what was given for one host is sent to no other: give the address of the card there";
        Err(Failure::new(RemoteErrorKind::Refused, fact, help))
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, Failure> {
        let request = request.header(VERSION_HEADER, VERSION).headers(self.headers.clone());
        request.send().await.map_err(Failure::of_connection)
    }

    async fn post(
        &self,
        method: &str,
        params: impl Serialize,
        accept: &'static str,
        timeout: Option<Duration>,
    ) -> Result<Response, Failure> {
        let endpoint = self.endpoint().await?;
        let mut params = serde_json::to_value(params)
            .map_err(|error| Failure::invalid(format!("is sent what has no form in JSON: {error}")))?;
        if !endpoint.tenant.is_empty() {
            params["tenant"] = endpoint.tenant.clone().into();
        }
        let request = serde_json::to_vec(&RpcRequest::new(1, method, params)).unwrap_or_default();
        let mut builder = self.client.post(endpoint.url.clone()).body(request);
        builder = builder.header(CONTENT_TYPE, "application/json").header(ACCEPT, accept);
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
        let response = self.post(method, params, "application/json", timeout).await?;
        result(read(response).await?)
    }

    pub(crate) async fn stream(&self, method: &str, params: impl Serialize) -> Result<Stream, Failure> {
        let response = self.post(method, params, "text/event-stream", None).await?;
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if kind.is_some_and(|kind| kind.starts_with("text/event-stream")) && response.status().is_success() {
            return Ok(Stream { response, events: Events::default(), ready: VecDeque::new() });
        }
        match result::<Value>(read(response).await?) {
            Err(failure) => Err(failure),
            Ok(_) => Err(Failure::invalid("answered with something else than a stream")),
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
            let Some(bytes) = self.response.chunk().await.map_err(Failure::of_connection)? else {
                return Ok(None);
            };
            let events = self.events.take(&bytes);
            let too_large = || Failure::invalid("sent an event that is larger than is taken");
            self.ready.extend(events.ok_or_else(too_large)?);
        }
    }
}

/// The body of an answer, up to the size that is taken.
async fn body(mut response: Response) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await.map_err(Failure::of_connection)? {
        body.extend_from_slice(&bytes);
        if body.len() > sse::MOST {
            return Err(Failure::invalid("sent an answer that is larger than is taken"));
        }
    }
    Ok(body)
}

/// An answer of JSON-RPC, which an error of HTTP may come with.
async fn read(response: Response) -> Result<RpcResponse, Failure> {
    let status = response.status();
    let parsed = parse(&body(response).await?);
    match parsed {
        Ok(answer) if status.is_success() => Ok(answer),
        Ok(RpcResponse { error: Some(error), .. }) => {
            let Failure { kind, help, .. } = Failure::of_status(status);
            let of_rpc = Failure::of_rpc(error);
            Err(Failure { kind, help, ..of_rpc })
        }
        _ if !status.is_success() => Err(Failure::of_status(status)),
        other => other,
    }
}

fn parse(bytes: &[u8]) -> Result<RpcResponse, Failure> {
    serde_json::from_slice(bytes)
        .map_err(|error| Failure::invalid(format!("gave an answer that is no JSON-RPC: {error}")))
}

fn result<T: DeserializeOwned>(response: RpcResponse) -> Result<T, Failure> {
    match response.error {
        Some(error) => Err(Failure::of_rpc(error)),
        None => serde_json::from_value(response.result.unwrap_or_default())
            .map_err(|error| Failure::invalid(format!("gave a result that is none of A2A: {error}"))),
    }
}
