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
    let error = adk::serve(&runner)
        .open_to_all()
        .dev_ui("/nowhere")
        .router()
        .unwrap_err();
    assert!(
        error.to_string().contains("google/adk/cli/browser"),
        "{error}"
    );
}

#[tokio::test]
async fn no_page_frames_the_dev_ui_and_it_asks_no_other_server() {
    let ui = std::env::temp_dir().join(format!("adk-dev-ui-policy-{}", std::process::id()));
    std::fs::create_dir_all(&ui).unwrap();
    let page = "<title>x</title><link rel=\"preconnect\" href=\"https://fonts.googleapis.com\">\
        <link rel=\"preconnect\" href=\"https://fonts.gstatic.com\" crossorigin><p>y</p>";
    std::fs::write(ui.join("index.html"), page).unwrap();
    std::fs::write(ui.join("main.js"), "1").unwrap();
    let served = serve(|server| server.dev_ui(&ui)).await;
    for path in [
        "/dev-ui/",
        "/dev-ui/index.html",
        "/dev-ui/main.js",
        "/dev-ui/assets/config/runtime-config.json",
        "/dev-ui/none.js",
    ] {
        let response = served.get(path).send().await.unwrap();
        let header = |name| response.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(header("x-content-type-options"), "nosniff", "{path}");
        let policy = header("content-security-policy");
        assert!(
            policy.contains("frame-ancestors 'none'"),
            "{path}: {policy}"
        );
        assert!(!policy.contains("http"), "{path}: {policy}");
        let text = response.text().await.unwrap();
        assert!(
            !text.contains("gstatic") && !text.contains("googleapis"),
            "{text}"
        );
        if path.ends_with('/') {
            assert_eq!(text, "<title>x</title><p>y</p>");
        }
    }
    // The page at `/` keeps its token in a variable: the dev UI could read a storage.
    let own = served.get("/").send().await.unwrap().text().await.unwrap();
    assert!(!own.contains("sessionStorage"));
    assert!(
        own.matches("localStorage").count()
            == own.matches("localStorage.getItem(\"theme\")").count()
                + own.matches("localStorage.setItem(\"theme\"").count()
    );
    served.stop().await.unwrap();
    std::fs::remove_dir_all(&ui).unwrap();
}

#[tokio::test]
async fn the_page_finds_a_nested_server() {
    let router = adk::serve(&fixtures::runner())
        .open_to_all()
        .router()
        .unwrap();
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
