//! What is half typed, and what no one would type: the attributes never panic, and what they give back is Rust.

use super::{agent, data, tool};
use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::quote;

#[test]
fn a_half_typed_body_still_expands() {
    let item = quote! {
        /// Grades.
        pub async fn grade(draft: &str) -> f64 { let a = draft. ; match }
    };
    for output in [agent(quote!(writes = score), item.clone()), tool(quote!(), item)] {
        let text = output.to_string();
        assert!(text.contains("let a = draft . ; match"), "{text}");
        assert!(text.contains("pub struct grade { }"), "{text}");
        assert!(!text.contains("compile_error"), "{text}");
    }
}

#[test]
fn a_half_typed_impl_still_expands() {
    let item = quote! {
        impl<T> Agent for Holder<T> {
            const META: AgentMeta<'static> = AgentMeta::custom("holder").;
            async fn run(&self) { let a = cx. ; match }
        }
    };
    let text = agent(quote!(reads(draft: Vec<T>)), item).to_string();
    assert!(text.contains("let a = cx . ; match"), "{text}");
    assert!(text.contains(r#"(AgentMeta :: custom ("holder") .) ;"#), "{text}");
    assert!(text.contains("Typed for Holder < T >"), "{text}");
    assert!(!text.contains("compile_error"), "{text}");
}

#[test]
fn the_function_comes_first_and_keeps_what_is_its_own() {
    let item = quote!(
        #[inline]
        fn look(
            #[default(3)]
            #[doc = " Days."]
            days: u8,
            #[allow(unused)] other: u8,
        ) {
        }
    );
    let text = tool(quote!(), item).to_string();
    let function = text.split("struct").next().unwrap_or_default();
    assert!(function.starts_with("# [inline]"), "{text}");
    assert!(function.contains("fn look < > (days : u8 , # [allow (unused)] other : u8"), "{text}");
}

#[test]
fn mutated_tokens_give_rust() {
    let items = [
        quote! {
            /// Grades.
            #[agent]
            pub async fn grade<'a>(cx: &mut Context, draft: &'a str, tags: &[String]) -> Result<(Option<f64>, Flow)> { x }
        },
        quote! {
            /// Looks.
            fn look(#[default("a")] /** Word. */ word: String, many: Vec<u8>) -> impl Serialize { escalate }
        },
        quote! {
            /// A unit.
            #[derive(Clone)]
            pub enum Unit<T> where T: Copy { /** One. */ One, Two(T), Three { a: u8 } }
        },
        quote! {
            #[cfg(test)]
            impl<'a, T: Copy, const N: usize> Agent for Holder<'a, T, N> where T: Send {
                const META: AgentMeta<'static> = AgentMeta::custom("holder").may_exit(N = 1);
                async fn run(&self, cx: &mut Context) -> Result<Flow> { const META: u8 = 1; x }
            }
        },
    ];
    let args = [
        quote!(writes = user:score, exits(a, b), blocking),
        quote!(name = "a", writes(a: B, user:c: d::E), confirm),
        quote!(reads(a: Option<T>, b: &'a [u8]), writes(user:c: d::E<N>)),
    ];
    let mut dice = 0x9e37_79b9_7f4a_7c15_u64;
    let mut roll = move |sides: usize| {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        usize::try_from(dice % sides.max(1) as u64).unwrap_or(0)
    };
    for _ in 0..5_000 {
        let item = mutated(items[roll(items.len())].clone(), &mut roll);
        let args = mutated(args[roll(args.len())].clone(), &mut roll);
        let is_item = syn::parse2::<syn::ItemFn>(item.clone()).is_ok()
            || syn::parse2::<syn::ItemImpl>(item.clone()).is_ok();
        for output in
            [agent(args.clone(), item.clone()), tool(args.clone(), item.clone()), data(args, item.clone())]
        {
            if is_item {
                let parsed = syn::parse2::<syn::File>(output.clone());
                assert!(parsed.is_ok(), "{:?}\n{item}\n{output}", parsed.err());
            }
        }
    }
}

/// Leaves out, doubles or replaces a few tokens.
fn mutated(tokens: TokenStream, roll: &mut impl FnMut(usize) -> usize) -> TokenStream {
    let strange: [TokenTree; 6] = [
        Ident::new("self", Span::call_site()).into(),
        Ident::new("writes", Span::call_site()).into(),
        Literal::i32_unsuffixed(-7).into(),
        Punct::new(',', Spacing::Alone).into(),
        Punct::new('&', Spacing::Joint).into(),
        Group::new(Delimiter::Parenthesis, quote!(a: b, =)).into(),
    ];
    let mut out = TokenStream::new();
    for token in tokens {
        let token = match token {
            TokenTree::Group(group) => {
                TokenTree::from(Group::new(group.delimiter(), mutated(group.stream(), roll)))
            }
            token => token,
        };
        match roll(40) {
            0 => {}
            1 => out.extend([token.clone(), token]),
            2 => out.extend([strange[roll(strange.len())].clone()]),
            _ => out.extend([token]),
        }
    }
    out
}
