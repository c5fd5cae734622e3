//! [`ConfigFields`]: the fields of an object in a config, with their positions. A field that the
//! reader does not request is reported as unknown.

use adk_core::__private::build::describe_value;
use adk_core::check::{Check, Diagnostic};
use adk_spec::__private::limit_diagnostic;
use adk_spec::nearest::nearest;
use serde_json::{Map, Value};
use std::ops::RangeInclusive;

/// The fields of an agent or of a part of an agent.
pub(super) struct ConfigFields<'v> {
    all: &'v Map<String, Value>,
    /// The position of the object in the config, such as `sub_agents[0]`; empty for the root.
    pub(super) place: String,
    asked: Vec<&'static str>,
}

/// Returns the position of an inner value: `sub_agents[0].name`.
pub(super) fn join_place(place: &str, inner: &str) -> String {
    if place.is_empty() || place.ends_with(' ') || inner.starts_with('[') {
        format!("{place}{inner}")
    } else {
        format!("{place}.{inner}")
    }
}

/// Creates a fault at a position in the config.
pub(super) fn fault(check: Check, place: String, fact: &str) -> Diagnostic {
    Diagnostic::new(check, "", fact).at(place)
}

impl<'v> ConfigFields<'v> {
    pub(super) fn new(all: &'v Map<String, Value>, place: impl Into<String>) -> Self {
        Self {
            all,
            place: place.into(),
            asked: Vec::new(),
        }
    }

    pub(super) fn place_of(&self, field: &str) -> String {
        join_place(&self.place, field)
    }

    pub(super) fn value(&mut self, field: &'static str) -> Option<&'v Value> {
        if !self.asked.contains(&field) {
            self.asked.push(field);
        }
        self.all.get(field).filter(|value| !value.is_null())
    }

    /// Reads a value as a type, or reports that the value has another type.
    fn read_as<T>(
        &mut self,
        field: &'static str,
        expected: &str,
        faults: &mut Vec<Diagnostic>,
        read: impl FnOnce(&'v Value) -> Option<T>,
    ) -> Option<T> {
        let value = self.value(field)?;
        let read = read(value);
        if read.is_none() {
            let fact = format!(
                "`{field}` is {}; help: write {expected}",
                describe_value(value)
            );
            faults.push(fault(Check::Syntax, self.place_of(field), &fact));
        }
        read
    }

    pub(super) fn text(
        &mut self,
        field: &'static str,
        faults: &mut Vec<Diagnostic>,
    ) -> Option<&'v str> {
        self.read_as(field, "a string", faults, Value::as_str)
    }

    pub(super) fn boolean(
        &mut self,
        field: &'static str,
        faults: &mut Vec<Diagnostic>,
    ) -> Option<bool> {
        self.read_as(field, "true or false", faults, Value::as_bool)
    }

    /// Reads a number from a range.
    pub(super) fn number(
        &mut self,
        field: &'static str,
        range: RangeInclusive<f64>,
        expected: &str,
        faults: &mut Vec<Diagnostic>,
    ) -> Option<f64> {
        self.read_as(field, expected, faults, |value| {
            value.as_f64().filter(|number| range.contains(number))
        })
    }

    pub(super) fn list(
        &mut self,
        field: &'static str,
        faults: &mut Vec<Diagnostic>,
    ) -> Option<&'v Vec<Value>> {
        self.read_as(field, "a list", faults, Value::as_array)
    }

    /// Reads a list of strings.
    pub(super) fn texts(
        &mut self,
        field: &'static str,
        faults: &mut Vec<Diagnostic>,
    ) -> Vec<&'v str> {
        let read = |value: &'v Value| {
            let texts = value.as_array()?.iter().map(Value::as_str);
            texts.collect::<Option<Vec<_>>>()
        };
        let texts = self.read_as(field, "a list of strings", faults, read);
        texts.unwrap_or_default()
    }

    pub(super) fn object(
        &mut self,
        field: &'static str,
        faults: &mut Vec<Diagnostic>,
    ) -> Option<&'v Map<String, Value>> {
        self.read_as(field, "an object", faults, Value::as_object)
    }

    /// Reads a whole number that is 0 or more and fits its type.
    pub(super) fn whole<T: TryFrom<i128>>(
        &mut self,
        field: &'static str,
        faults: &mut Vec<Diagnostic>,
    ) -> Option<T> {
        self.read_as(field, "a whole number, 0 or more", faults, |value| {
            integer(value)
                .filter(|number| *number >= 0)
                .and_then(|number| T::try_from(number).ok())
        })
    }

    /// Reads a limit of a block, 1 or more. A wrong limit is reported and counts as present.
    pub(super) fn limit(
        &mut self,
        field: &'static str,
        name: &str,
        faults: &mut Vec<Diagnostic>,
    ) -> Option<u32> {
        self.value(field)?;
        let Some(number) = self.read_as(field, "a whole number, 1 or more", faults, integer) else {
            return Some(1);
        };
        match u32::try_from(number) {
            Ok(limit) if limit > 0 => Some(limit),
            _ => {
                faults.push(limit_diagnostic(field, name, number).at(self.place_of(field)));
                Some(1)
            }
        }
    }

    /// Reports the fields that the reader has not requested.
    pub(super) fn finish(self, what: &str, faults: &mut Vec<Diagnostic>) {
        for field in self
            .all
            .keys()
            .filter(|field| !self.asked.contains(&field.as_str()))
        {
            let help = match nearest(field, self.asked.iter().copied()) {
                None => format!("use {}", list_names(self.asked.iter().copied())),
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

/// Returns the message for a name that is not a known name.
pub(super) fn unresolved_fact<'k>(
    fact: &str,
    name: &str,
    known: impl Iterator<Item = &'k str> + Clone,
) -> String {
    match (nearest(name, known.clone()), known.clone().next()) {
        (None, None) => format!("{fact}; help: add it to the registry"),
        (None, Some(_)) => format!("{fact}; help: use {}", list_names(known)),
        (Some(near), _) => format!("{fact}; help: did you mean `{near}`?"),
    }
}

/// Lists the names to choose from.
fn list_names<'k>(names: impl Iterator<Item = &'k str>) -> String {
    let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
    if let [name] = &*names {
        name.clone()
    } else {
        format!("one of {}", names.join(", "))
    }
}
