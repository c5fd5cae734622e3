//! Types of writer and reader are equal; parameters may be borrowed, and any JSON value reads all
//! types.

use adk::prelude::*;
use adk::{AgentMeta, Value};
use agents::by_hand::Escalator;
use agents::data::Severity;
use std::path::PathBuf;
use std::time::Duration;

/// Grades.
#[agent(writes = score)]
fn grade(draft: &str) -> f64 {
    draft.len() as f64
}

/// Ends the loop.
#[agent]
fn enough(score: f64) -> Flow {
    Flow::exit_if(score > 60.0)
}

/// Returns whether the text is good.
#[agent(writes = good)]
fn is_good(score: f64) -> bool {
    score > 60.0
}

workflow! {
    pub Writing(topic: String, words: Vec<String>) -> score: f64 {
        agent writer -> draft: String { instruction: "Write about {topic}." }

        writer;
        loop(max = 2) < grade; enough >
        loop(max = 2, until = good) < writer as again; is_good >
        each word in words < writer as third -> drafts >
    }
}

type Score = f64;

#[agent(writes = score)]
fn measure(draft: &str) -> Score {
    draft.len() as f64
}

#[agent]
fn done(score: &f64, any: Value, severity: Option<&Severity>) -> Flow {
    Flow::exit_if(*score > 60.0 && any.is_null() && severity.is_none())
}

#[agent(writes = approved)]
fn approve(items: &[String]) -> bool {
    items.is_empty()
}

/// A tool writes the value that it returns: a reference and an `Option` are not part of the type.
#[tool(writes(line: &str, mark: Option<Score>, all: &[String], name: &'static str, maybe: Option<&Draft>))]
fn save(cx: &mut ToolContext) {
    drop(cx.path().clone());
}

#[agent]
fn saved(
    line: Option<&str>,
    mark: Option<f64>,
    all: Option<&[String]>,
    name: Option<String>,
    maybe: Option<&Draft>,
) {
    drop((
        line.map(str::len),
        mark,
        all.map(<[String]>::len),
        name,
        maybe.cloned(),
    ));
}

workflow! {
    pub Saving(topic: String) {
        agent saver { instruction: "Save {topic}.", tools: [save] }

        saver;
        saved
    }
}

workflow! {
    pub Judging(topic: String, any: Vec<u8>) -> score: f64 {
        agent writer -> draft: String { instruction: "Write about {topic}." }
        agent worker -> note: String { instruction: "Work on {word}, {any}." }
        agent judge -> severity: Severity { instruction: "Judge {items}." }

        writer;
        agents::functions::lister;
        judge;
        loop(max = 2) < measure; done >
        loop(max = 2, until = approved) < approve >
        each word in items < worker >
    }
}

#[adk::data]
pub struct Draft {
    text: String,
}

mod by_hand {
    use super::Draft;
    use adk::prelude::*;
    use adk::{AgentMeta, Value};

    pub type Same = Draft;

    /// A handwritten agent; `#[agent]` gives types to its keys.
    #[derive(Default)]
    pub struct Reviewer;

    #[agent(reads(draft: Same, tone: Option<String>, any: Option<Value>), writes(user:score: f64, note: Option<String>))]
    impl Agent for Reviewer {
        const META: AgentMeta<'static> = AgentMeta::custom("reviewer")
            .description("Reviews.")
            .may_exit(true);

        async fn run(&self, cx: &mut Context) -> Result<Flow> {
            let draft: Option<Draft> = cx.state().get("draft")?;
            cx.state().set(
                "user:score",
                draft.map_or(0.0, |draft| draft.text.len() as f64),
            )?;
            Ok(Flow::Exit)
        }
    }
}

/// An agent with a type that the user chooses.
pub struct Last<T>(pub T);

#[agent(reads(all: Vec<T>), writes(last: Option<T>))]
impl<T> Agent for Last<T>
where
    T: Send + Sync + 'static,
{
    const META: AgentMeta<'static> = AgentMeta::custom("last");

    async fn run(&self, cx: &mut Context) -> Result<Flow> {
        let all: Option<Vec<Value>> = cx.state().get("all")?;
        if let Some(last) = all.into_iter().flatten().last() {
            cx.state().set("last", last)?;
        }
        Ok(Flow::Continue)
    }
}

#[agent]
fn after(score: Option<f64>, note: Option<&str>, severities: &[Severity], last: Option<&Draft>) {
    drop((
        score,
        note.map(str::to_owned),
        severities.len(),
        last.is_some(),
    ));
}

workflow! {
    pub Reviewing(draft: Draft, tone: String, any: Vec<u8>, all: Vec<Draft>, severity: Severity) {
        agent given: by_hand::Reviewer;
        agent last: Last<Draft>;

        loop(max = 2) < by_hand::Reviewer; given >
        last;
        Escalator;
        after(score = user:score)
    }
}

#[agent]
fn sorted(place: Option<PathBuf>) {
    drop(place);
}

/// Notes something.
#[tool(writes(memo: String))]
fn note(cx: &mut ToolContext, text: String) -> Result<()> {
    cx.state().set("memo", text)
}

workflow! {
    /// A transfer target or a tool that writes a key first gives it its own type, which may differ
    /// from the agent's key.
    pub Sorting(ticket: String) {
        agent triage -> waited: Duration { transfer: [billing], instruction: "{ticket}", tools: [note] }
        agent billing -> place: PathBuf { instruction: "{ticket}" }
        agent sorter -> place: PathBuf { instruction: "{ticket}" }
        agent noter -> memo: String { instruction: "{ticket} {waited?}" }

        triage;
        sorted;
        sorter;
        match place < place if place.is_absolute() => (), _ => () >
        noter;
        match memo < text if text.len() > 3 => (), _ => () >
    }
}

/// Types that no number identifies, in modules that name them differently: more types than steps.
mod plain {
    use adk::AgentMeta;
    use adk::prelude::*;
    use serde::{Deserialize, Serialize};

    macro_rules! types {
        ($($name:ident)*) => {$(
            #[derive(Clone, Serialize, Deserialize)]
            pub struct $name(String);
        )*};
    }

    types! { A B C D E F }

    mod readers {
        use super::{A, B as Second, C, D, E, F};
        use adk::prelude::*;

        #[agent]
        #[allow(clippy::too_many_arguments)]
        pub fn all(
            a: &A,
            b: Option<Second>,
            c: Vec<C>,
            d: super::D,
            e: &E,
            f: Option<F>,
            list: Vec<D>,
        ) {
            drop((a.clone(), b, c, d, e.clone(), f, list));
        }

        #[agent(writes = d)]
        pub fn writer(_item: C) -> D {
            D(String::new())
        }
    }

    /// Saves a type that is spelled like its reader spells it.
    #[tool(writes(f: F))]
    fn save(cx: &mut ToolContext) {
        drop(cx.path().clone());
    }

    /// Saves the type by parameters.
    #[tool]
    fn move_it(#[key] f: Option<&F>, #[key(f)] out: Out<F>, #[key] a: &A) {
        out.set(f.cloned().unwrap_or(F(a.0.clone())));
    }

    #[agent]
    fn saved(f: Option<&F>) {
        drop(f.cloned());
    }

    #[agent(writes = e)]
    fn perhaps(a: &A) -> Option<E> {
        Some(E(a.0.clone()))
    }

    workflow! {
        pub Inner(a: A, b: B, c: Vec<C>, d: D, e: E, g: F) -> (list: Vec<D>, again: A) {
            agent saver { instruction: "Save {a}.", tools: [save, move_it] }
            let again: A = A(String::new());

            saver;
            saved;
            each one in c < readers::writer(_item = one) -> list >
            readers::all(f = g)
        }
    }

    /// Uses many of these types.
    #[agent]
    fn many(f: Option<Vec<F>>) {
        drop(f);
    }

    /// A handwritten tool.
    #[derive(Default)]
    pub struct Hand;

    #[agent(reads(a: &A), writes(f: F))]
    impl Agent for Hand {
        const META: AgentMeta<'static> = AgentMeta::custom("hand").description("By hand.");

        async fn run(&self, _: &mut Context) -> Result<Flow> {
            Ok(Flow::Continue)
        }
    }

    /// A tool with a type parameter.
    pub struct Any<T>(pub T);

    #[agent(reads(a: &T, maybe: Option<&T>), writes(e: &T))]
    impl<T> Agent for Any<T>
    where
        T: Send + Sync + 'static,
    {
        const META: AgentMeta<'static> = AgentMeta::custom("any");

        async fn run(&self, _: &mut Context) -> Result<Flow> {
            Ok(Flow::Continue)
        }
    }

    workflow! {
        pub Below(a: A) -> e: A {
            agent helper { instruction: "Use {a}.", tools: [agent(Hand)] }
            agent any: Any<A>;

            helper;
            saved;
            any;
        }
    }

    workflow! {
        pub Listed(c: Vec<C>) {
            agent saver { instruction: "Save {one}.", tools: [save] }

            each one in c < saver >
            many
        }
    }

    workflow! {
        #[type_pairs(40)]
        pub Outer(a: A, b: B, c: Vec<C>, d: D) -> list: Vec<D> {
            let e: E = E(String::new());
            let g: F = F(String::new());

            perhaps;
            Inner
        }
    }
}

/// One type in blocks, in expansions of macros, and under other names: no comparison needs a
/// missing pair.
mod places {
    use adk::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Clone, Serialize, Deserialize)]
    pub struct Plan(pub String);

    macro_rules! saver {
        ($name:ident, $key:ident: $ty:ty) => {
            /// Saves the plan.
            #[tool(writes($key: $ty))]
            fn $name(cx: &mut ToolContext) {
                drop(cx.path().clone());
            }
        };
    }

    saver!(save, plan: Plan);

    /// Reads the plan.
    #[agent]
    fn saved(plan: Option<&Plan>) {
        drop(plan.cloned());
    }

    workflow! {
        pub Made(topic: String) {
            agent saver { instruction: "{topic}", tools: [save] }
            saver;
            saved
        }
    }

    fn block() {
        #[derive(Clone, Serialize, Deserialize)]
        pub struct Plan(String);

        saver!(save, plan: Plan);

        /// Reads the plan.
        #[agent]
        fn saved(plan: Option<&Plan>) {
            drop(plan.cloned());
        }

        #[agent(writes = plan)]
        fn planner(topic: &str) -> Plan {
            Plan(topic.to_owned())
        }

        {
            #[agent]
            fn inner(plan: &Plan) {
                drop(plan.clone());
            }

            workflow! {
                pub Inside(topic: String) {
                    agent saver { instruction: "{topic}", tools: [save] }
                    planner;
                    inner;
                    saver;
                    saved
                }
            }
        }
    }

    type Maybe = Option<Plan>;

    #[agent(writes = plan)]
    fn perhaps(topic: &str) -> Maybe {
        Some(Plan(topic.to_owned()))
    }

    #[agent]
    fn whole(plan: Maybe) {
        drop(plan);
    }

    workflow! {
        pub Aliased(topic: String, declared: Maybe) -> plan: Plan {
            let plan: Plan = Plan(String::new());
            perhaps;
            whole;
            whole(plan = declared) as declared_whole
        }
    }

    mod own {
        use super::Plan;
        use adk::prelude::*;
        use serde::{Deserialize, Serialize};

        #[derive(Clone, Serialize, Deserialize)]
        pub struct Vec<T>(std::vec::Vec<T>);

        /// Saves the plans.
        #[tool(writes(plans: Vec<Plan>))]
        fn save(cx: &mut ToolContext) {
            drop(cx.path().clone());
        }

        #[agent]
        fn saved(plans: Option<&Vec<Plan>>) {
            drop(plans.cloned());
        }

        workflow! {
            pub Saving(topic: String) {
                agent saver { instruction: "{topic}", tools: [save] }
                saver;
                saved
            }
        }
    }

    workflow! {
        pub Nested(lists: Vec<Vec<Plan>>) {
            agent asker { instruction: "Ask.", tools: [agent(saved)] }
            each list in lists < each plan in list < asker > >
        }
    }

    workflow! {
        pub Items(items: Vec<Plan>, words: Vec<String>) {
            agent asker { instruction: "Ask.", tools: [agent(saved)] }
            agent teller { instruction: "Tell {word}." , tools: [agent(told)] }
            each plan in items < asker >
            each word in words < teller >
        }
    }

    /// Reads a text.
    #[agent]
    fn told(word: &str) {
        drop(word.to_owned());
    }
}
