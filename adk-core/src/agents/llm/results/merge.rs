//! Merge of the effects of the tool calls of one reply, in the order of the calls.

use crate::Name;
use crate::runtime::run::Overlay;
use crate::runtime::tool::{ToolActions, ToolRecord};
use crate::secret::is_secret;
use crate::store::event::StateDelta;
use serde_json::Value;
use std::sync::Arc;

/// Adds the effects of a call. `before` returns the value of a key before all calls of the reply.
/// For keys in `saw` the call has read the writes of earlier calls.
pub(super) fn add(
    record: ToolRecord,
    saw: &[Name],
    overlay: &mut Overlay,
    actions: &mut ToolActions,
    before: impl Fn(&str) -> Option<Arc<Value>>,
) {
    // Usage and updates count for the agent and are not part of the event.
    let ToolRecord {
        actions: asked,
        state_delta,
        artifact_delta,
        updated: _,
        usage: _,
        marks: _,
    } = record;
    merge_state(&mut overlay.state_delta, state_delta, saw, before);
    for (name, version) in artifact_delta {
        overlay.artifact_delta.retain(|(other, _)| *other != name);
        overlay.artifact_delta.push((name, version));
    }
    actions.escalate |= asked.escalate;
    actions.skip_summarization |= asked.skip_summarization;
    actions.transfer_to_agent = asked.transfer_to_agent.or(actions.transfer_to_agent.take());
    actions.set_model_response = asked
        .set_model_response
        .or(actions.set_model_response.take());
    actions.exit_to = asked.exit_to.or(actions.exit_to.take());
}

fn merge_state(
    all: &mut StateDelta,
    delta: StateDelta,
    saw: &[Name],
    before: impl Fn(&str) -> Option<Arc<Value>>,
) {
    for (key, value) in delta.into_iter() {
        let merged = match all.get(&key).filter(|_| !saw.contains(&key)) {
            Some(earlier) => {
                merge(before(&key).as_deref(), earlier, &value).map_or(value, Arc::new)
            }
            None => value,
        };
        all.insert(key, merged);
    }
}

/// Merges the values that two calls wrote to one key. Objects are merged, as in ADK. Lists that
/// both calls extended are joined, because neither call saw the other's elements. Returns `None`
/// for other values, and for secrets as a whole: the later value wins.
fn merge(before: Option<&Value>, earlier: &Value, later: &Value) -> Option<Value> {
    match (earlier, later) {
        (Value::Object(earlier), Value::Object(later)) => {
            if is_secret(earlier) || is_secret(later) {
                return None;
            }
            let mut all = earlier.clone();
            for (key, value) in later {
                let old = before.and_then(|before| before.get(key));
                match earlier.get(key) {
                    // The later call did not change this field.
                    Some(_) if old == Some(value) => {}
                    Some(first) => {
                        let merged = merge(old, first, value).unwrap_or_else(|| value.clone());
                        all.insert(key.clone(), merged);
                    }
                    None => drop(all.insert(key.clone(), value.clone())),
                }
            }
            Some(Value::Object(all))
        }
        (Value::Array(earlier), Value::Array(later)) => {
            let before = match before {
                None => &[][..],
                Some(Value::Array(before)) => before,
                Some(_) => return None,
            };
            let added = later.strip_prefix(before)?;
            earlier
                .starts_with(before)
                .then(|| Value::Array([earlier, added].concat()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn merged(before: Value, earlier: Value, later: Value) -> Value {
        let before = (!before.is_null()).then_some(&before);
        merge(before, &earlier, &later).unwrap_or(later)
    }

    #[test]
    fn objects_are_merged_deeply() {
        assert_eq!(
            merged(json!(null), json!({"x": 1}), json!({"y": 2})),
            json!({"x": 1, "y": 2})
        );
        assert_eq!(
            merged(
                json!(null),
                json!({"d": {"x": 1}, "n": 1}),
                json!({"d": {"y": 2}, "n": 2})
            ),
            json!({"d": {"x": 1, "y": 2}, "n": 2})
        );
    }

    #[test]
    fn an_old_value_in_a_later_call_does_not_undo_a_change() {
        let before = json!({"x": 0, "y": 0});
        assert_eq!(
            merged(before, json!({"x": 1, "y": 0}), json!({"x": 0, "y": 2})),
            json!({"x": 1, "y": 2})
        );
    }

    #[test]
    fn lists_that_grew_are_joined_and_others_replaced() {
        assert_eq!(
            merged(json!(null), json!(["f"]), json!(["g"])),
            json!(["f", "g"])
        );
        assert_eq!(
            merged(json!([0]), json!([0, 1]), json!([0, 2])),
            json!([0, 1, 2])
        );
        assert_eq!(
            merged(json!([0]), json!([]), json!([0, 2])),
            json!([0, 2]),
            "one took something out"
        );
        assert_eq!(merged(json!("text"), json!([1]), json!([2])), json!([2]));
    }

    #[test]
    fn the_later_secret_wins_as_a_whole() {
        let secret = |value: Value| json!({"$secret": value});
        let (old, new) = (
            secret(json!({"id": 1, "key": "a"})),
            secret(json!({"id": 2, "key": "b"})),
        );
        for (before, earlier, later) in [(json!(null), &old, &new), (old.clone(), &new, &old)] {
            assert_eq!(merged(before, earlier.clone(), later.clone()), *later);
        }
    }

    #[test]
    fn the_later_of_two_other_values_wins() {
        assert_eq!(merged(json!(null), json!(1), json!("b")), json!("b"));
        assert_eq!(merged(json!(null), json!({"x": 1}), json!(2)), json!(2));
    }
}
