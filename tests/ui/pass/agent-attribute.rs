//! Attributes that fit the function: a key for a value, `exits` for a `Flow`, `blocking` for a
//! function that waits.

use adk::prelude::*;

type Score = Result<f64>;

#[agent(writes = score)]
pub fn grade(draft: &str) -> Score {
    Ok(draft.len() as f64)
}

#[agent]
pub async fn nothing() -> Result<()> {
    Ok(())
}

#[agent(exits(outer))]
pub fn give_up(score: f64) -> Flow {
    if score < 0.1 {
        Flow::ExitTo("outer".into())
    } else {
        Flow::Continue
    }
}

#[agent(blocking, writes = user:plan)]
pub fn plan() -> String {
    std::thread::current().name().unwrap_or_default().to_owned()
}

#[agent(writes = severity)]
pub fn of_another_crate(severity: Option<&agents::data::Severity>) -> agents::data::Severity {
    severity.copied().unwrap_or(agents::data::Severity::Low)
}

#[agent]
pub fn with_context(cx: &mut Context, _draft: &str) {
    let _ = cx.iteration();
}

/// A body that a macro provides.
macro_rules! traced {
    (fn $name:ident($($params:tt)*) -> $output:ty $body:block) => {
        #[agent(writes = traced)]
        fn $name($($params)*) -> $output $body
    };
}

traced! {
    fn by_a_macro(draft: &str) -> usize {
        draft.len()
    }
}

workflow! {
    pub Traced(draft: String) -> traced: usize {
        by_a_macro
    }
}

/// Types with the names of unsized types of the standard library, and of traits of adk.
pub mod named {
    use adk::prelude::*;
    use adk::{AgentMeta, DynAgent as Any};

    #[data]
    pub struct Path {
        pub nodes: Vec<u32>,
    }

    #[derive(Default)]
    pub struct Agent;

    pub type DynAgent = Agent;

    type Meta = AgentMeta<'static>;

    #[agent(reads(path: Path), writes(length: u32))]
    impl adk::Agent for Agent {
        const META: Meta = {
            const fn meta() -> Meta {
                AgentMeta::custom("agent")
            }
            meta()
        };

        async fn run(&self, cx: &mut Context) -> Result<Flow> {
            cx.state().set("length", 1_u32)?;
            Ok(Flow::Continue)
        }
    }

    /// Counts.
    #[tool]
    pub fn count(path: Path) -> usize {
        path.nodes.len()
    }

    #[agent(writes = same)]
    pub fn same(path: Path) -> Path {
        path
    }

    workflow! {
        pub Going(path: Path) -> (length: u32, same: Path) {
            agent first: Agent;
            agent second: DynAgent;
            agent any(path: Path) -> length: u32 as std::sync::Arc<dyn Any>;
            agent teller { instruction: "Tell {path}.", tools: [count] }

            first; second; any; same; teller
        }
    }
}
