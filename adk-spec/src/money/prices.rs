//! [`Prices`]: what models cost.

use super::{BudgetError, Currency, Money};
use std::collections::HashMap;

/// What a model costs, by the million of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Price {
    /// A token of a request.
    pub(crate) input: Money,
    /// One that the provider had in a cache.
    pub(crate) cached: Money,
    /// A token of an answer, thoughts included.
    pub(crate) output: Money,
    /// The most tokens of a request.
    pub(crate) longest_prompt: Option<u64>,
    /// The most tokens of an answer.
    pub(crate) longest_answer: Option<u64>,
}

impl Price {
    /// Amounts for a million tokens of requests and of answers, such as `"0.25"` and `"2.00"`. What comes from a cache costs as
    /// much as other tokens.
    ///
    /// # Errors
    /// When one of the texts is no amount, or has more than six digits after the point.
    pub fn per_million(input: &str, output: &str) -> Result<Self, BudgetError> {
        let input = one(input)?;
        Ok(Self { input, cached: input, output: one(output)?, longest_prompt: None, longest_answer: None })
    }

    /// The amount for a million tokens that the provider had in a cache.
    ///
    /// # Errors
    /// When the text is no amount, or has more than six digits after the point.
    pub fn cached(self, cached: &str) -> Result<Self, BudgetError> {
        Ok(Self { cached: one(cached)?, ..self })
    }

    /// The most tokens that a request and an answer of the model may have. A budget reserves the longest answer where the agent
    /// has no `max_output_tokens`, and a quote is made with both.
    #[must_use]
    pub fn longest(self, prompt: u64, answer: u64) -> Self {
        Self { longest_prompt: Some(prompt), longest_answer: Some(answer), ..self }
    }

    /// The most tokens of an answer, where that is known.
    pub fn longest_answer(&self) -> Option<u64> {
        self.longest_answer
    }

    /// What a call costs.
    pub fn of(&self, input: u64, cached: u64, output: u64) -> Money {
        let cached = cached.min(input);
        let input = self.input.times(input - cached);
        input.plus(self.cached.times(cached)).plus(self.output.times(output))
    }
}

/// The amount for one token of an amount for a million.
fn one(million: &str) -> Result<Money, BudgetError> {
    let parts = million.parse::<Money>()?.parts();
    if parts % 1_000_000 == 0 { Ok(Money::of_parts(parts / 1_000_000)) } else { Err(BudgetError) }
}

/// What models cost, in one currency.
///
/// ```
/// # use adk_spec as adk;
/// use adk::spec::{Price, Prices};
///
/// let prices = Prices::published()
///     .model("gpt-5-mini", Price::per_million("0.25", "2.00")?.cached("0.025")?.longest(272_000, 128_000))
///     .model("ollama::llama3.2", Price::per_million("0", "0")?);
/// assert_eq!(prices.of("gpt-5-mini-2025-08-07").unwrap().of(1_000_000, 0, 0).to_string(), "0.25");
/// # Ok::<(), adk::spec::BudgetError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Prices {
    currency: Currency,
    models: HashMap<String, Price>,
}

/// Model, input, cached input, output, longest request, longest answer: published prices in USD for a million tokens, those for
/// long requests where there are two.
const PUBLISHED: &[(&str, &str, &str, &str, u64, u64)] = &[
    ("gpt-5", "1.25", "0.125", "10.00", 272_000, 128_000),
    ("gpt-5-mini", "0.25", "0.025", "2.00", 272_000, 128_000),
    ("gpt-5-nano", "0.05", "0.005", "0.40", 272_000, 128_000),
    ("gpt-4.1", "2.00", "0.50", "8.00", 1_047_576, 32_768),
    ("gpt-4.1-mini", "0.40", "0.10", "1.60", 1_047_576, 32_768),
    ("gpt-4o", "2.50", "1.25", "10.00", 128_000, 16_384),
    ("gpt-4o-mini", "0.15", "0.075", "0.60", 128_000, 16_384),
    ("claude-opus-4-1", "15.00", "1.50", "75.00", 200_000, 32_000),
    ("claude-sonnet-4-5", "3.00", "0.30", "15.00", 200_000, 64_000),
    ("claude-haiku-4-5", "1.00", "0.10", "5.00", 200_000, 64_000),
    ("gemini-2.5-pro", "2.50", "0.25", "15.00", 1_048_576, 65_536),
    ("gemini-2.5-flash", "0.30", "0.03", "2.50", 1_048_576, 65_536),
    ("gemini-2.5-flash-lite", "0.10", "0.01", "0.40", 1_048_576, 65_536),
];

impl Prices {
    /// No prices yet, in a currency such as `USD`.
    ///
    /// # Errors
    /// When it is no currency: three capital letters.
    pub fn new(currency: &str) -> Result<Self, BudgetError> {
        Ok(Self { currency: currency.parse()?, models: HashMap::new() })
    }

    /// What providers asked in US dollars when this version was made. They change: look at the bill, and replace what differs with
    /// [`model`](Self::model).
    pub fn published() -> Self {
        let price = |&(name, input, cached, output, prompt, answer): &(&str, &str, &str, &str, u64, u64)| {
            let price = Price::per_million(input, output).and_then(|price| price.cached(cached)).ok()?;
            Some((name.to_owned(), price.longest(prompt, answer)))
        };
        Self { currency: Currency(*b"USD"), models: PUBLISHED.iter().filter_map(price).collect() }
    }

    /// The price of a model, by the name under which it is asked for, with or without the provider before a `::`.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>, price: Price) -> Self {
        self.models.insert(name.into(), price);
        self
    }

    /// The currency of all of them.
    pub fn currency(&self) -> Currency {
        self.currency
    }

    /// The price of a model: that of its name, of the name without its provider, or of either without the date at its end.
    pub fn of(&self, model: &str) -> Option<&Price> {
        let plain = model.split_once("::").map_or(model, |(_, name)| name);
        [model, plain, undated(model), undated(plain)].into_iter().find_map(|name| self.models.get(name))
    }
}

/// `gpt-5` of `gpt-5-2025-08-07`, and of `gpt-5-20250807`.
fn undated(name: &str) -> &str {
    let is_date = |end: &str| end.bytes().all(|c| c.is_ascii_digit() || c == b'-');
    for length in ["-20250807".len(), "-2025-08-07".len()] {
        if let Some((name, date)) = name.len().checked_sub(length).and_then(|at| name.split_at_checked(at))
            && date.starts_with('-')
            && is_date(date)
        {
            return name;
        }
    }
    name
}
