//! [`Quote`]: the worst case of a run, in money.

use super::{Currency, Money, Prices};
use crate::bounds::{
    AnswerUnit, BoundsCursor, Cost, CostShare, ModelPrice, ShareKind, UnboundedCauses, total,
};
use crate::check::bounds::describe_cause;
use crate::spec::{AgentMeta, Spec, Step, StepKind};
use std::fmt;

/// The largest price of one run of a workflow; see [`Spec::quote`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// The largest price; `None` if it is unbounded or unknown.
    pub most: Option<Money>,
    /// The currency of the price.
    pub currency: Currency,
    /// The step with the largest share, or the step that has no limit.
    why: String,
}

impl Spec<'_> {
    /// Returns the largest price of one run.
    ///
    /// Each model call counts with the longest request and the longest answer of its model, or with
    /// the agent's `max_output_tokens`. Retries and fallbacks are not counted. `model` is the model
    /// of agents whose declaration does not name one as text.
    ///
    /// ```
    /// # use adk_spec as adk;
    /// use adk::spec::{AgentKind, AgentMeta, Price, Prices, Spec, Step, StepKind};
    /// const CRITIC: AgentMeta<'static> = AgentMeta::new(AgentKind::Llm, "critic")
    ///     .model("gpt-5-mini")
    ///     .max_output_tokens(Some(1_000));
    /// let steps = [
    ///     Step::new("refinement", StepKind::Loop { max: Some(5), until: None }, 2),
    ///     Step::new("critic", StepKind::Agent { meta: &CRITIC, instance: false }, 1),
    ///     Step::new("", StepKind::End, 2),
    /// ];
    /// let quote = Spec::new("writing", "", &steps).quote(&Prices::published(), "gpt-5-mini");
    /// assert_eq!(
    ///     quote.to_string(),
    ///     "at most 0.35 USD: loop `refinement` 0.35 USD, 0.07 USD in each of 5 rounds"
    /// );
    /// ```
    pub fn quote(&self, prices: &Prices, model: &str) -> Quote {
        let mut models = Vec::new();
        add_models_of_steps(self.steps, &mut models);
        models.push(model);
        let priced: Vec<_> = models
            .into_iter()
            .map(|model| model_price(prices, model))
            .collect();
        let mut causes = UnboundedCauses::with_unit(AnswerUnit::Money(&priced));
        let sum = total(BoundsCursor::start(self.steps), Cost::Tokens, &mut causes);
        let most = sum.costs.get(Cost::Tokens).map(Money::from_parts);
        let currency = prices.currency();
        let why = match most {
            None => causes.first[0]
                .map_or_else(|| "a loop that nothing ends".to_owned(), describe_cause),
            Some(_) => describe_share(&sum.largest, currency),
        };
        Quote {
            most,
            currency,
            why,
        }
    }
}

/// Adds the models that the agents of some steps name.
fn add_models_of_steps<'a>(steps: &'a [Step<'a>], models: &mut Vec<&'a str>) {
    for step in steps {
        if let StepKind::Agent { meta, .. } = step.kind {
            add_models_of_agent(meta, models);
        }
    }
}

fn add_models_of_agent<'a>(meta: &'a AgentMeta<'a>, models: &mut Vec<&'a str>) {
    if !meta.model.is_empty() && !models.contains(&meta.model) {
        models.push(meta.model);
    }
    add_models_of_steps(meta.steps, models);
    meta.transfer
        .iter()
        .for_each(|target| add_models_of_agent(target, models));
}

fn model_price<'a>(prices: &Prices, model: &'a str) -> ModelPrice<'a> {
    let Some(price) = prices.of(model) else {
        return ModelPrice {
            model,
            prompt: None,
            token: 0,
            longest: None,
        };
    };
    let longest = price.longest_prompt.unwrap_or_default();
    let prompt = price.largest(longest, 0);
    ModelPrice {
        model,
        prompt: price.longest_prompt.map(|_| prompt.parts()),
        token: price.largest(longest, 1).without(prompt).parts(),
        longest: price.longest_answer,
    }
}

fn describe_share(share: &CostShare<'_>, currency: Currency) -> String {
    if share.total == 0 {
        return String::new();
    }
    let money = |parts| format!("{} {currency}", Money::from_parts(parts));
    let own = format!(
        "{} `{}` {}",
        share.kind.word(),
        share.name,
        money(share.total)
    );
    match (share.kind, share.kind.parts()) {
        (
            ShareKind::Loop(_, each) | ShareKind::Each(_, each) | ShareKind::Try(_, each),
            Some((preposition, max, parts)),
        ) => {
            format!("{own}, {} {preposition} each of {max} {parts}", money(each))
        }
        _ => own,
    }
}

impl fmt::Display for Quote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.most {
            Some(most) => write!(f, "at most {most} {}", self.currency)?,
            None => f.write_str("without a limit")?,
        }
        if self.why.is_empty() {
            Ok(())
        } else {
            write!(f, ": {}", self.why)
        }
    }
}
