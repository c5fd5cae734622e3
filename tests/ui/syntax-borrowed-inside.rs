//! What is borrowed, or left out, inside of the type of a key.

use adk::prelude::*;
use std::borrow::Cow;

workflow! {
    pub Lifetime(text: Cow<'a, str>) {
        agent reader { instruction: "Read {text}." }
        reader
    }
}

workflow! {
    pub Missing(text: Cow<'_, str>) {
        agent reader { instruction: "Read {text}." }
        reader
    }
}

workflow! {
    pub Inside(text: Option<&'a str>) {
        agent reader { instruction: "Read {text?}." }
        reader
    }
}

workflow! {
    pub Elided(text: (u8, Vec<&str>)) {
        agent reader { instruction: "Read {text}." }
        reader
    }
}

workflow! {
    pub LeftOut(texts: Vec<_>) -> draft: String {
        let tones: Vec<_> = Vec::new();
        agent writer -> draft: Option<_> { instruction: "Read {texts}." }
        writer
    }
}

workflow! {
    pub Fine(text: Cow<'static, str>, call: Option<std::marker::PhantomData<for<'x> fn(&'x str)>>) {
        agent reader { instruction: "Read {text}." }
        reader
    }
}

fn main() {}
