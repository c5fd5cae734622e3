//! An outline of a model request: the texts, calls and results with their authors.

use super::views::{Call, Called, Line, RequestView, Response, Returned, Said, Text};
use adk::model::ModelRequest;
use adk::{Content, Part, Role};

/// Returns the outline of a request. `call` is the number of the request in the case, from 0.
pub fn request(request: &ModelRequest, call: usize) -> RequestView {
    let agent = request.info.agent.to_string();
    let mut view = RequestView::new(agent, call, request.system_instruction.clone());
    view.outline = request.contents.iter().flat_map(lines).collect();
    view.tools = request
        .tools
        .iter()
        .map(|tool| tool.name.to_string())
        .collect();
    view.response_schema = request.response_schema.is_some();
    view
}

fn lines(content: &Content) -> Vec<Line> {
    let role = match content.role {
        Role::User => "user",
        Role::Model => "model",
    };
    let reported = content.role == Role::User
        && content
            .parts
            .first()
            .and_then(Part::as_text)
            .is_some_and(|text| text.starts_with("For context:"));
    // The first part of a report marks it as a report.
    let parts = content.parts.iter().skip(usize::from(reported));
    parts
        .map(|part| match part {
            Part::Text(text) if reported => report(text)
                .unwrap_or_else(|| plain(role, format!("(not understood as a report: {text})"))),
            Part::Text(text) => plain(role, text.clone()),
            Part::Thought(thought) => plain(role, thought.text.clone()),
            Part::FunctionCall(call) => Line::Call(Call {
                role: role.to_owned(),
                call: call.name.clone(),
            }),
            Part::FunctionResponse(answer) => Line::Response(Response {
                role: role.to_owned(),
                response: answer.name.clone(),
            }),
            other => plain(role, format!("(a part that no case has: {other:?})")),
        })
        .collect()
}

fn plain(role: &str, text: String) -> Line {
    Line::Text(Text {
        role: role.to_owned(),
        text,
    })
}

/// Parses a report on another agent: `[NAME] said:`, `[NAME] called tool ...` or `[NAME] ... tool
/// returned result:`, followed by a quotation between markers.
fn report(text: &str) -> Option<Line> {
    let (head, quoted) = text.split_once('\n')?;
    let (from, what) = head.strip_prefix('[')?.split_once("] ")?;
    let from = from.to_owned();
    let quoted = quoted
        .strip_prefix("<<<BEGIN_QUOTED_AGENT_CONTENT>>>\n")?
        .strip_suffix("\n<<<END_QUOTED_AGENT_CONTENT>>>")?;
    if what == "said:" {
        return Some(Line::Said(Said {
            from,
            said: quoted.to_owned(),
        }));
    }
    let tool = what.split('`').nth(1)?.to_owned();
    if what.starts_with("called tool ") {
        return Some(Line::Called(Called { from, called: tool }));
    }
    let returned = what.ends_with("tool returned result:");
    returned.then_some(Line::Returned(Returned {
        from,
        tool_returned: tool,
    }))
}
