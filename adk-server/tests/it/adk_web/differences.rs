//! What differs from google-adk, and why.

use serde_json::{Map, Value};
use std::collections::BTreeSet;

pub struct Answer {
    pub status: u16,
    pub body: Value,
}

/// A field that differs.
#[derive(Debug)]
pub struct Found {
    request: &'static str,
    field: String,
    adk: String,
    here: String,
}

/// Why a field of some requests differs; `*` is any text.
#[derive(Debug)]
pub struct Reason {
    requests: &'static [&'static str],
    field: &'static str,
    why: &'static str,
}

/// The first that explains a field counts.
pub static REASONS: &[Reason] = &[
    Reason { requests: &["version"], field: "*", why: "Another program answers." },
    Reason { requests: &["list-apps"], field: "apps[].language", why: "So does another language." },
    Reason {
        requests: &["app-info"],
        field: "*",
        why: "Here every workflow has one; ADK describes apps whose root is an LLM agent.",
    },
    Reason {
        requests: &["telemetry", "runtime-config"],
        field: "telemetry",
        why: "Nothing is sent to Google, and the page does not ask.",
    },
    Reason {
        requests: &["list sessions of an unknown app"],
        field: "*",
        why: "ADK lists what is not there as empty.",
    },
    Reason {
        requests: &["*"],
        field: "detail",
        why: "An error says the fact and the remedy. ADK lists the fields that do not fit; here the first is named.",
    },
    Reason {
        requests: &["*"],
        field: "error",
        why: "An error is also in the form of this server's own API.",
    },
    Reason { requests: &["no message"], field: "*", why: "It is an error of the client." },
    Reason {
        requests: &["run fails"],
        field: "*",
        why: "The agent has failed and not the server, and the client may know why.",
    },
    Reason {
        requests: &["run_sse fails"],
        field: "[].error*",
        why: "Errors have kinds here, and classes in Python.",
    },
    Reason {
        requests: &["create session"],
        field: "state.*",
        why: "Keys with `user:` and `app:` belong to all workflows of a runner, which is one app; in ADK each agent is an app.",
    },
    Reason {
        requests: &["*"],
        field: "*nodeInfo.path",
        why: "Here every event says its place; in ADK those of workflow nodes and LLM agents do.",
    },
    Reason { requests: &["*"], field: "*customMetadata", why: "Here an event says the round of its loop." },
    Reason {
        requests: &["*"],
        field: "*canonicalUri",
        why: "It is the path at which this server has the version.",
    },
    Reason { requests: &["*"], field: "*createTime", why: "Artifact stores keep no times." },
    Reason {
        requests: &["build_graph"],
        field: "*rerun_on_resume",
        why: "A field of Python's classes, which the page does not read.",
    },
    Reason { requests: &["build_graph"], field: "*wait_for_output", why: "Another one of these." },
    Reason {
        requests: &["run_sse"],
        field: "body",
        why: "ADK sends an event with a text and a file in two, and the page shows the second in place of the first.",
    },
    Reason {
        requests: &["confirmation"],
        field: "body",
        why: "ADK answers the call at once with an error, and again when it is confirmed; here it is answered once.",
    },
];

impl Reason {
    fn explains(&self, found: &Found) -> bool {
        self.requests.iter().any(|request| is_like(request, found.request))
            && is_like(self.field, &found.field)
    }
}

impl Found {
    /// Whether this is the reason.
    pub fn is_by(&self, reason: &Reason) -> bool {
        self.reason().is_some_and(|found| std::ptr::eq(found, reason))
    }

    pub fn reason(&self) -> Option<&'static Reason> {
        REASONS.iter().find(|reason| reason.explains(self))
    }
}

/// Whether a text is of a pattern in which `*` is any text.
fn is_like(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, after)) => text.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len()).any(|at| rest.is_char_boundary(at) && is_like(after, &rest[at..]))
        }),
    }
}

/// Adds the fields that differ. Ids count by their places, and times not at all.
pub fn compare(request: &'static str, adk: &Answer, here: &Answer, found: &mut Vec<Found>) {
    let mut add = |field: &str, adk: String, here: String| {
        found.push(Found { request, field: field.to_owned(), adk, here });
    };
    if adk.status != here.status {
        add("status", adk.status.to_string(), here.status.to_string());
    }
    let (adk, here) = (settled(&adk.body), settled(&here.body));
    values("", &adk, &here, &mut add);
}

fn values(at: &str, adk: &Value, here: &Value, add: &mut impl FnMut(&str, String, String)) {
    match (adk, here) {
        (Value::Object(one), Value::Object(other)) => {
            for key in one.keys().chain(other.keys()).collect::<BTreeSet<_>>() {
                let field = format!("{at}.{key}");
                let field = field.trim_start_matches('.');
                match (one.get(key), other.get(key)) {
                    (Some(one), Some(other)) => values(field, one, other, add),
                    (one, other) => add(field, shown(one), shown(other)),
                }
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (one, other) in one.iter().zip(other) {
                values(&format!("{at}[]"), one, other, add);
            }
        }
        (Value::Array(one), Value::Array(other)) => {
            let count = |all: &Vec<Value>| format!("{} elements", all.len());
            add(if at.is_empty() { "body" } else { at }, count(one), count(other));
        }
        (one, other) if one != other => {
            add(if at.is_empty() { "body" } else { at }, shown(Some(one)), shown(Some(other)))
        }
        _ => {}
    }
}

fn shown(value: Option<&Value>) -> String {
    let text = value.map_or_else(|| "-".to_owned(), ToString::to_string);
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text,
    }
}

/// Whether a text has a number of its own in each answer.
fn is_id(text: &str) -> bool {
    let is_uuid = text.matches('-').count() >= 4 && !text.contains(' ');
    is_uuid || text.starts_with("adk-") || text.contains(":confirm ")
}

/// A body with ids by the order in which they come, and without times.
fn settled(body: &Value) -> Value {
    fn walk(key: &str, value: &Value, ids: &mut Vec<String>) -> Value {
        match value {
            Value::Object(fields) => {
                // In one order on both sides.
                let keys: BTreeSet<_> = fields.keys().collect();
                let walked = keys.into_iter().map(|key| (key.clone(), walk(key, &fields[key], ids)));
                Value::Object(walked.collect::<Map<_, _>>())
            }
            Value::Array(all) => all.iter().map(|value| walk(key, value, ids)).collect(),
            Value::Number(_) if matches!(key, "timestamp" | "lastUpdateTime" | "createTime") => "TIME".into(),
            Value::String(text) if is_id(text) => {
                let at = ids.iter().position(|id| id == text).unwrap_or_else(|| {
                    ids.push(text.clone());
                    ids.len() - 1
                });
                format!("ID{at}").into()
            }
            other => other.clone(),
        }
    }
    walk("", body, &mut Vec::new())
}

/// The table in Markdown: a row for each reason, with the first field that it explains.
pub fn table(found: &[Found]) -> String {
    let mut table = "\n| request | field | google-adk | here | why |\n|---|---|---|---|---|\n".to_owned();
    for reason in REASONS {
        let Some(first) = found.iter().find(|found| found.is_by(reason)) else { continue };
        let requests: Vec<_> =
            reason.requests.iter().map(|request| if *request == "*" { "all" } else { request }).collect();
        let code = |text: &str| format!("`{}`", text.replace('|', "\\|").replace('`', "'"));
        let row = [
            requests.join(", "),
            code(reason.field),
            code(&first.adk),
            code(&first.here),
            reason.why.to_owned(),
        ];
        table += &format!("| {} |\n", row.join(" | "));
    }
    table
}
