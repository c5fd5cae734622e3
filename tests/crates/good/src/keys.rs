//! Keys of every kind and type.

use adk::Value;
use adk::prelude::*;
use std::collections::{BTreeMap, HashMap};

/// A type of the user.
#[adk::data]
#[derive(Default, PartialEq)]
pub struct Plan {
    /// The tasks.
    pub steps: Vec<String>,
    /// The person in charge, and the deadline.
    pub who: HashMap<String, Option<u32>>,
}

/// An alias of a path.
pub type Plans = Vec<Plan>;

/// Makes plans.
#[agent(writes = plans)]
pub fn plan(topic: &str, first: &Plan) -> Plans {
    vec![
        first.clone(),
        Plan {
            steps: vec![topic.to_owned()],
            ..Plan::default()
        },
    ]
}

/// Reads keys by reference, as a slice, as any JSON value, and optionally.
#[agent]
pub fn read(
    plans: &[Plan],
    pair: (u8, String),
    any: &Value,
    nothing: Option<&str>,
    table: BTreeMap<String, [u8; 2]>,
) {
    drop((plans.len(), pair, any.is_null(), nothing.is_none(), table));
}

/// Reads values that may be null: a key that is an `Option`, and a key that may be absent.
#[agent(writes = found)]
pub fn look(hint: Option<&str>, plan: Option<Plan>, count: Option<u8>) -> bool {
    hint.is_some() || plan.is_some() || count.is_some()
}

workflow! {
    /// Has keys that are an `Option`, of every writer.
    pub Hinted(hint: Option<String>, hints: Vec<Option<String>>) -> (found: bool, all: Vec<bool>) {
        let count: Option<u8> = None;
        let nothing: Option<Plan> = None;
        agent planner -> plan: Option<Plan> { instruction: "Plan it, or not." }

        planner;
        look;
        HintedInside(first = hint);
        each one in hints < look(hint = one, plan = nothing) as inside -> all >
    }
}

workflow! {
    /// Uses such a key as an input of a step.
    pub HintedInside(first: Option<String>, second: Option<String> = None) {
        look(hint = first) as first_look -> a;
        look(hint = second) as second_look -> b;
    }
}

workflow! {
    /// Has no input, no output and one step.
    pub Least() { agent speaker { instruction: "Say something." } speaker }
}

workflow! {
    /// Has an empty head.
    pub Bare { agent talker { instruction: "Say something." } talker }
}

workflow! {
    /// Has many inputs, documented or not, with defaults of every kind.
    pub Many(
        /// The topic.
        topic: String,
        /// The tone.
        tone: String = "plain",
        first: Plan = Plan::default(),
        pair: (u8, String) = (1, String::new()),
        table: BTreeMap<String, [u8; 2]> = BTreeMap::new(),
        list: Vec<Vec<Option<u8>>> = vec![Vec::new(); 2],
        map: std::collections::HashMap<String, Vec<u8>> = std::collections::HashMap::from([(String::new(), vec![1])]),
        any: Value = json!({ "a": [1, 2], "b": null }),
        number: f64 = { let half = 0.5; half + 0.5 },
        flag: bool = 1 < 2 && 3 > 2,
        closure: u32 = (|a: u32| -> u32 { a + 1 })(1),
        shift: u64 = 1 << 3 >> 1,
        letter: char = '<',
        turbofish: Vec<u8> = Vec::<u8>::with_capacity(3),
        choice: u8 = match 3 { 0..=2 => 1, n if n > 2 => 2, _ => 3 },
        user:name: String = format!("{}<{}>", 1, 2),
        app:rules: Option<String> = None,
        temp:note: String = "note",
        box_of: Box<str> = Box::from("text"),
        fixed: [u8; 3] = [1; 3],
        trailing: String = "comma",
    ) -> (plans: Plans, topic: String, user:name: String, number: f64) {
        let text: String = "a `let` with a text";
        let owned: String = String::from("owned");
        let perhaps: Option<String> = Some("perhaps".to_owned());
        let doubled: f32 = 2.0 * 1.5;
        state user:language: Option<String>;
        state app:limits: BTreeMap<String, u32>;
        agent writer -> draft: String {
            instruction: "{topic}{tone}{first}{pair}{table}{list}{map}{any}{number}{flag}{closure}{shift}{letter}{turbofish}\
                {choice}{user:name}{app:rules}{temp:note}{box_of}{fixed}{trailing}{text}{owned}{perhaps}{doubled}\
                {user:language?}{app:limits}{nothing?}{artifact.picture.png?}{{topic}}",
        }

        writer;
        plan;
        read;
    }
}

workflow! {
    /// Has outputs with prefixes, and an output that is an input.
    pub Session(text: String) -> (user:text: String, app:seen: Plan) {
        agent keeper -> user:text: String { instruction: "Keep {text}." }
        agent seer -> app:seen: Plan { instruction: "Plan {user:text}." }

        keeper;
        seer
    }
}

#[test]
fn inputs_and_outputs_are_structs() {
    let input = ManyInput::new("cats");
    assert_eq!(
        (input.tone.as_str(), input.name.as_str(), input.choice),
        ("plain", "1<2>", 2)
    );
    assert_eq!(
        input,
        ManyInput {
            first: Plan::default(),
            ..ManyInput::new("cats")
        }
    );
    let SessionInput { text } = SessionInput::from("a");
    assert_eq!(text, "a");
    drop((
        Least::default(),
        Bare::default(),
        Many::default(),
        Session::default(),
    ));
}
