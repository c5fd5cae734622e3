//! The real google-adk as the judge of scores and files.
//!
//! Run by `tests/peers/run-adk-python.sh cargo test -p adk-workflow-eval --test it -- --ignored
//! eval`. `ADK_SEED` selects other pairs, and `ADK_SAMPLES` a folder of evalsets that are read too.

use crate::files::{DESK, OLDER};
use adk::eval::{EvalConfig, EvalSet, Invocation, metric_plans, rouge_1};
use fastrand::Rng;
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Sends a task to a command of `tests/peers/adk_eval.py`, and returns its answer.
pub fn python(command: &str, task: &Value) -> Value {
    let set = |name| std::env::var(name).expect("start it by tests/peers/run-adk-python.sh");
    let mut child = Command::new(set("ADK_PYTHON"))
        .arg(set("ADK_EVAL_SCRIPT"))
        .arg(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let task = task.to_string();
    let writer = std::thread::spawn(move || input.write_all(task.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "{command} failed");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn random() -> Rng {
    let seed = std::env::var("ADK_SEED").map_or(1, |seed| seed.parse().unwrap());
    println!("ADK_SEED={seed}");
    Rng::with_seed(seed)
}

/// Blocks of Unicode from which texts are grown.
const BLOCKS: [(u32, u32); 24] = [
    (0x20, 0x7E),
    (0xA0, 0xFF),
    (0x100, 0x24F),
    (0x300, 0x36F),
    (0x370, 0x3FF),
    (0x400, 0x4FF),
    (0x590, 0x5FF),
    (0x600, 0x6FF),
    (0x900, 0x97F),
    (0xE00, 0xE7F),
    (0xE80, 0xEFF),
    (0x1000, 0x109F),
    (0x1100, 0x11FF),
    (0x1780, 0x17FF),
    (0x1E00, 0x1FFF),
    (0x2000, 0x206F),
    (0x2150, 0x218F),
    (0x2460, 0x24FF),
    (0x3000, 0x30FF),
    (0x4E00, 0x4EFF),
    (0xAC00, 0xADFF),
    (0xFB00, 0xFB4F),
    (0xFF00, 0xFFEF),
    (0x1D400, 0x1D7FF),
];

/// Parts of English words. Their products reach all rules of the stemmer.
const STEMS: &str = "a abl activ adopt agre bl cat control depend dy electr fail fil fizz fl form \
    gener geo hop i lie log motor o pon rat relat roll s siz sky troubl vil y hyphen yy 4x";
const SUFFIXES: &str = "s es ies ied ed ing ning eed y ally alli ational tional enci izer bli ful \
    fulli fulness ness logi logy ation ator alism iveness ousli aliti icate ative alize ical al \
    ance ence er ic able ible ant ement ment ent ion sion ou ism ate iti ous ive ize e ll l t";

fn word(random: &mut Rng) -> String {
    let pick = |words: &'static str, random: &mut Rng| {
        let words: Vec<_> = words.split_ascii_whitespace().collect();
        words[random.usize(..words.len())]
    };
    let mut word = pick(STEMS, random).to_owned();
    for _ in 0..random.usize(..4) {
        word.push_str(pick(SUFFIXES, random));
    }
    if random.u8(..6) == 0 {
        word = word.to_uppercase();
    }
    word
}

fn text(random: &mut Rng) -> String {
    let mut text = String::new();
    match random.u8(..8) {
        0 => {}
        1 => {
            for _ in 0..random.usize(1..8) {
                let number = random.i32(-5000..5000);
                text += &format!(
                    "{number}{} ",
                    [".50", ",000", "%", "e3", ""][random.usize(..5)]
                );
            }
        }
        2..5 => {
            for _ in 0..random.usize(1..14) {
                text += &word(random);
                text += [" ", ", ", "-", "_", "'", "\n"][random.usize(..6)];
            }
        }
        _ => {
            for _ in 0..random.usize(1..30) {
                let (first, last) = BLOCKS[random.usize(..BLOCKS.len())];
                for _ in 0..random.usize(1..4) {
                    text.extend(char::from_u32(random.u32(first..=last)));
                }
                if random.bool() {
                    text.push(' ');
                }
            }
        }
    }
    text
}

/// Returns a text and a variant of it, or two texts.
fn pair(random: &mut Rng) -> (String, String) {
    let one = text(random);
    if random.u8(..4) == 0 {
        return (one, text(random));
    }
    let kept = |_: &&str| random.u8(..4) > 0;
    let mut other: String = one.split_inclusive(' ').filter(kept).collect();
    if random.bool() {
        other = other.to_uppercase();
    }
    (one, other)
}

/// Compares scores to the last bit. Returns how many pairs this Python knows.
fn compare_rouge(pairs: &[(String, String)]) -> usize {
    let scores = python("rouge", &json!(pairs));
    let mut count = 0;
    for ((candidate, reference), expected) in pairs.iter().zip(scores.as_array().unwrap()) {
        if expected.is_null() {
            continue;
        }
        count += 1;
        let score = rouge_1(candidate, reference);
        let score = [score.precision, score.recall, score.fmeasure];
        let expected: [f64; 3] = serde_json::from_value(expected.clone()).unwrap();
        let bits = |scores: [f64; 3]| scores.map(f64::to_bits);
        assert_eq!(
            bits(score),
            bits(expected),
            "{candidate:?} against {reference:?}: {score:?} here, {expected:?} there"
        );
    }
    count
}

#[test]
#[ignore = "needs google-adk: tests/peers/run-adk-python.sh"]
fn eval_scores_of_texts_are_equal_to_the_last_bit() {
    let mut random = random();
    let pairs: Vec<_> = (0..1600).map(|_| pair(&mut random)).collect();
    let count = compare_rouge(&pairs);
    println!("{count} pairs");
    assert!(count >= 1000, "only {count} pairs are known to this Python");
}

#[test]
#[ignore = "needs google-adk: tests/peers/run-adk-python.sh"]
fn eval_every_character_is_read_as_in_python() {
    let chars = ('\0'..=char::MAX).filter(|char| !matches!(*char, '\u{E000}'..='\u{F8FF}'));
    let chars = chars.filter(|char| *char < '\u{20000}');
    let pairs: Vec<_> = chars
        .map(|c| (format!("q{c}z {c}{c} Q{c}"), format!("q z qz {c} q{c}")))
        .collect();
    let count = compare_rouge(&pairs);
    println!("{count} characters");
    assert!(count > 75_000, "only {count} characters");
}

#[test]
#[ignore = "needs google-adk: tests/peers/run-adk-python.sh"]
fn eval_all_suffixes_have_the_stems_of_nltk() {
    let mut pairs = Vec::new();
    for stem in STEMS.split_ascii_whitespace() {
        for first in SUFFIXES.split_ascii_whitespace() {
            for second in std::iter::once("").chain(SUFFIXES.split_ascii_whitespace()) {
                pairs.push(format!("{stem}{first}{second}"));
            }
        }
    }
    // The stem of a word matches itself and no near miss.
    let near = |word: &String| {
        let ends: Vec<_> = (1..=word.len()).map(|end| word[..end].to_owned()).collect();
        let endings = ["e", "i", "ie", "le"].map(|end| format!("{}{end}", &word[..word.len() - 1]));
        (
            word.clone(),
            format!("{} {}", ends.join(" "), endings.join(" ")),
        )
    };
    let (first, step) = (random().usize(..6), 6);
    let pairs: Vec<_> = pairs.iter().skip(first).step_by(step).map(near).collect();
    println!("{} words", compare_rouge(&pairs));
}

/// Returns a value that is near to other values in the eyes of Python.
fn value(random: &mut Rng, depth: usize) -> Value {
    let scalars = [
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(1.0),
        json!(-0.0),
        json!(0.1),
        json!("1"),
        json!(""),
        json!(9007199254740993_i64),
        json!(9007199254740992.0),
    ];
    match random.u8(..8) {
        0 if depth > 0 => (0..random.usize(..3))
            .map(|_| value(random, depth - 1))
            .collect(),
        1 if depth > 0 => args(random, depth - 1),
        _ => scalars[random.usize(..scalars.len())].clone(),
    }
}

fn args(random: &mut Rng, depth: usize) -> Value {
    let mut names = ["x", "y", "z"];
    random.shuffle(&mut names);
    let names = names.into_iter().take(random.usize(..3));
    let args = names.map(|name| (name.to_owned(), value(random, depth)));
    Value::Object(args.collect())
}

fn call(random: &mut Rng) -> Value {
    let name = ["a", "b", "c"][random.usize(..3)];
    let mut call = json!({"name": name});
    if random.u8(..5) > 0 {
        call["args"] = args(random, 2);
    }
    if random.bool() {
        call["id"] = json!(random.u32(..).to_string());
    }
    call
}

fn turn(random: &mut Rng) -> Value {
    let answer: Vec<_> = (0..random.usize(1..3))
        .map(|_| json!({"text": text(random)}))
        .collect();
    let mut turn = json!({"user_content": {"parts": [{"text": "q"}]}});
    if random.u8(..6) > 0 {
        turn["final_response"] = json!({"parts": answer});
    }
    let calls = (0..random.usize(..4))
        .map(|_| call(random))
        .collect::<Vec<_>>();
    match random.u8(..3) {
        0 => turn["intermediate_data"] = json!({"tool_uses": calls}),
        1 => turn["intermediate_data"] = events(random, calls),
        _ => {}
    }
    if random.bool() {
        let total = random.f64() * 10.0;
        turn["duration"] = json!(total);
        if random.u8(..4) > 0 {
            turn["model_duration"] = json!(total * random.f64());
            turn["tool_duration"] = json!(total * random.f64());
        }
    }
    turn
}

fn events(random: &mut Rng, calls: Vec<Value>) -> Value {
    let event = |call: Value| {
        let mut event = json!({"author": "a", "content": {"parts": [{"function_call": call}]}});
        if random.bool() {
            event["model_version"] = json!("m");
        }
        if random.bool() {
            let names = [
                "prompt_token_count",
                "candidates_token_count",
                "thoughts_token_count",
                "cached_content_token_count",
                "tool_use_prompt_token_count",
            ];
            let mut usage = serde_json::Map::new();
            for name in names {
                if random.bool() {
                    usage.insert(name.to_owned(), json!(random.u32(..900)));
                }
            }
            event["usage_metadata"] = usage.into();
        }
        event
    };
    json!({"invocation_events": calls.into_iter().map(event).collect::<Vec<_>>()})
}

/// Changes an expected turn a little, so that most trajectories nearly match.
fn near(random: &mut Rng, turn: &Value) -> Value {
    let mut near = turn.clone();
    let uses = near.pointer_mut("/intermediate_data/tool_uses");
    if let Some(uses) = uses.and_then(Value::as_array_mut) {
        match random.u8(..4) {
            0 => random.shuffle(uses),
            1 => uses.push(call(random)),
            2 => uses.truncate(1),
            _ => {}
        }
    }
    near
}

#[test]
#[ignore = "needs google-adk: tests/peers/run-adk-python.sh"]
fn eval_metrics_of_conversations_are_equal() {
    let mut random = random();
    let types = ["EXACT", "IN_ORDER", "any order", "in-order"];
    let tasks: Vec<_> = (0..1500)
        .map(|_| {
            let count = random.usize(..4);
            let expected: Vec<_> = (0..count).map(|_| turn(&mut random)).collect();
            let actual: Vec<_> = expected
                .iter()
                .map(|turn| near(&mut random, turn))
                .collect();
            let threshold = random.u8(..=10);
            let match_type = types[random.usize(..4)];
            let response = [json!(0.8), json!({"threshold": 1})][random.usize(..2)].clone();
            let config = json!({"criteria": {
                "tool_trajectory_avg_score": {
                    "threshold": f64::from(threshold) / 10.0,
                    "matchType": match_type,
                    "ignoreArgs": random.bool(),
                },
                "response_match_score": response,
            }});
            json!({"config": config, "expected": expected, "actual": actual})
        })
        .collect();
    let there = python("conversations", &json!(tasks));
    let mut statuses = [0_usize; 5];
    for (task, there) in tasks.iter().zip(there.as_array().unwrap()) {
        let turns = |name: &str| -> Vec<Invocation> {
            let set = json!({"eval_set_id": "a", "eval_cases": [
                {"eval_id": "b", "conversation": task[name]},
            ]});
            let set = EvalSet::from_json(&set.to_string(), "set").unwrap();
            set.eval_cases[0].conversation.clone().unwrap()
        };
        let config = EvalConfig::from_json(&task["config"].to_string(), "config").unwrap();
        let plans = metric_plans(&config, &[]).unwrap();
        let (actual, expected) = (turns("actual"), turns("expected"));
        for (plan, there) in plans.iter().zip(there.as_array().unwrap()) {
            let scores = plan.evaluate(&actual, &expected);
            let result = |score| serde_json::to_value(plan.result(score)).unwrap();
            let turns: Vec<_> = (scores.turns.into_iter()).map(result).collect();
            let here = json!({"overall": result(scores.overall), "turns": turns});
            statuses[here["overall"]["eval_status"].as_u64().unwrap() as usize] += 1;
            // A text compares floats to the last bit.
            assert_eq!(here.to_string(), there.to_string(), "{task:#}");
        }
    }
    println!(
        "passed, failed, not evaluated, informational: {:?}",
        &statuses[1..]
    );
    assert!(statuses[1..].iter().all(|count| *count > 100));
}

/// Returns the variants of a value in which one field is renamed, removed, made null, or joined by
/// an unknown field, each with the place of the change.
fn mutants(value: &Value) -> Vec<(String, Value)> {
    let mut places = Vec::new();
    objects(value, String::new(), &mut places);
    let mut mutants = Vec::new();
    for place in places {
        let object = value.pointer(&place).and_then(Value::as_object).unwrap();
        let mut change = |what: String, change: &dyn Fn(&mut serde_json::Map<String, Value>)| {
            let mut mutant = value.clone();
            change(mutant.pointer_mut(&place).unwrap().as_object_mut().unwrap());
            mutants.push((format!("{place}: {what}"), mutant));
        };
        change("unknown".into(), &|object| {
            drop(object.insert("xyzzy".into(), json!(1)))
        });
        for name in object.keys() {
            change(format!("without {name}"), &|object| {
                drop(object.shift_remove(name))
            });
            change(format!("null {name}"), &|object| {
                drop(object.insert(name.clone(), json!(null)))
            });
            let other = camel_or_snake(name);
            change(format!("{name} as {other}"), &|object| {
                let value = object.shift_remove(name).unwrap();
                object.insert(other.clone(), value);
            });
            for wrong in [json!("text"), json!([[1]]), json!({"xyzzy": {}})] {
                change(format!("{name} is {wrong}"), &|object| {
                    object.insert(name.clone(), wrong.clone());
                });
            }
        }
    }
    mutants
}

fn objects(value: &Value, place: String, places: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            places.push(place.clone());
            object
                .iter()
                .for_each(|(name, value)| objects(value, format!("{place}/{name}"), places));
        }
        Value::Array(values) => {
            let values = values.iter().enumerate();
            values.for_each(|(at, value)| objects(value, format!("{place}/{at}"), places));
        }
        _ => {}
    }
}

fn camel_or_snake(name: &str) -> String {
    let mut other = String::new();
    let mut is_next_large = false;
    for letter in name.chars() {
        match letter {
            '_' => is_next_large = true,
            _ if is_next_large => {
                other.extend(letter.to_uppercase());
                is_next_large = false;
            }
            _ if letter.is_uppercase() => {
                other.push('_');
                other.extend(letter.to_lowercase());
            }
            _ => other.push(letter),
        }
    }
    other
}

#[test]
#[ignore = "needs google-adk: tests/peers/run-adk-python.sh"]
fn eval_files_are_refused_where_google_adk_refuses_them() {
    let desk: Value = serde_json::from_str(DESK).unwrap();
    let config = json!({
        "criteria": {"a": 0.5, "b": {"threshold": 1, "match_type": "EXACT"}},
        "custom_metrics": {"a": {
            "code_config": {"name": "f"},
            "metric_info": {"metric_name": "a", "metric_value_info": {"interval": {
                "min_value": 0, "max_value": 1, "open_at_min": true,
            }}},
            "description": "d",
        }},
        "live_model_config": {"timeout_seconds": 3},
    });
    let sets = mutants(&desk)
        .into_iter()
        .map(|(what, set)| ("evalset", what, set));
    let configs = mutants(&config)
        .into_iter()
        .map(|(what, config)| ("config", what, config));
    let files: Vec<_> = sets.chain(configs).collect();
    let task: Vec<_> = files
        .iter()
        .map(|(kind, _, file)| json!([kind, file]))
        .collect();
    let there: Vec<bool> = serde_json::from_value(python("accepts", &json!(task))).unwrap();
    let mut other = Vec::new();
    for ((kind, what, file), there) in files.iter().zip(&there) {
        let text = file.to_string();
        let here = match *kind {
            "evalset" => EvalSet::from_json(&text, "set").map(drop),
            _ => EvalConfig::from_json(&text, "config").map(drop),
        };
        // Two differences are wanted: personas are not checked, and the set itself may have the
        // names in camel case too.
        let is_wanted = what.contains("user_persona is") || what.starts_with(": eval_");
        if here.is_ok() != *there && !is_wanted {
            other.push(format!(
                "{what}: here {:?}, there {there}",
                here.err().map(|e| e.to_string())
            ));
        }
    }
    let refused = there.iter().filter(|accepted| !**accepted).count();
    println!("{} files, {refused} refused", files.len());
    assert!(other.is_empty(), "{other:#?}");
    assert!(refused > 100);
}

#[test]
#[ignore = "needs google-adk: tests/peers/run-adk-python.sh"]
fn eval_sets_are_read_as_google_adk_reads_them() {
    let folder = std::env::temp_dir().join(format!("adk-eval-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut paths = Vec::new();
    for (name, text) in [("desk.evalset.json", DESK), ("older.test.json", OLDER)] {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        paths.push(path);
    }
    if let Ok(samples) = std::env::var("ADK_SAMPLES") {
        let entries = std::fs::read_dir(samples)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        paths.extend(entries.filter(|path| !path.to_string_lossy().contains("config")));
    }
    let read = |path: &std::path::PathBuf| {
        let set = EvalSet::read(path).unwrap();
        let turns = set.eval_cases.into_iter().map(|case| {
            let turns = serde_json::to_value(case.conversation.unwrap_or_default()).unwrap();
            let mut turns = turns.as_array().unwrap().clone();
            for turn in turns.iter_mut().filter_map(Value::as_object_mut) {
                turn.shift_remove("invocation_id");
                turn.shift_remove("creation_timestamp");
            }
            turns
        });
        json!(turns.collect::<Vec<_>>())
    };
    let here: Vec<_> = paths.iter().map(read).collect();
    let there = python("reads", &json!(paths));
    for ((here, there), path) in here.iter().zip(there.as_array().unwrap()).zip(&paths) {
        assert_eq!(here.to_string(), there.to_string(), "{}", path.display());
    }
    println!("{} files", paths.len());
    std::fs::remove_dir_all(folder).unwrap();
}
