mod payments {
    use adk::prelude::*;

    /// Pays.
    #[tool(confirm = str::is_empty)]
    pub fn pay(to: &str) -> String {
        to.into()
    }

    adk::llm::agent! {
        /// Pays.
        pub payer { instruction: "Pay.", tools: [pay] }
    }

    workflow! {
        /// Pays what is due.
        pub Paying(request: String) {
            payer
        }
    }
}

adk::llm::agent! {
    pub boss {
        instruction: "Let it be paid.",
        tools: [agent(payments::payer), agent(payments::Paying)],
    }
}

fn main() {
    let _ = boss::default();
}
