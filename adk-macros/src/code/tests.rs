use quote::quote;

#[test]
fn texts_are_tokens() {
    let (name, number) = ("writer", 3);
    let read = code!("type __Agent_{number} = Is<{{ of({name:?}) }}>;").to_string();
    let quoted = quote!(
        type __Agent_3 = Is<{ of("writer") }>;
    )
    .to_string();
    assert_eq!(read.replace(' ', ""), quoted.replace(' ', ""));
}

#[test]
fn text_that_is_not_rust_becomes_an_error() {
    assert!(code!("fn (").to_string().contains("cannot read `fn (`"));
}
