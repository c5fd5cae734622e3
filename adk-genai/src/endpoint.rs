//! Base URLs: from the environment, and made whole.

use adk_core::model::{ModelError, ModelErrorKind};
use genai::adapter::AdapterKind;

/// The environment variable that holds another base URL, as the provider's own SDK names it.
pub(crate) fn base_url_variable(kind: AdapterKind) -> Option<&'static str> {
    match kind {
        AdapterKind::OpenAI | AdapterKind::OpenAIResp => Some("OPENAI_BASE_URL"),
        AdapterKind::Anthropic => Some("ANTHROPIC_BASE_URL"),
        AdapterKind::Gemini | AdapterKind::GeminiIx => Some("GOOGLE_GEMINI_BASE_URL"),
        AdapterKind::Ollama => Some("OLLAMA_HOST"),
        _ => None,
    }
}

/// The base URL as genai wants it: with the version in its path, and a slash at its end.
///
/// # Errors
/// When it is no `http` or `https` URL.
pub(crate) fn complete(kind: AdapterKind, given: &str) -> Result<String, ModelError> {
    let given = given.trim();
    let (url, query) = given.split_once('?').map_or((given, None), |(url, query)| (url, Some(query)));
    let mut url = url.trim_end_matches('/').to_owned();
    if kind == AdapterKind::Ollama {
        url = ollama_host(&url);
    }
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")).unwrap_or_default();
    if rest.is_empty() || rest.starts_with('/') || rest.contains(char::is_whitespace) {
        let error =
            ModelError::new(ModelErrorKind::InvalidRequest, format!("the base URL `{given}` is none"));
        return Err(error.with_help("write one such as `http://127.0.0.1:8000/v1`"));
    }
    let path = rest.split_once('/').map(|(_, path)| path);
    let last = path.and_then(|path| path.rsplit('/').next());
    let append = match kind {
        // These SDKs take a base URL without the version and add it, behind any path.
        AdapterKind::Anthropic | AdapterKind::MiniMax => (!last.is_some_and(is_version)).then_some("v1"),
        AdapterKind::Gemini | AdapterKind::GeminiIx => (!last.is_some_and(is_version)).then_some("v1beta"),
        // Here the whole path is the user's.
        AdapterKind::Vertex | AdapterKind::BedrockApi | AdapterKind::Ollama | AdapterKind::OllamaCloud => {
            None
        }
        // OpenAI's SDK takes it with the version; only a bare host cannot be meant.
        _ => path.is_none().then_some("v1"),
    };
    if let Some(version) = append {
        url = format!("{url}/{version}");
    }
    Ok(match query {
        Some(query) => format!("{url}/?{query}"),
        None => format!("{url}/"),
    })
}

/// `v1`, `v1beta`, `v2`.
fn is_version(segment: &str) -> bool {
    let digits = segment.strip_prefix('v').unwrap_or_default();
    digits.starts_with(|c: char| c.is_ascii_digit())
}

/// Ollama's variable may lack the scheme, the port or the host; and `/v1` or `/api` at its end is a habit from
/// other tools.
fn ollama_host(given: &str) -> String {
    let given = given.strip_suffix("/v1").or_else(|| given.strip_suffix("/api")).unwrap_or(given);
    let (scheme, rest) = given.split_once("://").unwrap_or(("http", given));
    let (authority, path) = rest.split_once('/').map_or((rest, String::new()), |(a, p)| (a, format!("/{p}")));
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    };
    // What a server binds to is not what a client can call.
    let host = if matches!(host, "" | "0.0.0.0" | "[::]") { "127.0.0.1" } else { host };
    match (port, scheme) {
        (Some(port), _) => format!("{scheme}://{host}:{port}{path}"),
        (None, "https") => format!("https://{host}{path}"),
        (None, _) => format!("{scheme}://{host}:11434{path}"),
    }
}

/// Whether it points to this machine, where no key is needed.
pub(crate) fn is_local(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host == "localhost"
        || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback() || ip.is_unspecified())
}

#[cfg(test)]
mod tests {
    use super::*;
    use AdapterKind::*;

    #[test]
    fn the_version_is_appended_as_the_sdk_of_the_provider_does() {
        for (kind, given, whole) in [
            (OpenAI, "http://127.0.0.1:4010", "http://127.0.0.1:4010/v1/"),
            (OpenAI, "http://127.0.0.1:4010/", "http://127.0.0.1:4010/v1/"),
            (OpenAI, "http://127.0.0.1:4010/v1", "http://127.0.0.1:4010/v1/"),
            (OpenAI, "https://gate/openai", "https://gate/openai/"),
            (OpenAIResp, "https://az/v1/?api-version=2", "https://az/v1/?api-version=2"),
            (Groq, "http://127.0.0.1:4010", "http://127.0.0.1:4010/v1/"),
            (Anthropic, "http://127.0.0.1:4010", "http://127.0.0.1:4010/v1/"),
            (Anthropic, "http://127.0.0.1:4010/v1", "http://127.0.0.1:4010/v1/"),
            (Anthropic, "https://gate/anthropic", "https://gate/anthropic/v1/"),
            (Gemini, "http://127.0.0.1:4010", "http://127.0.0.1:4010/v1beta/"),
            (Gemini, "http://127.0.0.1:4010/v1", "http://127.0.0.1:4010/v1/"),
            (Gemini, "http://127.0.0.1:4010/v1beta/", "http://127.0.0.1:4010/v1beta/"),
            (Ollama, "127.0.0.1", "http://127.0.0.1:11434/"),
            (Ollama, "0.0.0.0:1234", "http://127.0.0.1:1234/"),
            (Ollama, ":1234", "http://127.0.0.1:1234/"),
            (Ollama, "http://127.0.0.1:4010/v1", "http://127.0.0.1:4010/"),
            (Ollama, "https://box.example", "https://box.example/"),
        ] {
            assert_eq!(complete(kind, given).unwrap(), whole, "{kind} {given}");
        }
    }

    #[test]
    fn what_is_no_url_is_refused() {
        for given in ["", "127.0.0.1:4010", "ftp://x", "http://", "http:///v1", "http://a b"] {
            let error = complete(OpenAI, given).unwrap_err();
            assert_eq!(error.kind(), ModelErrorKind::InvalidRequest, "{given}");
        }
    }

    #[test]
    fn this_machine_is_known() {
        assert!(
            ["http://127.0.0.1:1/v1", "http://localhost/", "http://[::1]:80/"]
                .iter()
                .all(|url| is_local(url))
        );
        assert!(!is_local("https://localhost.example/"));
    }
}
