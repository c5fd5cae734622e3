//! The differences from google-adk and their reasons.

use serde_json::{Map, Value};
use std::collections::BTreeSet;

pub struct Answer {
    pub status: u16,
    pub body: Value,
}

/// A field with different values.
#[derive(Debug)]
pub struct Difference {
    request: &'static str,
    field: String,
    adk: String,
    here: String,
}

/// The reason for a different field in some responses. `*` matches any text.
#[derive(Debug)]
pub struct Reason {
    requests: &'static [&'static str],
    field: &'static str,
    why: &'static str,
}

/// All reasons. The first reason that matches a field counts.
pub static REASONS: &[Reason] = &[
    Reason {
        requests: &["version"],
        field: "*",
        why: "The server is another program.",
    },
    Reason {
        requests: &["list-apps"],
        field: "apps[].language",
        why: "The apps are written in another language.",
    },
    Reason {
        requests: &["app-info"],
        field: "*",
        why: "This server describes every workflow; ADK describes only apps whose root is an LLM \
              agent.",
    },
    Reason {
        requests: &["telemetry", "runtime-config"],
        field: "telemetry",
        why: "This server sends nothing to Google, and the page does not ask for consent.",
    },
    Reason {
        requests: &["list sessions of an unknown app"],
        field: "*",
        why: "ADK returns an empty list for an unknown app.",
    },
    Reason {
        requests: &["*"],
        field: "detail",
        why: "An error names the fact and the remedy. ADK lists all invalid fields; this server \
              names the first.",
    },
    Reason {
        requests: &["*"],
        field: "error",
        why: "An error also has the format of this server's own API.",
    },
    Reason {
        requests: &["no message"],
        field: "*",
        why: "The request is invalid, so the error is the client's.",
    },
    Reason {
        requests: &["run fails"],
        field: "*",
        why: "The agent has failed, not the server, and the client may know the reason.",
    },
    Reason {
        requests: &["run_sse fails"],
        field: "[].error*",
        why: "Errors have kinds in this server and classes in Python.",
    },
    Reason {
        requests: &["create session"],
        field: "state.*",
        why: "Keys with `user:` and `app:` belong to all workflows of a runner, which is one \
              app; in ADK each agent is an app.",
    },
    Reason {
        requests: &["*"],
        field: "*nodeInfo.path",
        why: "Every event contains its path; in ADK only events of workflow nodes and LLM agents \
              do.",
    },
    Reason {
        requests: &["*"],
        field: "*customMetadata",
        why: "An event contains the round of its loop.",
    },
    Reason {
        requests: &["*"],
        field: "*canonicalUri",
        why: "This server uses the URL path of the version.",
    },
    Reason {
        requests: &["*"],
        field: "*createTime",
        why: "Artifact stores do not store times.",
    },
    Reason {
        requests: &["build_graph"],
        field: "*rerun_on_resume",
        why: "This is a field of Python's classes, which the page does not read.",
    },
    Reason {
        requests: &["build_graph"],
        field: "*wait_for_output",
        why: "This is another field of Python's classes.",
    },
    Reason {
        requests: &["run_sse"],
        field: "body",
        why: "ADK splits an event with text and a file into two events, and the page replaces \
              the first by the second.",
    },
    Reason {
        requests: &["confirmation"],
        field: "body",
        why: "ADK answers the call at once with an error, and again after the confirmation; this \
              server answers it once.",
    },
];

impl Reason {
    fn explains(&self, found: &Difference) -> bool {
        self.requests
            .iter()
            .any(|request| matches(request, found.request))
            && matches(self.field, &found.field)
    }
}

impl Difference {
    /// Returns whether a reason is the reason for this difference.
    pub fn has_reason(&self, reason: &Reason) -> bool {
        self.reason()
            .is_some_and(|found| std::ptr::eq(found, reason))
    }

    pub fn reason(&self) -> Option<&'static Reason> {
        REASONS.iter().find(|reason| reason.explains(self))
    }
}

/// Returns whether a text matches a pattern. `*` matches any text.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, after)) => text.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len()).any(|at| rest.is_char_boundary(at) && matches(after, &rest[at..]))
        }),
    }
}

/// Adds the different fields. Ids are compared by their order, and times are ignored.
pub fn compare(request: &'static str, adk: &Answer, here: &Answer, found: &mut Vec<Difference>) {
    let mut add = |field: &str, adk: String, here: String| {
        found.push(Difference {
            request,
            field: field.to_owned(),
            adk,
            here,
        });
    };
    if adk.status != here.status {
        add("status", adk.status.to_string(), here.status.to_string());
    }
    let (adk, here) = (normalize(&adk.body), normalize(&here.body));
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
                    (one, other) => add(field, shorten(one), shorten(other)),
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
            add(
                if at.is_empty() { "body" } else { at },
                count(one),
                count(other),
            );
        }
        (one, other) if one != other => add(
            if at.is_empty() { "body" } else { at },
            shorten(Some(one)),
            shorten(Some(other)),
        ),
        _ => {}
    }
}

fn shorten(value: Option<&Value>) -> String {
    let text = value.map_or_else(|| "-".to_owned(), ToString::to_string);
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text,
    }
}

/// Returns whether a text is an id, which differs in each run.
fn is_id(text: &str) -> bool {
    let is_uuid = text.matches('-').count() >= 4 && !text.contains(' ');
    is_uuid || text.starts_with("adk-") || text.contains(":confirm ")
}

/// Replaces ids by their order, and times by a constant.
fn normalize(body: &Value) -> Value {
    fn walk(key: &str, value: &Value, ids: &mut Vec<String>) -> Value {
        match value {
            Value::Object(fields) => {
                // Both sides need the same order.
                let keys: BTreeSet<_> = fields.keys().collect();
                let walked = keys
                    .into_iter()
                    .map(|key| (key.clone(), walk(key, &fields[key], ids)));
                Value::Object(walked.collect::<Map<_, _>>())
            }
            Value::Array(all) => all.iter().map(|value| walk(key, value, ids)).collect(),
            Value::Number(_) if matches!(key, "timestamp" | "lastUpdateTime" | "createTime") => {
                "TIME".into()
            }
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

/// Returns the table in Markdown: one row for each reason, with the first field that it explains.
pub fn table(found: &[Difference]) -> String {
    let mut table =
        "\n| request | field | google-adk | here | why |\n|---|---|---|---|---|\n".to_owned();
    for reason in REASONS {
        let Some(first) = found.iter().find(|found| found.has_reason(reason)) else {
            continue;
        };
        let requests: Vec<_> = reason
            .requests
            .iter()
            .map(|request| if *request == "*" { "all" } else { request })
            .collect();
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
