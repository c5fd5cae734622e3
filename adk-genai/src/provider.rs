//! The provider of models, and its settings.

use crate::adapter::Adapter;
use crate::endpoint::{base_url_variable, complete, is_local, namespace_base_url, secrets, shown};
use crate::model::{GenaiModel, Inner};
use crate::names;
use crate::relay::{Http, is_secret};
use adk_core::model::{Model, ModelError, ModelErrorKind, ModelProvider};
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

/// Models of every provider that the `genai` crate knows, by name.
///
/// Without settings it needs nothing but the environment: keys under the providers' own names
/// (`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, `GEMINI_API_KEY` or `GOOGLE_API_KEY`, ...), and base URLs as the
/// providers' own SDKs read them (see the [crate](crate)). The environment is read when a model is asked for.
/// Clones share their connections.
#[derive(Clone)]
pub struct Genai {
    settings: Arc<GenaiBuilder>,
    /// Only a broken TLS set-up fails here; `Default` cannot say so, [`model`](ModelProvider::model) does.
    clients: Result<Clients, String>,
}

#[derive(Clone)]
struct Clients {
    /// Writes requests and reads answers, and speaks to the relay alone.
    genai: Client,
    /// Speaks to the providers.
    http: Http,
}

/// Settings of a [`Genai`]; made by [`Genai::builder`].
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
    /// All providers, with the settings of the environment.
    pub fn new() -> Self {
        let settings = Self::builder();
        let clients = settings.clients();
        Self { settings: Arc::new(settings), clients }
    }

    /// Starts from the defaults of [`Genai::new`].
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

    /// The environment variable with the key for the model of that name; `None` when there is no such model,
    /// or it needs no key. Where a provider has two, the one that is set in the environment of the process.
    ///
    /// Whether a model can be asked at all, also by an address that needs no key, tells [`Genai::get`].
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

    /// The model of that name, as a value of its own type; [`ModelProvider::model`] hides it.
    ///
    /// # Errors
    /// [`ModelErrorKind::UnknownModel`] when no provider has names of that form, [`ModelErrorKind::MissingKey`]
    /// when the provider's key is in neither settings nor environment, [`ModelErrorKind::InvalidRequest`] for
    /// a base URL that is none. Nothing is sent.
    pub fn get(&self, name: &str) -> Result<GenaiModel, ModelError> {
        let settings = &self.settings;
        let clients = self.clients.clone().map_err(|cause| ModelError::new(ModelErrorKind::Other, cause))?;
        let mut kind = match settings.adapter {
            Some(adapter) if !name.is_empty() => adapter.kind(),
            _ => names::resolve(name)?,
        };
        let key = settings.key(kind);
        let own = settings.base_url.clone().map(|url| ("base_url".to_owned(), url));
        let given = own.clone().or_else(|| {
            let variable = match kind {
                AdapterKind::Custom(n) => format!("GENAI_{n}_ENDPOINT"),
                _ => base_url_variable(kind)?.to_owned(),
            };
            settings.variable(&variable).map(|url| (variable, url))
        });
        let base_url = match &given {
            Some((from, given)) => {
                // genai always sends these to the provider's own address. They speak OpenAI's format.
                if matches!(kind, AdapterKind::Zai | AdapterKind::Baidu) {
                    kind = AdapterKind::OpenAI;
                }
                complete(kind, given, from)?
            }
            None => default_base_url(&clients.genai, kind, name)?,
        };
        // Servers on this machine, and those that the program names itself, may need none.
        let optional = own.is_some() || is_local(&base_url);
        if key.is_none()
            && !optional
            && let [first, ..] = key_variables(kind)
        {
            let names = key_variables(kind).join("` or `");
            let message = format!(
                "{kind} (model `{name}`): no key, since the environment variable `{names}` is not set",
                kind = kind.as_lower_str()
            );
            return Err(
                ModelError::new(ModelErrorKind::MissingKey, message).with_help(format!("set `{first}`"))
            );
        }
        let headers = settings.headers.iter().filter(|(name, _)| is_secret(name)).map(|(_, value)| value);
        let proxies = settings.proxy.iter().cloned().chain(system_proxies());
        let mut secrets: Vec<_> = key.iter().chain(headers).cloned().collect();
        let in_addresses = proxies.chain([base_url.clone()]).flat_map(|url| self::secrets(&url));
        secrets.extend(in_addresses.map(SecretString::from));
        // One may be a part of another.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.expose_secret().len()));
        Ok(GenaiModel::new(Inner {
            client: clients.genai,
            http: clients.http,
            sends_elsewhere: given.is_none() && matches!(kind, AdapterKind::Zai | AdapterKind::Baidu),
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
        /// Every name goes to this adapter, whatever it looks like. By default the name decides.
        adapter(adapter: Adapter) = Some(adapter);
        /// Where to send requests, in place of the provider's own address and of the environment's. See the
        /// [crate](crate) for how it is completed. With it a key is optional. Without an [adapter](Self::adapter)
        /// it holds for all of them, as for a gateway that speaks every format.
        base_url(url: impl Into<String>) = Some(url.into());
        /// The key, in place of the environment's. Without an [adapter](Self::adapter) it is sent to whatever
        /// provider a name leads to.
        api_key(key: impl Into<String>) = Some(key.into().into());
        /// The longest wait for a connection; 30 seconds by default.
        connect_timeout(timeout: Duration) = timeout;
        /// The longest silence of the server, before and inside of an answer. None by default: an agent's
        /// `timeout` limits the whole call, and a model that thinks may be silent for minutes.
        read_timeout(timeout: Duration) = Some(timeout);
        /// The most bytes of an answer, counted after decompression; 64 MiB by default. One event of a stream may
        /// take a quarter of it. A longer answer is an error of kind [`ModelErrorKind::InvalidResponse`].
        answer_limit(bytes: usize) = bytes;
        /// A proxy for all requests, such as `http://127.0.0.1:3128`; by default that of the system.
        proxy(url: impl Into<String>) = Some(url.into());
        /// Whether to ask for the model's thinking where it has to be asked for: Gemini (`includeThoughts`) and
        /// OpenAI's responses (summaries, and the encrypted thoughts that go back with tool results). `false` by
        /// default, since models that do not think refuse the request. The others send it unasked.
        thoughts(yes: bool) = yes;
        /// Where to look up keys and base URLs, in place of the environment of the process.
        environment(get: impl Fn(&str) -> Option<String> + Send + Sync + 'static) = Arc::new(get);
    }

    /// A header for every request; the last of a name counts. A value that goes
    /// by a name such as `authorization` or `x-api-key` is left out of error messages.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into().into()));
        self
    }

    /// Makes the provider. No request is sent.
    ///
    /// # Errors
    /// [`ModelErrorKind::InvalidRequest`] when the base URL or the proxy is no URL, [`ModelErrorKind::Other`]
    /// when TLS cannot be set up.
    pub fn build(self) -> Result<Genai, ModelError> {
        if let Some(url) = &self.base_url {
            complete(self.adapter.map_or(AdapterKind::OpenAI, Adapter::kind), url, "base_url")?;
        }
        if let Some(url) = &self.proxy {
            // It may hold a password, so it is not shown.
            WebConfig::default().with_all_proxy_url(url).map_err(|_| {
                ModelError::new(ModelErrorKind::InvalidRequest, "the address in `proxy` is no URL")
                    .with_help("write one such as `http://127.0.0.1:3128`")
            })?;
        }
        let clients = self.clients().map_err(|cause| ModelError::new(ModelErrorKind::Other, cause))?;
        Ok(Genai { settings: Arc::new(self), clients: Ok(clients) })
    }

    fn clients(&self) -> Result<Clients, String> {
        let mut web = WebConfig::default().with_connect_timeout(self.connect_timeout);
        web.read_timeout = self.read_timeout;
        if let Some(url) = &self.proxy {
            web = web.with_all_proxy_url(url).map_err(|error| error.to_string())?;
        }
        let http = web.apply_to_builder(reqwest::Client::builder()).redirect(Policy::none()).build();
        // It trusts no server, so that a request which an adapter sends past the relay fails.
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
        Ok(Clients { genai, http: Http { client, limit: self.answer_limit } })
    }

    fn variable(&self, name: &str) -> Option<String> {
        (self.environment)(name).filter(|value| !value.trim().is_empty())
    }

    fn key(&self, kind: AdapterKind) -> Option<SecretString> {
        if let Some(key) = &self.api_key {
            return Some(key.clone());
        }
        if let AdapterKind::Custom(n) = kind {
            return self.variable(&format!("GENAI_{n}_API_KEY")).map(SecretString::from);
        }
        key_variables(kind).iter().find_map(|name| self.variable(name)).map(|key| key.trim().into())
    }
}

impl fmt::Debug for GenaiBuilder {
    /// Without keys, headers, and the credentials of addresses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GenaiBuilder")
            .field("adapter", &self.adapter)
            .field("base_url", &self.base_url.as_deref().map(shown))
            .field("connect_timeout", &self.connect_timeout)
            .field("read_timeout", &self.read_timeout)
            .field("answer_limit", &self.answer_limit)
            .field("proxy", &self.proxy.as_deref().map(shown))
            .field("thoughts", &self.thoughts)
            .finish_non_exhaustive()
    }
}

/// Where the key may be, the first being the usual one.
fn key_variables(kind: AdapterKind) -> &'static [&'static str] {
    match kind {
        // Google's own SDKs read both.
        AdapterKind::Gemini | AdapterKind::GeminiIx => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        AdapterKind::OpenAI | AdapterKind::OpenAIResp => &["OPENAI_API_KEY"],
        AdapterKind::Anthropic => &["ANTHROPIC_API_KEY"],
        kind => match AdapterKind::all().iter().position(|one| *one == kind) {
            Some(at) => KEYS.get(at).map_or(&[], Option::as_slice),
            None => &[],
        },
    }
}

static KEYS: LazyLock<Vec<Option<&'static str>>> =
    LazyLock::new(|| AdapterKind::all().iter().map(AdapterKind::default_key_env_name).collect());

fn system_proxies() -> impl Iterator<Item = String> {
    ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok())
}

/// genai's own address of the provider. Its method is async for resolvers, and there are none.
fn default_base_url(client: &Client, kind: AdapterKind, name: &str) -> Result<String, ModelError> {
    if let Some(url) = namespace_base_url(name) {
        return Ok(url.to_owned());
    }
    let target = client.resolve_service_target(ModelIden::new(kind, name)).now_or_never();
    let url = match &target {
        Some(Ok(target)) => target.endpoint.base_url(),
        _ => "",
    };
    if url.is_empty() {
        let error = ModelError::new(ModelErrorKind::InvalidRequest, format!("no base URL for `{name}`"));
        return Err(match kind {
            AdapterKind::Custom(n) => error.with_help(format!("set `GENAI_{n}_ENDPOINT`")),
            _ => error.with_help("set it with `Genai::builder().base_url(...)`"),
        });
    }
    Ok(url.to_owned())
}
