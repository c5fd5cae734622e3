//! Types that get the traits of data, since what is wrong with them is told: of their uses nothing is to be said.

use super::asked;
use crate::facade;
use crate::source::Traits;
use crate::twice;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};

/// Gives the traits of data to a type with an attribute that rustc does not find, and says so: of its uses nothing is to be
/// said. Had the attribute been found after all, they would be there twice.
pub(super) fn lost(names: &[String], path: &TokenStream) -> Option<TokenStream> {
    let (definition, derives) = twice::ours()?.lost_type(names)?;
    if !asked::is_first(&definition) {
        return None;
    }
    let last = crate::code::last(
        path.clone().into_iter().last().map_or_else(Span::call_site, |name| name.span()),
        &format!(
            "syntax: the attribute of `{path}` is none of ours, so it is no data; help: write `#[data]`, and import it, as by `use adk::prelude::*`"
        ),
    );
    let given = given(path, derives);
    Some(quote!(#given #last))
}

/// The traits of data, for a type of whose uses nothing is to be said: what is wrong with it is told.
pub(crate) fn given(path: &impl ToTokens, derives: Traits) -> TokenStream {
    let private = facade::private();
    let clone = derives.lacks(Traits::CLONE).then(|| {
        quote!(impl ::core::clone::Clone for #path {
            fn clone(&self) -> Self { ::core::unreachable!() }
        })
    });
    let debug = derives.lacks(Traits::DEBUG).then(|| quote!(impl ::core::fmt::Debug for #path {
        fn fmt(&self, _: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result { ::core::unreachable!() }
    }));
    quote! {
        #[allow(non_local_definitions)]
        const _: () = {
            impl #private::serde::Serialize for #path {
                fn serialize<S: #private::serde::Serializer>(&self, _: S) -> ::core::result::Result<S::Ok, S::Error> {
                    ::core::unreachable!()
                }
            }
            impl<'de> #private::serde::Deserialize<'de> for #path {
                fn deserialize<D: #private::serde::Deserializer<'de>>(_: D) -> ::core::result::Result<Self, D::Error> {
                    ::core::unreachable!()
                }
            }
            impl #private::schemars::JsonSchema for #path {
                fn schema_name() -> ::std::borrow::Cow<'static, ::core::primitive::str> {
                    ::core::unreachable!()
                }
                fn json_schema(_: &mut #private::schemars::SchemaGenerator) -> #private::schemars::Schema {
                    ::core::unreachable!()
                }
            }
            // So that it is not asked which type it is.
            impl #private::typed::Numbered for #path {
                const NUMBER: ::core::primitive::u64 = #private::typed::UNKNOWN;
            }
            #clone
            #debug
        };
    }
}
