//! Steps that are left out for a while, or have a word, a bracket or a call too much: one message each, and no key is missed for it.

use adk::prelude::*;

/// Ends the loop when it is long enough.
#[agent]
fn long_enough(article: &str) -> Flow {
    Flow::exit_if(article.len() > 200)
}

mod agents {
    adk::llm::agent! {
        /// Reviews.
        pub critic -> criticism: String { instruction: "Review {article}." }
    }
}

workflow! {
    pub Hash(draft: String) -> article: String {
        agent editor -> article: String { instruction: "Edit {draft}." }
        agent lengthener -> article: String { instruction: "Make {article} longer." }

        #editor;
        lengthening: loop(max = 3) < long_enough; lengthener >
        # a remark
        lengthener as last;
    }
}

workflow! {
    pub Tuple(draft: String) -> article: String {
        agent checker -> facts: String { instruction: "Check {draft}." }
        agent editor -> article: String { instruction: "Edit {draft} by {facts}." }
        agent lengthener -> article: String { instruction: "Make {article} longer." }

        parallel < checker >
        (editor);
        (editor; lengthener);
        lengthening: loop(max = 3) < long_enough; lengthener >
    }
}

workflow! {
    pub Emptied(draft: String) -> article: String {
        agent editor -> article: String { instruction: "Edit {draft} by {facts} and {law}." }

        checks: parallel < ; >
        more: parallel { ;; }
        editor;
    }
}

workflow! {
    pub Words(draft: String) -> article: String {
        agent editor -> article: String { instruction: "Edit {draft}." }
        agent lengthener -> article: String { instruction: "Make {article} longer." }
        agent lengthen -> article: String { instruction: "Make {article} longer." }

        fn editor;
        lengthening: loop(max = 3) < lengthener; fn long_enough; struct lengthen >
    }
}

workflow! {
    pub Called(draft: String) -> criticism: String {
        agent editor -> article: String { instruction: "Edit {draft}." }
        agent lengthener -> article: String { instruction: "Make {article} longer." }

        editor::new();
        lengthener::default();
        agents::critic::new();
    }
}

workflow! {
    pub Colon(article: String) -> criticism: String {
        agents:critic
    }
}

workflow! {
    pub Colons(text: String) -> criticism: String {
        parallel < agents:critic(article = text) as first; agents::critic(article = text) as second -> other >
    }
}

workflow! {
    pub Value(draft: String) -> article: String {
        agent editor -> article: String { instruction: "Edit {draft} by {criticism}." }

        Colons { text: "x" };
        Called::new("x", 2);
        editor;
    }
}

fn main() {}
