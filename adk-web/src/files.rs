//! The files of the dev UI, from a folder outside of this crate.

use crate::answer::{Answer, ok};
use adk_core::{Error, ErrorKind};
use adk_server::protocol::{App, Refusal};
use axum::Router;
use axum::extract::{Extension, OriginalUri, Path};
use axum::http::{HeaderValue, header};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use serde_json::json;
use std::path::{Component, PathBuf};
use std::sync::Arc;

const CONFIG: &str = "/dev-ui/assets/config/runtime-config.json";

/// The canonical path of the folder of the dev UI.
#[derive(Clone)]
struct Folder(Option<PathBuf>);

pub(crate) fn router(folder: Option<PathBuf>) -> Router<Arc<App>> {
    Router::new()
        // A relative path also works if the router is nested under a prefix.
        .route("/dev-ui", get(async || Redirect::temporary("dev-ui/")))
        .route("/dev-ui/", get(page))
        .route(CONFIG, get(config))
        .route("/dev-ui/{*file}", get(file))
        .layer(Extension(Folder(folder)))
        .layer(map_response(protect))
}

/// The policy of the dev UI: its own scripts, styles and requests, WebAssembly for its graphs, no
/// other server, and no page around it. The hash allows `this.media='all'`, with which the page
/// loads its style.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval' 'unsafe-hashes' \
    'sha256-MhtPZXr7+LpJUY5qtMutB+qWfQtMaPccfe7QXtCcEYc='; style-src 'self' 'unsafe-inline'; \
    font-src 'self' data:; img-src 'self' data: blob:; media-src 'self' data: blob:; \
    connect-src 'self'; worker-src 'self' blob:; frame-src 'self' blob:; base-uri 'self'; \
    form-action 'none'; frame-ancestors 'none'";

async fn protect(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Returns the canonical path of the folder, so that links out of the folder are detected.
///
/// # Errors
/// [`ErrorKind::Config`] if the folder has no `index.html`.
pub(crate) fn canonical(folder: &std::path::Path) -> adk_core::Result<PathBuf> {
    let real = folder
        .canonicalize()
        .ok()
        .filter(|folder| folder.join("index.html").is_file());
    real.ok_or_else(|| {
        let message = format!(
            "the folder `{}` has no `index.html` of the dev UI",
            folder.display()
        );
        Error::new(ErrorKind::Config, message)
            .with_help("pass the folder `google/adk/cli/browser` of an installed google-adk")
    })
}

/// Returns the base URL of the server, which may be nested under a path.
async fn config(OriginalUri(uri): OriginalUri) -> impl IntoResponse {
    let backend = uri.path().strip_suffix(CONFIG).unwrap_or_default();
    (
        [(header::CACHE_CONTROL, "no-store")],
        ok(&json!({"backendUrl": backend, "telemetry": false})),
    )
}

async fn page(folder: Extension<Folder>) -> Answer {
    file(folder, Path("index.html".to_owned())).await
}

/// Removes the hints to connect to other servers. The policy of the page blocks requests to them,
/// but not connections.
fn without_preconnects(page: &str) -> String {
    let mut parts = page.split("<link rel=\"preconnect\"");
    let mut rest = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        rest.push_str(part.split_once('>').map_or("", |(_, after)| after));
    }
    rest
}

async fn file(Extension(Folder(folder)): Extension<Folder>, Path(name): Path<String>) -> Answer {
    let missing = || Refusal::missing("file", &name);
    let Some(folder) = folder else {
        return Err(missing()
            .help("set the folder of the dev UI with `.dev_ui(...)`")
            .into());
    };
    let path = PathBuf::from(&name);
    let is_plain = path
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if !is_plain || name.contains(['\\', '\0', ':']) {
        return Err(missing().into());
    }
    let read = tokio::task::spawn_blocking(move || {
        let real = folder
            .join(path)
            .canonicalize()
            .ok()
            .filter(|real| real.starts_with(&folder))?;
        let (bytes, kind) = (std::fs::read(&real).ok()?, kind(&real));
        if !kind.starts_with("text/html") {
            return Some((bytes, kind));
        }
        let page = without_preconnects(&String::from_utf8_lossy(&bytes));
        Some((page.into_bytes(), kind))
    });
    let (bytes, kind) = read.await.ok().flatten().ok_or_else(missing)?;
    Ok(([(header::CONTENT_TYPE, kind)], bytes).into_response())
}

fn kind(file: &std::path::Path) -> &'static str {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json" | "map") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("wasm") => "application/wasm",
        Some("txt" | "md") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
