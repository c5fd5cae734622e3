//! Checks and texts of types as the user spelled them.

use crate::workflow::type_text;
use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{GenericArgument, PathArguments, ReturnType, Signature, Type, TypeReference};

/// The reason why a type cannot be stored, with a remedy.
#[derive(Debug)]
pub(crate) struct Hint {
    pub(crate) span: Span,
    pub(crate) fact: String,
    pub(crate) help: String,
}

impl Hint {
    fn new(ty: &Type, fact: &str, help: impl Into<String>) -> Self {
        Self {
            span: ty.span(),
            fact: format!("`{}` {fact}", type_text(ty)),
            help: help.into(),
        }
    }
}

/// Containers of the standard library, whose arguments are values. The possible arguments of other
/// generic types are known to rustc only.
const CONTAINERS: [&str; 10] = [
    "BTreeMap",
    "BTreeSet",
    "BinaryHeap",
    "HashMap",
    "HashSet",
    "LinkedList",
    "Option",
    "Result",
    "Vec",
    "VecDeque",
];

/// Pointers, whose argument may have no size.
const POINTERS: [&str; 3] = ["Arc", "Box", "Rc"];

/// Checks that the type of a key, a field or an argument owns its value and has a size, judged by
/// its tokens.
pub(crate) fn check_storable(ty: &Type) -> Result<(), Hint> {
    match ty {
        Type::Reference(reference) => {
            let owned = owned_type(&reference.elem);
            Err(Hint::new(
                ty,
                "is borrowed, but a stored type owns its value",
                format!("write `{owned}`"),
            ))
        }
        Type::Slice(_) => Err(Hint::new(
            ty,
            "has no size",
            format!("write `{}`", owned_type(ty)),
        )),
        Type::Path(path) if path.path.is_ident("str") => {
            Err(Hint::new(ty, "has no size", "write `String`"))
        }
        Type::TraitObject(_) => Err(Hint::new(
            ty,
            "has no size",
            "write the type itself, or an `enum` of its variants",
        )),
        Type::FnPtr(_) => Err(Hint::new(
            ty,
            "is a function, which JSON cannot store",
            "store a value that identifies the function",
        )),
        Type::Ptr(_) => Err(Hint::new(
            ty,
            "is a pointer, which JSON cannot store",
            "store the value itself",
        )),
        Type::Never(_) => Err(Hint::new(ty, "has no values", "write the type itself")),
        Type::Infer(_) | Type::ImplTrait(_) => check_named(ty),
        Type::Array(array) => check_storable(&array.elem),
        Type::Paren(paren) => check_storable(&paren.elem),
        Type::Tuple(tuple) => tuple.elems.iter().try_for_each(check_storable),
        Type::Path(path) => {
            let Some(last) = path.path.segments.last() else {
                return Ok(());
            };
            let is_one_of = |names: &[&str]| names.iter().any(|name| last.ident == name);
            // A `Result` without an error type is an alias, not the `Result` of the standard
            // library.
            if let (true, [value]) = (
                is_one_of(&["Result"]),
                &*arguments(&last.arguments).collect::<Vec<_>>(),
            ) {
                let help = format!("write `{}`: an error ends the run", type_text(value));
                return Err(Hint::new(ty, "holds an error that cannot be stored", help));
            }
            if is_one_of(&CONTAINERS) {
                arguments(&last.arguments).try_for_each(check_storable)
            } else if is_one_of(&POINTERS) {
                arguments(&last.arguments).try_for_each(check_pointee)
            } else {
                arguments(&last.arguments).try_for_each(check_named)
            }
        }
        _ => Ok(()),
    }
}

/// Checks the type of a parameter, which may be a reference as a whole: `&T`, `&str`, `&[T]`, or an
/// `Option` of these.
pub(crate) fn check_readable(ty: &Type) -> Result<(), Hint> {
    match option_value(ty) {
        Type::Reference(TypeReference {
            mutability: Some(_),
            ..
        }) => Ok(()),
        Type::Reference(reference)
            if reference
                .lifetime
                .as_ref()
                .is_some_and(|one| one.ident == "static") =>
        {
            let help = format!(
                "write `&{}`, or take the value itself",
                type_text(&reference.elem)
            );
            Err(Hint::new(
                ty,
                "is borrowed for `'static`, but a read value is borrowed for the call",
                help,
            ))
        }
        Type::Reference(reference) => check_pointee(&reference.elem),
        _ => check_storable(ty),
    }
}

/// Checks the target of a pointer, which may be a text or a list without a size.
fn check_pointee(ty: &Type) -> Result<(), Hint> {
    match ty {
        Type::Path(path) if path.path.is_ident("str") => Ok(()),
        Type::Slice(slice) => check_storable(&slice.elem),
        Type::TraitObject(_) => check_named(ty),
        _ => check_storable(ty),
    }
}

/// Checks that the type names a type: it contains neither `_` nor `impl Trait`.
pub(crate) fn check_named(ty: &Type) -> Result<(), Hint> {
    let help = "write the type itself";
    match ty {
        Type::ImplTrait(of) => Err(Hint {
            span: of.impl_token.span,
            fact: "`impl Trait` names no type".to_owned(),
            help: help.to_owned(),
        }),
        Type::Infer(_) => Err(Hint::new(ty, "names no type", help)),
        Type::Array(array) => check_named(&array.elem),
        Type::Paren(paren) => check_named(&paren.elem),
        Type::Reference(reference) => check_named(&reference.elem),
        Type::Slice(slice) => check_named(&slice.elem),
        Type::Tuple(tuple) => tuple.elems.iter().try_for_each(check_named),
        Type::Path(path) => path
            .path
            .segments
            .iter()
            .flat_map(|part| arguments(&part.arguments))
            .try_for_each(check_named),
        _ => Ok(()),
    }
}

/// Returns the owning type for a type that is borrowed or has no size.
fn owned_type(ty: &Type) -> String {
    match ty {
        Type::Path(path) if path.path.is_ident("str") => "String".to_owned(),
        Type::Slice(slice) => format!("Vec<{}>", owned_type(&slice.elem)),
        Type::Reference(reference) => owned_type(&reference.elem),
        _ => type_text(ty),
    }
}

fn arguments(arguments: &PathArguments) -> impl Iterator<Item = &Type> {
    let list = match arguments {
        PathArguments::AngleBracketed(list) => Some(&list.args),
        _ => None,
    };
    list.into_iter()
        .flatten()
        .filter_map(|argument| match argument {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        })
}

pub(crate) fn mentions(tokens: TokenStream, words: &[&str]) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => words.iter().any(|one| word == one),
        TokenTree::Group(group) => mentions(group.stream(), words),
        _ => false,
    })
}

/// Replaces each lifetime by `'static`, since a type in an item has no other lifetime.
pub(crate) fn with_static_lifetimes(tokens: TokenStream) -> TokenStream {
    let is = |next: Option<&TokenTree>, wanted: char| match next {
        Some(TokenTree::Punct(next)) => next.as_char() == wanted,
        _ => false,
    };
    let mut out = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == '&' => {
                out.extend([token]);
                if !is(tokens.peek(), '\'') {
                    out.extend(quote!('static));
                }
            }
            TokenTree::Punct(punct) if punct.as_char() == '\'' => {
                tokens.next();
                out.extend(quote!('static));
            }
            // `for<'a> Fn(&'a str)`: the lifetimes that it declares are replaced, so `for` has to
            // go.
            TokenTree::Ident(name) if name == "for" => {
                while tokens.next().is_some_and(|token| !is(Some(&token), '>')) {}
            }
            // A signature may elide the lifetime of `Cow`.
            TokenTree::Ident(name) if name == "Cow" => {
                out.extend([token]);
                if is(tokens.peek(), '<') {
                    out.extend(tokens.next());
                    if !is(tokens.peek(), '\'') {
                        out.extend(quote!('static,));
                    }
                }
            }
            TokenTree::Group(group) => {
                let mut fresh =
                    Group::new(group.delimiter(), with_static_lifetimes(group.stream()));
                fresh.set_span(group.span());
                out.extend([TokenTree::from(fresh)]);
            }
            _ => out.extend([token]),
        }
    }
    out
}

/// Returns the text of a type as a workflow spells it, without lifetimes.
pub(crate) fn type_spelling(ty: &Type) -> String {
    fn without_lifetimes(tokens: TokenStream, out: &mut String) {
        let mut tokens = tokens.into_iter();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == '\'' => drop(tokens.next()),
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        proc_macro2::Delimiter::Parenthesis => ("(", ")"),
                        proc_macro2::Delimiter::Bracket => ("[", "]"),
                        proc_macro2::Delimiter::Brace => ("{", "}"),
                        proc_macro2::Delimiter::None => ("", ""),
                    };
                    out.push_str(open);
                    without_lifetimes(group.stream(), out);
                    out.push_str(close);
                }
                TokenTree::Punct(punct) => out.push(punct.as_char()),
                word => {
                    let ends = |letter: char| {
                        letter.is_alphanumeric() || matches!(letter, '_' | ',' | ';')
                    };
                    // `dyn Trait`, `mut T`: the space separates two words. After a comma it matches
                    // a workflow.
                    if out.ends_with(ends) {
                        out.push(' ');
                    }
                    out.push_str(&word.to_string());
                }
            }
        }
    }
    let mut out = String::new();
    without_lifetimes(ty.to_token_stream(), &mut out);
    // `Cow<'_, str>` lost its first argument, but kept the comma.
    out.replace("<, ", "<").replace("<,", "<").replace("<>", "")
}

/// Returns the text of the type that is written to a key: `f64` for `Result<(f64, Flow)>`. An alias
/// is not expanded.
pub(crate) fn written_type(output: &ReturnType) -> String {
    let ReturnType::Type(_, ty) = output else {
        return "()".to_owned();
    };
    type_spelling(value_type(ty))
}

/// Returns the value type inside `Result`, next to `Flow` and inside `Option`.
fn value_type(ty: &Type) -> &Type {
    option_value(success_type(ty))
}

/// Returns the type inside `Result` and next to `Flow`.
fn success_type(ty: &Type) -> &Type {
    let ty = argument(ty, "Result", 0).unwrap_or(ty);
    match ty {
        Type::Tuple(tuple) if tuple.elems.len() == 2 => {
            match (tuple.elems.first(), tuple.elems.last()) {
                (Some(value), Some(flow)) if ends_in(flow, "Flow") => value,
                _ => ty,
            }
        }
        _ => ty,
    }
}

/// Returns whether [`written_type`] removed an `Option`.
pub(crate) fn is_option_result(output: &ReturnType) -> bool {
    matches!(output, ReturnType::Type(_, ty) if ends_in(success_type(ty), "Option"))
}

/// Returns the type inside an `Option`, or the type itself.
pub(crate) fn option_value(ty: &Type) -> &Type {
    argument(ty, "Option", 0).unwrap_or(ty)
}

/// Returns the span for errors of a type: the last name in it, without references and `Option`.
pub(crate) fn caret(ty: &Type) -> Span {
    match ty {
        Type::Reference(reference) => caret(&reference.elem),
        Type::Slice(slice) => caret(&slice.elem),
        Type::Paren(paren) => caret(&paren.elem),
        Type::Path(path) => match (argument(ty, "Option", 0), path.path.segments.last()) {
            (Some(inside), _) => caret(inside),
            (None, Some(last)) => last.ident.span(),
            (None, None) => ty.span(),
        },
        _ => ty.span(),
    }
}

/// Returns the span for errors of the return value, and the span for errors of its error type.
pub(crate) fn carets(sig: &Signature) -> (Span, Span) {
    match &sig.output {
        ReturnType::Type(_, ty) => (
            caret(value_type(ty)),
            argument(ty, "Result", 1).map_or_else(|| caret(ty), caret),
        ),
        ReturnType::Default => (sig.ident.span(), sig.ident.span()),
    }
}

/// Returns whether the type is a mutable reference.
pub(crate) fn is_mut_reference(ty: &Type) -> bool {
    mut_referent(ty).is_some()
}

/// Returns the target of a mutable reference.
pub(crate) fn mut_referent(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Reference(reference) if reference.mutability.is_some() => Some(&reference.elem),
        _ => None,
    }
}

/// Returns whether the name of the type ends in `Context`, also through a reference or an `Option`.
pub(crate) fn is_called_context(ty: &Type) -> bool {
    match ty {
        Type::Reference(reference) => is_called_context(&reference.elem),
        Type::Paren(paren) => is_called_context(&paren.elem),
        Type::Path(path) => match path.path.segments.last() {
            Some(last) if last.arguments.is_none() => last.ident.to_string().ends_with("Context"),
            _ => argument(ty, "Option", 0).is_some_and(is_called_context),
        },
        _ => false,
    }
}

fn ends_in(ty: &Type, name: &str) -> bool {
    let Type::Path(path) = ty else { return false };
    path.path
        .segments
        .last()
        .is_some_and(|last| last.ident == name)
}

/// Returns argument `nth` of a type with the given name.
pub(crate) fn argument<'a>(ty: &'a Type, name: &str, nth: usize) -> Option<&'a Type> {
    let Type::Path(path) = ty else { return None };
    let last = path
        .path
        .segments
        .last()
        .filter(|last| last.ident == name)?;
    arguments(&last.arguments).nth(nth)
}

#[cfg(test)]
mod tests;
