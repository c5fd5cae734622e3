//! [`Page`]: the web page, one file, which uses only the API.

use crate::app::App;
use crate::protocol::Protocol;
use adk_core::Result;
use axum::Router;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use axum::response::IntoResponse;
use axum::routing::get;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

const PAGE: &str = include_str!("page.html");

/// The placeholder of the nonce in the file.
const NONCE: &str = "NONCE";

/// The web page.
#[derive(Debug)]
pub(crate) struct Page;

impl Protocol for Page {
    fn routes(&self, _: &Arc<App>) -> Result<Router<Arc<App>>> {
        Ok(Router::new().route("/", get(page)))
    }

    /// The page requests all data of users from the API.
    fn is_public(&self) -> bool {
        true
    }
}

/// Returns the page. Its policy allows only its own style and script, and requests to this server.
async fn page() -> impl IntoResponse {
    // The hash keys of the standard library are random.
    let [one, two] = [0, 1].map(|part| RandomState::new().hash_one(part));
    let nonce = format!("{one:016x}{two:016x}");
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; \
         connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'"
    );
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
        (CONTENT_SECURITY_POLICY, policy),
        (CACHE_CONTROL, "no-store".to_owned()),
        (REFERRER_POLICY, "no-referrer".to_owned()),
    ];
    (headers, PAGE.replace(NONCE, &nonce))
}
