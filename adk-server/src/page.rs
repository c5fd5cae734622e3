//! A page for people: one file, which asks the API alone.

use crate::serve::App;
use axum::Router;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use axum::response::IntoResponse;
use axum::routing::get;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

const PAGE: &str = include_str!("page.html");

/// What the file has in place of the nonce.
const NONCE: &str = "NONCE";

pub(crate) fn router() -> Router<Arc<App>> {
    Router::new().route("/", get(page))
}

/// The page, with a policy by which nothing but its own style and script counts, and nothing but this server is asked.
async fn page() -> impl IntoResponse {
    // The keys of the standard library's maps are random.
    let [one, two] = [0, 1].map(|part| RandomState::new().hash_one(part));
    let nonce = format!("{one:016x}{two:016x}");
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; img-src data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8".to_owned()),
        (CONTENT_SECURITY_POLICY, policy),
        (CACHE_CONTROL, "no-store".to_owned()),
        (REFERRER_POLICY, "no-referrer".to_owned()),
    ];
    (headers, PAGE.replace(NONCE, &nonce))
}
