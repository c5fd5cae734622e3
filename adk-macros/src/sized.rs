//! Types without a size where a value stands, as in `Option<str>`.
//!
//! rustc says that of each place where such a type is used, and expansions use it often. As far as tokens tell it, the
//! macros say it, once and with what to write; they go on as if that had been written.

use crate::twice;
use crate::workflow::{type_text, unraw};
use proc_macro2::Span;
use quote::quote;
use syn::spanned::Spanned as _;
use syn::{GenericArgument, PathArguments, Type, TypePath, parse_quote};

/// What takes values alone. Of other types only rustc knows.
pub(crate) const OF_VALUES: [&str; 10] = [
    "Option",
    "Result",
    "Vec",
    "VecDeque",
    "LinkedList",
    "BinaryHeap",
    "HashMap",
    "BTreeMap",
    "HashSet",
    "BTreeSet",
];

/// Texts of the standard library that have no size, the modules that they are imported from, and what owns them.
const OWNERS: [(&str, &str, &str); 3] =
    [("Path", "path", "PathBuf"), ("OsStr", "ffi", "OsString"), ("CStr", "ffi", "CString")];

/// A type without a size.
pub(crate) struct Unsized {
    /// Where it stands.
    pub(crate) span: Span,
    /// As it is written.
    pub(crate) shown: String,
    /// What to write.
    pub(crate) help: String,
}

/// The types without a size inside of one that has to have a size. Each is replaced by one that owns its value.
pub(crate) fn own(ty: &mut Type) -> Vec<Unsized> {
    let mut found = Vec::new();
    value(ty, &mut found);
    found
}

/// Looks at what has to have a size.
fn value(ty: &mut Type, found: &mut Vec<Unsized>) {
    let (span, shown) = (ty.span(), ty.clone());
    let (help, owned): (_, Type) = match ty {
        Type::Path(path) if path.qself.is_none() && path.path.is_ident("str") => {
            ("write `String`".to_owned(), parse_quote!(String))
        }
        Type::Path(path) if let Some(owner) = owner(path) => {
            // A mention of its name, so that no import of it is unused.
            let owned = parse_quote!(<#path as ::std::borrow::ToOwned>::Owned);
            (format!("write `{}`", type_text(&owner)), owned)
        }
        Type::Slice(slice) => {
            // What is to be written says both.
            value(&mut slice.elem, &mut Vec::new());
            let elem = &slice.elem;
            (format!("write `Vec<{}>`", type_text(elem)), parse_quote!(Vec<#elem>))
        }
        Type::TraitObject(_) => {
            let private = crate::facade::private();
            let any = quote!(#private::serde_json::Value);
            ("write the type itself".to_owned(), parse_quote!(#any))
        }
        Type::Paren(paren) => return value(&mut paren.elem, found),
        Type::Group(group) => return value(&mut group.elem, found),
        _ => return inside(ty, found),
    };
    found.push(Unsized { span, shown: type_text(&shown), help });
    *ty = owned;
}

/// What owns a text of the standard library that has no size.
pub(crate) fn owner(path: &TypePath) -> Option<Type> {
    let segments = &path.path.segments;
    let owner = OWNERS.iter().find(|(name, ..)| segments.last().is_some_and(|last| last.ident == name));
    let (name, module, owner) = owner.filter(|_| path.qself.is_none())?;
    let names: Vec<_> = segments.iter().map(|segment| unraw(&segment.ident)).collect();
    let whole = twice::ours()?.outside(&names)?;
    let owner = format!("std::{module}::{owner}");
    syn::parse_str(&owner).ok().filter(|_| whole == ["std", module, name])
}

/// Looks at what a type is made of.
fn inside(ty: &mut Type, found: &mut Vec<Unsized>) {
    match ty {
        Type::Path(path) => {
            let Some(last) = path.path.segments.last_mut() else { return };
            let of_values = OF_VALUES.iter().any(|name| last.ident == name);
            let PathArguments::AngleBracketed(list) = &mut last.arguments else { return };
            for argument in &mut list.args {
                match argument {
                    GenericArgument::Type(ty) if of_values => value(ty, found),
                    GenericArgument::Type(ty) => inside(ty, found),
                    _ => {}
                }
            }
        }
        Type::Reference(reference) => inside(&mut reference.elem, found),
        Type::Slice(slice) => value(&mut slice.elem, found),
        Type::Array(array) => value(&mut array.elem, found),
        Type::Tuple(tuple) => tuple.elems.iter_mut().for_each(|ty| value(ty, found)),
        Type::Paren(paren) => inside(&mut paren.elem, found),
        Type::Group(group) => inside(&mut group.elem, found),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::own;
    use crate::workflow::type_text;
    use syn::Type;

    /// What is told, and what the type becomes.
    fn owned(ty: &str) -> (Vec<(String, String)>, String) {
        let mut ty: Type = syn::parse_str(ty).unwrap();
        let told = own(&mut ty).into_iter().map(|one| (one.shown, one.help)).collect();
        (told, type_text(&ty))
    }

    #[test]
    fn what_has_no_size_is_told_where_a_value_stands() {
        let one = |shown: &str, help: &str| vec![(shown.to_owned(), help.to_owned())];
        let text = one("str", "write `String`");
        assert_eq!(owned("Option<str>"), (text.clone(), "Option<String>".to_owned()));
        assert_eq!(owned("(str, Flow)").0, text);
        assert_eq!(owned("&Option<str>").0, text);
        assert_eq!(owned("Box<Vec<str>>").0, text);
        assert_eq!(owned("[str; 2]").0, text);
        let bytes = one("[u8]", "write `Vec<u8>`");
        assert_eq!(owned("Result<[u8]>"), (bytes, "Result<Vec<u8>>".to_owned()));
        assert_eq!(owned("Option<dyn Any>").0.len(), 1);
        assert_eq!(owned("HashMap<str, Vec<[u8]>>").0.len(), 2);
    }

    #[test]
    fn what_borrows_or_boxes_it_is_left_alone() {
        for sized in [
            "&str",
            "Option<&str>",
            "&[u8]",
            "Box<str>",
            "Arc<[u8]>",
            "Cow<'a, str>",
            "Mine<str>",
            "&dyn Any",
        ] {
            assert_eq!(owned(sized), (Vec::new(), type_text(&syn::parse_str(sized).unwrap())), "{sized}");
        }
    }
}
