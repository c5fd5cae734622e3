//! [`Money`], [`Budget`] and the prices of models.

#[cfg(feature = "workflow")]
mod prices;
#[cfg(feature = "workflow")]
mod quote;

#[cfg(feature = "workflow")]
pub use prices::{Price, Prices};
#[cfg(feature = "workflow")]
pub use quote::Quote;

use std::fmt;
use std::str::FromStr;

/// The number of smallest amounts in one unit of a currency. A token costs millionths of cents.
const UNIT: u64 = 1_000_000_000_000;
/// The number of digits that an amount may have after the point.
const DIGITS: usize = 12;

/// An amount of money, in the currency of the [`Prices`] that it was computed with. Amounts are
/// exact to the twelfth digit after the point, up to 18 million. Their JSON is a text, such as
/// `"0.0125"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "workflow",
    derive(serde::Serialize, serde::Deserialize),
    serde(into = "String", try_from = "MoneyForm")
)]
pub struct Money(u64);

/// The stored forms of [`Money`].
#[cfg(feature = "workflow")]
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum MoneyForm {
    /// The number of the smallest amounts, which older versions stored.
    Parts(u64),
    Text(String),
}

#[cfg(feature = "workflow")]
impl TryFrom<MoneyForm> for Money {
    type Error = BudgetError;

    fn try_from(form: MoneyForm) -> Result<Self, BudgetError> {
        match form {
            MoneyForm::Parts(parts) => Ok(Self(parts)),
            MoneyForm::Text(text) => text.parse(),
        }
    }
}

impl From<Money> for String {
    fn from(money: Money) -> Self {
        money.to_string()
    }
}

impl Money {
    /// Zero.
    pub const ZERO: Self = Self(0);

    /// Returns whether the amount is zero.
    pub const fn is_zero(&self) -> bool {
        self.0 == 0
    }

    /// Creates an amount from a number of the smallest amount.
    pub(crate) const fn from_parts(parts: u64) -> Self {
        Self(parts)
    }

    /// Returns the amount in millionths of a millionth of one unit of the currency.
    pub const fn parts(self) -> u64 {
        self.0
    }

    /// Adds two amounts.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Subtracts an amount. The result is at least zero.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Multiplies the amount.
    #[must_use]
    pub const fn times(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }

    /// Parses `0.50`.
    const fn read(text: &[u8]) -> Option<Self> {
        let (mut parts, mut after, mut any) = (0_u64, None, false);
        let mut i = 0;
        while i < text.len() {
            match (text[i], after) {
                (digit @ b'0'..=b'9', digits) => {
                    let Some(sum) = parts.checked_mul(10) else {
                        return None;
                    };
                    let Some(sum) = sum.checked_add((digit - b'0') as u64) else {
                        return None;
                    };
                    (parts, any) = (sum, true);
                    after = match digits {
                        Some(DIGITS) => return None,
                        Some(digits) => Some(digits + 1),
                        None => None,
                    };
                }
                (b'.', None) if any => (after, any) = (Some(0), false),
                (b'_', _) if any => {}
                _ => return None,
            }
            i += 1;
        }
        if !any {
            return None;
        }
        let mut left = DIGITS
            - match after {
                Some(digits) => digits,
                None => 0,
            };
        while left > 0 {
            parts = match parts.checked_mul(10) {
                Some(parts) => parts,
                None => return None,
            };
            left -= 1;
        }
        Some(Self(parts))
    }
}

impl std::ops::AddAssign for Money {
    fn add_assign(&mut self, other: Self) {
        *self = self.plus(other);
    }
}

impl std::iter::Sum for Money {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::ZERO, Self::plus)
    }
}

/// Writes at least two digits after the point: `0.50`, `0.000325`.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rest = format!("{:012}", self.0 % UNIT);
        let digits = rest.trim_end_matches('0').len().max(2);
        f.pad(&format!(
            "{}.{}",
            self.0 / UNIT,
            rest.get(..digits).unwrap_or_default()
        ))
    }
}

/// Parses an amount such as `0.50`.
impl FromStr for Money {
    type Err = BudgetError;

    fn from_str(text: &str) -> Result<Self, BudgetError> {
        Self::read(text.trim().as_bytes()).ok_or(BudgetError)
    }
}

/// A currency: three capital letters, such as `USD`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "workflow",
    derive(serde::Serialize, serde::Deserialize),
    serde(into = "String", try_from = "String")
)]
pub struct Currency([u8; 3]);

impl From<Currency> for String {
    fn from(currency: Currency) -> Self {
        currency.to_string()
    }
}

impl TryFrom<String> for Currency {
    type Error = BudgetError;

    fn try_from(text: String) -> Result<Self, BudgetError> {
        text.parse()
    }
}

impl Currency {
    /// The dollar of the United States, in which most providers publish their prices.
    pub const USD: Self = Self(*b"USD");

    /// Returns the code of the currency.
    pub fn code(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    const fn read(text: &[u8]) -> Option<Self> {
        match *text {
            [a @ b'A'..=b'Z', b @ b'A'..=b'Z', c @ b'A'..=b'Z'] => Some(Self([a, b, c])),
            _ => None,
        }
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

impl FromStr for Currency {
    type Err = BudgetError;

    fn from_str(text: &str) -> Result<Self, BudgetError> {
        Self::read(text.as_bytes()).ok_or(BudgetError)
    }
}

/// A limit of money or tokens for a run, a block or an agent: `"0.50 USD"`, or `"20_000 tokens"` of
/// requests and answers together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "workflow",
    derive(serde::Serialize, serde::Deserialize),
    serde(into = "String", try_from = "String")
)]
pub enum Budget {
    /// An amount of money.
    Money(Money, Currency),
    /// A number of tokens.
    Tokens(u64),
}

impl Budget {
    /// Parses a budget. Returns `None` if the text is not a budget.
    pub const fn read(text: &str) -> Option<Self> {
        let text = text.as_bytes().trim_ascii();
        let mut i = 0;
        while i < text.len() && text[i] != b' ' {
            i += 1;
        }
        let (number, word) = text.split_at(i);
        let word = word.trim_ascii();
        if let b"tokens" = word {
            let Some(Money(parts)) = Money::read(number) else {
                return None;
            };
            // A fraction of a token is not a budget.
            return if parts % UNIT == 0 {
                Some(Self::Tokens(parts / UNIT))
            } else {
                None
            };
        }
        match (Money::read(number), Currency::read(word)) {
            (Some(money), Some(currency)) => Some(Self::Money(money, currency)),
            _ => None,
        }
    }

    /// Parses a text that is known to be a budget.
    ///
    /// # Panics
    /// If the text is not a budget. In const evaluation, the panic is a compile error.
    #[must_use]
    pub const fn of(text: &str) -> Self {
        match Self::read(text) {
            Some(budget) => budget,
            None => panic!(
                "syntax: this is not a budget; help: write \"0.50 USD\" or \"20_000 tokens\""
            ),
        }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Money(money, currency) => write!(f, "{money} {currency}"),
            Self::Tokens(tokens) => write!(f, "{tokens} tokens"),
        }
    }
}

impl FromStr for Budget {
    type Err = BudgetError;

    fn from_str(text: &str) -> Result<Self, BudgetError> {
        Self::read(text).ok_or(BudgetError)
    }
}

impl From<Budget> for String {
    fn from(budget: Budget) -> Self {
        budget.to_string()
    }
}

impl TryFrom<String> for Budget {
    type Error = BudgetError;

    fn try_from(text: String) -> Result<Self, BudgetError> {
        text.parse()
    }
}

/// The error for a text that is not a budget, an amount or a currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetError;

impl fmt::Display for BudgetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "this is not a budget; help: write an amount and a currency, \"0.50 USD\", or a number \
             of tokens, \"20_000 tokens\"",
        )
    }
}

impl std::error::Error for BudgetError {}

#[cfg(test)]
mod tests;
