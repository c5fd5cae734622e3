//! The paths in the tokens of a type.

use crate::workflow::unraw;
use proc_macro2::{Group, TokenStream, TokenTree};
use quote::ToTokens;

/// What holds values of the types in its arguments, and has a trait of data when they do; patterns are of the last three. Of
/// another type with arguments, as `Id<Person>`, and of a struct with fields, it is not known what is needed of them.
const HOLDERS: [&str; 15] = [
    "Arc", "BTreeMap", "BTreeSet", "Box", "Cow", "HashMap", "HashSet", "Option", "Rc", "Result", "Vec",
    "VecDeque", "Some", "Ok", "Err",
];

/// The tokens of a type, with others for the paths in it that have no arguments, where there are others for them.
pub(super) fn each(
    tokens: TokenStream,
    other: &mut dyn FnMut(&TokenStream, &[String]) -> Option<TokenStream>,
) -> TokenStream {
    let mut out = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    // Behind a lifetime's quote, and behind the `::` of a path that begins with it, stands no path of ours.
    let mut may_begin = true;
    while let Some(token) = tokens.next() {
        let is_path = may_begin && matches!(token, TokenTree::Ident(_));
        may_begin = !matches!(&token, TokenTree::Punct(sign) if matches!(sign.as_char(), '\'' | ':'));
        match token {
            TokenTree::Ident(name) if is_path => {
                let (mut path, mut names) = (name.to_token_stream(), vec![unraw(&name)]);
                while is_colon(tokens.peek()) {
                    path.extend(tokens.by_ref().take(2));
                    let Some(TokenTree::Ident(name)) = tokens.peek() else { break };
                    names.push(unraw(name));
                    path.extend(tokens.next());
                }
                let has_arguments =
                    matches!(tokens.peek(), Some(TokenTree::Punct(sign)) if sign.as_char() == '<');
                let is_known = matches!(names.as_slice(), [name] if crate::typed::is_plain_name(name));
                out.extend(if has_arguments || is_known {
                    path
                } else {
                    other(&path, &names).unwrap_or(path)
                });
                let holds = names.last().is_some_and(|name| HOLDERS.contains(&name.as_str()));
                match tokens.peek() {
                    _ if holds => {}
                    Some(TokenTree::Group(_)) => out.extend(tokens.next()),
                    _ if has_arguments => arguments(&mut tokens, &mut out),
                    _ => {}
                }
            }
            TokenTree::Group(group) => {
                let mut fresh = Group::new(group.delimiter(), each(group.stream(), other));
                fresh.set_span(group.span());
                out.extend([TokenTree::from(fresh)]);
            }
            token => out.extend([token]),
        }
    }
    out
}

/// Takes what stands between `<` and `>` as it is.
fn arguments(tokens: &mut impl Iterator<Item = TokenTree>, out: &mut TokenStream) {
    let (mut depth, mut before) = (0_usize, ' ');
    for token in tokens {
        let sign = if let TokenTree::Punct(sign) = &token { sign.as_char() } else { ' ' };
        match (before, sign) {
            (_, '<') => depth += 1,
            // No end, but an arrow.
            ('-', '>') => {}
            (_, '>') => depth -= 1,
            _ => {}
        }
        before = sign;
        out.extend([token]);
        if depth == 0 {
            break;
        }
    }
}

fn is_colon(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Punct(sign)) if sign.as_char() == ':')
}

#[cfg(test)]
mod tests {
    use super::each;

    #[test]
    fn the_paths_of_a_type() {
        for (ty, expected) in [
            ("Verdict", "X"),
            ("&'a Verdict", "&'aX"),
            ("Result<(a::Verdict, Flow), Vec<Option<&[crate::Verdict]>>>", "Result<(X,X),Vec<Option<&[X]>>>"),
            ("::a::Verdict", "::a::Verdict"),
            ("Id<Verdict>", "Id<Verdict>"),
            ("(a::Id<Vec<fn() -> Verdict>>, Box<Verdict>)", "(a::Id<Vec<fn()->Verdict>>,Box<X>)"),
            ("String", "String"),
            // Patterns as well.
            ("Some(Flow::Stop(Verdict)) | (Verdict, Held { a: Verdict })", "X(X(Verdict))|(X,X{a:Verdict})"),
        ] {
            let made = each(ty.parse().unwrap(), &mut |_, _| Some(quote::quote!(X)));
            assert_eq!(made.to_string().replace(' ', ""), expected, "{ty}");
        }
    }
}
