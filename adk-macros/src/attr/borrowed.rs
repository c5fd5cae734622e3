//! Fields of `#[data]` that borrow. Data owns what it holds: nothing that is read lends to it for as long as a key is kept or
//! a tool runs, and rustc would say so of each use.
//!
//! As far as tokens tell it, the field is told. In its place stands a type that is an error, of which rustc says nothing more.

use super::data::fields;
use super::lent::POINTERS;
use super::lower::fixed;
use super::parts::{mentions, stands_apart};
use crate::sized::OF_VALUES;
use crate::source;
use crate::workflow::type_text;
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, format_ident, quote};
use syn::spanned::Spanned as _;
use syn::{
    Attribute, Data, DeriveInput, Field, GenericArgument, GenericParam, Lifetime, Path, PathArguments, Type,
    TypeReference, parse_quote,
};

/// Tells such fields: what stands beside the type, if there are any.
pub(super) fn tell(input: &mut DeriveInput, private: &TokenStream) -> Option<TokenStream> {
    let is_apart = |data: &syn::DataEnum| data.variants.iter().any(|variant| stands_apart(&variant.attrs));
    if stands_apart(&input.attrs) || matches!(&input.data, Data::Enum(data) if is_apart(data)) {
        return None;
    }
    let faults: Vec<_> = fields(input).into_iter().map(|field| fault(field)).collect();
    if faults.iter().all(Option::is_none) {
        return None;
    }
    let own = input.generics.params.iter().filter_map(|one| match one {
        GenericParam::Type(one) => Some(&one.ident),
        GenericParam::Const(one) => Some(&one.ident),
        GenericParam::Lifetime(_) => None,
    });
    let own: Vec<_> = own.chain([&input.ident]).map(Ident::to_string).collect();
    let own: Vec<_> = own.iter().map(String::as_str).chain(["Self"]).collect();
    let (kept, alias) = (keeps(input), format_ident!("__Told_{}", input.ident, span = Span::call_site()));
    let mut told = TokenStream::new();
    for (field, fault) in fields(input).into_iter().zip(faults) {
        if let Some(fault) = fault {
            // What is imported for it is used.
            let used = (!mentions(field.ty.to_token_stream(), &own)).then(|| {
                let ty = fixed(field.ty.to_token_stream());
                quote!({ #[allow(dead_code)] type __Used = #ty; })
            });
            let named = lifetimes(field.ty.to_token_stream()).into_iter();
            let named = named.filter(|one| kept.iter().any(|kept| kept.ident == *one));
            let named = named.map(|name| Lifetime { apostrophe: Span::call_site(), ident: name });
            field.attrs.retain(|attr| !is_helper(attr));
            field.ty = Type::Verbatim(quote!(<#alias as #private::parts::Pick<(#(&#named (),)*)>>::Field));
            told.extend(used);
            told.extend(fault.into_compile_error());
        }
    }
    // No derive takes a generic type with a macro in its fields.
    Some(quote! {
        #[allow(non_camel_case_types)]
        type #alias = #private::parts::Fits<{ #told true }>;
    })
}

fn is_helper(attr: &Attribute) -> bool {
    attr.path().is_ident("serde") || attr.path().is_ident("schemars")
}

/// The lifetimes that the type keeps. Uses write them, or none: what is said of that would be a second message.
fn keeps(input: &mut DeriveInput) -> Vec<Lifetime> {
    let all: Vec<_> = input.generics.lifetimes().map(|one| one.lifetime.clone()).collect();
    let are_all = all.len() == input.generics.params.len() && input.generics.where_clause.is_none();
    if !are_all || source::is_written(&input.ident, "<'") {
        return all;
    }
    input.generics.params.clear();
    Vec::new()
}

/// What is wrong with a field, if it borrows.
fn fault(field: &Field) -> Option<syn::Error> {
    let shown = type_text(&field.ty);
    let named = lifetimes(field.ty.to_token_stream()).into_iter().next();
    // What is not read may borrow for ever.
    match (borrowed(&field.ty), named) {
        (Some(place), named) if named.is_some() || !stands_apart(&field.attrs) => Some(syn::Error::new(
            place,
            format!(
                "syntax: `{shown}` is borrowed, and data owns what it holds; help: write `{}`",
                type_text(&owned(&field.ty))
            ),
        )),
        (_, Some(named)) => Some(syn::Error::new(
            named.span(),
            format!(
                "syntax: `{shown}` borrows for `'{named}`, and data owns what it holds; help: own the value, as in `String` for `&str`"
            ),
        )),
        (_, None) => None,
    }
}

/// The lifetimes in a type that something declares, or should.
fn lifetimes(tokens: TokenStream) -> Vec<Ident> {
    fn walk(tokens: TokenStream, bound: &mut Vec<String>, found: &mut Vec<Ident>) {
        let (mut tokens, mut binds) = (tokens.into_iter().peekable(), false);
        while let Some(token) = tokens.next() {
            match token {
                // `for<'a> fn(&'a str)`
                TokenTree::Ident(word) if word == "for" => binds = true,
                TokenTree::Punct(punct) if punct.as_char() == '>' => binds = false,
                TokenTree::Punct(punct) if punct.as_char() == '\'' => {
                    let Some(TokenTree::Ident(name)) = tokens.next() else { continue };
                    let text = name.to_string();
                    if binds {
                        bound.push(text);
                    } else if text != "static" && text != "_" && !bound.contains(&text) {
                        found.push(name);
                    }
                }
                TokenTree::Group(group) => walk(group.stream(), bound, found),
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    walk(tokens, &mut Vec::new(), &mut found);
    found
}

/// Where a type first borrows, if it holds the values of its arguments.
fn borrowed(ty: &Type) -> Option<Span> {
    match ty {
        Type::Reference(reference) => Some(reference.and_token.span()),
        Type::Path(path) if path.qself.is_none() => {
            let last = path.path.segments.last()?;
            let PathArguments::AngleBracketed(list) = &last.arguments else { return None };
            if lent(&path.path).is_some() {
                return Some(ty.span());
            }
            let holds = OF_VALUES.iter().chain(&POINTERS).any(|name| last.ident == name);
            let types = list.args.iter().filter(|_| holds).filter_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            });
            types.into_iter().find_map(borrowed)
        }
        Type::Slice(slice) => borrowed(&slice.elem),
        Type::Array(array) => borrowed(&array.elem),
        Type::Tuple(tuple) => tuple.elems.iter().find_map(borrowed),
        Type::Paren(paren) => borrowed(&paren.elem),
        Type::Group(group) => borrowed(&group.elem),
        _ => None,
    }
}

/// What a `Cow` is of that may borrow, `str` of `Cow<'a, str>`.
fn lent(path: &Path) -> Option<&Type> {
    let last = path.segments.last().filter(|last| last.ident == "Cow")?;
    let PathArguments::AngleBracketed(list) = &last.arguments else { return None };
    let mut args = list.args.iter();
    match (args.next()?, args.next()) {
        (GenericArgument::Lifetime(lifetime), Some(GenericArgument::Type(ty)))
            if lifetime.ident != "static" =>
        {
            Some(ty)
        }
        // Its lifetime is left out.
        (GenericArgument::Type(ty), None) => match ty {
            Type::Slice(_) => Some(ty),
            Type::Path(path) if path.path.is_ident("str") => Some(ty),
            _ => None,
        },
        _ => None,
    }
}

/// The type that owns what that one borrows.
fn owned(ty: &Type) -> Type {
    let mut ty = ty.clone();
    match &mut ty {
        Type::Reference(TypeReference { elem, .. }) => return value(elem),
        Type::Path(path) => {
            if let Some(of) = lent(&path.path) {
                return value(of);
            }
            if let Some(PathArguments::AngleBracketed(list)) =
                path.path.segments.last_mut().map(|last| &mut last.arguments)
            {
                for argument in &mut list.args {
                    if let GenericArgument::Type(ty) = argument {
                        *ty = owned(ty);
                    }
                }
            }
        }
        Type::Slice(slice) => *slice.elem = owned(&slice.elem),
        Type::Array(array) => *array.elem = owned(&array.elem),
        Type::Tuple(tuple) => tuple.elems.iter_mut().for_each(|ty| *ty = owned(ty)),
        Type::Paren(paren) => *paren.elem = owned(&paren.elem),
        Type::Group(group) => return owned(&group.elem),
        _ => {}
    }
    ty
}

/// The type of a value of what may have no size.
fn value(of: &Type) -> Type {
    match of {
        Type::Path(path) if path.path.is_ident("str") => parse_quote!(String),
        Type::Slice(slice) => {
            let elem = owned(&slice.elem);
            parse_quote!(Vec<#elem>)
        }
        Type::TraitObject(object) => parse_quote!(Box<#object>),
        of => owned(of),
    }
}

#[cfg(test)]
mod tests {
    use super::fault;
    use syn::Field;
    use syn::parse::Parser as _;

    fn told(ty: &str) -> Option<String> {
        let field = Field::parse_named.parse_str(&format!("it: {ty}")).unwrap();
        fault(&field).map(|fault| fault.to_string().rsplit_once("; help: ").unwrap().1.to_owned())
    }

    #[test]
    fn what_is_borrowed_is_to_be_owned() {
        for (ty, owned) in [
            ("&'static str", "String"),
            ("&'a str", "String"),
            ("&str", "String"),
            ("Vec<&'static str>", "Vec<String>"),
            ("Option<&'static [u8]>", "Option<Vec<u8>>"),
            ("(u8, [&'a [&'static str]; 2])", "(u8,[Vec<String>; 2])"),
            (
                "std::collections::HashMap<&'static str, &'static Draft>",
                "std::collections::HashMap<String, Draft>",
            ),
            ("Box<&'static str>", "Box<String>"),
            ("Cow<'a, str>", "String"),
            ("Option<std::borrow::Cow<'_, [u8]>>", "Option<Vec<u8>>"),
            ("Cow<str>", "String"),
        ] {
            assert_eq!(told(ty), Some(format!("write `{owned}`")), "{ty}");
        }
        for ty in ["Held<'a>", "Mine<&'a str>", "PhantomData<&'a u8>", "(for<'b> fn(&'b u8), fn(&'a u8))"] {
            let help = "own the value, as in `String` for `&str`".to_owned();
            assert_eq!(told(ty), Some(help), "{ty}");
        }
    }

    #[test]
    fn what_may_be_read_is_left_alone() {
        for ty in [
            "Cow<'static, str>",
            "Cow<Mine>",
            "PhantomData<&'static str>",
            "fn(&'static str)",
            "fn(&str)",
            "Mine<&'static str>",
            "Held<'static>",
            "for<'b> fn(&'b u8)",
            "Box<dyn for<'b> Fn(&'b u8) -> &'b u8>",
        ] {
            assert_eq!(told(ty), None, "{ty}");
        }
    }
}
