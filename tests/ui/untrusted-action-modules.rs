use adk::prelude::*;

mod reading {
    use adk::prelude::*;

    /// Fetches a page.
    #[agent(writes = page, untrusted)]
    pub fn fetch(topic: &str) -> String {
        topic.to_owned()
    }

    workflow! {
        /// Shortens a page.
        pub Shortening(page: String) -> summary: String {
            agent writer -> summary: String { instruction: "Shorten {page}" }

            writer
        }
    }
}

mod acting {
    use adk::prelude::*;

    /// Posts a text.
    #[agent(acts)]
    pub fn post(text: &str) {
        let _ = text;
    }
}

workflow! {
    pub Posting(topic: String) {
        reading::fetch; reading::Shortening -> text; acting::post
    }
}

fn main() {}
