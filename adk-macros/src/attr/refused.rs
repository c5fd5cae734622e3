//! Types that are no data, of which rustc says nothing more than what is told.

use super::data::derived;
use super::report::Report;
use crate::source::Traits;
use crate::{bare, facade};
use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, DeriveInput, Ident, Token, Visibility};

/// A type that is nothing but the error that says why: rustc, which reads it as it was written, would say more of it and of its uses.
/// To editors it is what it was.
pub(super) fn refused(input: &DeriveInput, item: TokenStream, report: Report) -> TokenStream {
    if !input.generics.params.is_empty() || !facade::is_compiled() {
        return report.beside(item);
    }
    alias(&input.attrs, &input.vis, &input.ident, report)
}

/// The same of a type that nobody can read to the end.
pub(super) fn torn(item: TokenStream, report: Report) -> TokenStream {
    match syn::parse2::<Head>(item.clone()) {
        Ok(head) if !head.is_generic && facade::is_compiled() => {
            alias(&head.attrs, &head.vis, &head.ident, report)
        }
        _ => report.beside(item),
    }
}

fn alias(attrs: &[Attribute], vis: &Visibility, name: &Ident, report: Report) -> TokenStream {
    let private = facade::private();
    let conditions = attrs.iter().filter(|attr| attr.path().is_ident("cfg"));
    let told = report.beside(TokenStream::new());
    quote! {
        #(#conditions)*
        #[allow(dead_code)]
        #vis type #name = #private::bare::Torn<{ #told 0 }>;
    }
}

/// The head of a type, whatever stands in it.
struct Head {
    attrs: Vec<Attribute>,
    vis: Visibility,
    ident: Ident,
    is_generic: bool,
}

impl Parse for Head {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        Ident::parse_any(input)?;
        let (ident, is_generic) = (input.parse()?, input.peek(Token![<]));
        let _: TokenStream = input.parse()?;
        Ok(Self { attrs, vis, ident, is_generic })
    }
}

/// A type that has the attribute of a function, or that rustc could not read and has said so: as if it were data, which is what
/// was meant if it is used so.
pub(super) fn mistaken(item: TokenStream) -> TokenStream {
    let given = syn::parse2::<Head>(item.clone()).ok().filter(|head| !head.is_generic);
    let given = given.map(|input| {
        let own: Vec<String> = input.attrs.iter().flat_map(derived).collect();
        let is_own = |name: &str| own.iter().any(|own| own == name);
        let is_ours = ["Serialize", "Deserialize", "JsonSchema"].iter().any(|name| is_own(name))
            || input
                .attrs
                .iter()
                .any(|attr| attr.path().segments.last().is_some_and(|last| last.ident == "data"));
        (!is_ours).then(|| bare::given(&input.ident, Traits::of(own)))
    });
    let given = given.flatten();
    quote!(#item #given)
}
