//! Tests of names, keys, base URLs and headers.

use super::*;
use adk_build::model::ModelErrorKind as Kind;
use adk_genai::Adapter;
use std::collections::HashMap;

/// Returns a provider that reads only these environment variables.
fn within(variables: &[(&str, &str)]) -> Genai {
    let variables: HashMap<String, String> = variables
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_string()))
        .collect();
    Genai::builder()
        .environment(move |name| variables.get(name).cloned())
        .build()
        .expect("the settings are right")
}

#[test]
fn a_missing_key_is_an_error_before_any_call() {
    for (name, variable) in [
        (OPENAI, "OPENAI_API_KEY"),
        (RESPONSES, "OPENAI_API_KEY"),
        (ANTHROPIC, "ANTHROPIC_API_KEY"),
        (GEMINI, "`GEMINI_API_KEY` or `GOOGLE_API_KEY`"),
        ("groq::llama", "GROQ_API_KEY"),
    ] {
        for genai in [within(&[]), within(&[(variable, "  ")])] {
            let error = genai.get(name).unwrap_err();
            assert_eq!(error.kind(), Kind::MissingKey, "{error}");
            assert!(
                error.to_string().contains(variable) && error.to_string().contains(name),
                "{error}"
            );
        }
    }
    assert!(within(&[("GOOGLE_API_KEY", "k")]).get(GEMINI).is_ok());
    assert!(within(&[]).get(OLLAMA).is_ok());
}

#[test]
fn an_unknown_name_is_an_error_before_any_call() {
    let error = within(&[]).get("llama3.2").unwrap_err();
    assert_eq!(error.kind(), Kind::UnknownModel);
    assert!(
        error.to_string().contains("`ollama::llama3.2` asks Ollama"),
        "{error}"
    );
    // A fixed adapter accepts any name.
    let genai = Genai::builder()
        .adapter(Adapter::OPENAI)
        .base_url("http://127.0.0.1:1/v1")
        .build()
        .unwrap();
    assert_eq!(genai.get("llama3.2").unwrap().adapter(), Adapter::OPENAI);
    assert_eq!(genai.get("").unwrap_err().kind(), Kind::UnknownModel);
}

#[test]
fn addresses_come_from_settings_environment_or_provider() {
    let keys = [
        ("OPENAI_API_KEY", "k"),
        ("ANTHROPIC_API_KEY", "k"),
        ("GEMINI_API_KEY", "k"),
        ("ZAI_API_KEY", "k"),
    ];
    let plain = within(&keys);
    for (name, url) in [
        (OPENAI, "https://api.openai.com/v1/"),
        (ANTHROPIC, "https://api.anthropic.com/v1/"),
        (GEMINI, "https://generativelanguage.googleapis.com/v1beta/"),
        (OLLAMA, "http://localhost:11434/"),
        ("glm-4.6", "https://api.z.ai/api/paas/v4/"),
    ] {
        assert_eq!(plain.get(name).unwrap().base_url(), url);
    }
    let mut all = keys.to_vec();
    all.extend([
        ("OPENAI_BASE_URL", "http://127.0.0.1:4010/v1"),
        ("ANTHROPIC_BASE_URL", "http://127.0.0.1:4010"),
        ("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:4010"),
        ("OLLAMA_HOST", "0.0.0.0:4010"),
    ]);
    let moved = within(&all);
    for (name, url) in [
        (OPENAI, "http://127.0.0.1:4010/v1/"),
        (RESPONSES, "http://127.0.0.1:4010/v1/"),
        (ANTHROPIC, "http://127.0.0.1:4010/v1/"),
        (GEMINI, "http://127.0.0.1:4010/v1beta/"),
        (OLLAMA, "http://127.0.0.1:4010/"),
    ] {
        assert_eq!(moved.get(name).unwrap().base_url(), url);
    }
    let custom = within(&[
        ("GENAI_1_ENDPOINT", "http://127.0.0.1:4010/v1"),
        ("OPENAI_API_KEY", "k"),
    ]);
    assert_eq!(
        custom.get("genai_1::gemma").unwrap().base_url(),
        "http://127.0.0.1:4010/v1/"
    );
    let error = within(&[]).get("genai_1::gemma").unwrap_err();
    assert!(error.to_string().contains("GENAI_1_ENDPOINT"), "{error}");
    // A server on this machine needs no key; other servers do.
    assert!(
        within(&[("OPENAI_BASE_URL", "http://127.0.0.1:4010")])
            .get(OPENAI)
            .is_ok()
    );
    let error = within(&[("OPENAI_BASE_URL", "https://gate.example/v1")])
        .get(OPENAI)
        .unwrap_err();
    assert_eq!(error.kind(), Kind::MissingKey);
    let error = within(&[("OPENAI_BASE_URL", "gate.example"), ("OPENAI_API_KEY", "k")])
        .get(OPENAI)
        .unwrap_err();
    assert_eq!(error.kind(), Kind::InvalidRequest, "{error}");
    assert!(Genai::builder().base_url("nonsense").build().is_err());
    assert!(Genai::builder().proxy("::").build().is_err());
}

#[tokio::test]
async fn key_and_headers_are_sent_in_each_format() {
    let server = WireServer::start([Reply::text("ok").forever()]).await;
    for (name, header, value) in [
        (OPENAI, "authorization", format!("Bearer {KEY}")),
        (RESPONSES, "authorization", format!("Bearer {KEY}")),
        (ANTHROPIC, "x-api-key", KEY.to_owned()),
        (GEMINI, "x-goog-api-key", KEY.to_owned()),
    ] {
        for stream in [true, false] {
            let genai = Genai::builder()
                .base_url(server.url())
                .api_key(KEY)
                .header("x-team", "writers")
                .build()
                .unwrap();
            ask(&genai.model(name).unwrap(), request("hi", stream)).await;
            let last = server.last();
            assert_eq!(
                (last.header(header), last.header("x-team")),
                (Some(&*value), Some("writers")),
                "{name}"
            );
            assert!(!last.path.contains(KEY));
        }
    }
}

#[tokio::test]
async fn a_key_is_sent_only_to_its_own_provider() {
    let server = WireServer::start([Reply::text("ok").forever()]).await;
    let all = |name: &str| Some(format!("the-key-in-{name}"));
    for (name, variable) in [
        ("glm-4.6", "ZAI_API_KEY"),
        (OPENAI, "OPENAI_API_KEY"),
        ("groq::x", "GROQ_API_KEY"),
    ] {
        let genai = Genai::builder()
            .base_url(server.url())
            .environment(all)
            .build()
            .unwrap();
        ask(&genai.model(name).unwrap(), request("hi", false)).await;
        let sent = format!("Bearer the-key-in-{variable}");
        assert_eq!(
            server.last().header("authorization"),
            Some(&*sent),
            "{name}"
        );
    }
    let bare = Genai::builder()
        .base_url(server.url())
        .environment(|_| None)
        .build()
        .unwrap();
    ask(&bare.model(OPENAI).unwrap(), request("hi", false)).await;
    assert_eq!(server.last().header("authorization"), Some("Bearer none"));
}

#[tokio::test]
async fn every_adapter_accepts_another_base_url() {
    let openai_like = Adapter::all().filter(|adapter| {
        let other = [
            "openai_resp",
            "gemini",
            "gemini_ix",
            "anthropic",
            "minimax",
            "cohere",
            "vertex",
            "bedrock_api",
        ];
        !other.contains(&adapter.name()) && !adapter.name().starts_with("ollama")
    });
    for adapter in openai_like {
        let server = WireServer::start([Reply::text("ok")]).await;
        let genai = Genai::builder()
            .adapter(adapter)
            .base_url(server.url())
            .api_key(KEY)
            .build()
            .unwrap();
        let (_, response) = ask(&genai.model("some-model").unwrap(), request("hi", true)).await;
        assert_eq!(response.content.text(), "ok", "{adapter}");
        assert!(
            server.last().path.ends_with("/chat/completions"),
            "{adapter}: {}",
            server.last().path
        );
        // Fireworks adds a prefix to the name.
        assert!(
            server.last().body["model"]
                .as_str()
                .unwrap()
                .ends_with("some-model"),
            "{adapter}"
        );
    }
}

#[tokio::test]
async fn every_adapter_sends_its_requests_through_the_settings() {
    // The proxy of the settings sees all requests, even those to an address that is built into
    // genai.
    let proxy = WireServer::start([Reply::status(502).forever()]).await;
    let key = |name: &str| name.ends_with("KEY").then(|| KEY.to_owned());
    let genai = Genai::builder()
        .proxy(proxy.url())
        .environment(key)
        .build()
        .unwrap();
    let special = [
        "zai_coding",
        "baidu-coding-openai",
        "baidu-coding-anthropic",
    ];
    let names = Adapter::all()
        .map(Adapter::name)
        .filter(|name| *name != "custom")
        .chain(special);
    let mut seen = 0;
    for name in names {
        // Some adapters need further settings for an address.
        let Ok(model) = genai.model(&format!("{name}::claude-x")) else {
            continue;
        };
        for stream in [true, false] {
            fail(&model, request("hi", stream)).await;
            seen += 1;
            assert_eq!(proxy.requests().len(), seen, "{name} {stream}");
        }
    }
    assert!(seen > 40, "{seen}");
}

#[tokio::test]
async fn the_query_of_an_address_is_sent_with_every_request() {
    let server = WireServer::start([Reply::text("ok").forever()]).await;
    let genai = Genai::builder()
        .base_url(format!("{}/v1?api-version=2", server.url()))
        .build()
        .unwrap();
    for (name, stream) in everywhere() {
        let (_, response) = ask(&genai.model(name).unwrap(), request("hi", stream)).await;
        assert_eq!(response.content.text(), "ok", "{name} {stream}");
        assert!(
            server.last().path.ends_with("api-version=2"),
            "{name}: {}",
            server.last().path
        );
    }
}

#[test]
fn debug_output_contains_no_key() {
    let genai = Genai::builder()
        .api_key(KEY)
        .header("x-secret", KEY)
        .build()
        .unwrap();
    let shown = format!("{genai:?} {:?}", genai.get(OPENAI).unwrap());
    assert!(
        !shown.contains(KEY) && shown.contains("gpt-4o-mini"),
        "{shown}"
    );
}

#[test]
fn the_provider_implements_the_traits_that_a_runner_needs() {
    fn provider<P: adk_build::model::ModelProvider + Default + Clone + std::fmt::Debug>() {}
    provider::<Genai>();
    fn shared<T: Send + Sync + 'static>() {}
    shared::<Genai>();
    shared::<adk_genai::GenaiModel>();
}
