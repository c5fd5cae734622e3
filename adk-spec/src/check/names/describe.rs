//! The messages about names.

use super::{NameClash, NameDiagnostic, is_reserved};
use crate::check::Check;
use crate::message::Message;
use crate::spec::ident::is_identifier;
use crate::spec::{Spec, Step, StepKind};

pub(in crate::check) const fn describe(
    spec: &Spec<'_>,
    step: &Step<'_>,
    diagnostic: &NameDiagnostic<'_>,
) -> Option<Message> {
    let mut m = Message::new();
    describe_into(&mut m, spec, step, diagnostic);
    if m.is_empty() { None } else { Some(m) }
}

/// Adds the message about a name to another message.
pub(in crate::check) const fn describe_into(
    m: &mut Message,
    spec: &Spec<'_>,
    step: &Step<'_>,
    diagnostic: &NameDiagnostic<'_>,
) {
    match diagnostic {
        NameDiagnostic::None => {}
        NameDiagnostic::Reserved => {
            m.begin(Check::NameReserved);
            m.all(&["`", step.name]);
            m.push(
                "` cannot be the name of a step: events of the user and of models carry it; help: \
                 choose another name",
            );
        }
        NameDiagnostic::Reused(clash) => {
            m.begin(Check::AgentReused);
            subject(m, step, clash);
            m.push(" is the same agent as ");
            first(m, clash);
            if !clash.tool.is_empty() {
                m.push("; help: let only one agent hand over to it")
            } else if spec.built {
                m.push("; help: build a second one, with a name of its own")
            } else {
                remedy(m, step, clash)
            }
        }
        NameDiagnostic::Duplicate(clash) => {
            m.begin(Check::NameDuplicate);
            subject(m, step, clash);
            if clash.root {
                m.push(if spec.built {
                    " has the name of the tree itself"
                } else {
                    " has the name of the workflow itself"
                });
            } else {
                m.push(" has the same name as ");
                first(m, clash);
            }
            if spec.built || !clash.tool.is_empty() {
                m.push("; help: give one of them another name")
            } else if clash.root && clash.inside.is_empty() {
                m.push("; help: rename one of them")
            } else {
                remedy(m, step, clash)
            }
        }
    }
}

const fn subject(m: &mut Message, step: &Step<'_>, clash: &NameClash<'_>) {
    m.all(&["`", clash.name, "`"]);
    if !clash.tool.is_empty() {
        m.all(&[", below the tool `", clash.tool, "` of `", step.name, "`,"]);
    } else if !clash.inside.is_empty() {
        m.all(&[", a step in `", step.name, "`,"]);
    }
}

const fn first(m: &mut Message, clash: &NameClash<'_>) {
    if clash.first_inside.is_empty() {
        m.push("a step before it");
    } else {
        m.push(if clash.tool.is_empty() {
            "a step in `"
        } else {
            "an agent in `"
        });
        m.all(&[clash.first_inside, "`, which comes before it"]);
    }
}

const fn remedy(m: &mut Message, step: &Step<'_>, clash: &NameClash<'_>) {
    if !matches!(step.kind, StepKind::Agent { .. }) {
        return m.push("; help: give the block another name");
    }
    m.all(&["; help: write `as second_", step.name]);
    m.push("` after it, which makes it an instance with a name of its own");
    if !clash.inside.is_empty() {
        m.all(&[
            "; its steps are then called `second_",
            step.name,
            "::",
            clash.name,
            "` and so on",
        ]);
    }
}

/// Describes an invalid name of a step. The macro rejects such names by their tokens, so only trees
/// that are built at run time have them.
pub(in crate::check) fn describe_step_name(step: &Step<'_>) -> Option<Message> {
    let is_marker = matches!(
        step.kind,
        StepKind::Branch
            | StepKind::Arm { .. }
            | StepKind::Else
            | StepKind::Break { .. }
            | StepKind::End
    );
    if is_marker || is_identifier(step.name) {
        return None;
    }
    let fact = [
        "`",
        step.name,
        "` is no name; help: use letters, digits and `_`, not beginning with a digit",
    ];
    Some(Message::of(Check::NameInvalid, &fact))
}

pub(in crate::check) fn describe_workflow_name(spec: &Spec<'_>) -> Option<Message> {
    let name = spec.name;
    if spec.built {
        // A built tree has the name of its first step.
        return None;
    }
    if is_reserved(name) {
        let fact = "` cannot be the name of a workflow: events of the user and of models carry it; \
            help: choose another name";
        return Some(Message::of(Check::NameReserved, &["`", name, fact]));
    }
    describe_step_name(&Step::new(name, StepKind::Sequence, 0))
}
