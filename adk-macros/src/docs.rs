//! A doc comment as a description that models see.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The description in doc comments. It is an expression, since a doc may be `include_str!`; `None` without words.
pub(crate) fn description(attrs: &[Attribute]) -> Option<TokenStream> {
    let docs: Vec<&Expr> = attrs.iter().filter_map(doc).collect();
    let texts: Option<Vec<String>> = docs.iter().map(|doc| literal(doc)).collect();
    match texts {
        Some(texts) => {
            let text = folded(&texts.join("\n"));
            (!text.is_empty()).then(|| quote!(#text))
        }
        None => Some(quote!(::core::concat!(#(#docs, "\n"),*))),
    }
}

/// Whether an attribute is a doc comment.
pub(crate) fn is_doc(attr: &Attribute) -> bool {
    doc(attr).is_some()
}

fn doc(attr: &Attribute) -> Option<&Expr> {
    match &attr.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => Some(&meta.value),
        _ => None,
    }
}

fn literal(doc: &Expr) -> Option<String> {
    match doc {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

/// Lines of one paragraph become one line; blank lines, list items and code keep their lines.
fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut code = false;
    let mut fresh = true;
    for line in text.lines() {
        let line = if code { line.strip_prefix(' ').unwrap_or(line).trim_end() } else { line.trim() };
        let fence = line.trim_start().starts_with("```");
        let own = code || fence || is_item(line);
        if line.is_empty() && !code {
            if !fresh {
                out.push_str("\n\n");
            }
            fresh = true;
            continue;
        }
        if !fresh {
            out.push(if own { '\n' } else { ' ' });
        }
        out.push_str(line);
        code ^= fence;
        // Nothing is joined to the end of code.
        fresh = false;
        if fence && !code {
            out.push('\n');
            fresh = true;
        }
    }
    out.truncate(out.trim_end().len());
    out
}

fn is_item(line: &str) -> bool {
    let number = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    line.starts_with("- ") || line.starts_with("* ") || number != line && number.starts_with(". ")
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn paragraphs_are_folded() {
        assert_eq!(folded(" Grades the\n draft."), "Grades the draft.");
        assert_eq!(folded(" One.\n\n\n Two\n goes on.\n"), "One.\n\nTwo goes on.");
        assert_eq!(folded(" Either:\n - this\n   goes on\n - that"), "Either:\n- this goes on\n- that");
        assert_eq!(folded(" So:\n ```\n a\n   b\n ```\n and"), "So:\n```\na\n  b\n```\nand");
        assert_eq!(folded("  \n "), "");
    }
}
