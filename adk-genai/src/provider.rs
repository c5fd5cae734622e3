//! [`Genai`] and [`GenaiBuilder`]: the provider of models, and its settings.

use crate::adapter::Adapter;
use crate::endpoint::{
    base_url_variable, complete, is_local, namespace_base_url, redact_url, secrets,
};
use crate::model::{GenaiModel, Inner};
use crate::names;
use crate::relay::{Http, is_secret};
use adk_model::model::{Model, ModelError, ModelErrorKind, ModelProvider};
use adk_spec::setters;
use futures_util::FutureExt as _;
use genai::adapter::AdapterKind;
use genai::{Client, ModelIden, WebConfig};
use reqwest::redirect::Policy;
use secrecy::{ExposeSecret as _, SecretString};
use std::fmt;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

type Environment = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Models of all providers that the `genai` crate supports, by name.
///
/// The default settings come from the environment: keys under the providers' own names
/// (`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, `GEMINI_API_KEY` or `GOOGLE_API_KEY`, ...), and base
/// URLs like in the providers' own SDKs (see the [crate](crate)). The environment is read when a
/// model is requested. Clones share their connections.
#[derive(Clone)]
pub struct Genai {
    settings: Arc<GenaiBuilder>,
    /// Clients, or the error of a broken TLS configuration, which [`model`](ModelProvider::model)
    /// reports because `Default` cannot.
    clients: Result<Clients, String>,
}

#[derive(Clone)]
struct Clients {
    /// Client that writes requests and reads answers, and connects only to the relay.
    genai: Client,
    /// Client that connects to the providers.
    http: Http,
}

/// Settings of a [`Genai`], created by [`Genai::builder`].
#[derive(Clone)]
pub struct GenaiBuilder {
    adapter: Option<Adapter>,
    base_url: Option<String>,
    api_key: Option<SecretString>,
    headers: Vec<(String, SecretString)>,
    connect_timeout: Duration,
    read_timeout: Option<Duration>,
    proxy: Option<String>,
    thoughts: bool,
    answer_limit: usize,
    environment: Environment,
}

impl Genai {
    /// Creates a provider with the settings of the environment.
    pub fn new() -> Self {
        let settings = Self::builder();
        let clients = settings.clients();
        Self {
            settings: Arc::new(settings),
            clients,
        }
    }

    /// Returns a builder with the defaults of [`Genai::new`].
    pub fn builder() -> GenaiBuilder {
        GenaiBuilder {
            adapter: None,
            base_url: None,
            api_key: None,
            headers: Vec::new(),
            connect_timeout: Duration::from_secs(30),
            read_timeout: None,
            proxy: None,
            thoughts: false,
            answer_limit: 64 * 1024 * 1024,
            environment: Arc::new(|name| std::env::var(name).ok()),
        }
    }

    /// Returns the environment variable that holds the key for a model. Returns `None` if the model
    /// is unknown or needs no key. If a provider has two variables, returns the one that is set in
    /// the environment of the process.
    ///
    /// [`Genai::get`] reports whether a model can be used, which includes base URLs that need no
    /// key.
    ///
    /// ```
    /// use adk_genai::Genai;
    /// assert_eq!(Genai::key_variable("gpt-4o-mini"), Some("OPENAI_API_KEY"));
    /// assert_eq!(Genai::key_variable("ollama::llama3.2"), None);
    /// ```
    pub fn key_variable(model: &str) -> Option<&'static str> {
        let kind = names::resolve(model).ok()?;
        let variables = key_variables(kind);
        let set = |name: &&&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        variables.iter().find(set).or(variables.first()).copied()
    }

    /// Returns a model with its concrete type, which [`ModelProvider::model`] hides.
    ///
    /// # Errors
    /// Fails with [`ModelErrorKind::UnknownModel`] if no provider has names of that form, with
    /// [`ModelErrorKind::MissingKey`] if neither settings nor environment contain the provider's
    /// key, and with [`ModelErrorKind::InvalidRequest`] if the base URL is invalid. No request is
    /// sent.
    pub fn get(&self, name: &str) -> Result<GenaiModel, ModelError> {
        let settings = &self.settings;
        let clients = self
            .clients
            .clone()
            .map_err(|cause| ModelError::new(ModelErrorKind::Other, cause))?;
        let mut kind = match settings.adapter {
            Some(adapter) if !name.is_empty() => adapter.kind(),
            _ => names::resolve(name)?,
        };
        let key = settings.key(kind);
        let own = settings
            .base_url
            .clone()
            .map(|url| ("base_url".to_owned(), url));
        let given = own.clone().or_else(|| {
            let variable = match kind {
                AdapterKind::Custom(n) => format!("GENAI_{n}_ENDPOINT"),
                _ => base_url_variable(kind)?.to_owned(),
            };
            settings.variable(&variable).map(|url| (variable, url))
        });
        let base_url = match &given {
            Some((from, given)) => {
                // genai always uses the provider's own URL for these adapters, so use OpenAI's
                // format, which they implement.
                if matches!(kind, AdapterKind::Zai | AdapterKind::Baidu) {
                    kind = AdapterKind::OpenAI;
                }
                complete(kind, given, from)?
            }
            None => default_base_url(&clients.genai, kind, name)?,
        };
        // Servers on this machine and explicitly configured servers may need no key.
        let optional = own.is_some() || is_local(&base_url);
        if key.is_none()
            && !optional
            && let [first, ..] = key_variables(kind)
        {
            let names = key_variables(kind).join("` or `");
            let message = format!(
                "{kind} (model `{name}`): no key, since the environment variable `{names}` is not \
                 set",
                kind = kind.as_lower_str()
            );
            return Err(ModelError::new(ModelErrorKind::MissingKey, message)
                .with_help(format!("set `{first}`")));
        }
        let headers = settings
            .headers
            .iter()
            .filter(|(name, _)| is_secret(name))
            .map(|(_, value)| value);
        let proxies = settings.proxy.iter().cloned().chain(system_proxies());
        let mut secrets: Vec<_> = key.iter().chain(headers).cloned().collect();
        let in_addresses = proxies
            .chain([base_url.clone()])
            .flat_map(|url| self::secrets(&url));
        secrets.extend(in_addresses.map(SecretString::from));
        // Replace longer secrets first, because one secret may contain another.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.expose_secret().len()));
        Ok(GenaiModel::new(Inner {
            client: clients.genai,
            http: clients.http,
            sends_elsewhere: given.is_none()
                && matches!(kind, AdapterKind::Zai | AdapterKind::Baidu),
            name: name.to_owned(),
            kind,
            base_url,
            key,
            headers: settings.headers.clone(),
            thoughts: settings.thoughts,
            secrets,
        }))
    }
}

impl Default for Genai {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Genai {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Genai").field(&self.settings).finish()
    }
}

impl ModelProvider for Genai {
    fn model(&self, name: &str) -> Result<Arc<dyn Model>, ModelError> {
        Ok(Arc::new(self.get(name)?))
    }
}

impl GenaiBuilder {
    setters! { []
        /// Sends all requests to this adapter. By default the name of the model selects the
        /// adapter.
        adapter(adapter: Adapter) = Some(adapter);
        /// Sets the base URL, in place of the provider's URL and of the environment. See the
        /// [crate](crate) for its completion. With a base URL, a key is optional. Without an
        /// [adapter](Self::adapter), the URL applies to all adapters, as for a gateway that
        /// supports all formats.
        base_url(url: impl Into<String>) = Some(url.into());
        /// Sets the key, in place of the environment. Without an [adapter](Self::adapter), each
        /// provider that a name selects gets the key.
        api_key(key: impl Into<String>) = Some(key.into().into());
        /// Sets the maximum time for a connection; 30 seconds by default.
        connect_timeout(timeout: Duration) = timeout;
        /// Sets the maximum silence of the server, before and during an answer. Unlimited by
        /// default: an agent's `timeout` limits the whole call, and a thinking model may be silent
        /// for minutes.
        read_timeout(timeout: Duration) = Some(timeout);
        /// Sets the maximum size of an answer in bytes after decompression; 64 MiB by default. One
        /// event of a stream may have a quarter of that. A longer answer is an error of kind
        /// [`ModelErrorKind::InvalidResponse`].
        answer_limit(bytes: usize) = bytes;
        /// Sets a proxy for all requests, such as `http://127.0.0.1:3128`; the system's proxy by
        /// default.
        proxy(url: impl Into<String>) = Some(url.into());
        /// Requests thoughts from providers that send them only on request: Gemini
        /// (`includeThoughts`) and OpenAI's responses API (summaries, and encrypted thoughts that
        /// are sent back with tool results). `false` by default, because models that do not think
        /// reject the request. Other providers always send thoughts.
        thoughts(yes: bool) = yes;
        /// Sets a function that looks up keys and base URLs, in place of the environment of the
        /// process.
        environment(get: impl Fn(&str) -> Option<String> + Send + Sync + 'static) = Arc::new(get);
    }

    /// Adds a header to each request; a later header replaces an earlier one with the same name.
    /// Error messages omit the values of headers with names such as `authorization` or `x-api-key`.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into().into()));
        self
    }

    /// Creates the provider. No request is sent.
    ///
    /// # Errors
    /// Fails with [`ModelErrorKind::InvalidRequest`] if the base URL or the proxy is not a URL, and
    /// with [`ModelErrorKind::Other`] if TLS cannot be set up.
    pub fn build(self) -> Result<Genai, ModelError> {
        if let Some(url) = &self.base_url {
            complete(
                self.adapter.map_or(AdapterKind::OpenAI, Adapter::kind),
                url,
                "base_url",
            )?;
        }
        if let Some(url) = &self.proxy {
            // The URL is not shown because it may contain a password.
            WebConfig::default().with_all_proxy_url(url).map_err(|_| {
                ModelError::new(
                    ModelErrorKind::InvalidRequest,
                    "the address in `proxy` is not a URL",
                )
                .with_help("write a URL such as `http://127.0.0.1:3128`")
            })?;
        }
        let clients = self
            .clients()
            .map_err(|cause| ModelError::new(ModelErrorKind::Other, cause))?;
        Ok(Genai {
            settings: Arc::new(self),
            clients: Ok(clients),
        })
    }

    fn clients(&self) -> Result<Clients, String> {
        let mut web = WebConfig::default().with_connect_timeout(self.connect_timeout);
        web.read_timeout = self.read_timeout;
        if let Some(url) = &self.proxy {
            web = web
                .with_all_proxy_url(url)
                .map_err(|error| error.to_string())?;
        }
        let http = web
            .apply_to_builder(reqwest::Client::builder())
            .redirect(Policy::none())
            .build();
        // genai's client accepts no TLS certificate. It reaches only the relay, by plain HTTP: a
        // request that genai sends to a provider directly fails.
        let local = reqwest::Client::builder()
            .tls_certs_only([])
            .no_proxy()
            .no_gzip()
            .redirect(Policy::none())
            .pool_max_idle_per_host(0)
            .build();
        let genai = Client::builder()
            .with_reqwest(local.map_err(|error| error.to_string())?)
            .build()
            .map_err(|error| error.to_string())?;
        let client = http.map_err(|error| error.to_string())?;
        Ok(Clients {
            genai,
            http: Http {
                client,
                limit: self.answer_limit,
            },
        })
    }

    fn variable(&self, name: &str) -> Option<String> {
        (self.environment)(name).filter(|value| !value.trim().is_empty())
    }

    fn key(&self, kind: AdapterKind) -> Option<SecretString> {
        if let Some(key) = &self.api_key {
            return Some(key.clone());
        }
        if let AdapterKind::Custom(n) = kind {
            return self
                .variable(&format!("GENAI_{n}_API_KEY"))
                .map(SecretString::from);
        }
        key_variables(kind)
            .iter()
            .find_map(|name| self.variable(name))
            .map(|key| key.trim().into())
    }
}

impl fmt::Debug for GenaiBuilder {
    /// Omits keys, headers, and credentials of URLs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GenaiBuilder")
            .field("adapter", &self.adapter)
            .field("base_url", &self.base_url.as_deref().map(redact_url))
            .field("connect_timeout", &self.connect_timeout)
            .field("read_timeout", &self.read_timeout)
            .field("answer_limit", &self.answer_limit)
            .field("proxy", &self.proxy.as_deref().map(redact_url))
            .field("thoughts", &self.thoughts)
            .finish_non_exhaustive()
    }
}

/// Returns the environment variables that may hold the key, the usual one first.
fn key_variables(kind: AdapterKind) -> &'static [&'static str] {
    match kind {
        // Google's own SDKs read both variables.
        AdapterKind::Gemini | AdapterKind::GeminiIx => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        AdapterKind::OpenAI | AdapterKind::OpenAIResp => &["OPENAI_API_KEY"],
        AdapterKind::Anthropic => &["ANTHROPIC_API_KEY"],
        kind => match AdapterKind::all().iter().position(|one| *one == kind) {
            Some(at) => KEYS.get(at).map_or(&[], Option::as_slice),
            None => &[],
        },
    }
}

static KEYS: LazyLock<Vec<Option<&'static str>>> = LazyLock::new(|| {
    AdapterKind::all()
        .iter()
        .map(AdapterKind::default_key_env_name)
        .collect()
});

fn system_proxies() -> impl Iterator<Item = String> {
    [
        "HTTP_PROXY",
        "http_proxy",
        "HTTPS_PROXY",
        "https_proxy",
        "ALL_PROXY",
        "all_proxy",
    ]
    .into_iter()
    .filter_map(|name| std::env::var(name).ok())
}

/// Returns genai's URL of the provider. genai's method is async only for resolvers, which are not
/// used here.
fn default_base_url(client: &Client, kind: AdapterKind, name: &str) -> Result<String, ModelError> {
    if let Some(url) = namespace_base_url(name) {
        return Ok(url.to_owned());
    }
    let target = client
        .resolve_service_target(ModelIden::new(kind, name))
        .now_or_never();
    let url = match &target {
        Some(Ok(target)) => target.endpoint.base_url(),
        _ => "",
    };
    if url.is_empty() {
        let error = ModelError::new(
            ModelErrorKind::InvalidRequest,
            format!("no base URL for `{name}`"),
        );
        return Err(match kind {
            AdapterKind::Custom(n) => error.with_help(format!("set `GENAI_{n}_ENDPOINT`")),
            _ => error.with_help("set it with `Genai::builder().base_url(...)`"),
        });
    }
    Ok(url.to_owned())
}
