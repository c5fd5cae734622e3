//! `#[agent]`, `#[tool]` and `#[data]`: a function as an agent or a tool, a type as data.

mod borrowed;
mod called;
mod check;
mod closed;
mod data;
mod idle;
mod inside;
mod lent;
mod lower;
mod parse;
mod parts;
mod refused;
mod report;
mod shut;
mod spelling;
#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod tests;
mod unsaid;

use crate::deep::{self, TooDeep};
use proc_macro2::{Span, TokenStream};

pub(crate) use check::word;
pub(crate) use data::{alone as data_alone, data};

/// What stands in the parentheses. Nothing for `#[agent = "x"]`: rustc says itself that there is no such form, and gives
/// us the value as if it stood in parentheses.
pub(crate) fn args(written: TokenStream) -> TokenStream {
    let attribute = Span::call_site().source_text().unwrap_or_default();
    let text = attribute.trim_start_matches(['#', '[', ' ']);
    match text.chars().find(|char| matches!(char, '(' | '[' | '{' | '=')) {
        Some('=') => TokenStream::new(),
        _ => written,
    }
}

/// Where `#[agent]` may stand.
const AGENTS: &str = "put the attribute on a `fn`, or on `impl Agent for TYPE`";

pub(crate) fn agent(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut report = report::Report::new("agent-attribute");
    if is_too_deep(&args, &item, &mut report) {
        return report.beside(unread(item));
    }
    if let Some(by_hand) = parse::by_hand(&item) {
        if !check::is_agent(&by_hand, &mut report) {
            return lower::no_agent(&by_hand, &item, report);
        }
        let args = parse::by_hand_args(self::args(args), &mut report);
        check::by_hand(&args, &mut report);
        return lower::by_hand(&by_hand, &args, report);
    }
    let Some(function) = parse::function(item.clone(), &where_to(AGENTS, &item), &mut report) else {
        return report.beside(unread(item));
    };
    // What is said of a method is not said of its keys.
    let args = if function.associated { TokenStream::new() } else { self::args(args) };
    let args = parse::agent_args(args, &mut report);
    check::function(&function, &mut report);
    check::agent(&function, &args, &mut report);
    lower::agent(&function, &args, report)
}

pub(crate) fn tool(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut report = report::Report::new("tool-attribute");
    if is_too_deep(&args, &item, &mut report) {
        return report.beside(unread(item));
    }
    let Some(function) =
        parse::function(item.clone(), &where_to("put the attribute on a `fn`", &item), &mut report)
    else {
        return report.beside(unread(item));
    };
    let args = parse::tool_args(self::args(args), &mut report);
    check::function(&function, &mut report);
    check::tool(&function, &args, &mut report);
    lower::tool(&function, &args, report)
}

/// Whether something in there cannot be read without end, which is told.
fn is_too_deep(args: &TokenStream, item: &TokenStream, report: &mut report::Report) -> bool {
    let found = deep::find_in_value(args.clone()).or_else(|| deep::find_in_head(item.clone()));
    let is_deep = found.is_some();
    if let Some(TooDeep { span, fact, help }) = found {
        report.named("syntax", span, fact, help);
    }
    is_deep
}

/// Where the attribute of a function may stand, and what belongs on a type.
fn where_to(help: &str, item: &TokenStream) -> String {
    if is_type(item) { format!("{help}; a type that is data has `#[data]`") } else { help.to_owned() }
}

fn is_type(item: &TokenStream) -> bool {
    parse::begins(item, &["struct", "enum"])
}

/// What is no function, or none that can be read.
fn unread(item: TokenStream) -> TokenStream {
    if is_type(&item) { refused::mistaken(item) } else { lower::unread(item) }
}

/// A function without what makes it an agent or a tool. An `impl` is what it was.
pub(crate) fn function_alone(item: TokenStream) -> TokenStream {
    let mut report = report::Report::new("agent-attribute");
    match parse::function(item.clone(), AGENTS, &mut report) {
        Some(function) => lower::alone(&function),
        None => item,
    }
}
