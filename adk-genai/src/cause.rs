//! [`Cause`]: the causes of a provider's refusal, with their remedies. One table serves the status
//! of an answer, and an error in the body of an answer that began successfully.

use adk_model::model::ModelErrorKind as Kind;
use serde_json::Value;
use std::ops::RangeInclusive;

/// A cause of a refusal. It applies if the status, a code or the message fits.
#[derive(Debug)]
pub(crate) struct Cause {
    pub(crate) kind: Kind,
    pub(crate) what: &'static str,
    /// The remedy, if the remedy of the kind does not help.
    pub(crate) help: Option<&'static str>,
    statuses: &'static [RangeInclusive<u16>],
    /// Parts of the provider's codes, in lower case.
    codes: &'static [&'static str],
    /// Parts of the provider's message, in lower case.
    words: &'static [&'static str],
}

/// The causes. The first one that fits is used.
const CAUSES: &[Cause] = &[
    Cause {
        kind: Kind::Unauthorized,
        what: "the account has no credit left",
        help: Some(
            "add credit or raise the spending limit at the provider, or give the runner a \
             `fallback` of another provider",
        ),
        statuses: &[402..=402],
        codes: &[
            "insufficient_quota",
            "insufficient_balance",
            "billing",
            "payment",
        ],
        words: &["credit balance is too low", "insufficient balance"],
    },
    Cause {
        kind: Kind::InvalidRequest,
        what: "the request is too large",
        help: Some("shorten the conversation, such as by a summary, or send smaller files"),
        statuses: &[413..=413],
        codes: &["context_length_exceeded", "request_too_large"],
        words: &["prompt is too long"],
    },
    Cause {
        kind: Kind::UnknownModel,
        what: "the model does not exist",
        help: Some("check the name of the model, and whether the key may use it"),
        statuses: &[],
        codes: &[NO_MODEL],
        words: &[],
    },
    Cause {
        kind: Kind::Unauthorized,
        what: "the key was refused",
        help: None,
        statuses: &[401..=401],
        codes: &[
            "authentication",
            "unauthenticated",
            "invalid_api_key",
            // Google answers 400.
            "api_key_invalid",
        ],
        words: &[],
    },
    Cause {
        kind: Kind::Unauthorized,
        what: "the key was refused",
        help: Some(
            "check at the provider what the key may use: its project, its models and its region",
        ),
        statuses: &[403..=403],
        codes: &["permission", "forbidden", "unsupported_country"],
        words: &[],
    },
    Cause {
        kind: Kind::InvalidRequest,
        what: "the address does not exist",
        help: Some("check the base URL and its path, such as `/v1/`"),
        statuses: &[404..=405],
        codes: &[],
        words: &[],
    },
    Cause {
        kind: Kind::Timeout,
        what: "no answer in time",
        help: Some("try again later, or give the agent more `retry`"),
        statuses: &[408..=408],
        codes: &[],
        words: &[],
    },
    Cause {
        kind: Kind::RateLimited,
        what: "too many requests",
        help: None,
        statuses: &[429..=429],
        codes: &["rate_limit", "resource_exhausted", "too_many_requests"],
        words: &[],
    },
    Cause {
        kind: Kind::Unavailable,
        what: "the provider failed",
        help: None,
        statuses: &[500..=u16::MAX],
        codes: &["server_error", "overloaded", "unavailable"],
        words: &[],
    },
    Cause {
        kind: Kind::InvalidRequest,
        what: "the request was refused",
        help: None,
        statuses: &[400..=499],
        codes: &["invalid", "not_found", "content_filter", "content_policy"],
        words: &[],
    },
];

/// Code of an unknown model.
const NO_MODEL: &str = "model_not_found";

/// Any other status.
const OTHER: &Cause = &Cause {
    kind: Kind::InvalidResponse,
    what: "an unexpected status",
    help: None,
    statuses: &[],
    codes: &[],
    words: &[],
};

/// An error without a known code. It may be temporary.
const UNKNOWN: &Cause = &Cause {
    kind: Kind::Unavailable,
    what: "the provider failed",
    help: None,
    statuses: &[],
    codes: &[],
    words: &[],
};

impl Cause {
    /// Finds the cause of a refusal. An error in the body of a successful answer has no status, but
    /// its code may be one.
    pub(crate) fn find(status: Option<u16>, body: &Value, message: &str) -> &'static Self {
        let mut codes = codes(body);
        let message = message.to_lowercase();
        let status = status.or(codes.iter().find_map(|code| code.parse().ok()));
        if status == Some(404) && message.contains("model") {
            codes.push(NO_MODEL.to_owned());
        }
        let has = |parts: &[&str], text: &str| parts.iter().any(|part| text.contains(part));
        let fits = |cause: &&Self| {
            status.is_some_and(|status| cause.statuses.iter().any(|all| all.contains(&status)))
                || codes.iter().any(|code| has(cause.codes, code))
                || has(cause.words, &message)
        };
        let other = if status.is_some() { OTHER } else { UNKNOWN };
        CAUSES.iter().find(fits).unwrap_or(other)
    }
}

/// Returns the codes in the body of an error in lower case: OpenAI's `type` and `code`, Anthropic's
/// `error.type`, Google's `status`, `code` and `details`.
fn codes(body: &Value) -> Vec<String> {
    let body = body.get(0).unwrap_or(body);
    let error = body.get("error").unwrap_or(body);
    let inner = error.get("error").unwrap_or(error);
    let details = error.get("details").and_then(Value::as_array);
    let fields = |object: &'_ Value| {
        ["code", "type", "status", "reason"].map(|field| match object.get(field) {
            Some(Value::String(text)) => text.to_lowercase(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        })
    };
    [inner, error, body]
        .into_iter()
        .chain(details.into_iter().flatten())
        .flat_map(fields)
        .filter(|code| !code.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_refusal_has_a_cause_and_a_help_that_helps() {
        let openai = |code: &str| json!({"error": {"message": "m", "type": code, "code": code}});
        let cases = [
            (402, json!({}), Kind::Unauthorized, "credit"),
            (
                429,
                openai("insufficient_quota"),
                Kind::Unauthorized,
                "credit",
            ),
            (
                400,
                json!({"error": {
                    "type": "invalid_request_error",
                    "message": "Your credit balance is too low to access the API.",
                }}),
                Kind::Unauthorized,
                "credit",
            ),
            (403, json!({}), Kind::Unauthorized, "may use"),
            (404, json!({}), Kind::InvalidRequest, "base URL"),
            (413, json!({}), Kind::InvalidRequest, "shorten"),
            (
                400,
                openai("context_length_exceeded"),
                Kind::InvalidRequest,
                "shorten",
            ),
            (
                404,
                json!({"error": {"message": "The model `x` does not exist"}}),
                Kind::UnknownModel,
                "name of the model",
            ),
            (400, openai("invalid_api_key"), Kind::Unauthorized, ""),
            (429, openai("rate_limit_exceeded"), Kind::RateLimited, ""),
            (500, openai("invalid_request_error"), Kind::Unavailable, ""),
            (529, json!({}), Kind::Unavailable, ""),
            (302, json!({}), Kind::InvalidResponse, ""),
        ];
        for (status, body, kind, help) in cases {
            let message = body["error"]["message"].as_str().unwrap_or_default();
            let cause = Cause::find(Some(status), &body, message);
            assert_eq!(cause.kind, kind, "{status} {body}");
            let told = cause.help.unwrap_or_default();
            assert!(told.contains(help), "{status} {body}: {told}");
            assert_eq!(cause.help.is_none(), help.is_empty(), "{status} {body}");
        }
        let in_band = [
            (openai("server_error"), Kind::Unavailable),
            (openai("insufficient_quota"), Kind::Unauthorized),
            (json!({"code": 429, "message": "m"}), Kind::RateLimited),
            (json!({"message": "m"}), Kind::Unavailable),
        ];
        for (body, kind) in in_band {
            assert_eq!(Cause::find(None, &body, "m").kind, kind, "{body}");
        }
    }
}
