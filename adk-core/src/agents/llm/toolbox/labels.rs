//! The labels of the tools of a turn, which only the run knows for some of them.

use super::transfer::TASK_COMPLETED;
use super::{RESERVED, Toolbox};
use crate::Name;
use crate::runtime::agent::DynAgent as _;
use crate::runtime::run::{Blocked, Context, GuardRules, Marks};
use crate::runtime::tool::DynTool;
use crate::spec::Labels;
use adk_spec::__private::{SEES_ALL, counted};
use std::sync::Arc;

/// A call that acts or sends, with the marks of what may steer it.
pub(in crate::agents::llm) struct Sink {
    labels: Labels,
    marks: Marks,
}

impl Sink {
    /// Returns why the call does not run without the consent of a person, if the callbacks before
    /// it have read something with the marks `read`; `None` if it runs.
    pub(in crate::agents::llm) fn blocked(&self, read: Marks) -> Option<Blocked> {
        let mut marks = self.marks.clone();
        marks.join(read);
        Blocked::find(self.labels, marks)
    }
}

impl Toolbox<'_> {
    /// Returns the labels of a tool. A tool that the declaration of the agent does not name has the
    /// labels of the agent's toolsets too.
    pub(in crate::agents::llm) fn labels(&self, tool: &dyn DynTool, rules: &GuardRules) -> Labels {
        let name = tool.declaration_dyn().name.as_str();
        let is_own = RESERVED.contains(&name) || name == TASK_COMPLETED;
        // The calls of an agent have labels of their own.
        if is_own || tool.agent_dyn().is_some() {
            return Labels::LOCAL;
        }
        let (own, agent) = (tool.meta().labels, self.agent().meta());
        let declared = agent.tools.iter().find(|declared| declared.name == name);
        rules.counted(match declared {
            Some(declared) => own.and(declared.labels),
            // `local` says that all toolsets have labels.
            None if agent.labels.has(Labels::LOCAL) => own.and(agent.labels),
            None => counted(own, rules.strict).and(agent.labels),
        })
    }

    /// Returns the marks that the labels of a tool give to its results.
    pub(in crate::agents::llm) fn marks(&self, tool: &dyn DynTool, cx: &Context) -> Marks {
        let Some(rules) = cx.run.guard_rules() else {
            return Marks::NONE;
        };
        let mut marks = Marks::of_labels(self.labels(tool, rules), || {
            let (tool, agent) = (&tool.declaration_dyn().name, cx.author());
            Name::from(format!("tool `{tool}` of `{agent}`"))
        });
        if tool.meta().labels.has(SEES_ALL) {
            marks.join(Marks::of_artifacts(&cx.run));
        }
        marks
    }

    /// Returns the sink that a call of a tool is; `None` if it may always run.
    pub(in crate::agents::llm) fn sink(
        &self,
        tool: &Arc<dyn DynTool>,
        cx: &Context,
    ) -> Option<Sink> {
        let (rules, cell, meta) = (cx.run.guard_rules()?, cx.cell()?, tool.meta());
        let labels = self.labels(&**tool, rules);
        // The author's predicate decides which calls a person sees, except under `strict`.
        let is_selected = meta.confirm && meta.selects && !rules.strict;
        if is_selected || !labels.has(Labels::ACTS.and(Labels::SENDS)) {
            return None;
        }
        let mut marks = cell.marks();
        for read in meta.reads {
            let read_marks = cx.marks_of(read.name);
            marks.join(if read.is_closed() {
                read_marks.without_text()
            } else {
                read_marks
            });
        }
        Some(Sink { labels, marks })
    }

    /// Adds the marks of the tools that change requests, before they do so.
    pub(in crate::agents::llm) fn note_processors(&self, cx: &Context) {
        if let Some(cell) = cx.cell() {
            let all = self.all().filter(|tool| tool.processor_dyn().is_some());
            all.for_each(|tool| cell.join(self.marks(&**tool, cx)));
        }
    }

    /// Returns whether the provider may run a tool. A search whose words may hold private data is
    /// not offered after text of strangers.
    pub(in crate::agents::llm) fn may_offer(&self, tool: &Arc<dyn DynTool>, cx: &Context) -> bool {
        let sink = self.sink(tool, cx);
        sink.is_none_or(|sink| sink.blocked(Marks::NONE).is_none())
    }

    /// Adds the marks of the tools that the provider of the model runs, after the model has
    /// replied.
    pub(in crate::agents::llm) fn note_provider(&self, cx: &Context) {
        if let Some(cell) = cx.cell() {
            let all = self.all().filter(|tool| tool.meta().at_provider);
            all.for_each(|tool| cell.join(self.marks(&**tool, cx)));
        }
    }
}
