//! Half-typed and invalid items: the attributes never panic, and their output is Rust.

mod fuzz;

use super::{agent, tool};
use quote::quote;

#[test]
fn a_half_typed_body_still_expands() {
    let item = quote! {
        /// Grades.
        pub async fn grade(draft: &str) -> f64 { let a = draft. ; match }
    };
    for output in [
        agent(quote!(writes = score), item.clone()),
        tool(quote!(), item),
    ] {
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
    assert!(
        text.contains(r#"(AgentMeta :: custom ("holder") .) ;"#),
        "{text}"
    );
    assert!(text.contains("Typed for Holder < T >"), "{text}");
    assert!(!text.contains("compile_error"), "{text}");
}

#[test]
fn the_function_comes_first_and_keeps_its_own_attributes() {
    let item = quote!(
        #[inline]
        #[doc = " Looks."]
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
    assert!(
        function.contains("fn look (days : u8 , # [allow (unused)] other : u8"),
        "{text}"
    );
}

#[test]
fn long_docs_are_not_deep() {
    let docs = std::iter::repeat_n(quote!(#[doc = "A line."]), 300);
    let output = tool(
        quote!(),
        quote!(#(#docs)* fn grade(draft: &str) -> f64 { 1.0 }),
    );
    assert!(!output.to_string().contains("compile_error"), "{output}");
}
