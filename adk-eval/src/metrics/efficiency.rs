//! The informational metrics: calls, tokens and time of each turn.

use crate::files::{DurationDetails, Invocation, TokenUsageDetails};
use serde_json::Value;

/// The mean of some values, with the sum computed from left to right.
pub(super) fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0_u32);
    for value in values {
        sum += value;
        count += 1;
    }
    (count > 0).then(|| sum / f64::from(count))
}

/// Counts the calls of tools.
pub(super) fn tool_calls(turn: &Invocation) -> f64 {
    turn.tool_uses().len() as f64
}

/// Counts the calls of models. A turn without events has no count.
pub(super) fn inference_calls(turn: &Invocation) -> Option<f64> {
    let events = turn.events()?.iter();
    let calls = events.filter(|e| e.usage_metadata.is_some() || e.model_version.is_some());
    Some(calls.count() as f64)
}

/// Adds the tokens of all calls of models.
pub(super) fn tokens(turn: &Invocation) -> TokenUsageDetails {
    let mut sum = TokenUsageDetails::default();
    for usage in turn.events().into_iter().flatten() {
        let Some(usage) = &usage.usage_metadata else {
            continue;
        };
        let count = |name: &str| usage.get(name).and_then(Value::as_f64);
        let prompt = count("prompt_token_count");
        let tools = count("tool_use_prompt_token_count");
        let candidates = count("candidates_token_count");
        let thoughts = count("thoughts_token_count");
        add(&mut sum.input_tokens, plus(prompt, tools));
        add(&mut sum.prompt_tokens, prompt);
        add(&mut sum.cached_tokens, count("cached_content_token_count"));
        add(&mut sum.tool_use_tokens, tools);
        add(&mut sum.output_tokens, plus(candidates, thoughts));
        add(&mut sum.candidates_tokens, candidates);
        add(&mut sum.reasoning_tokens, thoughts);
    }
    sum.total_tokens = plus(sum.input_tokens, sum.output_tokens);
    sum
}

fn add(sum: &mut Option<f64>, count: Option<f64>) {
    *sum = plus(*sum, count);
}

/// Adds two counts. A count that is not reported is zero beside one that is.
fn plus(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (None, None) => None,
        (one, other) => Some(one.unwrap_or_default() + other.unwrap_or_default()),
    }
}

/// Returns the mean of each count over all turns. A turn that does not report a count counts zero.
pub(super) fn mean_tokens(turns: &[TokenUsageDetails]) -> TokenUsageDetails {
    let mean = |count: fn(&TokenUsageDetails) -> Option<f64>| {
        let mut counts = turns.iter().filter_map(count).peekable();
        counts.peek()?;
        Some(counts.fold(0.0, |sum, count| sum + count) / turns.len() as f64)
    };
    TokenUsageDetails {
        total_tokens: mean(|turn| turn.total_tokens),
        input_tokens: mean(|turn| turn.input_tokens),
        prompt_tokens: mean(|turn| turn.prompt_tokens),
        cached_tokens: mean(|turn| turn.cached_tokens),
        tool_use_tokens: mean(|turn| turn.tool_use_tokens),
        output_tokens: mean(|turn| turn.output_tokens),
        candidates_tokens: mean(|turn| turn.candidates_tokens),
        reasoning_tokens: mean(|turn| turn.reasoning_tokens),
    }
}

/// Returns where the time of a turn went.
pub(super) fn duration(turn: &Invocation) -> DurationDetails {
    let Some(total) = turn.duration else {
        return DurationDetails::default();
    };
    let rest = |model: f64, tool: f64| round((total - model - tool).max(0.0));
    DurationDetails {
        total_seconds: Some(total),
        model_seconds: turn.model_duration,
        tool_seconds: turn.tool_duration,
        framework_seconds: (turn.model_duration.zip(turn.tool_duration))
            .map(|(model, tool)| rest(model, tool)),
    }
}

/// Returns the mean of each part over the turns that were measured, in milliseconds' precision.
pub(super) fn mean_duration(turns: &[DurationDetails]) -> DurationDetails {
    let mean =
        |part: fn(&DurationDetails) -> Option<f64>| mean(turns.iter().filter_map(part)).map(round);
    DurationDetails {
        total_seconds: mean(|turn| turn.total_seconds),
        model_seconds: mean(|turn| turn.model_seconds),
        tool_seconds: mean(|turn| turn.tool_seconds),
        framework_seconds: mean(|turn| turn.framework_seconds),
    }
}

/// Rounds to three places as Python's `round`: by the exact decimal value, half to even.
fn round(seconds: f64) -> f64 {
    format!("{seconds:.3}").parse().unwrap_or(seconds)
}
