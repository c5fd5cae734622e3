//! [`Cost`]: the cost of model calls.

use adk_spec::spec::{BudgetError, Currency, Money};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// An amount of money with its currency: the cost of model calls. Its JSON is an object, such as
/// `{"amount": "0.0125", "currency": "USD"}`; its text is `0.0125 USD`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "CostForm")]
pub struct Cost {
    amount: Money,
    /// The currency; `None` for zero, which needs none.
    currency: Option<Currency>,
}

/// The stored forms of a [`Cost`].
#[derive(Deserialize)]
#[serde(untagged)]
enum CostForm {
    /// An amount of USD, which older versions stored without the currency.
    Amount(Money),
    WithCurrency {
        amount: Money,
        currency: Option<Currency>,
    },
}

impl From<CostForm> for Cost {
    fn from(form: CostForm) -> Self {
        match form {
            CostForm::Amount(amount) => Self::new(amount, Currency::USD),
            CostForm::WithCurrency { amount, currency } => Self { amount, currency },
        }
    }
}

impl Cost {
    /// Creates a cost.
    pub fn new(amount: Money, currency: Currency) -> Self {
        let currency = (!amount.is_zero()).then_some(currency);
        Self { amount, currency }
    }

    /// Returns the amount.
    pub fn amount(&self) -> Money {
        self.amount
    }

    /// Returns the currency; `None` for zero.
    pub fn currency(&self) -> Option<Currency> {
        self.currency
    }

    /// Returns whether the amount is zero.
    pub fn is_zero(&self) -> bool {
        self.amount.is_zero()
    }
}

/// Adds an amount. All prices of a runner are in one currency, which the sum keeps.
impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.amount += other.amount;
        self.currency = self.currency.or(other.currency);
    }
}

/// A difference below zero is zero.
impl std::ops::Sub for Cost {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        let amount = self.amount.without(other.amount);
        let currency = self.currency.filter(|_| !amount.is_zero());
        Self { amount, currency }
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.currency {
            Some(currency) => f.pad(&format!("{} {currency}", self.amount)),
            None => self.amount.fmt(f),
        }
    }
}

/// Parses a cost such as `0.0125 USD`.
impl FromStr for Cost {
    type Err = BudgetError;

    fn from_str(text: &str) -> Result<Self, BudgetError> {
        let (amount, currency) = text.split_once(' ').ok_or(BudgetError)?;
        Ok(Self::new(amount.parse()?, currency.parse()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Usage;

    #[test]
    fn a_cost_has_its_currency_and_an_old_number_is_usd() {
        let cost: Cost = "0.0001812 EUR".parse().unwrap();
        let mut usage = Usage::new(12, 4);
        usage.cost = cost;
        let json = serde_json::to_value(usage).unwrap();
        let form = serde_json::json!({"amount": "0.0001812", "currency": "EUR"});
        assert_eq!(json["cost"], form);
        assert_eq!(serde_json::from_value::<Usage>(json).unwrap(), usage);
        let old: Usage = serde_json::from_str(r#"{"cost": 181200000}"#).unwrap();
        assert_eq!(old.cost.to_string(), "0.0001812 USD");
        let mut sum = Cost::default();
        assert_eq!(sum.to_string(), "0.00");
        sum += cost;
        assert_eq!((sum, sum - cost), (cost, Cost::default()));
        for wrong in [
            r#"{"amount": "1", "currency": "usd"}"#,
            r#"{"amount": "-1"}"#,
            "1.5",
        ] {
            assert!(serde_json::from_str::<Cost>(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "1", "1 usd", "x USD", "1  USD"] {
            assert!(wrong.parse::<Cost>().is_err(), "{wrong}");
        }
    }
}
