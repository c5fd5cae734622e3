//! A write that races may have been meant for the key that nothing writes: one message for both. One that is spelled wrong has
//! its own.

use adk::prelude::*;

#[agent(writes = digest)]
fn join(findings: &[String]) -> String {
    findings.join("\n")
}

#[agent(writes = sources)]
fn count(findings: &[String]) -> String {
    findings.len().to_string()
}

mod one {
    use adk::prelude::*;

    workflow! {
        pub Reporting(findings: Vec<String>) {
            agent reporter { instruction: "Report {digest} from {sources} sources." }
            parallel < super::join; super::count -> digest >
            reporter
        }
    }
}

mod two {
    use adk::prelude::*;

    workflow! {
        pub Reporting(findings: Vec<String>) {
            agent reporter { instruction: "Report {digset} from {sources} sources." }
            parallel < super::join; super::count -> digest >
            reporter
        }
    }
}

fn main() {}
