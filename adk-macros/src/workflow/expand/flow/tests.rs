use crate::workflow::workflow;
use quote::quote;

fn pairs(input: proc_macro2::TokenStream) -> usize {
    workflow(input)
        .to_string()
        .replace(' ', "")
        .matches("__typed::Pair<")
        .count()
}

#[test]
fn types_that_may_have_no_number_get_pairs() {
    let plain = quote!(pub W(topic: String) -> draft: String {
        agent writer -> draft: String { instruction: "Write about {topic}." }
        writer
    });
    assert_eq!(pairs(plain), 2);
    let own = quote!(pub W(topic: Topic) -> draft: Draft {
        agent writer -> draft: Draft { instruction: "Write about {topic}." }
        writer; review
    });
    assert_eq!(pairs(own), 2 + 2 + 2);
}
