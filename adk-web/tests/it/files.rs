//! Tests of the files of the dev UI.

use crate::fixtures;
use crate::requests::serve;
use crate::support::{Served, read, send};
use adk::server::DevUi;
use serde_json::json;

#[tokio::test]
async fn only_files_of_the_folder_are_served() {
    let folder = std::env::temp_dir().join(format!("adk-dev-ui-{}", std::process::id()));
    let ui = folder.join("browser");
    std::fs::create_dir_all(ui.join("assets")).unwrap();
    std::fs::write(folder.join("secret.js"), "secret").unwrap();
    std::fs::write(ui.join("index.html"), "<title>page</title>").unwrap();
    std::fs::write(ui.join("assets/a.js"), "1").unwrap();
    std::os::unix::fs::symlink(folder.join("secret.js"), ui.join("linked.js")).unwrap();
    std::os::unix::fs::symlink(&folder, ui.join("up")).unwrap();
    let served = serve(|server| server.dev_ui(&ui)).await;
    for (path, kind, text) in [
        (
            "/dev-ui/",
            "text/html; charset=utf-8",
            "<title>page</title>",
        ),
        ("/dev-ui", "text/html; charset=utf-8", "<title>page</title>"),
        (
            "/dev-ui/index.html",
            "text/html; charset=utf-8",
            "<title>page</title>",
        ),
        ("/dev-ui/assets/a.js", "text/javascript; charset=utf-8", "1"),
        (
            "/dev-ui/assets%2Fa.js",
            "text/javascript; charset=utf-8",
            "1",
        ),
    ] {
        let response = served.get(path).send().await.unwrap();
        assert_eq!(response.headers()["content-type"], kind, "{path}");
        assert_eq!(response.text().await.unwrap(), text, "{path}");
    }
    let (_, config) = send(served.get("/dev-ui/assets/config/runtime-config.json")).await;
    assert_eq!(config, json!({"backendUrl": "", "telemetry": false}));
    // Send the paths unchanged, because an HTTP client would normalize them.
    for path in [
        "/dev-ui/../secret.js",
        "/dev-ui/..%2Fsecret.js",
        "/dev-ui/%2e%2e/secret.js",
        "/dev-ui/%2e%2e%2fsecret.js",
        "/dev-ui/assets/../../secret.js",
        "/dev-ui/..%5csecret.js",
        "/dev-ui/%252e%252e/secret.js",
        "/dev-ui/linked.js",
        "/dev-ui/up/secret.js",
        "/dev-ui/%00",
        "/dev-ui/assets",
        "/dev-ui/assets/",
        "/dev-ui/none.js",
        &format!("/dev-ui/{}", folder.join("secret.js").display()),
        &format!(
            "/dev-ui/{}",
            folder
                .join("secret.js")
                .display()
                .to_string()
                .replace('/', "%2F")
        ),
    ] {
        let answer = raw(&served, path).await;
        assert!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
        assert!(!answer.ends_with("secret"), "{path}: {answer}");
    }
    served.stop().await.unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let runner = adk::Runner::builder().build().unwrap();
    let error = adk::serve(&runner).dev_ui("/nowhere").router().unwrap_err();
    assert!(
        error.to_string().contains("google/adk/cli/browser"),
        "{error}"
    );
}

#[tokio::test]
async fn the_page_finds_a_nested_server() {
    let router = adk::serve(&fixtures::runner()).router().unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let task = tokio::spawn(async {
        axum::serve(listener, axum::Router::new().nest("/deep/er", router)).await
    });
    let url = format!("http://{address}/deep/er/dev-ui/assets/config/runtime-config.json");
    let (_, config) = read(reqwest::get(url).await.unwrap()).await;
    assert_eq!(config["backendUrl"], "/deep/er");
    task.abort();
}

/// Sends a request with an unchanged path and returns the response.
async fn raw(served: &Served, path: &str) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(served.address)
        .await
        .unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}
