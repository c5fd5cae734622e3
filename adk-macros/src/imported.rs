//! A type of ours beside an import of its name.
//!
//! Whether that is a mistake (E0255) only rustc knows: the import may be one of a macro or of a function alone. So the type gets
//! another name, and an alias its own, which is all that rustc may object to: what is implemented for the type does not reach it by
//! the name that is the import's perhaps.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::Visibility;

/// A name beside an import, and what the type is called instead.
pub(crate) struct Renamed<'a> {
    name: &'a Ident,
    hidden: Ident,
}

impl<'a> Renamed<'a> {
    pub(crate) fn new(name: &'a Ident) -> Self {
        Self { name, hidden: format_ident!("__adk_{}", name) }
    }

    /// What has the name.
    pub(crate) fn alias(&self, vis: &Visibility) -> TokenStream {
        let Self { name, hidden } = self;
        let alias = quote_spanned!(crate::code::place(name)=> type #name = #hidden;);
        quote!(#[allow(dead_code, deprecated, non_camel_case_types)] #vis #alias)
    }

    /// What a macro made of the name, with the other one. The blocks of the consts know the type by its own.
    pub(crate) fn rename(&self, made: TokenStream) -> TokenStream {
        let Self { name, hidden } = self;
        let mut is_const = false;
        let rename = |token| match token {
            TokenTree::Ident(word) if word == **name => {
                TokenTree::Ident(Ident::new(&hidden.to_string(), word.span()))
            }
            TokenTree::Ident(word) if word == "const" => {
                is_const = true;
                TokenTree::Ident(word)
            }
            TokenTree::Group(group) if is_const && group.delimiter() == Delimiter::Brace => {
                is_const = false;
                let inside = group.stream();
                let alias =
                    quote!(#[allow(dead_code, deprecated, non_camel_case_types)] type #name = #hidden;);
                with(&group, quote!(#alias #inside))
            }
            TokenTree::Group(group) => with(&group, self.rename(group.stream())),
            other => other,
        };
        made.into_iter().map(rename).collect()
    }
}

fn with(group: &Group, inside: TokenStream) -> TokenTree {
    let mut with = Group::new(group.delimiter(), inside);
    with.set_span(group.span());
    TokenTree::Group(with)
}

#[cfg(test)]
mod tests {
    use super::Renamed;
    use quote::{format_ident, quote};

    #[test]
    fn consts_know_the_type_by_its_name() {
        let name = format_ident!("Judge");
        let made = quote! {
            #[doc = "Judge"] pub struct Judge { of: Block<Judge, 0> }
            const _: () = { impl Agent for Judge {} };
            struct JudgeInput;
        };
        let expected = quote! {
            #[doc = "Judge"] pub struct __adk_Judge { of: Block<__adk_Judge, 0> }
            const _: () = {
                #[allow(dead_code, deprecated, non_camel_case_types)] type Judge = __adk_Judge;
                impl Agent for Judge {}
            };
            struct JudgeInput;
        };
        assert_eq!(Renamed::new(&name).rename(made).to_string(), expected.to_string());
    }
}
