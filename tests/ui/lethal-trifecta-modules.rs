use adk::prelude::*;

mod tools {
    use adk::prelude::*;

    /// Opens any address.
    #[tool(untrusted, sends)]
    pub fn open_url(url: &str) -> String {
        url.to_owned()
    }
}

mod data {
    use adk::prelude::*;

    /// Finds the profile of a user.
    #[agent(writes = profile, private)]
    pub fn profile(user_id: u64) -> String {
        user_id.to_string()
    }
}

workflow! {
    pub Advising(user_id: u64) {
        agent adviser { instruction: "Advise {profile}", tools: [tools::open_url], max_turns: 2 }

        data::profile; adviser
    }
}

fn main() {}
