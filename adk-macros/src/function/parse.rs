//! Parsers of a function and of an `impl Agent`: heads become trees, bodies stay tokens, so that a
//! half-typed body still expands.

use super::args::{self, StateKey};
use crate::diag::Diagnostics;
use crate::docs::is_doc;
use crate::types;
use crate::workflow::{unraw, without_span};
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::parse::{Parse, ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{
    Attribute, Expr, FnArg, Generics, ItemImpl, Meta, Pat, PatType, Path, ReturnType, Signature,
    Type, TypeReference, Visibility,
};

/// A function with `#[agent]` or `#[tool]`.
pub(super) struct Function {
    pub(super) attrs: Vec<Attribute>,
    pub(super) vis: Visibility,
    /// The signature without the attributes that only the macros understand.
    pub(super) sig: Signature,
    /// The body as unparsed tokens.
    pub(super) body: Group,
    pub(super) params: Vec<Param>,
    /// Whether the function is in an `impl` or a trait, where the expansion cannot add a type.
    /// Methods are rejected.
    pub(super) is_method: bool,
    /// The item unchanged, if it is valid Rust: no parameter has an attribute that only the macros
    /// understand.
    pub(super) item: Option<TokenStream>,
}

pub(super) struct Param {
    /// The key or the argument, or `None` for a pattern without a name.
    pub(super) name: Option<StateKey>,
    /// The name of the parameter in the expansion, which does not collide with names of the user.
    pub(super) local: Ident,
    pub(super) source: Source,
    /// The type without the `&` of a resource, and without the `Out` or the `&mut` of a key.
    pub(super) ty: Type,
    pub(super) docs: Vec<Attribute>,
    /// The value of `#[default(...)]`, and its span.
    pub(super) default: Option<(Span, Expr)>,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Source {
    /// A key of an agent, an argument of a tool, or the context.
    Plain,
    /// A resource of the program.
    Resource,
    /// A key that a tool reads.
    Key,
    /// A key that the function writes.
    Out,
    /// A key that a tool reads, changes and writes.
    Changed,
}

impl Function {
    /// Returns the name without `r#`.
    pub(super) fn name(&self) -> String {
        unraw(&self.sig.ident)
    }

    /// Returns the name for uses of the function. For editors, the user's token is only the
    /// function and the struct.
    pub(super) fn unspanned_name(&self) -> Ident {
        without_span(&self.sig.ident)
    }

    /// Returns the parameters of a source. A [`Source::Changed`] key is both a read key and a
    /// written key.
    pub(super) fn params(&self, source: Source) -> impl Iterator<Item = &Param> {
        let changes = matches!(source, Source::Key | Source::Out);
        self.params.iter().filter(move |Param { source: own, .. }| {
            *own == source || changes && *own == Source::Changed
        })
    }

    pub(super) fn returns(&self) -> TokenStream {
        match &self.sig.output {
            ReturnType::Type(_, ty) => ty.to_token_stream(),
            ReturnType::Default => quote!(()),
        }
    }
}

struct FunctionParts {
    attrs: Vec<Attribute>,
    vis: Visibility,
    sig: Signature,
    body: Group,
}

impl Parse for FunctionParts {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Ok(Self {
            attrs: input.call(Attribute::parse_outer)?,
            vis: input.parse()?,
            sig: input.parse()?,
            body: input.parse()?,
        })
    }
}

/// Parses a function. Returns `None` if the item is not a function, or if rustc has rejected the
/// item, since rustc parses it first.
pub(super) fn function(
    item: TokenStream,
    is_tool: bool,
    help: &str,
    report: &mut Diagnostics,
) -> Option<Function> {
    let FunctionParts {
        mut attrs,
        vis,
        mut sig,
        body,
    } = match FunctionParts::parse.parse2(item.clone()) {
        Ok(parsed) => parsed,
        Err(error) => {
            if !is_function(item) {
                report.refuse(error.span(), "this is not a function", help);
            }
            return None;
        }
    };
    attrs.retain(|attr| {
        let is_second = attr.path().is_ident("agent") || attr.path().is_ident("tool");
        if is_second {
            report.refuse(
                attr.path().span(),
                "one function is one agent or one tool",
                "remove one of the two attributes; for the other write a function that calls this \
                 one",
            );
        }
        !is_second
    });
    let receiver = sig.receiver().map(|receiver| receiver.self_token.span);
    let method = receiver
        .or_else(|| self_type(sig.to_token_stream()))
        .or_else(|| self_type(body.stream()));
    if let Some(span) = method {
        report.refuse(
            span,
            "a method is neither an agent nor a tool",
            "write a function outside of the `impl`; for an `impl Agent` put the attribute before \
             it, as in `#[agent(reads(text: String))]`; take values of `self` as resources, as in \
             `#[resource] db: &Pool`",
        );
    }
    let has_attributes = |input: &FnArg| match input {
        FnArg::Receiver(_) => false,
        FnArg::Typed(input) => !input.attrs.is_empty(),
    };
    let is_rust = report.is_empty() && !sig.inputs.iter().any(has_attributes);
    let mut params = Vec::new();
    for (place, input) in sig.inputs.iter_mut().enumerate() {
        if let FnArg::Typed(input) = input {
            params.push(param(
                input,
                format_ident!("__adk_{place}"),
                is_tool,
                report,
            ));
        }
    }
    let item = is_rust.then_some(item);
    Some(Function {
        attrs,
        vis,
        sig,
        body,
        params,
        is_method: method.is_some(),
        item,
    })
}

/// Returns the span of a `Self` that only a function in an `impl` or a trait can name: a `Self`
/// outside the items of the body and outside the input of macros.
fn self_type(tokens: TokenStream) -> Option<Span> {
    const ITEMS: [&str; 5] = ["impl", "trait", "struct", "enum", "union"];
    let (mut found, mut after_bang) = (None, false);
    for token in tokens {
        match &token {
            TokenTree::Ident(word) if ITEMS.iter().any(|item| word == item) => return None,
            TokenTree::Ident(word) if word == "Self" => found = found.or(Some(word.span())),
            TokenTree::Group(group) if !after_bang => {
                found = found.or_else(|| self_type(group.stream()))
            }
            _ => {}
        }
        after_bang = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '!');
    }
    found
}

fn is_function(item: TokenStream) -> bool {
    const BEFORE: [&str; 7] = [
        "pub", "default", "const", "async", "unsafe", "safe", "extern",
    ];
    let mut words = item.into_iter().filter_map(|token| match token {
        TokenTree::Ident(word) => Some(word),
        _ => None,
    });
    words
        .find(|word| BEFORE.iter().all(|before| word != before))
        .is_some_and(|word| word == "fn")
}

fn param(input: &mut PatType, local: Ident, is_tool: bool, report: &mut Diagnostics) -> Param {
    let is_resource = input
        .attrs
        .extract_if(.., |attr| attr.path().is_ident("resource"))
        .count()
        > 0;
    let name = if is_resource {
        None
    } else {
        pattern_name(&input.pat, report)
    };
    let key = take_key_attribute(&mut input.attrs, name.as_ref(), report);
    let (docs, default) = take_own_attributes(&mut input.attrs, report);
    let ty = (*input.ty).clone();
    let (source, ty) = match types::argument(&ty, "Out", 0).cloned() {
        _ if is_resource => (Source::Resource, resource(&ty, report)),
        Some(inside) => {
            if key.is_none() {
                report.refuse(
                    ty.span(),
                    "an `Out` writes a key",
                    "write `#[key]` before the parameter",
                );
            }
            (Source::Out, inside)
        }
        None if is_tool && key.is_some() => match types::mut_referent(&ty) {
            Some(inside) if !types::is_called_context(&ty) => (Source::Changed, inside.clone()),
            Some(_) => (Source::Plain, ty),
            None => (Source::Key, ty),
        },
        None => (Source::Plain, ty),
    };
    if let Some((span, _)) = default.as_ref().filter(|_| source != Source::Plain) {
        report.refuse(
            *span,
            "only an argument of a model has a default",
            "remove it",
        );
    }
    let named = |name: Ident| StateKey {
        text: unraw(&name),
        span: name.span(),
    };
    Param {
        name: key.or_else(|| name.map(named)),
        local,
        source,
        ty,
        docs,
        default,
    }
}

fn pattern_name(pat: &Pat, report: &mut Diagnostics) -> Option<Ident> {
    match pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => Some(pat.ident.clone()),
        Pat::Wild(_) => None,
        pat => {
            let help = "give it a name, and take it apart in the body";
            report.refuse(pat.span(), "a parameter of this function has no name", help);
            None
        }
    }
}

/// Removes `#[key]` or `#[key(user:plan)]` and returns the key.
fn take_key_attribute(
    attrs: &mut Vec<Attribute>,
    name: Option<&Ident>,
    report: &mut Diagnostics,
) -> Option<StateKey> {
    let attr = attrs
        .extract_if(.., |attr| attr.path().is_ident("key"))
        .last()?;
    let key = match (&attr.meta, name) {
        (Meta::Path(_), Some(name)) => Ok(StateKey {
            text: unraw(name),
            span: name.span(),
        }),
        _ => {
            let parser = |input: ParseStream<'_>| {
                let key = args::key(input, false);
                if key.is_err() {
                    // Skip the rest, so that one mistake gets one message.
                    input.parse::<TokenStream>()?;
                }
                Ok(key)
            };
            attr.parse_args_with(parser).map_err(Into::into).flatten()
        }
    };
    Some(key.unwrap_or_else(|error| {
        report.push(error.or_help("name the parameter as the key, or write `#[key(user:plan)]`"));
        StateKey {
            text: String::new(),
            span: attr.span(),
        }
    }))
}

/// Returns the target of the reference that a `#[resource]` parameter takes.
fn resource(ty: &Type, report: &mut Diagnostics) -> Type {
    match ty {
        Type::Reference(TypeReference {
            mutability: None,
            elem,
            ..
        }) => (**elem).clone(),
        ty => {
            let spelled = types::type_spelling(types::option_value(ty));
            let fact = "a resource is shared by all runs, so it is borrowed";
            let help = format!(
                "write `&{}`",
                spelled.trim_start_matches('&').trim_start_matches("mut ")
            );
            report.refuse(ty.span(), fact, help);
            ty.clone()
        }
    }
}

/// Removes the attributes of a parameter that only the macros understand.
fn take_own_attributes(
    attrs: &mut Vec<Attribute>,
    report: &mut Diagnostics,
) -> (Vec<Attribute>, Option<(Span, Expr)>) {
    let mut docs = Vec::new();
    let mut default = None;
    attrs.retain(|attr| {
        let (path, span) = (attr.path(), attr.path().span());
        if is_doc(attr) {
            docs.push(attr.clone());
        } else if path.is_ident("default") {
            match attr.parse_args() {
                Ok(value) => default = Some((span, value)),
                Err(_) => report.refuse(
                    span,
                    "`default` needs a value in parentheses",
                    "write `#[default(3)]`, with any expression",
                ),
            }
        } else if path.is_ident("serde") || path.is_ident("schemars") {
            report.refuse(
                span,
                "a parameter is not a field, so no derive reads its attributes",
                "take an `Option` for a value that may be absent, or write `#[default(VALUE)]` in \
                 a tool; otherwise take a type with `#[data]`, whose fields may have such \
                 attributes",
            );
        } else if path.is_ident("cfg") {
            report.refuse(
                span,
                "a parameter cannot have `#[cfg(...)]`, since the macro cannot evaluate it",
                "write `#[cfg(...)]` before the function, and one function for each case",
            );
        } else {
            return true;
        }
        false
    });
    (docs, default)
}

/// An `impl` of a trait.
pub(super) struct ByHand {
    /// The tokens before the braces.
    pub(super) head: TokenStream,
    /// The items as unparsed tokens.
    pub(super) body: Group,
    pub(super) attrs: Vec<Attribute>,
    pub(super) generics: Generics,
    /// The trait, or `None` for an `impl TYPE`.
    pub(super) trait_path: Option<Path>,
    pub(super) ty: Type,
}

/// A const among the items of an `impl`.
pub(super) struct Constant {
    pub(super) before: TokenStream,
    pub(super) value: TokenStream,
    pub(super) after: TokenStream,
}

/// Parses an `impl`, or returns `None` for any other item.
pub(super) fn by_hand(item: &TokenStream) -> Option<ByHand> {
    let mut tokens: Vec<TokenTree> = item.clone().into_iter().collect();
    let is_word = |token: &&TokenTree| matches!(token, TokenTree::Ident(_));
    let begins = tokens.iter().find(is_word)?.to_string();
    if !matches!(&*begins, "impl" | "unsafe" | "default") {
        return None;
    }
    let Some(TokenTree::Group(body)) = tokens.pop().filter(is_braced) else {
        return None;
    };
    let head: TokenStream = tokens.into_iter().collect();
    let ItemImpl {
        attrs,
        generics,
        trait_,
        self_ty,
        ..
    } = syn::parse2(quote!(#head {})).ok()?;
    Some(ByHand {
        head,
        body,
        attrs,
        generics,
        trait_path: trait_.map(|(path, _)| path),
        ty: *self_ty,
    })
}

fn is_braced(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

impl ByHand {
    pub(super) fn constant(&self, name: &str) -> Option<Constant> {
        let tokens: Vec<TokenTree> = self.body.stream().into_iter().collect();
        let is = |token: &TokenTree, word: &str| match token {
            TokenTree::Ident(ident) => ident == word,
            _ => false,
        };
        let start = tokens.windows(2).position(|two| match two {
            [word, found] => is(word, "const") && is(found, name),
            _ => false,
        })?;
        let from = |at: usize, c: char| {
            let is_it = |token: &TokenTree| match token {
                TokenTree::Punct(punct) => punct.as_char() == c,
                _ => false,
            };
            tokens.iter().skip(at).position(is_it).map(|n| at + n)
        };
        let value = from(start, '=')? + 1;
        // Conditions may follow the value, and cannot be a part of it.
        let conditions = tokens
            .iter()
            .skip(value)
            .position(|token| is(token, "where"));
        let end = from(value, ';')?;
        let end = conditions.map_or(end, |n| end.min(value + n));
        let part = |from: usize, to: usize| tokens.iter().take(to).skip(from).cloned().collect();
        Some(Constant {
            before: part(0, value),
            value: part(value, end),
            after: part(end, tokens.len()),
        })
    }
}
