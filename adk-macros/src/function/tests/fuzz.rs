//! Mutated tokens of attributes and their items. The module `fuzz` of the crate documents the
//! method and the full run.

use super::super::{agent, tool};
use crate::data::data;
use crate::fuzz::{rounds, run};
use proc_macro2::TokenStream;

const ITEMS: &[&str] = &[
    "/// Grades.
    #[agent]
    pub async fn grade<'a>(cx: &mut Context, draft: &'a str, tags: &[String]) -> \
        Result<(Option<f64>, Flow)> { x }",
    "/// Looks.
    fn look(#[default(\"a\")] /** Word. */ word: String, many: Vec<u8>) -> impl Serialize { \
        escalate }",
    "/// A unit.
    #[derive(Clone)]
    pub enum Unit<T> where T: Copy { /** One. */ One, Two(T), Three { a: u8 } }",
    "#[cfg(test)]
    impl<'a, T: Copy, const N: usize> Agent for Holder<'a, T, N> where T: Send {
        const META: AgentMeta<'static> = AgentMeta::custom(\"holder\").may_exit(N = 1);
        async fn run(&self, cx: &mut Context) -> Result<Flow> { const META: u8 = 1; x }
    }",
    "impl Agent for Held {
        const META: AgentMeta<'static> = AgentMeta::custom(\"held\") where Held: Send;
    }",
];

const ARGS: &[&str] = &[
    "writes = user:score, exits(a, b), blocking",
    "name = \"a\", writes(a: B, user:c: d::E), confirm, by = other",
    "reads(a: Option<T>, b: &'a [u8]), writes(user:c: d::E<N>)",
];

const POOL: &str = "self Self writes reads exits default -7 , & && ' 'a (a: b, =) () {} [] <> < > \
    -> => : :: = ; ? ! # #[x] mut dyn fn async unsafe extern const impl for where struct enum \
    union trait type \"s\" .. ... _ Option<T> Vec<_> impl Fn(u8) &mut ToolContext #[default(3)] \
    #[serde(rename = \"a\")] r#fn pub crate super static str [str]";

/// Expands each item with all three attributes. rustc expands only items that it could parse.
#[test]
fn mutants_of_attributes() {
    run(rounds(), &[ARGS, ITEMS], POOL, |input| {
        let (args, item) = (&input[0], &input[1]);
        let out = [agent, tool, data].map(|expand| expand(args.clone(), item.clone()));
        if is_read(item) {
            out.into()
        } else {
            Vec::new()
        }
    });
}

fn is_read(item: &TokenStream) -> bool {
    use syn::Item::{Enum, Fn, Impl, Struct};
    matches!(
        syn::parse2(item.clone()),
        Ok(Enum(_) | Fn(_) | Impl(_) | Struct(_))
    )
}
