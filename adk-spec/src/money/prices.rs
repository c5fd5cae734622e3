//! [`Prices`]: the prices of models.

use super::{BudgetError, Currency, Money};
use std::collections::HashMap;

/// The price of a model, per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Price {
    rate: Rate,
    /// The rate for all tokens of a call whose request has more tokens than this number.
    long: Option<(u64, Rate)>,
    /// The largest number of tokens of a request.
    pub(crate) longest_prompt: Option<u64>,
    /// The largest number of tokens of an answer.
    pub(crate) longest_answer: Option<u64>,
}

/// The price of one token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rate {
    /// A token of a request.
    input: Money,
    /// A token of a request that the provider had in a cache.
    cached: Money,
    /// A token of a request that the provider writes to a cache.
    written: Money,
    /// A token of an answer, thoughts included.
    output: Money,
}

impl Price {
    /// Creates a price from the amounts for a million tokens of requests and of answers, such as
    /// `"0.25"` and `"2.00"`. Tokens that the provider reads from a cache or writes to it cost as
    /// much as other tokens.
    ///
    /// # Errors
    /// If a text is not an amount, or has more than six digits after the point.
    pub fn per_million(input: &str, output: &str) -> Result<Self, BudgetError> {
        let input = per_token(input)?;
        let rate = Rate {
            input,
            cached: input,
            written: input,
            output: per_token(output)?,
        };
        Ok(Self {
            rate,
            long: None,
            longest_prompt: None,
            longest_answer: None,
        })
    }

    /// Sets the amount for a million tokens that the provider had in a cache.
    ///
    /// # Errors
    /// If the text is not an amount, or has more than six digits after the point.
    pub fn cached(mut self, cached: &str) -> Result<Self, BudgetError> {
        self.rate.cached = per_token(cached)?;
        Ok(self)
    }

    /// Sets the amount for a million tokens that the provider writes to a cache.
    ///
    /// # Errors
    /// If the text is not an amount, or has more than six digits after the point.
    pub fn cache_writes(mut self, written: &str) -> Result<Self, BudgetError> {
        self.rate.written = per_token(written)?;
        Ok(self)
    }

    /// Sets the price of calls whose request has more than `tokens` tokens, for all of their
    /// tokens.
    #[must_use]
    pub fn above(self, tokens: u64, price: Self) -> Self {
        Self {
            long: Some((tokens, price.rate)),
            ..self
        }
    }

    /// Sets the largest number of tokens of a request and of an answer. A budget reserves the
    /// longest answer for an agent without `max_output_tokens`, and a quote uses both numbers.
    #[must_use]
    pub fn longest(self, prompt: u64, answer: u64) -> Self {
        Self {
            longest_prompt: Some(prompt),
            longest_answer: Some(answer),
            ..self
        }
    }

    /// Returns the largest number of tokens of an answer, if it is known.
    pub fn longest_answer(&self) -> Option<u64> {
        self.longest_answer
    }

    /// Returns the price of a call that writes nothing to a cache.
    pub fn of(&self, input: u64, cached: u64, output: u64) -> Money {
        self.of_call(input, cached, 0, output)
    }

    /// Returns the price of a call. `input` includes the tokens that the provider had in a cache
    /// and those that it wrote to a cache.
    pub fn of_call(&self, input: u64, cached: u64, written: u64, output: u64) -> Money {
        let rate = self.rate_of(input);
        let cached = cached.min(input);
        let written = written.min(input - cached);
        let plain = rate.input.times(input - cached - written);
        plain
            .plus(rate.cached.times(cached))
            .plus(rate.written.times(written))
            .plus(rate.output.times(output))
    }

    /// Returns the largest price of a call: the provider may write the whole request to a cache.
    pub fn largest(&self, input: u64, output: u64) -> Money {
        let rate = self.rate_of(input);
        let token = rate.input.max(rate.written);
        token.times(input).plus(rate.output.times(output))
    }

    fn rate_of(&self, input: u64) -> Rate {
        self.long
            .filter(|(above, _)| input > *above)
            .map_or(self.rate, |(_, rate)| rate)
    }
}

/// Returns the amount for one token from an amount for a million.
fn per_token(million: &str) -> Result<Money, BudgetError> {
    let parts = million.parse::<Money>()?.parts();
    if parts % 1_000_000 == 0 {
        Ok(Money::from_parts(parts / 1_000_000))
    } else {
        Err(BudgetError)
    }
}

/// Prices of models, in one currency.
///
/// ```
/// # use adk_spec as adk;
/// use adk::spec::{Price, Prices};
///
/// let prices = Prices::published()
///     .model("gpt-5-mini", Price::per_million("0.25", "2.00")?.cached("0.025")?)
///     .model("ollama::llama3.2", Price::per_million("0", "0")?);
/// assert_eq!(prices.of("gpt-5-mini-2025-08-07").unwrap().of(1_000_000, 0, 0).to_string(), "0.25");
/// # Ok::<(), adk::spec::BudgetError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Prices {
    currency: Currency,
    models: HashMap<String, Price>,
}

/// Published prices in USD for a million tokens of requests, of cached requests and of answers,
/// then the longest request and the longest answer.
const PUBLISHED: &[(&str, [&str; 3], u64, u64)] = &[
    ("gpt-5.6", ["4.00", "0.40", "20.00"], 922_000, 128_000),
    ("gpt-5.6-terra", ["2.00", "0.20", "12.00"], 922_000, 128_000),
    ("gpt-5.6-luna", ["0.20", "0.02", "1.20"], 922_000, 128_000),
    ("gpt-5.5", ["5.00", "0.50", "30.00"], 1_050_000, 128_000),
    ("gpt-5.4", ["2.50", "0.25", "15.00"], 1_050_000, 128_000),
    ("gpt-5.4-mini", ["0.75", "0.075", "4.50"], 272_000, 128_000),
    ("gpt-5.4-nano", ["0.20", "0.02", "1.25"], 272_000, 128_000),
    ("gpt-5.2", ["1.75", "0.175", "14.00"], 272_000, 128_000),
    ("gpt-5.1", ["1.25", "0.125", "10.00"], 272_000, 128_000),
    ("gpt-5", ["1.25", "0.125", "10.00"], 272_000, 128_000),
    ("gpt-5-mini", ["0.25", "0.025", "2.00"], 272_000, 128_000),
    ("gpt-5-nano", ["0.05", "0.005", "0.40"], 272_000, 128_000),
    ("gpt-4.1", ["2.00", "0.50", "8.00"], 1_047_576, 32_768),
    ("gpt-4.1-mini", ["0.40", "0.10", "1.60"], 1_047_576, 32_768),
    ("gpt-4.1-nano", ["0.10", "0.025", "0.40"], 1_047_576, 32_768),
    ("gpt-4o", ["2.50", "1.25", "10.00"], 128_000, 16_384),
    ("gpt-4o-mini", ["0.15", "0.075", "0.60"], 128_000, 16_384),
    (
        "claude-opus-5-5",
        ["4.00", "0.20", "20.00"],
        1_000_000,
        128_000,
    ),
    (
        "claude-opus-5",
        ["5.00", "0.50", "25.00"],
        1_000_000,
        128_000,
    ),
    (
        "claude-opus-4-8",
        ["5.00", "0.50", "25.00"],
        1_000_000,
        128_000,
    ),
    (
        "claude-opus-4-7",
        ["5.00", "0.50", "25.00"],
        1_000_000,
        128_000,
    ),
    (
        "claude-opus-4-6",
        ["5.00", "0.50", "25.00"],
        1_000_000,
        128_000,
    ),
    (
        "claude-opus-4-5",
        ["5.00", "0.50", "25.00"],
        200_000,
        64_000,
    ),
    (
        "claude-opus-4-1",
        ["15.00", "1.50", "75.00"],
        200_000,
        32_000,
    ),
    (
        "claude-sonnet-5-5",
        ["2.00", "0.10", "10.00"],
        1_000_000,
        128_000,
    ),
    (
        "claude-sonnet-5",
        ["2.00", "0.20", "10.00"],
        1_000_000,
        128_000,
    ),
    (
        "claude-sonnet-4-6",
        ["3.00", "0.30", "15.00"],
        1_000_000,
        128_000,
    ),
    (
        "claude-sonnet-4-5",
        ["3.00", "0.30", "15.00"],
        200_000,
        64_000,
    ),
    (
        "claude-haiku-5-5",
        ["0.10", "0.01", "0.50"],
        1_000_000,
        128_000,
    ),
    (
        "claude-haiku-4-5",
        ["1.00", "0.10", "5.00"],
        200_000,
        64_000,
    ),
    (
        "gemini-3.8-flash",
        ["0.75", "0.075", "3.75"],
        1_048_576,
        65_536,
    ),
    (
        "gemini-3.7-flash",
        ["0.75", "0.075", "3.75"],
        1_048_576,
        65_536,
    ),
    (
        "gemini-3.5-flash",
        ["1.50", "0.15", "9.00"],
        1_048_576,
        65_536,
    ),
    (
        "gemini-3.5-flash-lite",
        ["0.30", "0.03", "2.50"],
        1_048_576,
        65_536,
    ),
    (
        "gemini-3.1-pro-preview",
        ["2.00", "0.20", "12.00"],
        1_048_576,
        65_536,
    ),
    (
        "gemini-3.1-flash-lite",
        ["0.25", "0.025", "1.50"],
        1_048_576,
        65_536,
    ),
    (
        "gemini-2.5-pro",
        ["1.25", "0.125", "10.00"],
        1_048_576,
        65_536,
    ),
    (
        "gemini-2.5-flash",
        ["0.30", "0.03", "2.50"],
        1_048_576,
        65_536,
    ),
    (
        "gemini-2.5-flash-lite",
        ["0.10", "0.01", "0.40"],
        1_048_576,
        65_536,
    ),
];

/// Prices of calls whose request has more tokens than the number.
const LONG: &[(&str, u64, [&str; 3])] = &[
    ("gpt-5.6", 272_000, ["8.00", "0.80", "30.00"]),
    ("gpt-5.6-terra", 272_000, ["4.00", "0.40", "18.00"]),
    ("gpt-5.6-luna", 272_000, ["0.40", "0.04", "1.80"]),
    ("gpt-5.5", 272_000, ["10.00", "1.00", "45.00"]),
    ("gpt-5.4", 272_000, ["5.00", "0.50", "22.50"]),
    ("claude-haiku-5-5", 100_000, ["0.50", "0.05", "2.50"]),
    ("gemini-3.1-pro-preview", 200_000, ["4.00", "0.40", "18.00"]),
    ("gemini-2.5-pro", 200_000, ["2.50", "0.25", "15.00"]),
];

impl Prices {
    /// Creates an empty list of prices in a currency such as `USD`.
    ///
    /// # Errors
    /// If `currency` is not three capital letters.
    pub fn new(currency: &str) -> Result<Self, BudgetError> {
        Ok(Self {
            currency: currency.parse()?,
            models: HashMap::new(),
        })
    }

    /// Returns the list prices of providers in US dollars at the release of this version. Prices
    /// change: compare them with your bill, and replace a wrong price with [`model`](Self::model).
    pub fn published() -> Self {
        let price = |name: &str, [input, cached, output]: [&str; 3]| {
            let mut price = Price::per_million(input, output)?.cached(cached)?;
            // Anthropic charges 1.25 times the price of a token for a cache of five minutes.
            if name.starts_with("claude") {
                let written = price.rate.input.parts() / 4 * 5;
                price.rate.written = Money::from_parts(written);
            }
            Ok::<_, BudgetError>(price)
        };
        let mut models = HashMap::new();
        for &(name, amounts, prompt, answer) in PUBLISHED {
            let Ok(mut all) = price(name, amounts) else {
                continue;
            };
            if let Some(&(_, above, amounts)) = LONG.iter().find(|(long, ..)| *long == name)
                && let Ok(long) = price(name, amounts)
            {
                all = all.above(above, long);
            }
            models.insert(name.to_owned(), all.longest(prompt, answer));
        }
        Self {
            currency: Currency(*b"USD"),
            models,
        }
    }

    /// Sets the price of a model. `name` is the name in requests, with or without the provider
    /// before `::`.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>, price: Price) -> Self {
        self.models.insert(name.into(), price);
        self
    }

    /// Returns the currency of all prices.
    pub fn currency(&self) -> Currency {
        self.currency
    }

    /// Returns the price of a model: by its name, by the name without its provider, or by either
    /// without the date at its end.
    pub fn of(&self, model: &str) -> Option<&Price> {
        let plain = model.split_once("::").map_or(model, |(_, name)| name);
        [model, plain, without_date(model), without_date(plain)]
            .into_iter()
            .find_map(|name| self.models.get(name))
    }
}

/// Removes the date: `gpt-5` from `gpt-5-2025-08-07` and from `gpt-5-20250807`.
fn without_date(name: &str) -> &str {
    let is_date = |end: &str| end.bytes().all(|c| c.is_ascii_digit() || c == b'-');
    for length in ["-20250807".len(), "-2025-08-07".len()] {
        if let Some((name, date)) = name
            .len()
            .checked_sub(length)
            .and_then(|at| name.split_at_checked(at))
            && date.starts_with('-')
            && is_date(date)
        {
            return name;
        }
    }
    name
}
