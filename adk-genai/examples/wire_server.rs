//! The server of the tests, to run a program against it by hand:
//!
//! ```text
//! cargo run -p adk-workflow-genai --example wire_server -- 127.0.0.1:4010 "The answer."
//! OPENAI_BASE_URL=http://127.0.0.1:4010 cargo run --example ...
//! ```
//!
//! The server answers each request with the text, in the format of the requested path, and prints
//! the request.

#[path = "../../tests/support/wire_server/mod.rs"]
mod wire_server;

use wire_server::{Reply, WireServer};

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let address = arguments
        .next()
        .unwrap_or_else(|| "127.0.0.1:4010".to_owned());
    let text = arguments
        .next()
        .unwrap_or_else(|| "No major issues found.".to_owned());
    let server = WireServer::listen(
        &address,
        [Reply::text(&text).usage(10, 5).split(6).forever()],
    )
    .await;
    println!("listening on {}", server.url());
    for count in 1.. {
        server.arrived(count).await;
        let request = &server.requests()[count - 1];
        println!("{} {}", request.path, request.body);
    }
}
