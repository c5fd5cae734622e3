//! The words that open blocks, and those that people write instead.

use super::super::names::{is_type, nearest};
use super::Parser;
use super::block::at_brackets;
use super::run::ends_step;
use super::skip::at_end;
use proc_macro2::TokenTree;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Ident, Lit, Path, Token, token};

pub(super) const BLOCKS: &[&str] = &["sequence", "parallel", "loop", "match", "each"];

/// Whether one of these words stands here.
pub(super) fn is_word(input: ParseStream<'_>, words: &[&str]) -> bool {
    let next = input.fork().call(Ident::parse_any);
    next.is_ok_and(|found| words.iter().any(|word| found == word))
}

/// Whether a keyword stands here that begins a step, and is neither a name nor a pattern.
pub(super) fn is_step_keyword(input: ParseStream<'_>) -> bool {
    input.peek(Token![loop])
        || input.peek(Token![match])
        || input.peek(Token![break])
        || input.peek(Token![await])
}

/// What ADK and Rust call what is a block here.
fn elsewhere(word: &str) -> Option<&'static str> {
    match word {
        "SequentialAgent" | "sequential" | "seq" => Some("sequence"),
        "ParallelAgent" | "par" | "fork" | "concurrent" | "concurrently" => Some("parallel"),
        "LoopAgent" | "while" | "repeat" | "until" | "do" => Some("loop"),
        "for" | "foreach" | "for_each" | "map" => Some("each"),
        "if" | "switch" | "when" | "unless" => Some("match"),
        _ => BLOCKS.iter().copied().find(|block| word.eq_ignore_ascii_case(block)),
    }
}

/// Words behind which other languages have a condition.
const CONDITIONS: [&str; 6] = ["if", "while", "for", "until", "when", "unless"];

/// Whether a word is the first one of a block, of ours or of another language.
pub(super) fn opens_block(word: &Ident) -> bool {
    let is = |known: &&str| word == known;
    BLOCKS.iter().chain(&CONDITIONS).chain(&["break", "await"]).any(is)
}

fn near(word: &str) -> Option<&'static str> {
    elsewhere(word).or_else(|| nearest(word, BLOCKS.iter().copied()))
}

/// Whether a word that is no block is a type with arguments, as in `Keeper<u8>`.
pub(super) fn is_generic(word: &Ident, input: ParseStream<'_>) -> bool {
    is_no_block(word) && input.peek2(Token![<])
}

/// Whether a word is a type, and not what others call a block.
pub(super) fn is_no_block(word: &Ident) -> bool {
    is_type(word) && near(&word.to_string()).is_none()
}

/// The word of a block that begins here, and whether there is such a block. A step may be called like one.
pub(super) fn opens(input: ParseStream<'_>) -> syn::Result<Option<(Ident, bool)>> {
    if !input.peek(Ident::peek_any) {
        return Ok(None);
    }
    let ahead = input.fork();
    let word = ahead.call(Ident::parse_any)?;
    let text = word.to_string();
    let (is_keyword, is_known) = (!input.peek(Ident), BLOCKS.contains(&text.as_str()));
    let has_arguments = ahead.peek(token::Paren);
    let mut lists_steps = false;
    if has_arguments && let TokenTree::Group(group) = ahead.parse::<TokenTree>()? {
        lists_steps = !is_known && elsewhere(&text).is_some() && super::parens::lists_steps(&group);
    }
    let is_block = match text.as_str() {
        _ if is_keyword => is_known || elsewhere(&text).is_some(),
        _ if at_brackets(&ahead) || lists_steps => true,
        // `each item`, but not `each as other`.
        "each" => {
            let element = ahead.peek(Ident::peek_any) && (!ahead.peek(Token![as]) || ahead.peek2(Token![in]));
            has_arguments || element || ahead.peek(Lit)
        }
        _ if is_known => {
            // `parallel critic` too: two names are no step.
            has_arguments || ahead.peek(Ident) || ahead.peek(Lit) || ahead.peek(token::Bracket)
        }
        text if CONDITIONS.contains(&text) && (ahead.peek(Ident) || ahead.peek(Token![!])) => true,
        // `mach severity < ... >`, `eahc item in items < ... >`. Only then: to look for what is near takes time.
        _ if !ahead.peek(Ident) || has_arguments && !ahead.peek2(Token![in]) => false,
        _ => match near(&text) {
            Some("match") => ahead.peek2(Token![<]) || ahead.peek2(token::Brace),
            Some("each") => ahead.peek2(Token![in]),
            _ => false,
        },
    };
    Ok(is_block.then_some((word, is_known)))
}

/// `run writer`, as other languages have it: the word that is too much.
pub(super) fn verb(input: ParseStream<'_>) -> Option<Ident> {
    const VERBS: [&str; 10] =
        ["agent", "run", "call", "do", "exec", "execute", "invoke", "start", "step", "workflow"];
    let ahead = input.fork();
    let word = ahead.call(Ident::parse_any).ok()?;
    // `step::run` is a path that begins so.
    if ahead.peek(Token![::]) {
        return None;
    }
    ahead.call(Path::parse_mod_style).ok()?;
    (VERBS.iter().any(|verb| word == verb) && ends_step(&ahead)).then_some(word)
}

/// `berak outer`, `awiat approved: bool`: a word that is none of the language, and the one that may stand there.
pub(super) fn slip(input: ParseStream<'_>) -> Option<(Ident, &'static str)> {
    let ahead = input.fork();
    let word = ahead.parse::<Ident>().ok()?;
    if word != "break"
        && word.to_string().eq_ignore_ascii_case("break")
        && (ahead.is_empty() || at_end(&ahead))
    {
        return Some((word, "break"));
    }
    let has_arguments = ahead.peek(token::Paren);
    if has_arguments {
        ahead.parse::<TokenTree>().ok()?;
    }
    ahead.parse::<Ident>().ok()?;
    let is_typed = ahead.peek(Token![:]) && !ahead.peek(Token![::]);
    let behind = ahead.fork();
    let _ = behind.parse::<Option<Token![:]>>();
    // The name of a block, and no key with its type.
    if is_typed
        && (at_brackets(&behind)
            || opens(&behind).is_ok_and(|block| block.is_some_and(|(_, is_known)| is_known)))
    {
        return None;
    }
    let meant = match is_typed {
        true => "await",
        false if !has_arguments && (ahead.is_empty() || at_end(&ahead)) => "break",
        false => return None,
    };
    let text = word.to_string();
    if meant == "break" && ["exit", "leave", "quit"].contains(&&*text) {
        return Some((word, meant));
    }
    nearest(&text, [meant]).map(|meant| (word, meant))
}

impl Parser {
    /// Which block a word stands for that is none; says so. `None` where what follows is another language's as well.
    pub(super) fn meant(
        &mut self,
        word: &Ident,
        input: ParseStream<'_>,
        holds_arms: bool,
    ) -> Option<&'static str> {
        let text = word.to_string();
        let near = if holds_arms { Some("match") } else { near(&text) };
        let help = match near {
            _ if !holds_arms && matches!(text.as_str(), "if" | "when" | "unless") => {
                "a choice is written `match approved < true => publish, false => () >`".to_owned()
            }
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                "blocks are `sequence`, `parallel`, `loop`, `match` and `each`; two steps have a `;` between them"
                    .to_owned()
            }
        };
        self.report.at(word.span(), format!("syntax: `{text}` is not a block; help: {help}"));
        // `while(good) < critic >` is a loop but for its word.
        let is_loop = || near == Some("loop") && self.at_arguments_and_steps(input);
        let is_foreign = || text == "do" || CONDITIONS.contains(&text.as_str()) && !is_loop();
        (holds_arms || !is_foreign()).then_some(near.unwrap_or("sequence"))
    }
}
