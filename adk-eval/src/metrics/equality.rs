//! [`python_eq`]: the `==` of Python on JSON values.

use serde_json::{Map, Number, Value};

/// Compares two values as Python does: `1 == 1.0` and `True == 1`, but `None != {}`. The order of
/// keys does not count, that of lists does. Integers and floats compare by their mathematical
/// value.
///
/// ```
/// # use adk_eval::python_eq;
/// # use serde_json::json;
/// assert!(python_eq(&json!({"a": 1, "b": [true]}), &json!({"b": [1.0], "a": 1.0})));
/// assert!(!python_eq(&json!(9007199254740993_i64), &json!(9007199254740992.0)));
/// assert!(!python_eq(&json!(null), &json!({})));
/// ```
pub fn python_eq(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Null, Value::Null) => true,
        (Value::String(one), Value::String(other)) => one == other,
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| python_eq(a, b))
        }
        (Value::Object(one), Value::Object(other)) => objects_eq(one, other),
        _ => match (Numeric::of(one), Numeric::of(other)) {
            (Some(one), Some(other)) => one == other,
            _ => false,
        },
    }
}

/// Compares two optional objects, such as the arguments of calls.
pub(super) fn objects_eq(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let is_in_other = |(key, value)| other.get(key).is_some_and(|found| python_eq(value, found));
    one.len() == other.len() && one.iter().all(is_in_other)
}

/// A number or a boolean. A float without a fraction is an integer if it is not too large.
#[derive(PartialEq)]
enum Numeric {
    Whole(i128),
    Float(f64),
}

impl Numeric {
    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(is_true) => Some(Self::Whole((*is_true).into())),
            Value::Number(number) => Some(Self::of_number(number)),
            _ => None,
        }
    }

    fn of_number(number: &Number) -> Self {
        if let Some(whole) = number.as_i128() {
            return Self::Whole(whole);
        }
        let float = number.as_f64().unwrap_or(f64::NAN);
        // Integers of JSON have at most 64 bits, so larger floats equal none of them.
        if float.fract() == 0.0 && float.abs() < 1e30 {
            Self::Whole(float as i128)
        } else {
            Self::Float(float)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_compare_as_in_python() {
        let rows = [
            (json!(1), json!(1.0), true),
            (json!(true), json!(1), true),
            (json!(false), json!(0.0), true),
            (json!(-0.0), json!(0), true),
            (json!(1), json!("1"), false),
            (json!(null), json!(0), false),
            (json!(null), json!(false), false),
            (json!([1, 2]), json!([2, 1]), false),
            (json!([]), json!({}), false),
            (json!(u64::MAX), json!(18446744073709551615_u64), true),
            (json!(u64::MAX), json!(18446744073709551616.0), false),
            (json!(9007199254740992_i64), json!(9007199254740992.0), true),
            (json!(0.1), json!(0.1), true),
            (json!(1e300), json!(1e300), true),
        ];
        for (one, other, expected) in rows {
            assert_eq!(python_eq(&one, &other), expected, "{one} and {other}");
            assert_eq!(python_eq(&other, &one), expected, "{other} and {one}");
        }
    }
}
