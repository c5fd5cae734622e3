//! Tests of redirects, which would send keys and prompts to another host.

use super::*;
use adk_build::model::ModelErrorKind as Kind;

const STATUSES: [u16; 5] = [301, 302, 303, 307, 308];

#[tokio::test]
async fn a_redirect_is_an_error_and_sends_nothing_to_the_other_host() {
    for (name, stream) in everywhere() {
        for status in STATUSES {
            let other = WireServer::start([Reply::text("stolen").forever()]).await;
            let host = other.url();
            let location = format!(
                "{}/steal?key={KEY}",
                host.replace("://", &format!("://me:{KEY}@"))
            );
            let server =
                WireServer::start([Reply::status(status).header("location", &location)]).await;
            let (pieces, error) = fail(&model(&server, name), request("hi", stream)).await;
            let at = format!("{name} {stream} {status}: {error}");
            assert_eq!(error.kind(), Kind::InvalidResponse, "{at}");
            assert!(!error.is_retryable() && pieces.is_empty(), "{at}");
            let text = error.to_string();
            for part in [
                name,
                &format!("redirect ({status})"),
                &format!("`{host}`"),
                "base_url",
            ] {
                assert!(text.contains(part), "{at}");
            }
            assert!(!format!("{error} {error:?}").contains(KEY), "{at}");
            assert_eq!(
                (server.requests().len(), other.requests().len()),
                (1, 0),
                "{at}"
            );
        }
    }
}

#[tokio::test]
async fn a_redirect_within_the_host_or_to_nowhere_is_an_error_as_well() {
    for (name, stream) in everywhere() {
        let server = WireServer::start([
            Reply::status(308).header("location", "/v2/elsewhere"),
            Reply::status(307).header("location", "http://["),
            Reply::status(302),
        ])
        .await;
        let model = model(&server, name);
        let (_, within) = fail(&model, request("hi", stream)).await;
        assert!(
            within.to_string().contains(&format!("`{}`", server.url())),
            "{name} {stream}: {within}"
        );
        for status in [307, 302] {
            let (_, error) = fail(&model, request("hi", stream)).await;
            assert_eq!(
                error.kind(),
                Kind::InvalidResponse,
                "{name} {stream}: {error}"
            );
            assert!(
                error.to_string().contains(&status.to_string()),
                "{name} {stream}: {error}"
            );
        }
        assert_eq!(server.requests().len(), 3, "{name} {stream}");
    }
}
