//! Tests that keys and passwords from all sources are in no text.

use super::*;
use adk_genai::Adapter;

const PASSWORD: &str = "pass-0123456789";
/// A password that is escaped in a URL.
const ESCAPED: &str = "p%40ss-0123456789";

/// Adds a password and a key to a URL.
fn with_secrets(url: &str) -> String {
    format!(
        "{}/v1?key={KEY}",
        url.replace("://", &format!("://me:{PASSWORD}@"))
    )
}

fn hides(text: &str) {
    for secret in [KEY, PASSWORD, ESCAPED, "p@ss-0123456789"] {
        assert!(!text.contains(secret), "{text}");
    }
}

async fn nowhere() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port is free");
    format!(
        "http://{}",
        listener
            .local_addr()
            .expect("a bound socket has an address")
    )
}

#[test]
fn debug_shows_addresses_without_credentials() {
    let builder = Genai::builder()
        .base_url(with_secrets("http://gate.example:81"))
        .proxy(format!("http://me:{PASSWORD}@proxy.example"))
        .api_key(KEY)
        .header("x-secret", KEY);
    let text = format!("{builder:?}");
    hides(&text);
    assert!(text.contains("gate.example:81"), "{text}");
    let genai = builder.build().unwrap();
    for name in ALL {
        let text = format!("{genai:?} {:?}", genai.get(name).unwrap());
        hides(&text);
        assert!(
            text.contains("gate.example:81") && text.contains(name),
            "{text}"
        );
    }
}

#[test]
fn an_invalid_base_url_is_not_shown() {
    for given in [
        format!("ftp://me:{PASSWORD}@host"),
        format!("not a url {KEY}"),
        format!("http://me:{PASSWORD}@ho st"),
    ] {
        let error = Genai::builder()
            .base_url(given.clone())
            .build()
            .unwrap_err();
        hides(&format!("{error} {error:?}"));
        assert!(error.to_string().contains("base_url"), "{error}");
        let from_env = given.clone();
        let genai = Genai::builder()
            .environment(move |name| {
                Some(if name.contains("URL") {
                    from_env.clone()
                } else {
                    "k".into()
                })
            })
            .build()
            .unwrap();
        let error = genai.get(OPENAI).unwrap_err();
        hides(&format!("{error} {error:?}"));
        assert!(error.to_string().contains("OPENAI_BASE_URL"), "{error}");
    }
    let error = Genai::builder()
        .proxy(format!("not a url {PASSWORD}"))
        .build()
        .unwrap_err();
    hides(&format!("{error} {error:?}"));
}

#[tokio::test]
async fn a_failed_connection_shows_no_credentials() {
    let nowhere = nowhere().await;
    for (name, stream) in everywhere() {
        let genai = Genai::builder()
            .base_url(with_secrets(&nowhere))
            .build()
            .unwrap();
        let (_, error) = fail(&genai.model(name).unwrap(), request("hi", stream)).await;
        hides(&format!("{error} {error:?}"));
        let genai = Genai::builder()
            .base_url("http://gate.example")
            .proxy(nowhere.replace("://", &format!("://me:{PASSWORD}@")))
            .build()
            .unwrap();
        let (_, error) = fail(&genai.model(name).unwrap(), request("hi", stream)).await;
        hides(&format!("{error} {error:?}"));
    }
}

#[tokio::test]
async fn credentials_that_the_provider_repeats_are_removed() {
    for (name, stream) in everywhere() {
        // All forms that a server can repeat: as written, decoded, and as the authorization header.
        let message = format!(
            "{PASSWORD} {KEY} {ESCAPED} p@ss-0123456789 bWU6cEBzcy0wMTIzNDU2Nzg5 \
             bWU6cGFzcy0wMTIzNDU2Nzg5"
        );
        let server = WireServer::start([Reply::status(401).message(&message).forever()]).await;
        for password in [PASSWORD, ESCAPED] {
            let url = with_secrets(&server.url()).replace(PASSWORD, password);
            let genai = Genai::builder().base_url(url).build().unwrap();
            let (_, error) = fail(&genai.model(name).unwrap(), request("hi", stream)).await;
            let text = error.to_string();
            let mut hidden = vec![password, KEY];
            match password {
                ESCAPED => hidden.extend(["p@ss-0123456789", "bWU6cEBzcy0wMTIzNDU2Nzg5"]),
                _ => hidden.push("bWU6cGFzcy0wMTIzNDU2Nzg5"),
            }
            for secret in hidden {
                assert!(!text.contains(secret), "{name} {stream}: {text}");
            }
        }
    }
}

#[tokio::test]
async fn the_password_of_the_proxy_is_removed_from_errors_and_sent_to_the_proxy() {
    for (name, stream) in everywhere() {
        let proxy =
            WireServer::start([Reply::status(407).message(&format!("bad {PASSWORD}"))]).await;
        let genai = Genai::builder()
            .base_url("http://gate.example")
            .proxy(proxy.url().replace("://", &format!("://me:{PASSWORD}@")))
            .build()
            .unwrap();
        let (_, error) = fail(&genai.model(name).unwrap(), request("hi", stream)).await;
        hides(&error.to_string());
        assert!(
            error.to_string().contains("bad ***"),
            "{name} {stream}: {error}"
        );
        assert!(
            proxy.last().header("proxy-authorization").is_some(),
            "{name} {stream}"
        );
    }
}

#[tokio::test]
async fn a_key_at_the_end_of_a_shortened_text_is_removed_completely() {
    for (name, stream) in everywhere() {
        for before in [370, 385, 395] {
            let message = format!("{} {KEY}", "p".repeat(before));
            let server = WireServer::start([Reply::status(401).message(&message)]).await;
            let (_, error) = fail(&model(&server, name), request("hi", stream)).await;
            assert!(
                !error.to_string().contains(&KEY[..3]),
                "{name} {stream} {before}: {error}"
            );
        }
    }
}

#[test]
fn a_host_that_is_a_user_name_is_not_this_machine() {
    let genai = Genai::builder()
        .adapter(Adapter::OPENAI)
        .environment(|name| {
            (name == "OPENAI_BASE_URL").then(|| "https://localhost:x@gate.example/v1".to_owned())
        });
    let error = genai.build().unwrap().get("m").unwrap_err();
    assert_eq!(
        error.kind(),
        adk_build::model::ModelErrorKind::MissingKey,
        "{error}"
    );
}
