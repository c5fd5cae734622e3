//! The list of words in the parentheses of an attribute. What is wrong with one of them ends at the next comma.

use crate::attr::report::Report;
use crate::attr::spelling::nearest;
use crate::workflow::instead_of_keyword;
use proc_macro2::{Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{ParseBuffer, ParseStream, Parser};
use syn::{Ident, LitStr, Token, parenthesized};

/// The words that an attribute takes.
pub(super) struct Words {
    /// The attribute.
    pub(super) attribute: &'static str,
    /// Each word as it is written, such as `writes = score`.
    pub(super) forms: &'static [&'static str],
    /// What others call something, and what to do about it here.
    pub(super) foreign: &'static [(&'static str, &'static str)],
}

/// Reads what stands behind a word.
pub(super) type Each<'a> = dyn FnMut(&Ident, ParseStream<'_>, &mut Report) -> syn::Result<()> + 'a;

/// What others call a description.
const DESCRIPTIONS: [&str; 6] = ["description", "desc", "doc", "docs", "about", "summary"];

/// How the parser begins a fault at the end of the input, which has no place of its own.
const END: &str = "unexpected end of input, ";

/// Why a word was not read; where a message was made already, there is none to come.
enum Fault {
    Said,
    Form(&'static str, syn::Error),
    /// A description, as a word with a value or as a text alone.
    Described(Span, String),
    NoWord(syn::Error),
}

impl Words {
    /// Reads them all; whether a description is among them, which is told.
    pub(super) fn read(&self, args: TokenStream, report: &mut Report, each: &mut Each<'_>) -> bool {
        let (mut seen, mut described) = (Vec::new(), false);
        let parser = |input: ParseStream<'_>| {
            while !input.is_empty() {
                match self.entry(input, report, &mut seen, each) {
                    Ok(()) | Err(Fault::Said) => {}
                    Err(Fault::Form(form, error)) => {
                        let word = word_of(form);
                        let help = format!("write `#[{}({form})]`", self.attribute);
                        report.at(error.span(), format!("`{word}` is not written like this: {error}"), help);
                    }
                    Err(Fault::Described(span, what)) => {
                        described = true;
                        let fact = format!("{what} is no attribute of `#[{}]`", self.attribute);
                        report.at(span, fact, self.instead_of("description"));
                    }
                    Err(Fault::NoWord(error)) => {
                        report.at(error.span(), "expected the name of an attribute", self.all());
                    }
                }
                skip(input);
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
            }
            Ok(())
        };
        if let Err(error) = parser.parse2(args) {
            report.syntax(&error);
        }
        described
    }

    fn entry(
        &self,
        input: ParseStream<'_>,
        report: &mut Report,
        seen: &mut Vec<String>,
        each: &mut Each<'_>,
    ) -> Result<(), Fault> {
        // A word alone may be a key, or a name.
        if input.fork().parse::<LitStr>().is_ok_and(|text| text.value().contains(' ')) {
            return Err(Fault::Described(input.span(), "a text".to_owned()));
        }
        let name = input.call(Ident::parse_any).map_err(Fault::NoWord)?;
        let text = name.to_string();
        if DESCRIPTIONS.contains(&text.as_str()) {
            return Err(Fault::Described(name.span(), format!("`{text}`")));
        }
        let Some(form) = self.forms.iter().find(|form| word_of(form) == text) else {
            let fact = format!("`{text}` is no attribute of `#[{}]`", self.attribute);
            report.at(name.span(), fact, self.instead_of(&text));
            return Err(Fault::Said);
        };
        if seen.contains(&text) {
            report.at(name.span(), format!("`{text}` is given twice"), "remove one of them");
        }
        seen.push(text);
        let alone = input.is_empty() || input.peek(Token![,]);
        each(&name, input, report).map_err(|error| match error.to_string().strip_prefix(END) {
            Some(why) => Fault::Form(form, syn::Error::new(name.span(), why)),
            None if alone => Fault::Form(form, syn::Error::new(name.span(), error)),
            None => Fault::Form(form, error),
        })?;
        match input.is_empty() || input.peek(Token![,]) {
            true => Ok(()),
            false if word_of(form).len() == form.len() => {
                Err(Fault::Form(form, input.error("it has no value")))
            }
            false => Err(Fault::Form(form, input.error("expected a comma"))),
        }
    }

    fn instead_of(&self, text: &str) -> String {
        if let Some((_, help)) = self.foreign.iter().find(|(foreign, _)| *foreign == text) {
            return (*help).to_owned();
        }
        let words: Vec<_> = self.forms.iter().map(|form| word_of(form)).collect();
        match nearest(text, &words) {
            Some(word) => format!("did you mean `{word}`?"),
            None => self.all(),
        }
    }

    fn all(&self) -> String {
        format!("`#[{}]` takes `{}`", self.attribute, self.forms.join("`, `"))
    }
}

/// `writes` of `writes = score`.
fn word_of(form: &str) -> &str {
    form.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or(form)
}

/// Goes to the next comma.
fn skip(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) {
        let skipped: syn::Result<TokenTree> = input.parse();
        if skipped.is_err() {
            return;
        }
    }
}

/// Reads what stands in parentheses. After a fault nothing is left in them: the parser around would say it once more.
pub(super) fn parens<T>(
    input: ParseStream<'_>,
    read: impl FnOnce(&ParseBuffer<'_>) -> syn::Result<T>,
) -> syn::Result<T> {
    let content;
    parenthesized!(content in input);
    let out = read(&content).map_err(|error| match error.to_string().strip_prefix(END) {
        Some(why) => syn::Error::new(content.span(), why),
        None => error,
    });
    while !content.is_empty() {
        let _: TokenTree = content.parse()?;
    }
    out
}

/// Reads a name of the user's own, which is no keyword.
pub(super) fn name(input: ParseStream<'_>, what: &str, report: &mut Report) -> syn::Result<Ident> {
    let name = word(input, what)?;
    let text = name.to_string();
    if syn::parse_str::<Ident>(&text).is_err() {
        let (fact, help) = match text.as_str() {
            "_" => ("is no name", "write a word, such as `score`".to_owned()),
            word => ("is a keyword of Rust", instead_of_keyword(word)),
        };
        report.named("name-invalid", name.span(), format!("`{text}` {fact}"), help);
    }
    Ok(name)
}

/// Reads a name that may be a keyword, as behind a prefix; it stands without quotes.
pub(super) fn word(input: ParseStream<'_>, what: &str) -> syn::Result<Ident> {
    if input.peek(LitStr) {
        return Err(input.error(format!("{what} has no quotes")));
    }
    input.call(Ident::parse_any).map_err(|error| syn::Error::new(error.span(), format!("expected {what}")))
}
