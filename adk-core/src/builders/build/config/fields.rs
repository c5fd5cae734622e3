//! The fields of an object, read with their places. What is not asked for is unknown.

use crate::check::{Check, Fault};
use crate::runtime::tool::schema::describe_value;
use adk_spec::__private::limit_fault;
use adk_spec::nearest::nearest;
use serde_json::{Map, Value};
use std::ops::RangeInclusive;

/// The fields of an agent or of a part of one.
pub(super) struct Fields<'v> {
    all: &'v Map<String, Value>,
    /// The place of the object; empty for the root.
    pub(super) place: String,
    asked: Vec<&'static str>,
}

/// The place of something below another.
pub(super) fn below(place: &str, inner: &str) -> String {
    if place.is_empty() || place.ends_with(' ') || inner.starts_with('[') {
        format!("{place}{inner}")
    } else {
        format!("{place}.{inner}")
    }
}

/// What is wrong at a place.
pub(super) fn fault(check: Check, place: String, fact: &str) -> Fault {
    Fault::new(check, "", fact).at(place)
}

impl<'v> Fields<'v> {
    pub(super) fn new(all: &'v Map<String, Value>, place: impl Into<String>) -> Self {
        Self { all, place: place.into(), asked: Vec::new() }
    }

    pub(super) fn place_of(&self, field: &str) -> String {
        below(&self.place, field)
    }

    pub(super) fn value(&mut self, field: &'static str) -> Option<&'v Value> {
        if !self.asked.contains(&field) {
            self.asked.push(field);
        }
        self.all.get(field).filter(|value| !value.is_null())
    }

    /// The value as a type, or that it is of another.
    fn typed<T>(
        &mut self,
        field: &'static str,
        expected: &str,
        faults: &mut Vec<Fault>,
        read: impl FnOnce(&'v Value) -> Option<T>,
    ) -> Option<T> {
        let value = self.value(field)?;
        let read = read(value);
        if read.is_none() {
            let fact = format!("`{field}` is {}; help: expected {expected}", describe_value(value));
            faults.push(fault(Check::Syntax, self.place_of(field), &fact));
        }
        read
    }

    pub(super) fn text(&mut self, field: &'static str, faults: &mut Vec<Fault>) -> Option<&'v str> {
        self.typed(field, "a string", faults, Value::as_str)
    }

    pub(super) fn boolean(&mut self, field: &'static str, faults: &mut Vec<Fault>) -> Option<bool> {
        self.typed(field, "true or false", faults, Value::as_bool)
    }

    /// A number from a range.
    pub(super) fn number(
        &mut self,
        field: &'static str,
        range: RangeInclusive<f64>,
        expected: &str,
        faults: &mut Vec<Fault>,
    ) -> Option<f64> {
        self.typed(field, expected, faults, |value| value.as_f64().filter(|number| range.contains(number)))
    }

    pub(super) fn list(&mut self, field: &'static str, faults: &mut Vec<Fault>) -> Option<&'v Vec<Value>> {
        self.typed(field, "a list", faults, Value::as_array)
    }

    pub(super) fn object(
        &mut self,
        field: &'static str,
        faults: &mut Vec<Fault>,
    ) -> Option<&'v Map<String, Value>> {
        self.typed(field, "an object", faults, Value::as_object)
    }

    /// A whole number that is 0 or more and not too large for its type.
    pub(super) fn whole<T: TryFrom<i128>>(
        &mut self,
        field: &'static str,
        faults: &mut Vec<Fault>,
    ) -> Option<T> {
        self.typed(field, "a whole number, 0 or more", faults, |value| {
            integer(value).filter(|number| *number >= 0).and_then(|number| T::try_from(number).ok())
        })
    }

    /// A limit of a block: 1 or more. One that is wrong counts as one that is there.
    pub(super) fn limit(&mut self, field: &'static str, name: &str, faults: &mut Vec<Fault>) -> Option<u32> {
        self.value(field)?;
        let Some(number) = self.typed(field, "a whole number, 1 or more", faults, integer) else {
            return Some(1);
        };
        match u32::try_from(number) {
            Ok(limit) if limit > 0 => Some(limit),
            _ => {
                faults.push(limit_fault(field, name, number).at(self.place_of(field)));
                Some(1)
            }
        }
    }

    /// Says which fields nobody asked for.
    pub(super) fn finish(self, what: &str, faults: &mut Vec<Fault>) {
        for field in self.all.keys().filter(|field| !self.asked.contains(&field.as_str())) {
            let help = match nearest(field, self.asked.iter().copied()) {
                None => format!("it has {}", listed(self.asked.iter().copied())),
                Some(near) => format!("did you mean `{near}`?"),
            };
            let fact = format!("{what} has no field `{field}`; help: {help}");
            faults.push(fault(Check::FieldUnknown, self.place_of(field), &fact));
        }
    }
}

fn integer(value: &Value) -> Option<i128> {
    value.as_number().and_then(serde_json::Number::as_i128)
}

/// A name that has to be one of those that are known.
pub(super) fn unresolved<'k>(fact: &str, name: &str, known: impl Iterator<Item = &'k str> + Clone) -> String {
    match (nearest(name, known.clone()), known.clone().next()) {
        (None, None) => format!("{fact}; help: the registry has none"),
        (None, Some(_)) => format!("{fact}; help: there is {}", listed(known)),
        (Some(near), _) => format!("{fact}; help: did you mean `{near}`?"),
    }
}

fn listed<'k>(names: impl Iterator<Item = &'k str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
