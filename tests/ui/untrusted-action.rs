//! A page that strangers wrote is mailed, and steers who gets mails.

use adk::prelude::*;

/// Fetches a page.
#[tool(untrusted)]
fn fetch_page(url: &str) -> String {
    url.to_owned()
}

/// Sends a mail.
#[tool(acts)]
fn send_mail(body: &str) -> String {
    body.to_owned()
}

/// Sends short mails without a person.
#[tool(acts, confirm = is_long)]
fn send_short(body: &str) -> String {
    body.to_owned()
}

fn is_long(body: &str) -> bool {
    body.len() > 100
}

/// Posts what the context shows.
#[agent(acts)]
fn post(cx: &mut Context) {
    let _ = cx;
}

#[derive(Debug, Default)]
struct Poster;

impl Agent for Poster {
    const META: adk::AgentMeta<'static> = adk::AgentMeta::custom("poster").labels(adk::spec::Labels::ACTS);

    async fn run(&self, _: &mut Context) -> Result<Flow> {
        Ok(Flow::Continue)
    }
}

workflow! {
    /// Mails a page.
    pub Mailing(topic: String) {
        agent reader -> page: String { instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
        agent sender { include_contents: prompt, instruction: "Mail {page}", tools: [send_mail], max_turns: 3 }

        reader; sender; post; Poster
    }
}

workflow! {
    /// A predicate decides who is asked.
    #[guards(strict, untrusted(topic))]
    pub Selecting(topic: String) {
        toolset files: Files as private;
        agent sender { instruction: "{topic}", tools: [send_short, files, ..], max_turns: 3 }

        sender
    }
}

#[derive(Debug, Default)]
struct Files;

impl adk::Toolset for Files {
    fn name(&self) -> &str {
        "files"
    }

    fn tools<'a>(
        &'a self,
        _: &'a adk::ReadonlyContext,
    ) -> adk::BoxFuture<'a, Result<Vec<std::sync::Arc<dyn adk::DynTool>>>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

fn main() {}
