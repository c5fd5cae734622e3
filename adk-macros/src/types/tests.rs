use super::{
    Hint, check_readable, check_storable, type_spelling, with_static_lifetimes, written_type,
};
use syn::parse_quote;

#[test]
fn stored_types_own_their_values() {
    let hint_of = |ty: &str, check: fn(&syn::Type) -> Result<(), Hint>| {
        check(&syn::parse_str(ty).unwrap())
            .err()
            .map(|hint| (hint.fact, hint.help))
    };
    for (ty, fact, help) in [
        ("Option<str>", "`str` has no size", "write `String`"),
        (
            "&[&str]",
            "`&[&str]` is borrowed, but a stored type owns its value",
            "write `Vec<String>`",
        ),
        ("Box<Vec<[u8]>>", "`[u8]` has no size", "write `Vec<u8>`"),
        ("Id<_>", "`_` names no type", "write the type itself"),
        (
            "Vec<impl Fn(u8)>",
            "`impl Trait` names no type",
            "write the type itself",
        ),
    ] {
        assert_eq!(
            hint_of(ty, check_storable),
            Some((fact.to_owned(), help.to_owned())),
            "{ty}"
        );
    }
    for ty in [
        "Box<str>",
        "Arc<[u8]>",
        "Box<dyn Shape>",
        "Cow<'static, str>",
        "Held<&str>",
        "(u8, [Plan; 3])",
    ] {
        assert_eq!(hint_of(ty, check_storable), None, "{ty}");
    }
    for ty in ["&str", "Option<&[Plan]>", "&mut Context", "&Path"] {
        assert_eq!(hint_of(ty, check_readable), None, "{ty}");
    }
    for ty in ["Vec<&str>", "&[&str]", "&'static str", "Option<&&str>"] {
        assert!(hint_of(ty, check_readable).is_some(), "{ty}");
    }
}

#[test]
fn types_are_spelled_without_lifetimes() {
    assert_eq!(type_spelling(&parse_quote!(&'a str)), "&str");
    assert_eq!(
        type_spelling(&parse_quote!(Option<&'_ [std::string::String]>)),
        "Option<&[std::string::String]>"
    );
    assert_eq!(type_spelling(&parse_quote!(Cow<'a, str>)), "Cow<str>");
    assert_eq!(type_spelling(&parse_quote!(Held<'a>)), "Held");
    assert_eq!(type_spelling(&parse_quote!((u8, &mut T))), "(u8,&mut T)");
    assert_eq!(
        type_spelling(&parse_quote!(&HashMap<[u8; 3], String>)),
        "&HashMap<[u8; 3], String>"
    );
}

#[test]
fn the_written_type_is_the_value_type() {
    assert_eq!(
        written_type(&parse_quote!(-> Result<(Option<f64>, Flow), String>)),
        "f64"
    );
    assert_eq!(
        written_type(&parse_quote!(-> adk::Result<Vec<u8>>)),
        "Vec<u8>"
    );
    assert_eq!(written_type(&parse_quote!(-> (String, u8))), "(String, u8)");
    assert_eq!(written_type(&parse_quote!(-> Score)), "Score");
}

#[test]
fn lifetimes_become_static() {
    let text = |tokens| with_static_lifetimes(tokens).to_string().replace(' ', "");
    assert_eq!(
        text(quote::quote!(&mut Held<'_>)),
        "&'staticmutHeld<'static>"
    );
    assert_eq!(
        text(quote::quote!(&dyn for<'a> Fn(&'a str))),
        "&'staticdynFn(&'staticstr)"
    );
    assert_eq!(
        text(quote::quote!((&'a str, [&u8]))),
        "(&'staticstr,[&'staticu8])"
    );
    assert_eq!(
        text(quote::quote!(&(Cow<str>, Cow<'_, str>))),
        "&'static(Cow<'static,str>,Cow<'static,str>)"
    );
}
