//! The tools and functions that act or send, with the marks that reach them.

use super::agents::{Place, PlaceRole, sees_all};
use super::findings::{Finding, SinkKind, Ways};
use super::marks::Marks;
use super::notes::NoteKind;
use super::state::NOW;
use super::walk::LabelWalk;
use crate::effects::Act;
use crate::hash::hash;
use crate::spec::{AgentKind, AgentMeta, Labels, ToolMeta};
use crate::text::same;

impl<'a> LabelWalk<'_, 'a> {
    /// Reports each tool and function of a turn that acts or sends, if the marks of the context
    /// allow none.
    pub(super) const fn sinks(&mut self, place: &Place<'a>, context: Marks, called: &'a str) {
        if !self.notes.are_kept && !self.has_sinks(place) {
            return;
        }
        let (mut members, mut ways) = (place.members(), Ways::NONE);
        self.add_keys(place, &mut ways);
        ways.requested = match place.role {
            PlaceRole::Tool => self.states.heard(NOW).untrusted != 0,
            _ => false,
        };
        ways.called = called;
        while let Some(member) = members.next() {
            let is_computed = matches!(member.kind, AgentKind::Llm) && sees_all(member);
            ways.computed = ways.computed || is_computed;
            let is_visible = self.visible(member).untrusted != 0;
            ways.heard = ways.heard || is_visible || sees_all(member) && !is_computed;
            let unknown = self.unknown_tools(member).has(Labels::UNTRUSTED);
            let own = any!(tool in member.tools => {
                self.tool(Marks::NONE, member, tool).untrusted != 0
            });
            ways.own = ways.own || own || unknown;
            ways.artifacts = ways.artifacts || self.artifacts(member).untrusted != 0;
        }
        members = place.members();
        while let Some(member) = members.next() {
            each!(tool in member.tools => {
                if !self.is_unasked(tool) {
                    if self.notes.are_kept && tool.agent.is_none() {
                        self.note_confirmed(context, member.name, tool);
                    }
                } else {
                    let kind = if tool.confirm { SinkKind::SelectingTool } else { SinkKind::Tool };
                    let names = [member.name, tool.name, tool.toolset];
                    self.sink(context, tool.labels, kind, names, &ways);
                }
            });
            match member.kind {
                AgentKind::Llm => {
                    let labels = self.unknown_tools(member);
                    let names = [member.name, "", ""];
                    self.sink(context, labels, SinkKind::UnknownTool, names, &ways);
                }
                AgentKind::Function => self.function_sink(context, member, &ways),
                AgentKind::Custom => {
                    let names = [member.name, "", ""];
                    self.sink(context, member.labels, SinkKind::Custom, names, &ways);
                }
                AgentKind::Workflow | AgentKind::Await => {}
            }
        }
    }

    /// Returns whether a person agrees to no call of a tool, or only to selected ones.
    const fn is_unasked(&self, tool: &ToolMeta<'_>) -> bool {
        tool.agent.is_none() && (!tool.confirm || tool.selects && self.guards.strict)
    }

    /// Returns whether a turn has anything that acts or sends.
    const fn has_sinks(&self, place: &Place<'a>) -> bool {
        let sink = Labels::ACTS.and(Labels::SENDS);
        let mut members = place.members();
        while let Some(member) = members.next() {
            let own = match member.kind {
                AgentKind::Llm => self.unknown_tools(member),
                AgentKind::Function | AgentKind::Custom => self.counted(member.labels),
                AgentKind::Workflow | AgentKind::Await => Labels::NONE,
            };
            let has_tool = any!(tool in member.tools => {
                self.is_unasked(tool) && self.counted(tool.labels).has(sink)
            });
            if own.has(sink) || has_tool {
                return true;
            }
        }
        false
    }

    /// Adds the keys with text of strangers that an agent reads.
    pub(super) const fn add_keys(&self, place: &Place<'a>, ways: &mut Ways<'a>) {
        let mut all = place.effects();
        while let Some(effect) = all.next() {
            let reads_text = match effect.act {
                Act::Prompt { .. } => true,
                Act::Read { spec, .. } => !spec.is_closed(),
                _ => false,
            };
            if reads_text && self.states.read(hash(effect.key)).untrusted != 0 {
                ways.add_key(effect.key);
                ways.asked = ways.asked || self.has_asked_about(effect.key);
            }
        }
    }

    pub(super) const fn function_sink(
        &mut self,
        marks: Marks,
        meta: &'a AgentMeta<'a>,
        ways: &Ways<'a>,
    ) {
        let kind = if meta.labels.has(Labels::CONTEXT) {
            SinkKind::ContextFunction
        } else {
            SinkKind::Function
        };
        self.sink(marks, meta.labels, kind, [meta.name, "", ""], ways);
    }

    /// Records a sink that marks reach.
    pub(super) const fn sink(
        &mut self,
        marks: Marks,
        own: Labels,
        kind: SinkKind,
        [agent, tool, toolset]: [&'a str; 3],
        ways: &Ways<'a>,
    ) {
        let labels = self.counted(own);
        let name = if kind.has_tool() { tool } else { agent };
        self.note_sink(labels, own, marks, agent, name, NoteKind::Sink);
        let acts = labels.has(Labels::ACTS) && marks.untrusted != 0;
        let leaks =
            !acts && labels.has(Labels::SENDS) && marks.untrusted != 0 && marks.private != 0;
        if !acts && !leaks {
            return;
        }
        let at = self.now.root;
        let known = find!(i in 0, self.found => {
            let known = &self.findings[i];
            known.at == at && same(known.tool, tool) && same(known.agent, agent)
        });
        if let Some(known) = known {
            // Text of a later run comes from this one, and needs no other remedy.
            if self.findings[known].later == self.earlier.exist {
                self.findings[known].ways.join(ways);
            }
        } else if self.found < self.findings.len() {
            self.findings[self.found] = Finding {
                at,
                leaks,
                tool,
                toolset,
                agent,
                kind,
                inside: self.states.at.name,
                marks,
                ways: *ways,
                is_unlabelled: !own.is_known(),
                later: self.earlier.exist,
                lasts: !self.guards.fresh,
            };
            self.found += 1;
        }
    }
}
