//! The ways in which text of strangers reaches a tool that acts, one workflow for each.

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

/// Posts a text.
#[agent(acts)]
fn publish(post: &str) {
    let _ = post;
}

/// Shortens a page.
#[agent(writes = post)]
fn shorten(page: &str) -> String {
    page.to_owned()
}

/// Does nothing.
#[agent]
fn nothing() {}

/// What a page says.
#[data]
pub struct Facts {
    pub price: f64,
    pub note: String,
}

mod one_agent {
    use super::*;

    workflow! {
        /// One agent reads and acts.
        pub W(topic: String) {
            agent clerk { instruction: "{topic}", tools: [fetch_page, send_mail], max_turns: 3 }
            clerk
        }
    }
}

mod key_in_prompt {
    use super::*;

    workflow! {
        /// A key, and nothing of the conversation.
        pub W(topic: String) {
            agent reader -> page: String { instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            agent other -> thing: bool { include_contents: none, instruction: "Is {topic} good?" }
            agent sender { include_contents: none, instruction: "Mail {page}", tools: [send_mail], max_turns: 3 }
            reader; other; sender
        }
    }
}

mod history {
    use super::*;

    workflow! {
        /// The conversation shows the results of tools, also after a closed answer.
        pub W(topic: String) {
            agent reader -> found: bool { instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            agent sender { instruction: "Mail that we are done.", tools: [send_mail], max_turns: 3 }
            reader; sender
        }
    }
}

mod last_words {
    use super::*;

    workflow! {
        /// `none` shows the last words of the speaker before.
        pub W(topic: String) {
            agent reader -> page: String { instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            agent sender { include_contents: none, instruction: "Mail it.", tools: [send_mail], max_turns: 3 }
            reader; sender
        }
    }
}

mod nested {
    use super::*;

    workflow! {
        /// Reads.
        pub Research(topic: String) -> summary: String {
            agent researcher -> summary: String {
                instruction: "{topic}", tools: [fetch_page], max_turns: 3,
            }
            researcher
        }
    }

    workflow! {
        /// The output of a nested workflow, under another name.
        pub W(subject: String) {
            agent other -> thing: bool { include_contents: none, instruction: "Is {subject} good?" }
            agent sender { include_contents: none, instruction: "Mail {text}", tools: [send_mail], max_turns: 3 }
            Research(topic = subject) -> text; other; sender
        }
    }
}

mod hand_over {
    use super::*;

    workflow! {
        /// An agent reads, and hands over to one that acts.
        pub W(topic: String) {
            agent desk { instruction: "{topic}", tools: [fetch_page], transfer: [mailer], max_turns: 3 }
            /// Mails.
            agent mailer { instruction: "Mail it", tools: [send_mail], max_turns: 3 }
            desk
        }
    }
}

mod agent_as_tool {
    use super::*;

    workflow! {
        /// The agent that reads is a tool of the one that acts.
        pub W(topic: String) {
            agent boss { instruction: "{topic}", tools: [agent(reader), send_mail], max_turns: 3 }
            /// Reads pages.
            agent reader { instruction: "Read", tools: [fetch_page], max_turns: 3 }
            boss
        }
    }
}

mod request_of_a_tool {
    use super::*;

    workflow! {
        /// The agent that acts is a tool of the one that reads.
        pub W(topic: String) {
            agent boss { instruction: "{topic}", tools: [fetch_page, agent(mailer)], max_turns: 3 }
            /// Mails.
            agent mailer -> sent: bool { instruction: "Mail it", tools: [send_mail], max_turns: 3 }
            boss
        }
    }
}

mod elements {
    use super::*;

    workflow! {
        /// A list of what was read for each element.
        pub W(urls: Vec<String>) {
            agent reader -> note: String { instruction: "{url}", tools: [fetch_page], max_turns: 3 }
            agent other -> thing: bool { include_contents: none, instruction: "Is it good?" }
            agent sender { include_contents: none, instruction: "Mail {note}", tools: [send_mail], max_turns: 3 }
            each(max = 5) url in urls < reader > other; sender
        }
    }
}

mod second_round {
    use super::*;

    workflow! {
        /// The second round reads what the first has written.
        #[guards(fresh)]
        pub W(topic: String) {
            let page: String = "nothing yet";
            agent sender -> done: bool { include_contents: prompt, instruction: "Mail {page}", tools: [send_mail], max_turns: 3 }
            agent reader -> page: String { include_contents: none, instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            loop(max = 2) < sender; reader >
        }
    }
}

mod later_run {
    use super::*;

    workflow! {
        /// The next run of the session sees the conversation of this one.
        pub W(topic: String) {
            agent sender { instruction: "Mail {topic}", tools: [send_mail], max_turns: 3 }
            agent reader -> page: String { instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            sender; reader
        }
    }
}

mod functions {
    use super::*;

    workflow! {
        /// No model decides anything, but a stranger writes what is posted.
        pub W(topic: String) {
            agent reader -> page: String { instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            reader; shorten; publish
        }
    }
}

mod await_with_a_default {
    use super::*;

    workflow! {
        /// The default chooses the arm that acts when nobody answers.
        pub W(topic: String) {
            agent reader -> page: String { include_contents: none, instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            agent sender { include_contents: prompt, instruction: "Mail {page}", tools: [send_mail], max_turns: 3 }
            reader;
            /// May this be sent? {page}
            await(timeout = "1h", default = true) yes: bool;
            match yes < true => sender, false => () >
        }
    }
}

mod branches {
    use super::*;

    workflow! {
        /// After the branches, both conversations are seen.
        pub W(topic: String) {
            agent reader -> page: String { instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            agent thinker -> idea: String { instruction: "Think about {topic}" }
            agent sender { instruction: "Mail {idea}", tools: [send_mail], max_turns: 3 }
            parallel < reader; thinker > sender
        }
    }
}

mod guarded_input {
    use super::*;

    workflow! {
        /// A ticket from a form, next to another input.
        #[guards(untrusted(ticket))]
        pub W(ticket: String, customer: u64) {
            agent clerk { instruction: "{ticket} of {customer}", tools: [send_mail], max_turns: 3 }
            clerk
        }
    }
}

mod struct_with_text {
    use super::*;

    workflow! {
        /// One field of the answer is a text.
        pub W(topic: String) {
            agent reader -> facts: Facts { instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            agent sender { include_contents: prompt, instruction: "Mail {facts}", tools: [send_mail], max_turns: 3 }
            reader; sender
        }
    }
}

mod errors {
    use super::*;

    workflow! {
        /// An error quotes the answer that does not fit.
        pub W(topic: String) {
            agent reader -> good: bool { instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            agent sender { include_contents: prompt, instruction: "Mail {error}", tools: [send_mail], max_turns: 3 }
            try(attempts = 2) < reader > else < sender >
        }
    }
}

mod session_key {
    use super::*;

    /// Keeps a page for the user.
    #[agent(writes = user:notes)]
    fn keep(page: &str) -> String {
        page.to_owned()
    }

    workflow! {
        /// A later run reads what this one keeps.
        #[guards(fresh)]
        pub W(topic: String) {
            agent sender { include_contents: prompt, instruction: "Mail {user:notes?}", tools: [send_mail], max_turns: 3 }
            agent reader -> page: String { include_contents: none, instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            sender; reader; keep
        }
    }
}

mod exit_of_a_target {
    use super::*;

    /// Is done.
    #[tool]
    fn done() -> Flow {
        Flow::Exit
    }

    workflow! {
        /// A target ends the loop before the key is cleaned.
        pub W(topic: String) {
            let page: String = "nothing yet";
            agent reader -> page: String { instruction: "{topic}", tools: [fetch_page], transfer: [helper], max_turns: 3 }
            /// Helps.
            agent helper -> page: String { instruction: "Help", tools: [done], max_turns: 3 }
            agent other -> page: String { include_contents: prompt, instruction: "Write about {topic}." }
            agent sender { include_contents: prompt, instruction: "Mail {page}", tools: [send_mail], max_turns: 3 }
            loop(max = 2) < reader; other > sender
        }
    }
}

mod state_of_a_nested_workflow {
    use super::*;

    /// Keeps a page.
    #[agent(writes = notes)]
    fn keep(page: &str) -> String {
        page.to_owned()
    }

    /// Posts the notes.
    #[agent(acts)]
    fn post_notes(notes: Option<&str>) {
        let _ = notes;
    }

    workflow! {
        /// Keeps notes in the session.
        pub Inner(topic: String) {
            state notes: Option<String>;
            agent reader -> page: String { instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            reader; keep
        }
    }

    workflow! {
        /// A later run posts what this one keeps.
        pub W(topic: String) {
            state notes: Option<String>;
            post_notes; Inner
        }
    }
}

mod strict {
    use super::*;

    /// Looks something up.
    #[tool]
    fn look_up(word: &str) -> String {
        word.to_owned()
    }

    workflow! {
        /// A tool without a label may do anything.
        #[guards(strict)]
        pub W(topic: String) {
            agent clerk { instruction: "{topic}", tools: [look_up], max_turns: 3 }
            nothing; clerk
        }
    }
}

mod memory {
    use super::*;
    use adk::tools::load_memory;

    workflow! {
        /// Anybody may have written what the memory shows.
        #[guards(fresh)]
        pub W(topic: String) {
            agent clerk { instruction: "{topic}", tools: [load_memory, send_mail], max_turns: 3 }
            clerk
        }
    }
}

fn main() {}
