//! Text of strangers that steers no action: each workflow shows one way.

use adk::prelude::*;
use adk::tools::{exit_loop, load_memory};

/// Fetches a page.
#[tool(untrusted)]
fn fetch_page(url: &str) -> String {
    url.to_owned()
}

/// Opens any address.
#[tool(untrusted, sends)]
fn open_url(url: &str) -> String {
    url.to_owned()
}

/// Sends a mail.
#[tool(acts)]
fn send_mail(body: &str) -> String {
    body.to_owned()
}

/// Sends a mail after a person agrees.
#[tool(acts, confirm)]
fn send_if_agreed(body: &str) -> String {
    body.to_owned()
}

/// Sends long mails only after a person agrees.
#[tool(acts, confirm = is_long)]
fn send_short(body: &str) -> String {
    body.to_owned()
}

fn is_long(body: &str) -> bool {
    body.len() > 100
}

/// Finds orders.
#[tool(private)]
fn find_orders(customer: u64) -> String {
    customer.to_string()
}

/// Has no label.
#[tool]
fn hello(name: &str) -> String {
    name.to_owned()
}

/// Counts.
#[tool(local)]
fn count(text: &str) -> usize {
    text.len()
}

/// Keeps known words.
#[agent(writes = post, trusts)]
fn known_words(page: &str) -> String {
    page.to_owned()
}

/// Posts a text.
#[agent(acts)]
fn publish(post: &str) {
    let _ = post;
}

/// Publishes a rating.
#[agent(acts)]
fn publish_rating(urgency: &Urgency) {
    let _ = urgency;
}

/// How urgent something is.
#[data]
pub enum Urgency {
    Low,
    High,
}

/// What may be done.
#[data]
pub enum Choice {
    Keep,
    Send,
}

mod confirm {
    use super::*;

    workflow! {
        /// A person agrees to each call.
        pub R(topic: String) {
            agent clerk { instruction: "{topic}", tools: [fetch_page, send_if_agreed, send_short], max_turns: 3 }
            clerk
        }
    }
}

mod closed {
    use super::*;

    workflow! {
        /// What is read becomes one of two words, a `bool`, and perhaps a number.
        pub R(topic: String) {
            agent reader -> urgency: Urgency { instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            agent judge -> good: bool { instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            agent sender { include_contents: none, instruction: "{urgency} {good}", tools: [send_mail], max_turns: 3 }
            agent other { include_contents: prompt, instruction: "{urgency} {good}", tools: [send_mail], max_turns: 3 }
            reader; judge; sender; other; publish_rating
        }
    }
}

mod person {
    use super::*;

    workflow! {
        /// A person has seen the text.
        pub R(topic: String) {
            agent reader -> page: String { instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            agent sender { include_contents: prompt, instruction: "Mail {page}", tools: [send_mail], max_turns: 3 }
            reader;
            /// May this be sent? {page}
            await yes: bool;
            match yes < true => sender, false => () >
        }
    }
}

mod person_with_default {
    use super::*;

    workflow! {
        /// The default chooses another arm.
        pub R(topic: String) {
            agent reader -> page: String { instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            agent sender { include_contents: prompt, instruction: "Mail {page}", tools: [send_mail], max_turns: 3 }
            reader;
            /// What now? {page}
            await(timeout = "1h", default = Choice::Keep) choice: Choice;
            match choice < Choice::Send => sender, Choice::Keep => () >
        }
    }
}

mod person_per_element {
    use super::*;

    workflow! {
        /// A person sees each text, of each element and of each attempt.
        pub R(urls: Vec<String>) {
            agent reader -> page: String { instruction: "{url}", tools: [fetch_page], max_turns: 3 }
            agent sender { include_contents: prompt, instruction: "Mail {page}", tools: [send_mail], max_turns: 3 }
            each(max = 5) url in urls <
                try(attempts = 2) <
                    reader;
                    /// May this be sent? {page}
                    await yes: bool;
                    match yes < true => sender, false => () >
                >
            >
        }
    }
}

mod trusted_function {
    use super::*;

    workflow! {
        /// The author of a function answers for its result.
        pub R(topic: String) {
            agent reader -> page: String { instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            reader; known_words; publish
        }
    }
}

mod plan_then_execute {
    use super::*;

    workflow! {
        /// The agent that acts has done so before anything is read.
        #[guards(fresh)]
        pub R(topic: String) -> page: String {
            agent sender { instruction: "Mail about {topic}.", tools: [send_mail], max_turns: 3 }
            agent reader -> page: String { instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            sender; reader
        }
    }
}

mod quarantine {
    use super::*;

    workflow! {
        /// The agent that reads is a tool, and answers with a word.
        pub R(question: String) -> answer: String {
            agent boss -> answer: String { instruction: "{question}", tools: [agent(rater), send_mail], max_turns: 3 }
            /// Says how urgent a page is.
            agent rater -> urgency: Urgency { instruction: "Read", tools: [fetch_page], max_turns: 3 }
            boss
        }
    }
}

mod selector {
    use super::*;

    workflow! {
        /// A stranger chooses among the steps that the author wrote.
        pub R(topic: String) {
            agent reader -> urgency: Urgency { include_contents: prompt, instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            agent sender { include_contents: prompt, instruction: "Mail that {topic} is urgent.", tools: [send_mail], max_turns: 3 }
            reader;
            match urgency < Urgency::High => sender, Urgency::Low => () >
        }
    }
}

mod only_reads {
    use super::*;

    workflow! {
        /// A search assistant.
        pub R(topic: String) {
            agent clerk { instruction: "{topic}", tools: [fetch_page, open_url, load_memory], max_turns: 3 }
            clerk
        }
    }
}

mod only_acts {
    use super::*;

    workflow! {
        /// Does what its user says.
        pub R(order: String) {
            agent clerk { instruction: "{order}", tools: [send_mail, find_orders], max_turns: 3 }
            clerk
        }
    }
}

mod branches_apart {
    use super::*;

    workflow! {
        /// Branches do not see each other.
        #[guards(fresh)]
        pub R(topic: String) {
            agent reader { instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            agent sender { instruction: "Mail about {topic}.", tools: [send_mail], max_turns: 3 }
            parallel < reader; sender >
        }
    }
}

mod written_again {
    use super::*;

    workflow! {
        /// A certain write replaces the text.
        pub R(topic: String) {
            agent reader -> page: String { include_contents: prompt, instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            agent writer -> page: String { include_contents: prompt, instruction: "Write about {topic}." }
            agent sender { include_contents: prompt, instruction: "Mail {page}", tools: [send_mail], max_turns: 3 }
            loop(max = 2) < reader; writer; sender >
        }
    }
}

mod closed_input {
    use super::*;

    workflow! {
        /// A number is no order.
        #[guards(untrusted(customer), fresh)]
        pub R(customer: u64, topic: String) {
            agent clerk { instruction: "{topic} for {customer}", tools: [send_mail], max_turns: 3 }
            clerk
        }
    }
}

mod no_labels {
    use super::*;

    workflow! {
        /// Without labels nothing is checked.
        pub R(topic: String) {
            agent clerk { instruction: "{topic}", tools: [hello, ..], max_turns: 3 }
            clerk
        }
    }
}

mod strict {
    use super::*;

    workflow! {
        /// Everything has a label.
        #[guards(strict, untrusted(topic))]
        pub R(topic: String) {
            agent clerk { instruction: "{topic}", tools: [count, exit_loop], max_turns: 3 }
            loop(max = 2) < clerk >
        }
    }
}

/// Posts what it finds in the context.
#[agent(acts)]
fn post_all(cx: &mut Context) {
    let _ = cx.state();
}

/// Listens to strangers.
#[agent(writes = page, untrusted)]
fn listen() -> String {
    String::new()
}

/// Says how urgent a stranger is.
#[agent(writes = urgency, untrusted)]
fn rate() -> Urgency {
    Urgency::Low
}

mod closed_branch {
    use super::*;

    workflow! {
        /// The other branch writes a value without text.
        #[guards(fresh)]
        pub R(topic: String) {
            parallel < rate; post_all >
        }
    }
}

mod later_step {
    use super::*;

    workflow! {
        /// Listens after the post.
        #[guards(fresh)]
        pub R(topic: String) {
            parallel < post_all; post_all as again > listen
        }
    }
}

mod quarantine_in_a_workflow {
    use super::*;

    workflow! {
        /// Reads pages and answers with a word.
        pub Inner(topic: String) -> urgency: Urgency { listen; rate }
    }

    workflow! {
        /// A workflow that is a tool and answers with a word quotes nothing in its error either.
        #[guards(fresh)]
        pub R(topic: String) {
            agent boss { instruction: "{topic}", tools: [agent(Inner), send_mail], max_turns: 3 }
            boss
        }
    }
}

mod earlier_error {
    use super::*;

    /// Fails.
    #[agent]
    fn fail() -> Result<()> {
        Err(Error::other("no"))
    }

    workflow! {
        /// The error is one of a step inside the `try`.
        #[guards(fresh)]
        pub R(topic: String) {
            agent sender { include_contents: prompt, instruction: "Mail {error}", tools: [send_mail], max_turns: 3 }
            rate;
            try(attempts = 2) < fail > else < sender >
        }
    }
}

mod written_before_it_is_read {
    use super::*;

    workflow! {
        /// Mails its own plan.
        pub Inner(topic: String) -> user:plan: String {
            agent planner -> user:plan: String { include_contents: prompt, instruction: "Plan {topic}." }
            agent sender { include_contents: prompt, instruction: "Mail {user:plan}", tools: [send_mail], max_turns: 3 }
            planner; sender
        }
    }

    /// Keeps a page as the plan.
    #[agent(writes = user:plan)]
    fn keep_plan(page: &str) -> String {
        page.to_owned()
    }

    workflow! {
        /// The nested workflow replaces the plan before it reads it.
        #[guards(fresh)]
        pub R(topic: String) { listen; keep_plan; Inner }
    }
}

mod new_round {
    use super::*;

    workflow! {
        /// Mails a text of this execution.
        pub Inner(topic: String) {
            agent writer -> page: String { include_contents: prompt, instruction: "Write about {topic}." }
            agent sender { include_contents: prompt, instruction: "Mail {page?}", tools: [send_mail], max_turns: 3 }
            writer; sender; listen
        }
    }

    workflow! {
        /// The keys of an earlier execution are written again before they are read.
        #[guards(fresh)]
        pub R(topic: String) { loop(max = 2) < Inner > }
    }
}

mod message_is_the_last_word {
    use super::*;

    workflow! {
        /// A run begins with its message, not with the last words of the run before it.
        pub R(topic: String) {
            agent sender { include_contents: none, instruction: "Mail about {topic}.", tools: [send_mail], max_turns: 3 }
            agent reader { instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            sender; reader
        }
    }
}
