//! Invalid closures as callbacks: one message for each, at the closure.

use adk::prelude::*;

workflow! {
    /// Answers.
    pub Answering(text: String) -> text: String {
        agent number -> text: String { instruction: "{text}", after_model: |_, _| 3 }
        agent method -> text: String { instruction: "{text}", before_tool: |_, call| call.nope }
        agent wrong_later -> text: String { instruction: "{text}", on_tool_error: async |_, _, _| 3 }
        number; method; wrong_later
    }
}

workflow! {
    /// Answers.
    pub Counting(text: String) -> text: String {
        agent few -> text: String { instruction: "{text}", before_model: |cx| drop(cx) }
        agent later -> text: String { instruction: "{text}", after_agent: async |_, _| {} }
        few; later
    }
}

workflow! {
    /// Answers.
    pub Holding(text: String) -> text: String {
        agent held -> text: String {
            instruction: "{text}",
            on_model_error: async |_, _, _| {
                let held = std::rc::Rc::new(1);
                std::future::ready(()).await;
                drop(held);
            },
        }
        held
    }
}

fn main() {}
