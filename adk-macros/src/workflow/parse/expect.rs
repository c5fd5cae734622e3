//! Parsers of required syntax, with errors of the form "expected X, found Y".

use super::super::ast::{Key, KeyDecl, Mention, MentionKind};
use super::super::names::{derivable_ident, is_identifier, keyword_remedy, to_raw};
use super::{Result, Sink, at_colon};
use crate::diag::Diagnostic;
use crate::types;
use adk_spec::Check;
use adk_spec::nearest::nearest;
use proc_macro2::{Delimiter, TokenTree};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Expr, ExprLit, Ident, Lifetime, Lit, LitStr, Path, PathSegment, Token, Type, UnOp,
    token,
};

/// Prefixes of keys.
const PREFIXES: [&str; 3] = ["user", "app", "temp"];

/// Returns the error "expected WHAT, found THIS" at the next token.
pub(super) fn expected_error(input: ParseStream<'_>, what: &str) -> Diagnostic {
    Diagnostic::syntax(
        input.span(),
        format!("expected {what}, found {}", next_token_text(input)),
    )
}

/// Returns the next token in the form for messages.
pub(super) fn next_token_text(input: ParseStream<'_>) -> String {
    let joint = [
        (input.peek(Token![->]), "`->`"),
        (input.peek(Token![<-]), "`<-`"),
        (input.peek(Token![=>]), "`=>`"),
        (input.peek(Token![==]), "`==`"),
        (input.peek(Token![::]), "`::`"),
        (input.peek(Token![..]), "`..`"),
        (input.is_empty(), "the end"),
        (is_doc(input), "a doc comment"),
    ];
    if let Some((_, text)) = joint.iter().find(|(is, _)| *is) {
        return (*text).to_owned();
    }
    match input.cursor().token_tree() {
        Some((TokenTree::Group(group), _)) => match group.delimiter() {
            Delimiter::Parenthesis => "`(`".to_owned(),
            Delimiter::Bracket => "`[`".to_owned(),
            // An angle block ends with its `>`.
            Delimiter::Brace => match group.stream().into_iter().last() {
                Some(TokenTree::Punct(sign)) if sign.as_char() == '>' => "`<`".to_owned(),
                _ => "`{`".to_owned(),
            },
            Delimiter::None => "something else".to_owned(),
        },
        Some((token, _)) if token.to_string().chars().count() <= 40 => format!("`{token}`"),
        _ => "something else".to_owned(),
    }
}

pub(super) fn is_doc(input: ParseStream<'_>) -> bool {
    input.peek(Token![#])
        && input
            .fork()
            .call(Attribute::parse_outer)
            .is_ok_and(|attrs| {
                attrs
                    .first()
                    .is_some_and(|attr| attr.path().is_ident("doc"))
            })
}

/// Returns the next word, which may be a keyword.
pub(super) fn word(input: ParseStream<'_>) -> Option<Ident> {
    input.cursor().ident().map(|(word, _)| word)
}

/// Parses a token, or returns an error about the expected token.
pub(crate) fn token<T: Parse>(input: ParseStream<'_>, what: &str) -> Result<T> {
    let start = input.fork();
    input.parse().map_err(|_| expected_error(&start, what))
}

/// Parses Rust code, and repeats the message of `syn` if it does not parse.
fn rust<T>(
    input: ParseStream<'_>,
    what: &str,
    read: fn(ParseStream<'_>) -> syn::Result<T>,
) -> Result<T> {
    let start = input.fork();
    read(input).map_err(|error| {
        if start.cursor() == input.cursor() {
            expected_error(&start, what)
        } else {
            Diagnostic::syntax(error.span(), format!("this Rust cannot be read: {error}"))
        }
    })
}

/// Parses an expression, and records its path for editors, even if the path is incomplete.
pub(super) fn expr(input: ParseStream<'_>, sink: &mut Sink, what: &str) -> Result<Expr> {
    let start = input.fork();
    let read = rust(input, what, Expr::parse);
    match &read {
        Ok(Expr::Path(path)) if path.qself.is_none() => {
            sink.mentions.push(Mention {
                path: path.path.clone(),
                kind: MentionKind::Value,
            });
        }
        Err(_) if start.peek(Ident) || start.peek(Token![crate]) || start.peek(Token![::]) => {
            path(&start, sink, MentionKind::Value)?;
        }
        _ => {}
    }
    read
}

/// Parses a whole number of at least `least`. Const evaluation checks expressions other than
/// literals. An invalid literal is reported with the name and the check, and replaced by 1.
pub(super) fn number(
    input: ParseStream<'_>,
    sink: &mut Sink,
    (name, check): (&str, Check),
    what: &str,
    least: u32,
) -> Result<Expr> {
    let span = input.span();
    let value = expr(input, sink, what).map_err(|error| error.with_check(check))?;
    let found = match &value {
        Expr::Range(_) => "a range",
        Expr::Lit(ExprLit {
            lit: Lit::Int(number),
            ..
        }) if !number.suffix().starts_with('f') => match number.base10_parse::<u32>() {
            Ok(number) if number >= least => return Ok(value),
            Ok(_) => "0",
            Err(_) => "too large",
        },
        Expr::Lit(_) => "not a whole number",
        Expr::Unary(unary)
            if matches!(unary.op, UnOp::Neg(_)) && matches!(*unary.expr, Expr::Lit(_)) =>
        {
            "negative"
        }
        _ => return Ok(value),
    };
    let wrong = Diagnostic::new(check, span, format!("`{name}` is {found}"));
    sink.push_beside(wrong.help(format!("it is {what}")));
    Ok(syn::parse_quote_spanned!(span=> 1))
}

/// Parses the type of a key, which has to be storable.
fn storable_type(input: ParseStream<'_>) -> Result<Type> {
    let ty = ty(input, "a type")?;
    if let Err(types::Hint { span, fact, help }) = types::check_storable(&ty) {
        return Err(Diagnostic::syntax(span, fact).help(help));
    }
    Ok(ty)
}

pub(crate) fn ty(input: ParseStream<'_>, what: &str) -> Result<Type> {
    rust(input, what, Type::parse)
}

/// Parses a name that the user chooses: an identifier, but not a keyword.
pub(crate) fn name(input: ParseStream<'_>, what: &str) -> Result<Ident> {
    let at = input.span();
    let invalid = |fact: String| Diagnostic::new(Check::NameInvalid, at, fact);
    if input.peek2(Token![-]) && input.peek3(Ident::peek_any) && input.peek(Ident::peek_any) {
        return Err(dashed_name_error(input));
    }
    if input.peek(Ident) {
        return Ok(derivable_ident(input.parse()?));
    }
    Err(if input.peek(Token![_]) {
        invalid("`_` is no name".to_owned()).help("write a word, such as `critic`")
    } else if let Ok(text) = input.fork().parse::<LitStr>() {
        let text = text.value();
        let example = if is_identifier(&text) {
            &text
        } else {
            "critic"
        };
        let what = what.split(", as in").next().unwrap_or(what);
        invalid(format!("{what} is written without quotes"))
            .help(format!("write a word, such as `{example}`"))
    } else if let Ok(label) = input.fork().parse::<Lifetime>() {
        invalid("a name is written without `'`".to_owned()).help(format!("write `{}`", label.ident))
    } else if let Some(word) = word(input) {
        invalid(format!("`{word}` is a keyword of Rust")).help(keyword_remedy(&word.to_string()))
    } else if input.peek(Lit) {
        invalid(format!("{} is no name", next_token_text(input)))
            .help("begin with a letter or `_`, as in `critic`")
    } else {
        expected_error(input, what)
    })
}

/// Skips a name such as `my-agent`, and returns the error about it.
pub(super) fn dashed_name_error(input: ParseStream<'_>) -> Diagnostic {
    let span = input.span();
    let mut parts = Vec::new();
    while let Ok(part) = input.call(Ident::parse_any) {
        parts.push(part.unraw().to_string());
        if !(input.peek(Token![-]) && input.peek2(Ident::peek_any)) {
            break;
        }
        let _ = input.parse::<Token![-]>();
    }
    let fact = format!("`{}` is no name", parts.join("-"));
    Diagnostic::new(Check::NameInvalid, span, fact).help(format!("write `{}`", parts.join("_")))
}

/// Parses doc comments, and reports other attributes.
pub(super) fn docs(input: ParseStream<'_>, sink: &mut Sink) -> Result<Vec<Attribute>> {
    let mut attrs = attributes(input)?;
    if let Some(other) = attrs.iter().find(|attr| !attr.path().is_ident("doc")) {
        let is_condition = ["cfg", "cfg_attr"]
            .iter()
            .any(|name| other.path().is_ident(name));
        let help = if is_condition {
            "write the attribute before the macro call, and one call for each case: the macro \
             cannot evaluate it"
        } else {
            "write the attribute before the name of the workflow, where it holds for all of it"
        };
        sink.push(
            Diagnostic::from(syn::Error::new_spanned(
                other.path(),
                "only a doc comment may be before this",
            ))
            .help(help),
        );
    }
    attrs.retain(|attr| attr.path().is_ident("doc"));
    Ok(attrs)
}

pub(super) fn attributes(input: ParseStream<'_>) -> Result<Vec<Attribute>> {
    let is_attribute = input.peek2(token::Bracket);
    if !input.peek(Token![#]) || is_attribute {
        return Ok(input.call(Attribute::parse_outer)?);
    }
    let at = input.span();
    Err(if input.peek2(Token![!]) {
        Diagnostic::syntax(at, "this attribute applies to the enclosing item")
            .help("write `///` or `#[...]`, which applies to the next item")
    } else {
        Diagnostic::syntax(at, "`#` begins no comment")
            .help("write `//`, or `///` for a description")
    })
}

/// Parses `plan` or `user:plan`. Before a type, `user: Plan` is a key with the name `user`.
pub(crate) fn key(input: ParseStream<'_>, what: &str, is_typed: bool) -> Result<Key> {
    let first = name(input, what)?;
    let is_meant = at_colon(input)
        && input.peek2(Ident::peek_any)
        && !PREFIXES.iter().any(|prefix| first == prefix);
    let near = nearest(&first.to_string(), PREFIXES);
    if is_meant
        && if is_typed {
            input.peek3(Token![:]) && !input.peek3(Token![::])
        } else {
            near.is_some()
        }
    {
        let help = near.map_or(
            "use the prefix `user:`, `app:` or `temp:`".to_owned(),
            |near| format!("did you mean `{near}:`?"),
        );
        return Err(Diagnostic::syntax(
            first.span(),
            format!("`{first}` is not a prefix of a key"),
        )
        .help(help));
    }
    if !PREFIXES.iter().any(|prefix| first == prefix)
        || !at_colon(input)
        || !input.peek2(Ident::peek_any)
    {
        return Ok(Key {
            prefix: None,
            name: first,
        });
    }
    // `user: Plan` is a key with the name `user`, and `user:plan` is a key without a type.
    let is_name = |word: &Ident| {
        word.to_string().starts_with(char::is_lowercase)
            && !crate::typed::is_plain_name(&word.to_string())
    };
    let is_prefix = !is_typed
        || input.peek3(Token![:])
        || input
            .cursor()
            .punct()
            .and_then(|(_, rest)| rest.ident())
            .is_some_and(|(word, _)| is_name(&word));
    if !is_prefix || is_typed && is_path_after_colon(input) {
        return Ok(Key {
            prefix: None,
            name: first,
        });
    }
    input.parse::<Token![:]>()?;
    // After a prefix, a keyword is a valid name.
    let keyword = word(input)
        .filter(|_| !input.peek(Ident))
        .and_then(|word| to_raw(&word));
    let name = match keyword {
        Some(keyword) => input.call(Ident::parse_any).map(|_| keyword)?,
        None => name(input, what)?,
    };
    Ok(Key {
        prefix: Some(first),
        name,
    })
}

/// Returns whether `: a::b` follows.
fn is_path_after_colon(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    ahead.parse::<Token![:]>().is_ok()
        && ahead.call(Ident::parse_any).is_ok()
        && ahead.peek(Token![::])
}

impl KeyDecl {
    /// Parses `KEY: TYPE`, with doc comments.
    pub(super) fn parse(input: ParseStream<'_>, sink: &mut Sink) -> Result<Self> {
        let attrs = docs(input, sink)?;
        if input.peek(Token![mut]) {
            return Err(
                Diagnostic::syntax(input.span(), "a key is not declared as `mut`")
                    .help("remove it: agents may write any key"),
            );
        }
        let key = key(input, "a key and its type, as in `draft: String`", true)?;
        let text = key.text();
        if !at_colon(input) {
            if text.starts_with(char::is_uppercase) {
                let fact = format!("`{text}` looks like a type, and a key is before its type");
                let help = match text.as_str() {
                    "Result" => "write `KEY: TYPE` with the type of the value, as in \
                        `draft: String`; an error ends the run"
                        .to_owned(),
                    _ => format!("write `KEY: {text}`, as in `draft: {text}`"),
                };
                return Err(Diagnostic::syntax(key.name.span(), fact).help(help));
            }
            let is_set = input.peek(Token![=]);
            let error = expected_error(
                input,
                &format!("`:` and the type of `{text}`, as in `{text}: String`"),
            );
            return Err(if is_set {
                error.help(format!("write `{text}: TYPE = ...`"))
            } else {
                error
            });
        }
        input.parse::<Token![:]>()?;
        Ok(Self {
            attrs,
            key,
            ty: storable_type(input)?,
            perhaps: false,
        })
    }
}

/// Parses a path without generic arguments, and records it for editors, even if it ends in `::`.
pub(super) fn path(input: ParseStream<'_>, sink: &mut Sink, kind: MentionKind) -> Result<Path> {
    let leading_colon = input.parse()?;
    let mut path = Path {
        leading_colon,
        segments: Punctuated::new(),
    };
    loop {
        let is_start = path.segments.is_empty() || is_super(&path);
        let is_keyword =
            input.peek(Token![crate]) || input.peek(Token![self]) || input.peek(Token![super]);
        let segment = if input.peek(Ident) || is_start && is_keyword {
            input.call(Ident::parse_any).map(derivable_ident)?
        } else {
            if !path.segments.is_empty() {
                sink.mentions.push(Mention { path, kind });
            }
            return Err(after_colons(input));
        };
        path.segments.push_value(PathSegment::from(segment));
        if !input.peek(Token![::]) {
            sink.mentions.push(Mention {
                path: path.clone(),
                kind,
            });
            let is_module = is_super(&path) || path.is_ident("crate");
            return if is_module {
                Err(expected_error(input, "`::` and a name"))
            } else {
                Ok(path)
            };
        }
        path.segments.push_punct(input.parse()?);
    }
}

fn after_colons(input: ParseStream<'_>) -> Diagnostic {
    let error = expected_error(input, "a name after `::`");
    if input.peek(Token![<]) || input.peek(token::Brace) {
        return error.help(
            "a path has no generic arguments: give the type a name, as in \
             `type Mine = Theirs<...>;`",
        );
    }
    error
}

/// Returns whether the path is `super::super` or `self`.
fn is_super(path: &Path) -> bool {
    path.segments
        .iter()
        .all(|segment| segment.ident == "super" || segment.ident == "self")
}
