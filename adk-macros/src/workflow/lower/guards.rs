//! The type of a key that guards of a `match` may need, and patterns that do not say it, as `Some(_)`.
//!
//! Where a key is missing nothing says its type, and rustc would ask for it (E0282, E0283). So what is wrong with
//! the key is told on the way to its type, by a const that chooses it: the type is an error then, of which rustc says
//! nothing more.

use super::super::ast::{Arm, Block, BlockKind, Key, Match};
use super::super::names;
use super::super::plan::{Step, What};
use super::choice::takes_all;
use super::flow::KEY;
use super::{Lower, call, index, numbered};
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::{Ident, Lit, Pat, Path};

impl Lower<'_> {
    /// The call that raises what is wrong with the key of a block, where the type of the key has to tell it.
    pub(super) fn told_by_type(&self, i: usize) -> Option<TokenStream> {
        let step = self.plan.steps.get(i).filter(|step| self.has_untyped && !step.told)?;
        let is_needed =
            guarded(step).is_some() || (i + 1..self.plan.steps.len()).any(|at| self.is_element(i, at));
        let (span, fits) = self.steering(i, step).filter(|_| is_needed)?;
        let (at, part) = (index(i), index(KEY));
        Some(call(span, quote!(__raise_block), quote!(#at, #part, #fits)))
    }

    /// The type of the key of a `match`.
    pub(super) fn key_to_match(&self, i: usize, choice: &Match) -> TokenStream {
        let key = self.key_itself(i);
        // Of a key whose type is told to be wrong nothing more is said under the patterns.
        let mistyped = is_compared(choice).then(|| {
            let key = choice.key.text();
            quote!(__FACTS.mistypes(#key))
        });
        let Some(told) = self.told_by_type(i) else {
            return match mistyped {
                Some(mistyped) => quote!(<#key as __typed::OfValue<{ #mistyped }>>::Value),
                None => key,
            };
        };
        let mistyped = mistyped.unwrap_or_else(|| quote!(false));
        let key = quote!(<#key as __typed::OfValue<{ #told; #mistyped }>>::Value);
        // Of an element nothing is known where its list is missing, which is told by its own type.
        match (0..i).rev().find(|each| self.is_element(*each, i)) {
            Some(each) => {
                let item = numbered("Item", each);
                quote!(<__typed::Both<#key, #item> as __typed::Known>::Type)
            }
            None => key,
        }
    }

    /// Whether a `match` with guards is on the element of an `each`.
    fn is_element(&self, each: usize, choice: usize) -> bool {
        let [Some(each), Some(choice)] = [each, choice].map(|i| self.plan.steps.get(i)) else { return false };
        match each.what {
            What::Block(Block { kind: BlockKind::Each { item, .. }, .. }) => {
                guarded(choice).is_some_and(|key| key.text() == names::plain(item))
            }
            _ => false,
        }
    }
}

/// The key of a `match` whose arms need its type.
pub(super) fn guarded<'a>(step: &Step<'a>) -> Option<&'a Key> {
    let What::Block(Block { kind: BlockKind::Match(choice), .. }) = step.what else { return None };
    let (mut arms, is_said) = (choice.arms.iter(), |arm: &Arm| says_type(&arm.pattern));
    let needs_type = arms.any(|arm| arm.guard.is_some())
        || !choice.arms.iter().any(is_said) && !choice.arms.iter().all(|arm| takes_all(&arm.pattern));
    needs_type.then_some(&choice.key)
}

/// Whether the patterns say all of their type: rustc finds it out without the type of the key.
pub(super) fn is_compared(choice: &Match) -> bool {
    let mut patterns = choice.arms.iter().map(|arm| &arm.pattern);
    // Of a number rustc asks for the very type where a guard calls something of it, and finds it by the key alone.
    let asks = |arm: &Arm| match (&arm.pattern, &arm.guard) {
        (Pat::Ident(name), Some(guard)) => has_dot(guard.to_token_stream(), &name.ident),
        _ => false,
    };
    let is_open = choice.arms.iter().any(asks)
        && patterns.clone().all(|pattern| is_of_any(pattern) || is_number(pattern));
    !is_open
        && patterns.clone().all(|pattern| is_of_any(pattern) || is_of_its_own(pattern))
        && patterns.any(is_of_its_own)
}

/// Whether a `.` stands behind that name somewhere.
fn has_dot(tokens: TokenStream, name: &Ident) -> bool {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_it = match token {
            TokenTree::Ident(word) => {
                let next = tokens.peek();
                word == *name && matches!(next, Some(TokenTree::Punct(sign)) if sign.as_char() == '.')
            }
            TokenTree::Group(group) => has_dot(group.stream(), name),
            _ => false,
        };
        if is_it {
            return true;
        }
    }
    false
}

fn is_number(pattern: &Pat) -> bool {
    match pattern {
        Pat::Lit(of) => matches!(of.lit, Lit::Int(_) | Lit::Float(_)),
        Pat::Range(_) => true,
        Pat::Ident(name) => name.subpat.as_ref().is_some_and(|(_, pattern)| is_number(pattern)),
        Pat::Paren(inner) => is_number(&inner.pat),
        Pat::Or(all) => all.cases.iter().all(is_number),
        _ => false,
    }
}

/// Whether a pattern is of one type, whatever stands around it. A name alone may be one that it gives, where a `use` is missing.
fn is_of_its_own(pattern: &Pat) -> bool {
    let of_path = |path: &Path| path.segments.len() > 1;
    match pattern {
        Pat::Lit(_) | Pat::Range(_) => true,
        Pat::Path(path) => path.qself.is_none() && of_path(&path.path),
        Pat::Struct(of) => of.qself.is_none() && of_path(&of.path),
        Pat::TupleStruct(of) if of.path.is_ident("Some") => of.elems.iter().all(is_of_its_own),
        Pat::TupleStruct(of) => of.qself.is_none() && of_path(&of.path),
        Pat::Ident(name) => name.subpat.as_ref().is_some_and(|(_, pattern)| is_of_its_own(pattern)),
        Pat::Paren(inner) => is_of_its_own(&inner.pat),
        Pat::Or(all) => all.cases.iter().all(is_of_its_own),
        _ => false,
    }
}

/// Whether a pattern fits many types, one of which others say.
fn is_of_any(pattern: &Pat) -> bool {
    match pattern {
        Pat::Ident(name) if name.ident == "None" => true,
        Pat::TupleStruct(of) if of.path.is_ident("Some") => of.elems.iter().all(is_of_any),
        Pat::Or(all) => all.cases.iter().all(|case| is_of_any(case) || is_of_its_own(case)),
        _ => takes_all(pattern),
    }
}

/// Whether a pattern tells the whole type of what it is compared with, as far as tokens show.
fn says_type(pattern: &Pat) -> bool {
    let is_open = |name: &Ident| ["Some", "None", "Ok", "Err"].iter().any(|open| name == open);
    match pattern {
        Pat::Lit(_) | Pat::Range(_) | Pat::Struct(_) => true,
        Pat::Path(path) => names::last(&path.path).is_some_and(|name| !is_open(name)),
        Pat::Ident(name) => match &name.subpat {
            Some((_, pattern)) => says_type(pattern),
            None => names::is_type(&name.ident) && !is_open(&name.ident),
        },
        Pat::TupleStruct(of) => names::last(&of.path).is_some_and(|name| match name.to_string().as_str() {
            "Some" => of.elems.iter().all(says_type),
            "Ok" | "Err" => false,
            _ => true,
        }),
        Pat::Tuple(of) => of.elems.iter().all(says_type),
        Pat::Paren(inner) => says_type(&inner.pat),
        Pat::Reference(inner) => says_type(&inner.pat),
        Pat::Or(all) => all.cases.iter().any(says_type),
        _ => false,
    }
}
