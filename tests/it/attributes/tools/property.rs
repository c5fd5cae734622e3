//! The JSON that a type writes is read back to an equal value.

use super::call;
use super::types::{Any, Mixed, Place, Plain, Shape, Tree, Unit};
use adk::{data, tool};
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[data]
#[derive(PartialEq)]
struct Everything {
    place: Place,
    other: Option<Place>,
    unit: Unit,
    plain: Option<Plain>,
    shapes: Vec<Shape>,
    any: Any,
    tree: Tree,
    mixed: Vec<Mixed>,
    table: BTreeMap<String, Option<i32>>,
    pair: (u8, String),
    letter: char,
    float: f64,
    small: i8,
    big: u64,
    #[serde(rename = "type", alias = "kind")]
    r#type: Option<u8>,
}

/// Returns its arguments.
#[tool]
fn echo(
    all: Everything,
    #[default(Some(1))] perhaps: Option<i64>,
    nested: Option<Vec<Any>>,
) -> Value {
    json!({ "all": all, "perhaps": perhaps, "nested": nested })
}

/// Pseudo-random numbers, equal in each run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }

    fn text(&mut self) -> String {
        let letters = ['a', 'ß', '"', '\\', '\n', '🦀', ' ', '{'];
        (0..self.roll(6))
            .filter_map(|_| letters.get(usize::try_from(self.roll(8)).ok()?))
            .collect()
    }

    #[allow(clippy::cast_precision_loss, clippy::cast_possible_wrap)]
    fn float(&mut self) -> f64 {
        (self.roll(2_000_000) as i64 - 1_000_000) as f64
            / [1.0, 8.0][usize::from(self.roll(2) == 1)]
    }

    fn place(&mut self) -> Place {
        let name = (self.roll(2) == 1).then(|| self.text());
        Place {
            lat: self.float(),
            lon: self.float(),
            name,
            height: u16::try_from(self.roll(65536)).unwrap_or(0),
        }
    }

    fn tree(&mut self, depth: u64) -> Tree {
        let children = (0..self.roll(depth + 1))
            .map(|_| self.tree(depth - 1))
            .collect();
        Tree {
            value: u8::try_from(self.roll(256)).unwrap_or(0),
            children,
        }
    }

    fn any(&mut self) -> Any {
        match self.roll(2) {
            0 => Any::Number(i64::try_from(self.roll(u64::MAX / 2)).unwrap_or(0)),
            _ => Any::Text(self.text()),
        }
    }

    fn everything(&mut self) -> Everything {
        Everything {
            place: self.place(),
            other: (self.roll(2) == 1).then(|| self.place()),
            unit: [Unit::Kelvin, Unit::Celsius, Unit::Fahrenheit]
                [usize::try_from(self.roll(3)).unwrap_or(0)],
            plain: (self.roll(2) == 1).then_some(Plain::Short),
            shapes: vec![
                Shape::Circle { r: self.float() },
                Shape::Square { a: self.float() },
            ],
            any: self.any(),
            tree: self.tree(3),
            mixed: vec![Mixed::All, Mixed::Nothing, Mixed::Some(7)],
            table: [(self.text(), None), (self.text(), Some(-5))].into(),
            pair: (255, self.text()),
            letter: '🦀',
            float: self.float(),
            small: -128,
            big: self.roll(u64::MAX),
            r#type: (self.roll(2) == 1).then_some(3),
        }
    }
}

#[tokio::test]
async fn the_json_of_a_type_is_read_back() {
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    for _ in 0..500 {
        let nested = (dice.roll(2) == 1).then(|| vec![dice.any(), dice.any()]);
        let sent = json!({ "all": dice.everything(), "perhaps": -1, "nested": nested });
        let (result, _) = call(&echo::default(), sent.clone()).await;
        assert_eq!(result.map_err(|error| error.to_string()), Ok(sent));
    }
}
