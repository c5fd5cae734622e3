//! Types that implement the traits of serde by hand, without an attribute.

use adk::prelude::*;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Clone, Debug, PartialEq)]
pub struct Score(f64);

impl Serialize for Score {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0)
    }
}

impl<'de> Deserialize<'de> for Score {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        f64::deserialize(deserializer).map(Score)
    }
}

mod types {
    #[derive(Clone, Debug, PartialEq)]
    pub enum Mode {
        Short,
        Long,
    }
}

impl Serialize for types::Mode {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        (*self == types::Mode::Long).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for types::Mode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let is_long = bool::deserialize(deserializer)?;
        Ok(if is_long {
            types::Mode::Long
        } else {
            types::Mode::Short
        })
    }
}

use types::Mode;

#[agent(writes = score)]
fn grade(text: &str) -> Score {
    Score(text.chars().map(|_| 1.0).sum())
}

#[agent(writes = mode)]
fn choose(score: Score, scores: Option<Vec<Score>>) -> Result<Mode> {
    Ok(if score.0 > 3.0 || scores.is_some() {
        Mode::Long
    } else {
        Mode::Short
    })
}

#[agent]
fn show(mode: &Mode, score: Option<&Score>) {
    let _ = (mode, score);
}

/// Scores a text.
#[tool]
fn score(text: &str) -> Score {
    grade(text)
}

workflow! {
    pub Scoring(text: String, first: Score = Score(0.5)) -> (mode: Mode, score: Score) {
        let earlier: types::Mode = Mode::Short;
        agent writer -> summary: String { instruction: "Summarise {text}. {score}", tools: [score] }

        grade;
        choose;
        show;
        writer;
        match mode < Mode::Short => (), types::Mode::Long => writer as again >
    }
}

/// A type that looks like it is not data, and is data.
mod spelled {
    use adk::prelude::*;
    use std::sync::Arc as Rc;

    #[data]
    #[derive(PartialEq)]
    pub struct Held<T> {
        pub words: Rc<Vec<String>>,
        pub more: Option<(u8, Vec<Rc<str>>)>,
        #[serde(skip)]
        pub by: Option<Rc<u8>>,
        pub at: T,
    }

    #[data]
    pub enum Way {
        Called {
            #[serde(skip)]
            by: Option<fn(u8) -> u8>,
        },
        Straight,
    }

    #[agent(writes = way)]
    fn way(held: &Held<u8>) -> Result<Way> {
        let Held { words, more, .. } = held.clone();
        let many = more.map_or(0, |(many, words)| usize::from(many) + words.len());
        Ok(if words.len() > many {
            Way::Straight
        } else {
            Way::Called {
                by: Some(|n| n + 1),
            }
        })
    }

    workflow! {
        pub Choosing(held: Held<u8>) -> way: Way { way }
    }
}
