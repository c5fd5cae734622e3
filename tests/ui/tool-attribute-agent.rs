use adk::prelude::*;

mod tools {
    use adk::prelude::*;

    /// Looks up an invoice.
    #[agent(writes = invoice)]
    pub fn find_invoice(number: u32) -> String {
        number.to_string()
    }
}

workflow! {
    pub Desk(question: String) -> answer: String {
        agent clerk -> answer: String { instruction: "{question}", transfer: [billing] }
        agent billing -> answer: String { instruction: "{question}", tools: [tools::find_invoice] }

        clerk
    }
}

workflow! {
    pub Alone(question: String) -> answer: String {
        agent hermit -> answer: String { instruction: "{question}", tools: [tools::find_invoice] }

        hermit
    }
}

fn main() {}
