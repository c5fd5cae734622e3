//! A function: its signature as a tree, its body as tokens, so that a half-typed body still expands.

use crate::attr::report::Report;
use crate::attr::{called, inside, lent, unsaid};
use crate::docs::is_doc;
use crate::sized::{self, Unsized};
use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, FnArg, GenericParam, Ident, Pat, ReturnType, Signature, Token, Type, Visibility};

/// A function with an attribute of ours.
pub(crate) struct Function {
    /// All attributes.
    pub(crate) attrs: Vec<Attribute>,
    /// Its visibility.
    pub(crate) vis: Visibility,
    /// Its signature as it was written, without what only we understand.
    pub(crate) sig: Signature,
    /// Its body, unread.
    pub(crate) body: Group,
    /// Its parameters, as far as they can be parameters.
    pub(crate) params: Vec<Param>,
    /// Whether it stands in an `impl` or a `trait`, where it can have no struct beside it.
    pub(crate) associated: bool,
    /// Whether its types are not those that were written.
    pub(crate) mended: bool,
}

/// A parameter.
pub(crate) struct Param {
    /// Its name; `None` for a pattern that has none.
    pub(crate) name: Option<Ident>,
    /// Its type.
    pub(crate) ty: Type,
    /// Its doc comments.
    pub(crate) docs: Vec<Attribute>,
    /// What `#[default(...)]` says, and where.
    pub(crate) default: Option<(Span, Expr)>,
}

impl Function {
    /// The name without `r#`.
    pub(crate) fn name(&self) -> String {
        plain(&self.sig.ident)
    }

    /// What it returns.
    pub(crate) fn returns(&self) -> TokenStream {
        match &self.sig.output {
            ReturnType::Type(_, ty) => ty.to_token_stream(),
            ReturnType::Default => quote::quote!(()),
        }
    }
}

/// An identifier without `r#`.
pub(crate) fn plain(ident: &Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map(str::to_owned).unwrap_or(text)
}

/// The last is its body, or the `;` that stands instead.
struct Parsed(Vec<Attribute>, Visibility, Signature, Result<Group, Token![;]>);

impl Parse for Parsed {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let (attrs, vis, sig) = (input.call(Attribute::parse_outer)?, input.parse()?, input.parse()?);
        let body = if input.peek(Token![;]) { Err(input.parse()?) } else { Ok(input.parse()?) };
        Ok(Self(attrs, vis, sig, body))
    }
}

/// An item that could not be read. A function loses its body, which may need what rustc could not read either; not in an
/// editor, where somebody may be writing it.
pub(crate) fn unread(item: TokenStream) -> TokenStream {
    if !begins(&item, &["fn"]) || !crate::facade::is_compiled() {
        return item;
    }
    let tokens = item.into_iter().map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
            Group::new(Delimiter::Brace, quote::quote!(loop {})).into()
        }
        // rustc takes no docs on parameters, which are those of a tool.
        TokenTree::Group(group)
            if group.delimiter() == Delimiter::Parenthesis
                && group
                    .stream()
                    .into_iter()
                    .any(|token| matches!(token, TokenTree::Punct(hash) if hash.as_char() == '#')) =>
        {
            let mut plain = Group::new(Delimiter::Parenthesis, undocumented(group.stream()));
            plain.set_span(group.span());
            plain.into()
        }
        token => token,
    });
    let tokens: TokenStream = tokens.collect();
    quote::quote!(#[allow(unused)] #tokens)
}

/// Parameters without their docs.
fn undocumented(parameters: TokenStream) -> TokenStream {
    let mut tokens = parameters.into_iter().peekable();
    let mut kept = TokenStream::new();
    while let Some(token) = tokens.next() {
        let is_hash = matches!(&token, TokenTree::Punct(hash) if hash.as_char() == '#');
        let is_doc = |next: &TokenTree| matches!(next, TokenTree::Group(group) if matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(name)) if name == "doc"));
        if !(is_hash && tokens.next_if(is_doc).is_some()) {
            kept.extend([token]);
        }
    }
    kept
}

/// The item with its body as it was written: of a `$body:block` a `macro_rules!` makes a group around it that has no brackets.
fn opened(item: TokenStream) -> TokenStream {
    let open = |token| match &token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
            let mut inside = group.stream().into_iter();
            match (inside.next(), inside.next()) {
                (Some(TokenTree::Group(body)), None) if body.delimiter() == Delimiter::Brace => body.into(),
                _ => token,
            }
        }
        _ => token,
    };
    item.into_iter().map(open).collect()
}

/// Whether an item begins as one of these does.
pub(crate) fn begins(item: &TokenStream, words: &[&str]) -> bool {
    let before = |word: &Ident| {
        ["pub", "default", "const", "async", "unsafe", "safe", "extern"].iter().any(|one| word == one)
    };
    let mut idents = item.clone().into_iter().filter_map(|token| match token {
        TokenTree::Ident(word) => Some(word),
        _ => None,
    });
    idents.find(|word| !before(word)).is_some_and(|word| words.iter().any(|one| word == one))
}

/// Reads a function; `None` when it is none, which is reported with where the attribute may stand, unless rustc says what
/// is wrong with it: it reads the item before us.
pub(crate) fn function(item: TokenStream, help: &str, report: &mut Report) -> Option<Function> {
    let item = opened(item);
    let tokens = item.clone();
    let Parsed(mut attrs, vis, mut sig, body) = match Parsed::parse.parse2(item) {
        Ok(parsed) => parsed,
        Err(error) => {
            if !begins(&tokens, &["fn"]) {
                report.at(error.span(), "this is no function", help);
            }
            return None;
        }
    };
    let (has_body, has_self, inside) = (body.is_ok(), sig.receiver().is_some(), inside::is_associated());
    // Of a `self` outside of an `impl` rustc says the same as we. In an editor nobody knows where it stands.
    let stray = has_self && !inside && crate::facade::is_compiled();
    let associated = inside || has_self && !stray;
    let mut body = body.unwrap_or_else(|end| {
        // In a `trait` its place is what is wrong.
        if !associated {
            report.at(end.span, "this function has no body", "write what it does in `{ }`");
        }
        Group::new(Delimiter::Brace, TokenStream::new())
    });
    attrs.retain(|attr| {
        let second = ["agent", "tool"].into_iter().any(|name| attr.path().is_ident(name));
        if second {
            report.at(
                attr.path().span(),
                "one function is one agent or one tool",
                "remove one of the two attributes; for the other write a function that calls this one",
            );
        }
        !second
    });
    let mut params = Vec::new();
    let mended = own_types(&mut sig, report) | own_lent(&mut sig, report);
    let is_generic = sig.generics.params.iter().any(|one| !matches!(one, GenericParam::Lifetime(_)));
    let is_refused = stray || is_generic && crate::facade::is_compiled();
    if mended || is_refused || sig.variadic.is_some() || !has_body {
        // What stands in it may be right for what was written.
        body = Group::new(Delimiter::Brace, quote::quote!(loop {}));
        attrs.push(syn::parse_quote!(#[allow(unused)]));
    }
    for input in &mut sig.inputs {
        match input {
            FnArg::Receiver(receiver) => report.at(
                receiver.self_token.span,
                "a method is neither an agent nor a tool",
                if associated && sig.ident == "run" { "put the attribute before `impl Agent for ...`, with the keys as in `#[agent(reads(text: String))]`" } else { "take what it needs as parameters, and write it outside of `impl`" },
            ),
            FnArg::Typed(input) => {
                let (docs, mut own) = own(&mut input.attrs, report);
                let is_changed = matches!(&*input.ty, Type::Reference(ty) if ty.mutability.is_some());
                if let Some((span, _)) = own.take_if(|_| is_changed) {
                    report.at(
                        span,
                        "what is borrowed to be changed is the context, which has no default",
                        "remove it",
                    );
                }
                let name = match &*input.pat {
                    Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => {
                        Some(pat.ident.clone())
                    }
                    Pat::Wild(_) => None,
                    pat => {
                        let help = "give it a name, and take it apart in the body";
                        report.at(pat.span(), "a parameter of this function has no name", help);
                        None
                    }
                };
                params.push(Param { name, ty: (*input.ty).clone(), docs, default: own });
            }
        }
    }
    if stray {
        sig.inputs = sig.inputs.into_iter().skip(1).collect();
    }
    Some(Function { attrs, vis, sig, body, params, associated, mended })
}

/// Tells what is a function or is borrowed inside of a type, and goes on with what can be read; whether there is any.
fn own_lent(sig: &mut Signature, report: &mut Report) -> bool {
    let types = sig.inputs.iter_mut().filter_map(|input| match input {
        FnArg::Typed(input) => Some(&mut *input.ty),
        FnArg::Receiver(_) => None,
    });
    types.fold(false, |any, ty| called::own(ty, report) | lent::own(ty, report) | any)
}

/// Tells the types that have no size, and goes on with those that own what they hold; whether there are any.
fn own_types(sig: &mut Signature, report: &mut Report) -> bool {
    let params = sig.inputs.iter_mut().filter_map(|input| match input {
        FnArg::Typed(input) => Some((&mut *input.ty, "parameter")),
        FnArg::Receiver(_) => None,
    });
    let returned = match &mut sig.output {
        ReturnType::Type(_, ty) => Some((&mut **ty, "result")),
        ReturnType::Default => None,
    };
    let mut any = false;
    for (ty, what) in params.chain(returned) {
        any |= match what {
            "parameter" => unsaid::own_parameter(ty, report),
            _ => unsaid::own(ty, report),
        };
        let ty = match ty {
            Type::Reference(lent) if matches!(*lent.elem, Type::TraitObject(_)) => &mut *lent.elem,
            ty => ty,
        };
        for Unsized { span, shown, help } in sized::own(ty) {
            report.at(span, format!("`{shown}` has no size, so no {what} can hold it"), help);
            any = true;
        }
    }
    any
}

/// Takes away the attributes of a parameter that only we understand.
fn own(attrs: &mut Vec<Attribute>, report: &mut Report) -> (Vec<Attribute>, Option<(Span, Expr)>) {
    let (mut docs, mut default, mut rest) = (Vec::new(), None, Vec::new());
    for attr in attrs.drain(..) {
        if is_doc(&attr) {
            docs.push(attr);
        } else if attr.path().is_ident("default") && default.is_some() {
            report.at(attr.path().span(), "a parameter has one default", "remove one of them");
        } else if attr.path().is_ident("default") {
            match attr.parse_args() {
                Ok(value) => default = Some((attr.path().span(), value)),
                Err(_) => report.at(
                    attr.path().span(),
                    "`default` needs a value in parentheses",
                    "write `#[default(3)]`, with any expression",
                ),
            }
        } else if attr.path().is_ident("cfg") {
            report.at(
                attr.path().span(),
                "a parameter cannot have a condition, since the attribute does not see what rustc leaves out",
                "write `#[cfg(...)]` before the function, and one function for each case",
            );
        } else if attr.path().is_ident("serde") || attr.path().is_ident("schemars") {
            report.at(
                attr.path().span(),
                "a parameter is no field, so no derive reads its attributes",
                "what may be absent is an `Option`, and a tool has `#[default(VALUE)]`; for all else take a type of `#[data]`, on whose fields such attributes work",
            );
        } else {
            rest.push(attr);
        }
    }
    *attrs = rest;
    (docs, default)
}
