use super::*;

#[test]
fn budgets_are_parsed_and_displayed() {
    let all = [
        ("0.50 USD", Some("0.50 USD")),
        (" 12 EUR ", Some("12.00 EUR")),
        ("0.000325 USD", Some("0.000325 USD")),
        ("20_000 tokens", Some("20000 tokens")),
        ("1000  tokens", Some("1000 tokens")),
        ("1.5 tokens", None),
        ("0.5", None),
        ("USD", None),
        ("0.5 usd", None),
        (".5 USD", None),
        ("5. USD", None),
        ("0.5.0 USD", None),
        ("-1 USD", None),
        ("0.1234567890123 USD", None),
        ("99999999999 USD", None),
        ("", None),
    ];
    for (text, shown) in all {
        let read = Budget::read(text);
        assert_eq!(
            read.map(|budget| budget.to_string()).as_deref(),
            shown,
            "{text:?}"
        );
        assert_eq!(text.parse::<Budget>().ok(), read, "{text:?}");
    }
}

#[test]
fn a_call_costs_what_its_tokens_cost() {
    let price = Price::per_million("0.25", "2.00")
        .unwrap()
        .cached("0.025")
        .unwrap();
    assert_eq!(price.of(1_000, 0, 500).to_string(), "0.00125");
    assert_eq!(price.of(1_000, 1_000, 0).to_string(), "0.000025");
    // More cached tokens than tokens.
    assert_eq!(price.of(10, 1_000, 0), price.of(10, 10, 0));
    assert_eq!(price.of(u64::MAX, 0, u64::MAX), Money::from_parts(u64::MAX));
    assert!(Price::per_million("0.0000001", "1").is_err());
    let long = price.above(1_000, Price::per_million("0.50", "3.00").unwrap());
    assert_eq!(long.of(1_000, 1_000, 500), price.of(1_000, 1_000, 500));
    assert_eq!(long.of(1_001, 1_001, 1).to_string(), "0.0005035");
}

#[test]
fn models_are_found_without_provider_and_date() {
    let prices =
        Prices::published().model("ollama::llama3.2", Price::per_million("0", "0").unwrap());
    for name in [
        "gpt-5",
        "openai::gpt-5",
        "gpt-5-2025-08-07",
        "gpt-5-20250807",
        "ollama::llama3.2",
    ] {
        assert!(prices.of(name).is_some(), "{name}");
    }
    for name in [
        "gpt-5-turbo",
        "llama3.2",
        "gpt",
        "",
        "-2025-08-07",
        "é-2025-08-07",
    ] {
        assert!(prices.of(name).is_none(), "{name}");
    }
    assert_ne!(prices.of("gpt-5-mini"), prices.of("gpt-5"));
}

#[test]
fn long_requests_cost_what_providers_ask_for_them() {
    let prices = Prices::published();
    for (name, input, prompt) in [
        ("gpt-5-mini", "0.25", "0.25"),
        ("gemini-2.5-pro", "1.25", "2.50"),
        ("gpt-5.4", "2.50", "5.00"),
    ] {
        let price = prices.of(name).unwrap();
        let times = |money: Money, times: u64| Money::from_parts(money.parts() * times).to_string();
        assert_eq!(times(price.of(1_000, 0, 0), 1_000), input, "{name}");
        assert_eq!(price.of(1_000_000, 0, 0).to_string(), prompt, "{name}");
    }
}
