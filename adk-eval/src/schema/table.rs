//! The parts of a table, and its reader.

use adk_spec::nearest::nearest;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// One data model.
#[derive(Debug)]
pub(crate) struct Model {
    /// The rule for unknown fields.
    pub(super) extra: Extra,
    /// The fields in the order in which they are written.
    pub(super) fields: &'static [Field],
}

/// The rule for a field that the model does not have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Extra {
    /// The value is refused.
    Forbid,
    /// The field is left out.
    Ignore,
    /// The field is kept.
    Allow,
}

#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) default: Missing,
}

/// The value of a field that a file leaves out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Missing {
    /// The field must be there.
    Required,
    /// Null, which the file may also write.
    Null,
    /// An empty object. The file may write null instead.
    ObjectOrNull,
    Text,
    Zero,
    False,
    True,
    List,
    Object,
    /// A text.
    Word(&'static str),
    /// An integer.
    Count(i64),
    /// The defaults of the model of the field.
    Defaults,
}

/// The type of a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Any,
    Text,
    Int,
    Float,
    Bool,
    Object,
    Model(&'static Model),
    List(&'static Kind),
    /// An object whose values have one type.
    Map(&'static Kind),
    /// A list of two values.
    Pair(&'static Kind, &'static Kind),
    /// The first model, or the second for an object with the first field of the second model.
    Either(&'static Model, &'static Model),
    /// A number, or the model.
    FloatOr(&'static Model),
}

/// A value that does not fit its model.
#[derive(Debug, PartialEq)]
pub(crate) struct Mismatch {
    /// The place in the file, such as `eval_cases[0].conversation[1]`. Empty for the whole file.
    pub(crate) place: String,
    /// The fact, which continues a sentence about the place.
    pub(crate) fact: String,
    /// The remedy.
    pub(crate) help: Option<String>,
}

impl Mismatch {
    fn new(fact: impl Into<String>) -> Self {
        Self {
            place: String::new(),
            fact: fact.into(),
            help: None,
        }
    }

    /// Adds an outer place before the place.
    fn inside(mut self, outer: &str) -> Self {
        let dot = match self.place.chars().next() {
            None | Some('[') => "",
            Some(_) => ".",
        };
        self.place = format!("{outer}{dot}{}", self.place);
        self
    }
}

/// Reads a value by its model.
///
/// # Errors
///
/// The first field that google-adk refuses: unknown, missing, or of another type.
pub(crate) fn canonical(model: &Model, value: Value) -> Result<Map<String, Value>, Mismatch> {
    let mut given = match value {
        Value::Object(given) => given,
        other => return Err(wrong_type("an object", &other)),
    };
    let mut read = Map::new();
    for field in model.fields {
        let value = take(&mut given, field.name)?;
        let value = match value {
            Some(Value::Null) if field.default.allows_null() => Value::Null,
            Some(value) => (field.kind.read(value)).map_err(|error| error.inside(field.name))?,
            None => field.missing()?,
        };
        read.insert(field.name.to_owned(), value);
    }
    match (model.extra, given.keys().next()) {
        (Extra::Forbid, Some(name)) => return Err(unknown_field(name, model)),
        (Extra::Allow, Some(_)) => read.extend(given),
        _ => {}
    }
    Ok(read)
}

/// Takes a field under either of its names.
fn take(given: &mut Map<String, Value>, name: &str) -> Result<Option<Value>, Mismatch> {
    let camel = camel_case(name);
    // `preserve_order`: the plain `remove` would move the last field to this place.
    let snake_value = given.shift_remove(name);
    if camel == name {
        return Ok(snake_value);
    }
    match (snake_value, given.shift_remove(&camel)) {
        (Some(_), Some(_)) => Err(Mismatch::new(format!("has both `{name}` and `{camel}`"))),
        (value, None) | (None, value) => Ok(value),
    }
}

/// `tool_uses` to `toolUses`, as pydantic does.
fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}

fn unknown_field(name: &str, model: &Model) -> Mismatch {
    let names: HashSet<_> = (model.fields.iter())
        .flat_map(|field| [field.name.to_owned(), camel_case(field.name)])
        .collect();
    let mut names: Vec<_> = names.iter().map(String::as_str).collect();
    names.sort_unstable();
    let help = match nearest(name, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let fields: Vec<_> = model.fields.iter().map(|field| field.name).collect();
            format!("remove it; the fields are {}", fields.join(", "))
        }
    };
    Mismatch {
        help: Some(help),
        ..Mismatch::new(format!("has the unknown field `{name}`"))
    }
}

fn wrong_type(expected: &str, value: &Value) -> Mismatch {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    Mismatch::new(format!("is {found}, but must be {expected}"))
}

impl Missing {
    fn allows_null(self) -> bool {
        matches!(self, Self::Null | Self::ObjectOrNull)
    }
}

impl Field {
    fn missing(&self) -> Result<Value, Mismatch> {
        Ok(match self.default {
            Missing::Required => {
                return Err(Mismatch::new(format!("lacks the field `{}`", self.name)));
            }
            Missing::Null => Value::Null,
            Missing::Text => json!(""),
            Missing::Zero => json!(0.0),
            Missing::False => json!(false),
            Missing::True => json!(true),
            Missing::List => json!([]),
            Missing::Object | Missing::ObjectOrNull => json!({}),
            Missing::Word(word) => json!(word),
            Missing::Count(count) => json!(count),
            Missing::Defaults => self.kind.read(json!({}))?,
        })
    }
}

impl Kind {
    fn read(self, value: Value) -> Result<Value, Mismatch> {
        Ok(match (self, value) {
            (Self::Any, value) => value,
            (Self::Text, value @ Value::String(_)) => value,
            (Self::Bool, value @ Value::Bool(_)) => value,
            (Self::Object, value @ Value::Object(_)) => value,
            (Self::Float | Self::FloatOr(_), Value::Number(number)) => json!(number.as_f64()),
            (Self::Int, Value::Number(number)) => whole(&number)?,
            (Self::Model(model) | Self::FloatOr(model), value @ Value::Object(_)) => {
                canonical(model, value)?.into()
            }
            (Self::Either(first, second), Value::Object(value)) => {
                let is_second = second.fields.first().is_some_and(|field| {
                    value.contains_key(field.name) || value.contains_key(&camel_case(field.name))
                });
                let model = if is_second { second } else { first };
                canonical(model, value.into())?.into()
            }
            (Self::List(kind), Value::Array(values)) => {
                let read = |(place, value)| {
                    let value = kind.read(value);
                    value.map_err(|error: Mismatch| error.inside(&format!("[{place}]")))
                };
                let values = values.into_iter().enumerate().map(read);
                values.collect::<Result<Vec<_>, _>>()?.into()
            }
            (Self::Map(kind), Value::Object(values)) => {
                let read = |(name, value): (String, Value)| match kind.read(value) {
                    Ok(value) => Ok((name, value)),
                    Err(error) => Err(error.inside(&name)),
                };
                let values = values.into_iter().map(read);
                Value::Object(values.collect::<Result<_, _>>()?)
            }
            (Self::Pair(first, second), Value::Array(values)) => {
                let [one, two] = <[Value; 2]>::try_from(values)
                    .map_err(|_| Mismatch::new("must have two elements"))?;
                let one = first.read(one).map_err(|error| error.inside("[0]"))?;
                let two = second.read(two).map_err(|error| error.inside("[1]"))?;
                json!([one, two])
            }
            (kind, value) => return Err(wrong_type(kind.name(), &value)),
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Any => "a value",
            Self::Text => "a text",
            Self::Int => "an integer",
            Self::Float => "a number",
            Self::Bool => "a boolean",
            Self::Object | Self::Model(_) | Self::Map(_) | Self::Either(..) => "an object",
            Self::List(_) | Self::Pair(..) => "a list",
            Self::FloatOr(_) => "a number or an object",
        }
    }
}

/// Returns an integer. A float without a fraction is one, as in pydantic.
fn whole(number: &serde_json::Number) -> Result<Value, Mismatch> {
    if let Some(number) = number.as_i64() {
        return Ok(json!(number));
    }
    let float = number.as_f64().unwrap_or(f64::NAN);
    // All such floats are exact integers.
    if float.fract() == 0.0 && float.abs() < 9e15 {
        return Ok(json!(float as i64));
    }
    Err(Mismatch::new(format!(
        "is {number}, but must be an integer"
    )))
}
