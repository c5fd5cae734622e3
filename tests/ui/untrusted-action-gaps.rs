//! Text of strangers on ways that need more than one key, one run or one step.

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

/// Keeps a page for the user.
#[agent(writes = user:first)]
fn keep(page: &str) -> String {
    page.to_owned()
}

/// Copies what was kept.
#[agent(writes = user:second)]
fn copy(#[key(user:first)] first: Option<&str>) -> String {
    first.unwrap_or_default().to_owned()
}

/// Writes the draft again.
#[agent(writes = draft)]
fn rewrite(page: &str) -> String {
    page.to_owned()
}

mod message {
    use super::*;

    workflow! {
        /// The only input is the message of the run, which the conversation shows.
        #[guards(untrusted(ticket))]
        pub W(ticket: String) {
            agent clerk { instruction: "Do what is right.", tools: [send_mail], max_turns: 3 }
            clerk
        }
    }
}

mod message_by_name {
    use super::*;

    workflow! {
        /// The message of the run is also the value of the only input.
        #[guards(untrusted(user), fresh)]
        pub W(ticket: String) {
            agent clerk { include_contents: prompt, instruction: "{ticket}", tools: [send_mail], max_turns: 3 }
            clerk
        }
    }
}

mod other_session {
    use super::*;

    workflow! {
        /// Other sessions of the user write its keys, also if each run has a session of its own.
        #[guards(fresh)]
        pub W(topic: String) {
            agent sender { include_contents: prompt, instruction: "Mail {user:first?}", tools: [send_mail], max_turns: 3 }
            agent reader -> page: String { include_contents: none, instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            sender; reader; keep
        }
    }
}

mod artifact_of_the_user {
    use super::*;

    workflow! {
        /// Other sessions of the user write its artifacts.
        #[guards(fresh)]
        pub W(topic: String) {
            agent sender { include_contents: prompt, instruction: "Mail {artifact.user:notes.txt?}", tools: [send_mail], max_turns: 3 }
            agent reader { include_contents: none, instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            sender; reader
        }
    }
}

mod three_runs {
    use super::*;

    workflow! {
        /// The text needs three runs: it is kept, copied and mailed.
        pub W(topic: String) {
            agent sender { include_contents: prompt, instruction: "Mail {user:second?}", tools: [send_mail], max_turns: 3 }
            agent reader -> page: String { include_contents: prompt, instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            sender; copy; reader; keep
        }
    }
}

mod write_after_the_question {
    use super::*;

    workflow! {
        /// A step writes the draft again between the question and its use.
        pub W(topic: String) {
            agent reader -> page: String { include_contents: prompt, instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            agent sender { include_contents: prompt, instruction: "Mail {draft}", tools: [send_mail], max_turns: 3 }
            reader; rewrite;
            /// May this be sent? {draft}
            await(timeout = "1h", default = false) fine: bool;
            rewrite as again;
            match fine < true => sender, false => () >
        }
    }
}

mod write_of_the_answer {
    use super::*;

    /// Answers in place of the person.
    #[agent(writes = fine)]
    fn agree() -> bool {
        true
    }

    workflow! {
        /// A step writes the answer between the question and its use.
        pub W(topic: String) {
            agent reader -> page: String { include_contents: prompt, instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            agent sender { include_contents: prompt, instruction: "Mail {page}", tools: [send_mail], max_turns: 3 }
            reader;
            /// May this be sent? {page}
            await(timeout = "1h", default = false) fine: bool;
            agree;
            match fine < true => sender, false => () >
        }
    }
}

mod path_without_the_question {
    use super::*;

    workflow! {
        /// One of two ways to the step passes no question.
        pub W(topic: String, ask: bool) {
            let fine: bool = true;
            agent reader -> page: String { include_contents: prompt, instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            agent sender { include_contents: prompt, instruction: "Mail {page}", tools: [send_mail], max_turns: 3 }
            reader;
            match ask <
                true => <
                    /// May this be sent? {page}
                    await(timeout = "1h", default = false) fine: bool
                >,
                false => (),
            >
            match fine < true => sender, false => () >
        }
    }
}

mod failed_run {
    use super::*;

    /// Cleans what was kept.
    #[agent(writes = user:first, trusts)]
    fn clean(#[key(user:first)] first: &str) -> String {
        first.len().to_string()
    }

    workflow! {
        /// A run may fail before it cleans what it keeps, and the next run reads it.
        #[guards(fresh)]
        pub W(topic: String) {
            agent sender { include_contents: prompt, instruction: "Mail {user:first?}", tools: [send_mail], max_turns: 3 }
            agent reader -> page: String { include_contents: prompt, instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            sender; reader; keep; clean
        }
    }
}

mod failed_attempt {
    use super::*;

    workflow! {
        /// An attempt may fail before the person has answered.
        pub W(topic: String) {
            let page: String = "nothing yet";
            agent reader -> page: String { include_contents: prompt, instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            agent sender { include_contents: prompt, instruction: "Mail {page}", tools: [send_mail], max_turns: 3 }
            try(attempts = 2) <
                reader;
                /// May this be sent? {page}
                await fine: bool
            > else < sender >
        }
    }
}

fn main() {}
