//! Fields of `#[data]` of whose types it is spelled that they may not be data: an `Rc`, which stays on its thread, and what
//! has no form, as a function.
//!
//! rustc says of each use of the type that it cannot be sent, or read, and derives of the user's own say more. So the field
//! itself has a type that a const chooses, which asks; where that is an error, nothing more is said of the field and its type.

use super::data::fields;
use super::parts::{derived_by_us, mentions, names, parts, place, stands_apart};
use crate::bare;
use crate::source::Traits;
use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use syn::{Data, DeriveInput, Type};

/// Gives such fields a type that is chosen, and asks of what else stands in them; `None` where there are none.
pub(super) fn choose(input: &mut DeriveInput, private: &TokenStream) -> Option<TokenStream> {
    let own = names(input);
    let is_apart = |data: &syn::DataEnum| data.variants.iter().any(|variant| stands_apart(&variant.attrs));
    if stands_apart(&input.attrs) || matches!(&input.data, Data::Enum(data) if is_apart(data)) {
        return None;
    }
    let (mut asked, derived) = (None, derived_by_us(input));
    for field in fields(input) {
        let is_apart = stands_apart(&field.attrs);
        let all = parts(field, &own);
        let is_shut = |ty: &&Type| is_kept(ty) || (is_formless(ty) && !is_apart);
        if !all.iter().any(is_shut) {
            continue;
        }
        let asked = asked.get_or_insert_with(TokenStream::new);
        let parts = all.iter().filter(|_| !is_apart);
        asked.extend(parts.map(|ty| bare::ask([*ty], place(ty, derived))));
        let questions: TokenStream = all.iter().map(|ty| question(ty, is_apart, derived, private)).collect();
        let ty = &field.ty;
        field.ty = Type::Verbatim(chosen(&questions, ty, private));
    }
    asked
}

/// A type where the questions have answers.
fn chosen(questions: &TokenStream, ty: &Type, private: &TokenStream) -> TokenStream {
    quote!(<#private::parts::Fits<{ #questions true }> as #private::parts::Pick<#ty>>::Field)
}

fn question(ty: &Type, is_apart: bool, derived: Traits, private: &TokenStream) -> TokenStream {
    let parts = quote!(#private::parts);
    let form = |ty: TokenStream| {
        if is_apart { TokenStream::new() } else { quote!(let () = <#ty as #parts::Part>::YES;) }
    };
    if is_kept(ty) {
        let sent = quote!(let () = <#ty as #parts::Sent>::YES;);
        // Of what is told to stay on its thread nothing more is asked.
        return if is_apart { sent } else { form(chosen(&sent, ty, private)) };
    }
    if is_formless(ty) && !is_apart {
        quote!(let () = <#ty as #parts::Formed>::YES;)
    } else {
        form(bare::kept(ty, place(ty, derived)))
    }
}

/// Whether it may be kept on its thread.
fn is_kept(ty: &Type) -> bool {
    mentions(ty.to_token_stream(), &["Rc"])
}

/// Whether it has no form, unless somebody has given it one.
fn is_formless(ty: &Type) -> bool {
    matches!(ty, Type::TraitObject(_) | Type::FnPtr(_) | Type::Ptr(_))
}
