//! The messages of findings: the sink, the whole way to it, and the remedies that help.

use super::Check;
use super::findings::{Finding, SinkKind};
use super::marks::{Cause, Causes, How};
use super::walk::{DEEPEST, Limit};
use crate::message::Message;
use crate::spec::Step;
use crate::text::{same, starts_with};

/// The largest number of steps of a way in a message.
const LONGEST: usize = 16;

const TYPES: &str = " with a type without text, such as a `bool` or an enum without fields";

/// Adds the message of a finding.
pub(super) const fn finding(m: &mut Message, finding: &Finding<'_>, causes: &Causes<'_, '_>) {
    m.begin(if finding.leaks {
        Check::LethalTrifecta
    } else {
        Check::UntrustedAction
    });
    let is_tool = finding.kind.has_tool();
    m.push(match finding.kind {
        SinkKind::Function | SinkKind::ContextFunction => "function `",
        _ => "agent `",
    });
    m.all(&[finding.agent, "`"]);
    if !finding.inside.is_empty() {
        m.all(&[" in `", finding.inside, "`"]);
    }
    match finding.kind {
        SinkKind::Tool | SinkKind::SelectingTool => {
            m.all(&[" may call `", finding.tool, "`, which"]);
        }
        SinkKind::UnknownTool => m.push(" may call a tool that only the run knows, which"),
        _ => {}
    }
    m.push(match (finding.leaks, finding.kind) {
        (true, SinkKind::UnknownTool) => " may send data out",
        (true, _) => " sends data out",
        (false, SinkKind::UnknownTool) => " may act",
        (false, _) => " acts",
    });
    m.push(match (finding.leaks, is_tool) {
        (true, _) => ", while it may see private data and text that strangers wrote",
        (false, true) => ", while it may see text that strangers wrote",
        (false, false) => " on text that strangers may have written",
    });
    if finding.later {
        m.push(" in an earlier run of its session");
    }
    m.push("; untrusted: ");
    way(m, finding, causes, finding.marks.untrusted);
    if finding.leaks {
        m.push("; private: ");
        way(m, finding, causes, finding.marks.private);
    }
    m.push("; help: ");
    remedies(m, finding, causes);
}

/// Adds the message about a workflow that the check cannot follow.
pub(super) const fn limit(m: &mut Message, step: &Step<'_>, limit: Limit) {
    m.begin(Check::UntrustedAction);
    m.all(&["the check cannot follow text through `", step.name, "`: "]);
    match limit {
        Limit::Depth => {
            m.push("workflows and agents as tools are nested deeper than ");
            m.number(DEEPEST as i128);
            m.push("; help: place the inner ones as steps of this workflow");
        }
        _ => m.push(
            "the workflow has too many keys, blocks and ways of text; help: split it, or remove \
             the labels of tools that neither act nor send",
        ),
    }
}

/// Adds the way from the source of a mark to the sink.
const fn way(m: &mut Message, finding: &Finding<'_>, causes: &Causes<'_, '_>, mark: u16) {
    let mut all: [Option<Cause<'_>>; LONGEST] = [None; LONGEST];
    let (mut len, mut at) = (0, mark);
    while let Some(cause) = causes.get(at) {
        // A longer way shows its source and its end.
        if len == LONGEST {
            all[LONGEST - 1] = Some(cause);
        } else {
            all[len] = Some(cause);
            len += 1;
        }
        at = cause.before;
    }
    while len > 0 {
        len -= 1;
        if let Some(cause) = all[len] {
            step_of_way(m, &cause);
            m.push(" -> ");
            if len == LONGEST - 1 && cause.before == 0 {
                m.push("... -> ");
            }
        }
    }
    m.all(&["`", finding.agent, "`"]);
    if !finding.tool.is_empty() {
        m.all(&[" -> `", finding.tool, "`"]);
    }
}

const fn step_of_way(m: &mut Message, cause: &Cause<'_>) {
    match cause.how {
        How::Guard if same(cause.name, "user") => m.push("the message of the run"),
        How::Guard => m.all(&["key `", cause.name, "`, as `#[guards(...)]` says"]),
        How::Tool => m.all(&["tool `", cause.name, "` of `", cause.agent, "`"]),
        How::Function => m.all(&["function `", cause.agent, "`"]),
        How::Agent => m.all(&["agent `", cause.agent, "`"]),
        How::UnlabelledTool => {
            m.all(&[
                "tool `",
                cause.name,
                "` of `",
                cause.agent,
                "`, which has no label,",
            ]);
        }
        How::UnlabelledFunction => m.all(&["function `", cause.agent, "`, which has no label,"]),
        How::UnlabelledAgent => m.all(&["agent `", cause.agent, "`, which has no label,"]),
        How::UnknownTool => {
            m.all(&["tools of `", cause.agent, "` that only the run knows"]);
        }
        How::Write => m.all(&["`", cause.agent, "` writes `", cause.name, "`"]),
        How::Speech => m.all(&["`", cause.agent, "` says it in the conversation"]),
        How::Result => m.all(&["result of `", cause.agent, "` as a tool"]),
        How::Error => m.push("an error that a `try` keeps may quote it"),
        How::Failure => m.all(&["an error of `", cause.agent, "` as a tool may quote it"]),
    }
}

/// Adds the remedies, each of which is enough.
const fn remedies(m: &mut Message, finding: &Finding<'_>, causes: &Causes<'_, '_>) {
    let (ways, mut is_first) = (&finding.ways, true);
    if finding.is_unlabelled {
        or(m, &mut is_first);
        give_labels(m, finding);
    }
    match finding.kind {
        // A tool that asks cannot be in an agent that is itself a tool.
        SinkKind::Tool if !ways.requested => {
            or(m, &mut is_first);
            if finding.toolset.is_empty() {
                m.all(&[
                    "let a person agree to each call, `#[tool(confirm)]` on `",
                    finding.tool,
                    "`",
                ]);
            } else {
                m.all(&[
                    "let a person agree to each call, with `",
                    finding.tool,
                    "` in `confirm` of the file of toolset `",
                    finding.toolset,
                    "`",
                ]);
            }
        }
        SinkKind::SelectingTool => {
            or(m, &mut is_first);
            m.all(&[
                "let a person agree to each call, also to those that the predicate of `",
                finding.tool,
                "` leaves out",
            ]);
        }
        SinkKind::UnknownTool => {
            or(m, &mut is_first);
            m.push("name the tools in `tools` in place of `..`, and give toolsets labels");
        }
        SinkKind::ContextFunction => {
            or(m, &mut is_first);
            m.push("take the keys that it needs as parameters, in place of the context");
        }
        SinkKind::Custom => {
            or(m, &mut is_first);
            m.push("write it as a function with `#[agent]`, which sees only its parameters");
        }
        SinkKind::Tool | SinkKind::Function => {}
    }
    if finding.later && finding.lasts && helps_fresh(finding, causes) {
        or(m, &mut is_first);
        m.push("give each run a session of its own, `#[guards(fresh)]`");
    }
    if matches!(finding.kind, SinkKind::ContextFunction | SinkKind::Custom) {
        return;
    }
    or(m, &mut is_first);
    let mut has_part = close_turn(m, finding);
    if !ways.keys[0].is_empty() {
        if has_part {
            m.push(", and let a person agree to the text");
        } else if let SinkKind::Function = finding.kind {
            m.push("let a person agree to the text");
        } else {
            m.push(if finding.ways.requested {
                "let a person agree to the text"
            } else {
                "to the text"
            });
        }
        has_part = true;
        close_keys(m, finding, causes);
    }
    if !has_part {
        m.push("keep the text of strangers out of its context");
    }
}

const fn give_labels(m: &mut Message, finding: &Finding<'_>) {
    m.push("give `");
    m.push(if finding.tool.is_empty() {
        finding.agent
    } else {
        finding.tool
    });
    m.push("` its labels");
    if !finding.toolset.is_empty() {
        m.all(&[" in the file of toolset `", finding.toolset, "`"]);
    }
    m.push(", or `local`: `strict` counts what has no label as all of them");
}

/// Begins one more remedy.
const fn or(m: &mut Message, is_first: &mut bool) {
    if !*is_first {
        m.push(", or ");
    }
    *is_first = false;
}

/// Adds what keeps the text out of the turn itself and out of the conversation. Returns whether
/// there is anything.
const fn close_turn(m: &mut Message, finding: &Finding<'_>) -> bool {
    let (ways, mut has_part) = (&finding.ways, false);
    if ways.own {
        m.all(&[
            "read in an agent that is a tool, `agent(NAME)`, that answers",
            TYPES,
        ]);
        has_part = true;
    }
    if !ways.called.is_empty() {
        m.push(if has_part { ", and let `" } else { "let `" });
        m.all(&[ways.called, "` answer", TYPES]);
        has_part = true;
    }
    if ways.artifacts {
        m.push(if has_part { ", and show" } else { "show" });
        m.push(" a key in place of the artifact");
        has_part = true;
    }
    if ways.computed {
        m.push(if has_part { ", and write" } else { "write" });
        m.push(" its instruction as a text, which reads only the keys that it names");
        has_part = true;
    }
    if has_part && (ways.requested || ways.heard) {
        m.push(", and ");
    }
    has_part = has_part || ways.requested || ways.heard;
    if ways.requested {
        m.all(&[
            "make `",
            finding.agent,
            "` a step, with `include_contents: prompt`",
        ]);
    } else if ways.heard {
        m.all(&[
            "give `",
            finding.agent,
            "` `include_contents: prompt`, which hides the conversation",
        ]);
    }
    has_part
}

/// Adds what cleans the keys.
const fn close_keys(m: &mut Message, finding: &Finding<'_>, causes: &Causes<'_, '_>) {
    let (ways, mut i) = (&finding.ways, 0);
    m.push(", by an `await` whose question shows ");
    while i < ways.keys.len() && !ways.keys[i].is_empty() {
        m.push(if i > 0 { " and " } else { "" });
        m.all(&["`{", ways.keys[i], "}`"]);
        i += 1;
    }
    if ways.more_keys {
        m.push(" and the other keys that it reads");
    }
    if ways.asked {
        m.push(" and whose default does not lead here");
    }
    let writer = match causes.get(finding.marks.untrusted) {
        Some(cause) if matches!(cause.how, How::Write) && i == 1 => cause.agent,
        _ => "",
    };
    if !writer.is_empty() {
        m.all(&[", or let `", writer, "` answer", TYPES]);
    }
    m.push(
        ", or pass the text through a function with `#[agent(trusts)]`, whose author answers for \
         it",
    );
}

/// Returns whether a session of its own would keep the text of earlier runs out.
const fn helps_fresh(finding: &Finding<'_>, causes: &Causes<'_, '_>) -> bool {
    let mut at = finding.marks.untrusted;
    while let Some(cause) = causes.get(at) {
        if matches!(cause.how, How::Write)
            && (starts_with(cause.name, "user:") || starts_with(cause.name, "app:"))
        {
            return false;
        }
        at = cause.before;
    }
    true
}
