//! Base URLs: lookup in the environment, completion, and removal of secrets.

use crate::relay::is_secret;
use adk_model::model::{ModelError, ModelErrorKind};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use genai::adapter::AdapterKind;

/// Returns the environment variable for the base URL, as the provider's own SDK names it.
pub(crate) fn base_url_variable(kind: AdapterKind) -> Option<&'static str> {
    match kind {
        AdapterKind::OpenAI | AdapterKind::OpenAIResp => Some("OPENAI_BASE_URL"),
        AdapterKind::Anthropic => Some("ANTHROPIC_BASE_URL"),
        AdapterKind::Gemini | AdapterKind::GeminiIx => Some("GOOGLE_GEMINI_BASE_URL"),
        AdapterKind::Ollama => Some("OLLAMA_HOST"),
        _ => None,
    }
}

/// Returns the base URL of a special namespace. genai knows the URL, but does not expose it.
pub(crate) fn namespace_base_url(model: &str) -> Option<&'static str> {
    match model.split_once("::")?.0 {
        "zai_coding" => Some("https://api.z.ai/api/coding/paas/v4/"),
        "baidu-coding-openai" => Some("https://qianfan.baidubce.com/v2/coding/"),
        "baidu-coding-anthropic" => Some("https://qianfan.baidubce.com/anthropic/coding/"),
        _ => None,
    }
}

/// Completes a base URL for genai: with the version in its path, and a slash at its end.
///
/// # Errors
/// Fails if the text is not an `http` or `https` URL. The error names the source of the URL, but
/// not the URL itself, which may contain credentials.
pub(crate) fn complete(kind: AdapterKind, given: &str, from: &str) -> Result<String, ModelError> {
    let given = given.trim();
    let (url, query) = given
        .split_once('?')
        .map_or((given, None), |(url, query)| (url, Some(query)));
    let mut url = url.trim_end_matches('/').to_owned();
    if kind == AdapterKind::Ollama {
        url = ollama_host(&url);
    }
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"))
        .unwrap_or_default();
    if rest.is_empty() || rest.starts_with('/') || rest.contains(char::is_whitespace) {
        let message = format!("the base URL in `{from}` is not an `http` or `https` URL");
        let error = ModelError::new(ModelErrorKind::InvalidRequest, message);
        return Err(error.with_help("write a URL such as `http://127.0.0.1:8000/v1`"));
    }
    let path = rest.split_once('/').map(|(_, path)| path);
    let last = path.and_then(|path| path.rsplit('/').next());
    let append = match kind {
        // The SDKs of these providers append the version to any base URL.
        AdapterKind::Anthropic | AdapterKind::MiniMax => {
            (!last.is_some_and(is_version)).then_some("v1")
        }
        AdapterKind::Gemini | AdapterKind::GeminiIx => {
            (!last.is_some_and(is_version)).then_some("v1beta")
        }
        // For these adapters, the user gives the whole path.
        AdapterKind::Vertex
        | AdapterKind::BedrockApi
        | AdapterKind::Ollama
        | AdapterKind::OllamaCloud => None,
        // OpenAI's SDK expects the version in the base URL, so only a URL without a path is
        // incomplete.
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

/// Reports whether a path segment is a version, such as `v1`, `v1beta` or `v2`.
fn is_version(segment: &str) -> bool {
    let digits = segment.strip_prefix('v').unwrap_or_default();
    digits.starts_with(|c: char| c.is_ascii_digit())
}

/// Completes Ollama's variable, which may lack the scheme, the port or the host. Removes `/v1` or
/// `/api` at its end, which other tools require.
fn ollama_host(given: &str) -> String {
    let given = given
        .strip_suffix("/v1")
        .or_else(|| given.strip_suffix("/api"))
        .unwrap_or(given);
    let (scheme, rest) = given.split_once("://").unwrap_or(("http", given));
    let (authority, path) = rest
        .split_once('/')
        .map_or((rest, String::new()), |(a, p)| (a, format!("/{p}")));
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    };
    // A server may bind to these addresses, but a client cannot connect to them.
    let host = if matches!(host, "" | "0.0.0.0" | "[::]") {
        "127.0.0.1"
    } else {
        host
    };
    match (port, scheme) {
        (Some(port), _) => format!("{scheme}://{host}:{port}{path}"),
        (None, "https") => format!("https://{host}{path}"),
        (None, _) => format!("{scheme}://{host}:11434{path}"),
    }
}

/// Reports whether a URL leads to this machine, which requires no key.
pub(crate) fn is_local(url: &str) -> bool {
    let authority = split(url).1;
    let authority = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    let host = match authority.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host == "localhost"
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|ip| ip.is_loopback() || ip.is_unspecified())
}

/// Splits a URL into scheme with `://`, authority, and rest.
fn split(url: &str) -> (&str, &str, &str) {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..]
        .find(['/', '?', '#'])
        .map_or(url.len(), |at| start + at);
    (&url[..start], &url[start..end], &url[end..])
}

/// Returns a URL without credentials and query, for output.
pub(crate) fn redact_url(url: &str) -> String {
    let (scheme, authority, rest) = split(url);
    let authority = match authority.rsplit_once('@') {
        Some((_, host)) => format!("***@{host}"),
        None => authority.to_owned(),
    };
    match rest.split_once('?') {
        Some((path, _)) => format!("{scheme}{authority}{path}?***"),
        None => format!("{scheme}{authority}{rest}"),
    }
}

/// Returns the secrets of a URL, in each form in which a server may repeat them.
pub(crate) fn secrets(url: &str) -> Vec<String> {
    let (_, authority, rest) = split(url);
    let mut secrets = Vec::new();
    if let Some((user, _)) = authority.rsplit_once('@') {
        // In a URL without a password, the user name may be the API key.
        secrets.push(
            user.split_once(':')
                .map_or(user, |(_, password)| password)
                .to_owned(),
        );
        let pair = if user.contains(':') {
            user.to_owned()
        } else {
            format!("{user}:")
        };
        // The value of the authorization header, which the HTTP client derives from user name and
        // password.
        secrets.push(STANDARD.encode(unescape(&pair)));
    }
    let query = rest.split_once('?').map_or("", |(_, query)| query);
    let parameters = query
        .split('&')
        .filter_map(|parameter| parameter.split_once('='));
    secrets.extend(
        parameters
            .filter(|(name, _)| is_secret(name))
            .map(|(_, value)| value.to_owned()),
    );
    let unescaped: Vec<_> = secrets.iter().map(|secret| unescape(secret)).collect();
    secrets.extend(unescaped);
    secrets
}

/// Decodes percent escapes such as `%40`.
fn unescape(text: &str) -> String {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let [byte, tail @ ..] = rest {
        let hex = tail
            .get(..2)
            .filter(|_| *byte == b'%')
            .and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(escaped) => {
                out.push(escaped);
                rest = &tail[2..];
            }
            None => {
                out.push(*byte);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use AdapterKind::*;

    #[test]
    fn a_version_is_appended_like_the_sdk_of_the_provider() {
        for (kind, given, whole) in [
            (OpenAI, "http://127.0.0.1:4010", "http://127.0.0.1:4010/v1/"),
            (
                OpenAI,
                "http://127.0.0.1:4010/",
                "http://127.0.0.1:4010/v1/",
            ),
            (
                OpenAI,
                "http://127.0.0.1:4010/v1",
                "http://127.0.0.1:4010/v1/",
            ),
            (OpenAI, "https://gate/openai", "https://gate/openai/"),
            (
                OpenAIResp,
                "https://az/v1/?api-version=2",
                "https://az/v1/?api-version=2",
            ),
            (Groq, "http://127.0.0.1:4010", "http://127.0.0.1:4010/v1/"),
            (
                Anthropic,
                "http://127.0.0.1:4010",
                "http://127.0.0.1:4010/v1/",
            ),
            (
                Anthropic,
                "http://127.0.0.1:4010/v1",
                "http://127.0.0.1:4010/v1/",
            ),
            (
                Anthropic,
                "https://gate/anthropic",
                "https://gate/anthropic/v1/",
            ),
            (
                Gemini,
                "http://127.0.0.1:4010",
                "http://127.0.0.1:4010/v1beta/",
            ),
            (
                Gemini,
                "http://127.0.0.1:4010/v1",
                "http://127.0.0.1:4010/v1/",
            ),
            (
                Gemini,
                "http://127.0.0.1:4010/v1beta/",
                "http://127.0.0.1:4010/v1beta/",
            ),
            (Ollama, "127.0.0.1", "http://127.0.0.1:11434/"),
            (Ollama, "0.0.0.0:1234", "http://127.0.0.1:1234/"),
            (Ollama, ":1234", "http://127.0.0.1:1234/"),
            (Ollama, "http://127.0.0.1:4010/v1", "http://127.0.0.1:4010/"),
            (Ollama, "https://box.example", "https://box.example/"),
        ] {
            assert_eq!(
                complete(kind, given, "here").unwrap(),
                whole,
                "{kind} {given}"
            );
        }
    }

    #[test]
    fn an_invalid_url_is_refused() {
        for given in [
            "",
            "127.0.0.1:4010",
            "ftp://x",
            "http://",
            "http:///v1",
            "http://a b",
        ] {
            let error = complete(OpenAI, given, "here").unwrap_err();
            assert_eq!(error.kind(), ModelErrorKind::InvalidRequest, "{given}");
        }
    }

    #[test]
    fn output_of_a_url_contains_no_credentials() {
        for (url, text) in [
            ("https://api.example/v1/", "https://api.example/v1/"),
            (
                "https://me:pass@api.example:81/v1/?key=x",
                "https://***@api.example:81/v1/?***",
            ),
            ("http://a:b@c@host", "http://***@host"),
            ("me:pass@proxy", "***@proxy"),
        ] {
            assert_eq!(redact_url(url), text);
        }
        let found = secrets("http://me:p%40ss@host/?api_key=k%2B1&version=2");
        for secret in ["p%40ss", "p@ss", "k%2B1", "k+1", "bWU6cEBzcw=="] {
            assert!(found.iter().any(|found| found == secret), "{found:?}");
        }
        assert!(
            !found.iter().any(|found| found == "2" || found == "me"),
            "{found:?}"
        );
    }

    #[test]
    fn local_urls_are_recognized() {
        assert!(
            [
                "http://127.0.0.1:1/v1",
                "http://localhost/",
                "http://[::1]:80/"
            ]
            .iter()
            .all(|url| is_local(url))
        );
        assert!(!is_local("https://localhost.example/"));
    }
}
