//! Functions that models call.

use adk::{Flow, tool};

/// Ends the loop.
#[tool]
pub fn stop() -> Flow {
    Flow::Exit
}

/// Searches the web.
#[tool]
pub fn search(query: String) -> String {
    query
}

/// Publishes after a person agrees.
#[tool(confirm)]
pub fn publish() {}

/// Another tool with the name `search`.
pub mod archive {
    use adk::tool;

    /// Searches the archive.
    #[tool]
    pub fn search(query: String) -> String {
        query
    }
}

/// A mail client.
#[derive(Debug, Default)]
pub struct Mailer {
    /// Whether it works.
    pub works: bool,
}

/// Sends a mail.
#[tool]
pub fn mail(#[resource] mailer: &Mailer, text: &str) -> bool {
    mailer.works && !text.is_empty()
}

/// Fetches a page.
#[tool(untrusted, sends)]
pub fn fetch_page(url: &str) -> String {
    url.to_owned()
}

/// Sends a mail.
#[tool(acts)]
pub fn send_mail(body: &str) -> String {
    body.to_owned()
}

/// Finds the orders of a customer.
#[tool(private)]
pub fn find_orders(customer: u64) -> String {
    customer.to_string()
}
