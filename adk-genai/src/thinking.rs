//! [`thinking_budget`]: the tokens that Anthropic's older models may use for thoughts.
//!
//! Anthropic counts thoughts as output, and refuses a request whose limit of output tokens is not
//! above the budget for thoughts. The effort at the end of a model's name sets that budget.

use crate::adapter::Family;
use crate::names::without_namespace;
use genai::chat::ReasoningEffort;

/// Returns the budget for thoughts of a model. It is zero for models that take an effort instead of
/// a budget.
fn thinking_budget(family: Family, name: &str) -> u32 {
    if family != Family::Anthropic {
        return 0;
    }
    let (effort, model) = ReasoningEffort::from_model_name(without_namespace(name));
    match effort {
        None | Some(ReasoningEffort::Zero) => 0,
        Some(_) if takes_effort(model) => 0,
        // The numbers of genai.
        Some(ReasoningEffort::Low | ReasoningEffort::Minimal) => 1_024,
        Some(ReasoningEffort::Medium) => 8_000,
        Some(ReasoningEffort::High | ReasoningEffort::XHigh | ReasoningEffort::Max) => 24_000,
        Some(ReasoningEffort::Budget(budget)) => budget,
    }
}

/// Returns the limit of output tokens of a request. A limit that leaves nothing for the answer is
/// raised by the budget for thoughts.
pub(crate) fn output_limit(family: Family, name: &str, limit: u32) -> u32 {
    let budget = thinking_budget(family, name);
    if limit > budget {
        limit
    } else {
        limit.saturating_add(budget)
    }
}

/// Reports whether genai sends an effort to a model.
fn takes_effort(model: &str) -> bool {
    let mut words = model.split('-').skip(1);
    let family = words.next().unwrap_or_default();
    // A longer number is a date.
    let mut number = || {
        words
            .next()
            .filter(|word| word.len() < 3)?
            .parse::<u32>()
            .ok()
    };
    let version = number().map(|major| (major, number().unwrap_or_default()));
    match family {
        "opus" => version >= Some((4, 5)),
        "sonnet" => version >= Some((4, 6)),
        "haiku" => version >= Some((5, 0)),
        "fable" | "mythos" => true,
        _ => false,
    }
}
