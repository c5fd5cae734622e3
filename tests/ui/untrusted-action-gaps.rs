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

/// Listens to strangers.
#[agent(writes = page, untrusted)]
fn listen() -> String {
    String::new()
}

/// Keeps known words.
#[agent(writes = post, trusts)]
fn known_words(page: &str) -> String {
    page.to_owned()
}

/// Posts what it finds in the context.
#[agent(acts)]
fn post_all(cx: &mut Context) {
    let _ = cx.state();
}

/// Does nothing.
#[agent]
fn idle() {}

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

mod key_of_another_branch {
    use super::*;

    workflow! {
        /// A function with a context reads what another branch writes at the same time.
        #[guards(fresh)]
        pub W(topic: String) {
            parallel < listen; post_all >
        }
    }
}

mod prompt_of_another_branch {
    use super::*;

    workflow! {
        /// So does an instruction that is a function.
        #[guards(fresh)]
        pub W(topic: String) {
            agent sender {
                include_contents: prompt,
                instruction: |_: adk::ReadonlyContext| String::from("Mail all of it."),
                tools: [send_mail],
                max_turns: 3,
            }
            parallel < sender; sequence < listen; known_words > >
        }
    }
}

mod nested_in_another_branch {
    use super::*;

    workflow! {
        /// Posts what it finds.
        pub Inner(topic: String) { post_all }
    }

    workflow! {
        /// So does a function inside a nested workflow.
        #[guards(fresh)]
        pub W(topic: String) {
            parallel < listen; Inner >
        }
    }
}

mod events_around {
    use super::*;

    workflow! {
        /// Posts what it finds.
        pub Inner(topic: String) { post_all }
    }

    workflow! {
        /// A function with a context reads the events of the workflow around its own.
        #[guards(fresh)]
        pub W(topic: String) { listen; Inner }
    }
}

mod events_inside {
    use super::*;

    workflow! {
        /// Writes a key that nothing outside can name.
        pub Inner(topic: String) { listen }
    }

    workflow! {
        /// A function with a context reads the events of a nested workflow that has ended.
        #[guards(fresh)]
        pub W(topic: String) { Inner; post_all }
    }
}

mod error_of_a_function {
    use super::*;

    workflow! {
        /// The function answers for its result, but its error may quote the page.
        #[guards(fresh)]
        pub W(topic: String) {
            agent boss { instruction: "{topic}", tools: [agent(known_words), send_mail], max_turns: 3 }
            listen; boss
        }
    }
}

mod error_of_a_workflow {
    use super::*;

    workflow! {
        /// Returns only known words.
        pub Inner(topic: String) -> post: String { listen; known_words }
    }

    workflow! {
        /// The error of a failed step inside may quote the page.
        #[guards(fresh)]
        pub W(topic: String) {
            agent boss { instruction: "{topic}", tools: [agent(Inner), send_mail], max_turns: 3 }
            boss
        }
    }
}

mod error_of_an_attempt {
    use super::*;

    /// Says whether a stranger agrees.
    #[agent(writes = fine, untrusted)]
    fn ask_stranger() -> bool {
        true
    }

    workflow! {
        /// The value has no text, but the error may quote what the function read.
        #[guards(fresh)]
        pub W(topic: String) {
            agent sender { include_contents: prompt, instruction: "Mail {error}", tools: [send_mail], max_turns: 3 }
            try(attempts = 2) < ask_stranger > else < sender >
        }
    }
}

mod last_text_of_a_workflow {
    use super::*;

    workflow! {
        /// Writes the draft again only if it is to.
        pub Inner(again: bool, draft: String) -> draft: String {
            let page: String = "nothing yet";
            agent reader { instruction: "Read", tools: [fetch_page], max_turns: 3 }
            reader;
            match again < true => rewrite, false => () >
        }
    }

    workflow! {
        /// A workflow that writes none of its outputs returns its last text.
        #[guards(fresh)]
        pub W(topic: String) {
            let draft: String = "nothing yet";
            let again: bool = false;
            agent boss { include_contents: prompt, instruction: "{topic}", tools: [agent(Inner), send_mail], max_turns: 3 }
            boss
        }
    }
}

mod output_in_the_session {
    use super::*;

    workflow! {
        /// Mails the plan before it writes a new one.
        pub Inner(topic: String) -> user:plan: String {
            agent sender { include_contents: prompt, instruction: "Mail {user:plan?}", tools: [send_mail], max_turns: 3 }
            agent planner -> user:plan: String { include_contents: prompt, instruction: "Plan {topic}." }
            sender; planner
        }
    }

    /// Keeps a page as the plan.
    #[agent(writes = user:plan)]
    fn keep_plan(page: &str) -> String {
        page.to_owned()
    }

    workflow! {
        /// An output of a nested workflow has its value before the workflow writes it.
        #[guards(fresh)]
        pub W(topic: String) { listen; keep_plan; Inner }
    }
}

mod earlier_round {
    use super::*;

    workflow! {
        /// Mails the page of the execution before.
        pub Inner(topic: String) {
            agent sender { include_contents: prompt, instruction: "Mail {page?}", tools: [send_mail], max_turns: 3 }
            sender; listen
        }
    }

    workflow! {
        /// A nested workflow finds the keys of its earlier execution.
        #[guards(fresh)]
        pub W(topic: String) { loop(max = 2) < Inner > }
    }
}

mod earlier_attempt {
    use super::*;

    workflow! {
        /// Mails the page of the execution before.
        pub Inner(topic: String) {
            agent sender { include_contents: prompt, instruction: "Mail {page?}", tools: [send_mail], max_turns: 3 }
            sender; listen
        }
    }

    workflow! {
        /// So does one around it.
        pub Middle(topic: String) { Inner }
    }

    workflow! {
        /// So does one in another attempt.
        #[guards(fresh)]
        pub W(topic: String) { try(attempts = 2) < Middle > }
    }
}

mod failed_workflow {
    use super::*;

    /// Keeps known words in place of the page.
    #[agent(writes = page, trusts)]
    fn clean(page: &str) -> String {
        page.len().to_string()
    }

    workflow! {
        /// Returns a clean page, unless it fails before.
        pub Inner(topic: String) -> page: String { listen; clean }
    }

    workflow! {
        /// The output is written before the nested workflow fails.
        #[guards(fresh)]
        pub W(topic: String) {
            let page: String = "nothing yet";
            agent sender { include_contents: prompt, instruction: "Mail {page}", tools: [send_mail], max_turns: 3 }
            try(attempts = 2) < Inner > else < sender >
        }
    }
}

mod tools_in_any_order {
    use super::*;

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

    workflow! {
        /// A tool reads what the tool after it has written in an earlier call.
        #[guards(fresh)]
        pub W(topic: String) {
            let page: String = "nothing yet";
            let post: String = "nothing yet";
            agent boss { instruction: "{topic}", tools: [agent(publish), agent(shorten), agent(listen)], max_turns: 9 }
            boss
        }
    }
}

mod last_words_in_a_branch {
    use super::*;

    workflow! {
        /// A branch does not see the answers of branches inside it, but what was said before them.
        #[guards(fresh)]
        pub W(topic: String) {
            agent reader { instruction: "{topic}", tools: [fetch_page], max_turns: 3 }
            agent judge -> good: bool { instruction: "Is {topic} good?" }
            agent other -> new: bool { instruction: "Is {topic} new?" }
            agent third -> long: bool { instruction: "Is {topic} long?" }
            agent fourth -> old: bool { instruction: "Is {topic} old?" }
            agent sender { include_contents: none, instruction: "Mail about {topic}", tools: [send_mail], max_turns: 3 }
            parallel <
                sequence < reader; parallel < sequence < judge; other >; sequence < third; fourth > > sender >;
                idle
            >
        }
    }
}

fn main() {}
