//! Procedural macros of `adk-workflow`. Each macro parses its input, checks it and expands it.
#![deny(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

mod answerer;
mod code;
mod data;
mod depth;
mod diag;
mod docs;
mod facade;
mod fragments;
mod function;
#[cfg(test)]
mod fuzz;
mod manifest;
mod place;
mod resources;
mod typed;
mod types;
mod workflow;

use fragments::inline_fragments;
use proc_macro::TokenStream;

/// Turns a function into an agent. The parameters are the keys that the agent reads; the return
/// value is the key that it writes.
///
/// The function stays callable. The macro adds a type of the same name, so that `module::name` is a
/// step of a workflow and `name::default()` is a value.
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
/// - **Parameters** have the type `T`, `&T`, `&str`, `&[T]`, an `Option` of any of these, or
///   `serde_json::Value`. The first parameter may be `&mut Context`, also under the name of a
///   renamed import. A parameter with `#[resource]`, as in `#[resource] db: &Pool`, takes a
///   resource of the runner, see [`Resources`](derive@Resources). `#[key] done: Out<bool>` writes a
///   key in addition to the return value; `#[key(user:name)] name: &str` reads a key whose name
///   differs from the parameter.
/// - **The return value** is a value (`writes = KEY` names its key), `Flow`, both as `(T, Flow)`,
///   `Option<T>` for a key that is not always written, `()`, or any of these in a `Result` whose
///   error converts into `Box<dyn Error + Send + Sync>`.
/// - `#[agent(blocking)]` runs the function on the pool for blocking work. `#[agent(exits(outer))]`
///   lists the loops that `Flow::ExitTo` may name. `writes = user:plan` writes a key with a prefix.
///   `timeout = "20s"` (`ms`, `s`, `m`, `h`) limits the duration; a function that exceeds it fails
///   with an error of kind `Timeout`. Blocking work keeps its thread after the timeout. If the
///   function takes a context, the time that the reader of the events takes counts too.
///
/// A function without a context is one recorded call: a resumed run does not execute it again.
///
/// # On an `impl Agent`
///
/// `#[agent(reads(KEY: TYPE, ...), writes(KEY: TYPE, ...))]` declares the keys that a hand-written
/// agent reads and writes. The attribute adds them to `META`, which declares everything else, and
/// `key-type` compares their types in the same way as for a function. A read key of type `Option`
/// may be absent; a written key of type `Option` is not always written.
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
    function::agent(inline_fragments(args.into()), inline_fragments(item.into())).into()
}

/// Turns a function into a tool that a model may call. The doc comment explains to the model when
/// to call it; the parameters are the arguments.
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
/// - **Parameters** have any type that implements `serde::Deserialize` and `schemars::JsonSchema`
///   (`#[adk::data]` derives both), or a reference to such a type. A parameter of type `Option<T>`
///   or with `#[default(...)]` may be absent. One parameter may be `&mut ToolContext`. A parameter
///   with `#[resource]`, as in `#[resource] db: &Pool`, takes a resource of the runner, see
///   [`Resources`](derive@Resources). `#[key] draft: &str` reads a key of the state, and `#[key]
///   done: Out<bool>` writes one; `#[key(user:best)]` names another key. Models see neither
///   resources nor keys.
/// - **The return value** is anything with `serde::Serialize`, nothing, `Flow` to end a loop, or
///   one of these in a `Result` whose error implements `Display`: the model reads the error.
/// - **Attributes** are `name = "..."`; `escalates` for a tool that ends a loop in a way that the
///   macro cannot see (it sees a returned `Flow` and the word `escalate` in the body); `writes(key:
///   Type)` for keys that the tool writes without a parameter that shows it; `long_running`;
///   `confirm`; `by`; `blocking`. The macro also sees the word `skip_summarization` in the body: an
///   agent that has to write a key cannot have such a tool, unless the tool ends a loop or a tool
///   writes the key.
/// - **`confirm`** asks a person before each call. `confirm = over_limit` asks only before calls
///   for which the function `over_limit` returns `true`. The function has the parameters of the
///   tool without context, resources and keys, so a closure works too: `confirm = |amount: f64, _:
///   &str| amount > 100.0`. See [`workflow!`](macro.workflow.html#confirm). `by = "staff"` asks
///   users with that role; `by = other` asks each user except the one who began the run; without
///   `by`, the user who began the run is asked.
/// - **Limits**: `timeout = "20s"` (`ms`, `s`, `m`, `h`) limits the duration of one attempt of a
///   call; the tool has to be async or `blocking`. `retry = 2` repeats a call up to two times when
///   it fails or exceeds the timeout, after pauses of one second, two seconds, and so on. Wrong
///   arguments and panics are not retried, nor is a `blocking` call that exceeds the timeout,
///   because it still runs on its thread. The model reads the last error. By default, a call has no
///   timeout and no retries.
#[proc_macro_attribute]
pub fn tool(args: TokenStream, item: TokenStream) -> TokenStream {
    function::tool(inline_fragments(args.into()), inline_fragments(item.into())).into()
}

/// Derives the traits that a type needs to be an argument of a tool, an answer of a model or the
/// value of a key: `Clone`, `Debug`, `Serialize`, `Deserialize` and `JsonSchema`. The attributes of
/// serde work on the type, and models see its doc comments. The macro also gives the type the
/// number by which `key-type` distinguishes it from other types. A type that is read owns its
/// values: a `&'static str` field needs `#[serde(skip_deserializing)]`.
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
    data::data(args.into(), inline_fragments(item.into())).into()
}

/// Provides the fields of a struct to tools and agents, each by its type: the resources of a
/// runner.
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
/// A field with `#[resource(skip)]` is not provided. Two fields of the same type are an error,
/// since a resource is taken by its type.
#[proc_macro_derive(Resources, attributes(resource))]
pub fn resources(item: TokenStream) -> TokenStream {
    resources::derive(inline_fragments(item.into())).into()
}

#[doc = include_str!("../docs/links.md")]
#[doc = include_str!("../docs/language.md")]
#[proc_macro]
pub fn workflow(input: TokenStream) -> TokenStream {
    workflow::workflow(inline_fragments(input.into())).into()
}

/// Declares an LLM agent outside a workflow, in the grammar of `workflow!`. Workflows use the agent
/// by its path.
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
/// The facade exports the macro as `adk::llm::agent!`, because the attribute `#[agent]` has the
/// short name.
#[proc_macro]
pub fn llm_agent(input: TokenStream) -> TokenStream {
    workflow::llm_agent(inline_fragments(input.into())).into()
}

/// Returns the `#[cfg(...)]` attributes: the conditions under which an item exists.
fn conditions(attrs: &[syn::Attribute]) -> impl Iterator<Item = &syn::Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("cfg"))
}
