//! The macros of `adk-workflow`: parse -> check -> expand, nothing else.
#![deny(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

mod by;
mod code;
mod data;
mod deep;
mod diag;
mod docs;
mod facade;
mod fragments;
mod function;
#[cfg(test)]
mod fuzz;
mod place;
mod resources;
mod typed;
mod types;
mod workflow;

use fragments::written;
use proc_macro::TokenStream;

/// Makes an agent of a function: its parameters are the keys that it reads, its return value is the key that it
/// writes.
///
/// The function stays callable as it was written. A type of the same name is beside it, so that
/// `module::name` is a step of a workflow and `name::default()` a value.
///
/// ```
/// use adk::Flow;
/// use adk::agent;
///
/// /// Counts the words of the draft.
/// #[agent(writes = words)]
/// fn count(draft: &str) -> usize {
///     draft.split_whitespace().count()
/// }
///
/// /// Ends the loop when the draft is long enough.
/// #[agent]
/// fn long_enough(words: usize, wanted: Option<usize>) -> Flow {
///     Flow::exit_if(words >= wanted.unwrap_or(100))
/// }
///
/// assert_eq!(count("a cat sat"), 3);
/// ```
///
/// - **Parameters** are `T`, `&T`, `&str`, `&[T]`, an `Option` of any of these, or `serde_json::Value`; the first may be
///   `&mut Context`, whatever that is called where you imported it. With `#[resource]`, as in `#[resource] db: &Pool`,
///   one takes what the program gives to its runner, see [`Resources`](derive@Resources). `#[key] done: Out<bool>` writes a
///   key beside what is returned; `#[key(user:name)] name: &str` reads one with another name.
/// - **It returns** a value (`writes = KEY` says which key), `Flow`, both as `(T, Flow)`, `Option<T>` to write perhaps,
///   `()`, or any of these in a `Result` whose error converts into `Box<dyn Error + Send + Sync>`.
/// - `#[agent(blocking)]` runs it on the pool for work that blocks; `#[agent(exits(outer))]` says which loops
///   `Flow::ExitTo` may name; `writes = user:plan` writes a key with a prefix; `timeout = "20s"` (`ms`, `s`, `m`, `h`) is
///   the longest that it may take, after which it fails with an error of kind `Timeout`. What blocks then still runs on its
///   thread. Of a function with a context, the time of who reads the events counts as well.
///
/// Without a context it is one recorded step: a run that is taken up again does not run it twice.
///
/// # On an `impl Agent`
///
/// `#[agent(reads(KEY: TYPE, ...), writes(KEY: TYPE, ...))]` says which keys an agent that is written by hand reads and
/// writes. It adds them to `META`, which says the rest, and `key-type` compares their types as those of a function. An
/// `Option` that is read may be absent, one that is written is written perhaps.
///
/// ```
/// use adk::{Agent, AgentMeta, Context, Flow, agent};
///
/// /// Counts its rounds, and ends the loop when there were enough.
/// #[derive(Default)]
/// struct Counter;
///
/// #[agent(reads(wanted: Option<u32>), writes(rounds: u32))]
/// impl Agent for Counter {
///     const META: AgentMeta<'static> = AgentMeta::custom("counter").may_exit(true);
///
///     async fn run(&self, cx: &mut Context) -> adk::Result<Flow> {
///         let rounds = cx.iteration().unwrap_or_default() + 1;
///         let wanted: Option<u64> = cx.state().get("wanted")?;
///         cx.state().set("rounds", rounds)?;
///         Ok(Flow::exit_if(u64::from(rounds) >= wanted.unwrap_or(3)))
///     }
/// }
///
/// assert_eq!(Counter::META.writes[0].name, "rounds");
/// ```
#[proc_macro_attribute]
pub fn agent(args: TokenStream, item: TokenStream) -> TokenStream {
    function::agent(written(args.into()), written(item.into())).into()
}

/// Makes a tool of a function: a model may call it. Its doc comment tells the model when, its parameters are the
/// arguments.
///
/// ```
/// use adk::tool;
///
/// /// Says how warm it will be.
/// #[tool]
/// async fn forecast(
///     /// The city, such as Bern.
///     city: &str,
///     /// For how many days.
///     #[default(3)]
///     days: u8,
/// ) -> Result<Vec<f64>, String> {
///     if city == "Bern" { Ok(vec![21.5; days.into()]) } else { Err(format!("no forecast for {city}")) }
/// }
/// ```
///
/// - **Parameters** are anything with `serde::Deserialize` and `schemars::JsonSchema` (`#[adk::data]` derives both),
///   borrowed if you like. `Option<T>` may be absent, and so may what has a `#[default(...)]`. One may be
///   `&mut ToolContext`. With `#[resource]`, as in `#[resource] db: &Pool`, one takes what the program gives to its runner,
///   see [`Resources`](derive@Resources). With `#[key]`, as in `#[key] draft: &str`, one reads a key of the state, and
///   `#[key] done: Out<bool>` writes one; `#[key(user:best)]` says another name. Models see neither.
/// - **It returns** anything with `serde::Serialize`, nothing, `Flow` to end a loop, or one of these in a `Result`
///   whose error can be displayed: the model reads it.
/// - **Attributes**: `name = "..."`; `escalates` for a tool that ends a loop in a way that cannot be seen (a `Flow` it
///   returns and the word `escalate` in its body are seen); `writes(key: Type)` for what it sets in the
///   state in a way that no parameter shows; `long_running`; `confirm`; `by`; `blocking`. The word `skip_summarization` in the
///   body is seen too: an agent that has to write a key cannot have such a tool, unless the tool ends a loop or one writes the key.
/// - **`confirm`** asks a person before each call, `confirm = over_limit` before those for which the function `over_limit` is
///   true. It has the parameters of the tool without context, resources and keys, so it may be a closure:
///   `confirm = |amount: f64, _: &str| amount > 100.0`. See [`workflow!`](macro.workflow.html#confirm). `by = "staff"` asks
///   users with that role, `by = other` each user but the one who began the run; without it, that user is asked.
/// - **Limits**: `timeout = "20s"` (`ms`, `s`, `m`, `h`) is the longest that one attempt of a call may take; it has to be
///   async or `blocking`. `retry = 2` makes a call up to two times more when it fails or takes too long, after waits of one
///   second, two, and so on. Wrong arguments and panics are not tried again, nor is a `blocking` call that takes too long:
///   it still runs on its thread. The model reads the last error. Default: no limit, no further attempt.
#[proc_macro_attribute]
pub fn tool(args: TokenStream, item: TokenStream) -> TokenStream {
    function::tool(written(args.into()), written(item.into())).into()
}

/// Derives what a type needs to be an argument of a tool, an answer of a model or the value of a key: `Clone`,
/// `Debug`, `Serialize`, `Deserialize` and `JsonSchema`. serde's attributes work on it, and its doc comments are what
/// models see. It also gives the type the number by which `key-type` tells it from others. A type that is read owns what it holds:
/// a `&'static str` in it needs `#[serde(skip_deserializing)]`.
///
/// ```
/// /// How urgent it is.
/// #[adk::data]
/// #[derive(PartialEq)]
/// #[serde(rename_all = "snake_case")]
/// enum Severity {
///     /// Somebody has to get up.
///     High,
///     Low,
/// }
/// ```
#[proc_macro_attribute]
pub fn data(args: TokenStream, item: TokenStream) -> TokenStream {
    data::data(args.into(), written(item.into())).into()
}

/// Gives the fields of a struct to tools and agents, each by its type: what a runner is given as its resources.
///
/// ```
/// use adk::prelude::*;
///
/// struct Prices(Vec<(&'static str, f64)>);
///
/// #[derive(adk::Resources)]
/// struct Shop {
///     prices: Prices,
/// }
///
/// /// Says what an article costs.
/// #[tool]
/// fn price(#[resource] prices: &Prices, article: &str) -> Option<f64> {
///     prices.0.iter().find(|(name, _)| *name == article).map(|(_, price)| *price)
/// }
///
/// # fn main() -> adk::Result<()> {
/// let shop = Shop { prices: Prices(vec![("tea", 3.5)]) };
/// let runner = Runner::builder().model(Rehearsal::new()).resources(shop).build()?;
/// # Ok(())
/// # }
/// ```
///
/// A field with `#[resource(skip)]` is not given. Two fields of one type are refused, since a resource is taken by its type.
#[proc_macro_derive(Resources, attributes(resource))]
pub fn resources(item: TokenStream) -> TokenStream {
    resources::derive(written(item.into())).into()
}

#[doc = include_str!("../docs/links.md")]
#[doc = include_str!("../docs/language.md")]
#[proc_macro]
pub fn workflow(input: TokenStream) -> TokenStream {
    workflow::workflow(written(input.into())).into()
}

/// Declares an LLM agent outside of a workflow, in the grammar of `workflow!`; workflows use it by its path.
///
/// ```
/// adk::llm::agent! {
///     /// Reviews the draft.
///     pub critic -> criticism: String { instruction: "Review {draft}." }
/// }
///
/// adk::workflow! {
///     /// Reviews an essay.
///     pub Reviewing(essay: String) -> criticism: String {
///         critic(draft = essay)
///     }
/// }
/// ```
///
/// The facade calls it `adk::llm::agent!`: the attribute `#[agent]` has the short name.
#[proc_macro]
pub fn llm_agent(input: TokenStream) -> TokenStream {
    workflow::llm_agent(written(input.into())).into()
}

/// The conditions under which something is there.
fn conditions(attrs: &[syn::Attribute]) -> impl Iterator<Item = &syn::Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("cfg"))
}
