//! The agents and tools of a step: transfer targets, agents and workflows as tools, and the tools
//! of all of them. They write keys of elements, they satisfy the defaults of nested inputs, and
//! they use the renamed keys of an instance.
#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

use adk::prelude::*;
use adk::testing::ScriptedModel;
use adk::{DynAgent, ToolError, json};
use std::sync::Arc;

/// Joins the notes.
#[agent(writes = joined)]
fn join(note: &[String]) -> String {
    note.join("|")
}

/// Keeps a note.
#[tool(writes(note: String))]
fn jot(text: &str, cx: &mut ToolContext) -> Result<String, ToolError> {
    cx.state().set("note", text.to_owned())?;
    Ok("kept".to_owned())
}

workflow! {
    /// Notes the request.
    pub Noting(request: String) -> note: String {
        agent scribe -> note: String { instruction: "{request}" }
        scribe
    }
}

workflow! {
    /// Speaks.
    pub Speaking(note: String = "plain") -> said: String {
        agent speaker -> said: String { instruction: "In {note}." }
        speaker
    }
}

/// A workflow with an agent over a list, and a workflow with a nested default after the agent. In
/// both, an agent or a tool of the step writes the note.
macro_rules! belongs {
    ($name:ident, { $($agents:tt)* }, $each:expr) => {
        /// Where the notes are written.
        pub mod $name {
            use super::*;

            workflow! {
                /// Notes on each topic.
                pub Listing(topics: Vec<String>) -> joined: String {
                    $($agents)*
                    each(max = 5, max_concurrency = 1) topic in topics < desk >
                    join
                }
            }

            workflow! {
                /// Takes one note, and speaks.
                pub Once(topic: String) -> said: String {
                    $($agents)*
                    desk;
                    Speaking
                }
            }

            #[tokio::test]
            async fn the_notes_of_the_step_are_found() {
                let each: fn(ScriptedModel, &str) -> ScriptedModel = $each;
                let model = each(each(ScriptedModel::new(), "n1"), "n2");
                let runner = Runner::builder().model(model).build().unwrap();
                let sources = vec!["one".to_owned(), "two".to_owned()];
                let outcome = runner.run(&Listing::default(), sources).await;
                assert_eq!(outcome.unwrap().output, "n1|n2");
                let model = each(ScriptedModel::new(), "n1").on("speaker").text("said");
                let runner = Runner::builder().model(model.clone()).build().unwrap();
                runner.run(&Once::default(), "one").await.unwrap();
                let asked = model.requests_of("speaker")[0].system_instruction.to_string();
                assert!(asked.contains("In n1."), "{asked}");
            }
        }
    };
}

fn hand_over(model: ScriptedModel) -> ScriptedModel {
    model
        .on("desk")
        .call("transfer_to_agent", json!({"agent_name": "clerk"}))
}

fn ask(model: ScriptedModel, tool: &str) -> ScriptedModel {
    model
        .on("desk")
        .call(tool, json!({"request": "a note"}))
        .text("done")
}

belongs!(
    target,
    {
        agent desk { instruction: "Who for {topic}?", transfer: [clerk], max_turns: 3 }
        agent clerk -> note: String { instruction: "Note on {topic}." }
    },
    |model, note| hand_over(model).on("clerk").text(note)
);
belongs!(
    tool_of_a_target,
    {
        agent desk { instruction: "Who for {topic}?", transfer: [clerk], max_turns: 3 }
        agent clerk { instruction: "Note on {topic}.", tools: [jot], max_turns: 3 }
    },
    |model, note| hand_over(model).on("clerk").call("jot", json!({"text": note})).text("done")
);
belongs!(
    agent_as_a_tool,
    {
        agent desk { instruction: "Ask for {topic}.", tools: [agent(clerk)], max_turns: 3 }
        /// Notes.
        agent clerk -> note: String { instruction: "Note on {topic}." }
    },
    |model, note| ask(model, "clerk").on("clerk").text(note)
);
belongs!(
    tool_of_an_agent_as_a_tool,
    {
        agent desk { instruction: "Ask for {topic}.", tools: [agent(clerk)], max_turns: 3 }
        /// Notes.
        agent clerk { instruction: "Note on {topic}.", tools: [jot], max_turns: 3 }
    },
    |model, note| ask(model, "clerk").on("clerk").call("jot", json!({"text": note})).text("done")
);
belongs!(
    workflow_as_a_tool,
    {
        agent desk { instruction: "Ask for {topic}.", tools: [agent(Noting)], max_turns: 3 }
    },
    |model, note| ask(model, "noting").on("scribe").text(note)
);
belongs!(
    workflow_as_a_tool_of_a_target,
    {
        agent desk { instruction: "Who for {topic}?", transfer: [clerk], max_turns: 3 }
        agent clerk { instruction: "Ask for {topic}.", tools: [agent(Noting)], max_turns: 3 }
    },
    |model, note| {
        let model = hand_over(model).on("clerk");
        let model = model.call("noting", json!({"request": "a note"})).text("done");
        model.on("scribe").text(note)
    }
);

workflow! {
    /// Nothing here is called `topic` or `answer`.
    pub Renaming(essay: String) -> reply: String {
        agent desk -> answer: String {
            instruction: "Who for {topic}?",
            transfer: [clerk],
            max_turns: 3,
        }
        agent clerk -> answer: String {
            instruction: "Know {topic}.",
            tools: [agent(helper)],
            max_turns: 3,
        }
        /// Helps.
        agent helper { instruction: "Help with {topic}." }
        desk(topic = essay) -> reply
    }
}

#[tokio::test]
async fn agents_of_an_instance_use_its_renamed_keys() {
    let model = hand_over(ScriptedModel::new())
        .on("clerk")
        .call("helper", json!({"request": "?"}))
        .text("known");
    let model = model.on("helper").text("hint");
    let runner = Runner::builder().model(model.clone()).build().unwrap();
    assert_eq!(
        runner
            .run(&Renaming::default(), "ESSAY")
            .await
            .unwrap()
            .output,
        "known"
    );
    for (agent, prompt) in [("clerk", "Know ESSAY."), ("helper", "Help with ESSAY.")] {
        let asked = model.requests_of(agent)[0].system_instruction.clone();
        assert!(asked.contains(prompt), "{asked}");
    }
}

/// Writes a key with the prefix `user:`.
#[agent(writes = user:mood)]
fn put(topic: &str) -> String {
    topic.to_owned()
}

workflow! {
    /// Writes the mood.
    pub Putting(topic: String) {
        put
    }
}

workflow! {
    /// Reads the mood.
    pub Looking(topic: String) {
        agent looker { instruction: "{topic} {user:mood?}" }
        looker
    }
}

workflow! {
    /// Runs the guest parallel to `put`.
    pub Beside(topic: String) {
        agent guest(topic: String) as Arc<dyn DynAgent>;
        parallel < guest; put >
    }
}

workflow! {
    /// Runs the guest before `put`.
    pub Before(topic: String) {
        agent guest(topic: String) as Arc<dyn DynAgent>;
        guest;
        put
    }
}

#[test]
fn the_keys_inside_a_supplied_agent_are_checked() {
    for given in [
        || Arc::new(Putting::default()) as Arc<dyn DynAgent>,
        || Arc::new(Looking::default()) as _,
    ] {
        let error = Beside::new(given()).unwrap_err().to_string();
        assert!(
            error.contains("`guest`") && error.contains("`user:mood`"),
            "{error}"
        );
        Before::new(given()).unwrap();
    }
}
