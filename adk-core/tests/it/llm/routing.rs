//! Trees at run time: which agent receives the next message, and what subagents inherit.

use super::*;
use adk_build::llm::{Instruction, LlmAgent};
use adk_build::{Content, ErrorKind, SequentialAgent};

fn to(name: &str) -> Value {
    json!({"agent_name": name})
}

fn kid(name: &'static str) -> adk_build::build::LlmAgentBuilder {
    LlmAgent::builder(name).description(format!("Knows {name}."))
}

/// Returns the authors of the answers to each of `messages` messages in one session.
async fn answers<W>(model: &ScriptedModel, root: &W, messages: usize) -> Vec<Vec<String>>
where
    W: adk_build::Workflow<Input = Content, Output = ()> + adk_build::Needs,
{
    let session = runner(model).session("u", "s");
    let mut all = Vec::new();
    for number in 0..messages {
        let mut stream = session.run(root, format!("message {number}")).stream();
        let (events, error) = collect(&mut stream).await;
        assert!(error.is_none(), "{error:?}");
        let mut paths: Vec<_> = events.iter().map(|event| event.path.to_string()).collect();
        paths.dedup();
        all.push(paths);
    }
    all
}

#[tokio::test]
async fn the_last_answering_agent_receives_the_next_message() {
    let root = LlmAgent::builder("root")
        .sub_agent(kid("kid"))
        .build()
        .unwrap();
    let model = ScriptedModel::new()
        .on("root")
        .call("transfer_to_agent", to("kid"))
        .on("kid")
        .text("1")
        .text("2");
    let all = answers(&model, &root, 2).await;
    assert_eq!(all, [vec!["root", "root/kid"], vec!["root/kid"]]);
    let tools = &model.requests_of("kid")[1].tools;
    assert_eq!(
        tools[0].parameters["properties"]["agent_name"]["enum"],
        json!(["root"])
    );
}

#[tokio::test]
async fn without_transfer_to_the_parent_the_root_receives_the_next_message() {
    let root = LlmAgent::builder("root")
        .sub_agent(kid("kid").disallow_transfer_to_parent(true))
        .build()
        .unwrap();
    let model = ScriptedModel::new()
        .on("root")
        .call("transfer_to_agent", to("kid"))
        .text("again")
        .on("kid")
        .text("1");
    let all = answers(&model, &root, 2).await;
    assert_eq!(all, [vec!["root", "root/kid"], vec!["root"]]);
}

#[tokio::test]
async fn below_such_an_agent_the_root_receives_the_next_message_too() {
    let mid = kid("mid")
        .disallow_transfer_to_parent(true)
        .sub_agent(kid("leaf"));
    let root = LlmAgent::builder("root").sub_agent(mid).build().unwrap();
    let model = ScriptedModel::new()
        .on("root")
        .call("transfer_to_agent", to("mid"))
        .text("again")
        .on("mid")
        .call("transfer_to_agent", to("leaf"))
        .on("leaf")
        .text("1");
    let all = answers(&model, &root, 2).await;
    assert_eq!(
        all,
        [vec!["root", "root/mid", "root/mid/leaf"], vec!["root"]]
    );
}

#[tokio::test]
async fn a_handover_target_that_never_answered_receives_the_message() {
    let root = LlmAgent::builder("root")
        .sub_agent(kid("kid"))
        .build()
        .unwrap();
    let failing = ScriptedModel::new()
        .on("root")
        .call("transfer_to_agent", to("kid"));
    let failing = failing
        .on("kid")
        .error(adk_build::model::ModelErrorKind::Unauthorized, "no")
        .text("here");
    let session = runner(&failing).session("u", "s");
    assert!(session.run(&root, "1").await.is_err());
    let mut stream = session.run(&root, "2").stream();
    let (events, error) = collect(&mut stream).await;
    assert!(error.is_none());
    assert_eq!(events[0].path.to_string(), "root/kid");
}

#[tokio::test]
async fn a_root_block_starts_from_its_first_step() {
    let asks = LlmAgent::builder("asks").sub_agent(kid("kid"));
    let root = SequentialAgent::builder("root")
        .sub_agent(asks)
        .build()
        .unwrap();
    let model = ScriptedModel::new()
        .on("asks")
        .call("transfer_to_agent", to("kid"))
        .text("2")
        .on("kid")
        .text("1");
    let all = answers(&model, &root, 2).await;
    assert_eq!(all, [vec!["root/asks", "root/asks/kid"], vec!["root/asks"]]);
}

#[tokio::test]
async fn agents_inside_a_block_are_unreachable_and_have_no_parent() {
    let inner = SequentialAgent::builder("block")
        .sub_agent(kid("inner"))
        .build()
        .unwrap();
    let root = LlmAgent::builder("root").sub_agent(inner).build().unwrap();
    let model = ScriptedModel::new()
        .on("root")
        .call("transfer_to_agent", to("block"))
        .text("2")
        .on("inner")
        .text("1");
    let all = answers(&model, &root, 2).await;
    assert_eq!(all, [vec!["root", "root/block/inner"], vec!["root"]]);
    assert!(model.requests_of("inner")[0].tools.is_empty());
}

#[tokio::test]
async fn the_global_instruction_reaches_all_subagents() {
    let mid = kid("mid")
        .instruction("Mid.")
        .global_instruction("Not heard.");
    let root = LlmAgent::builder("root")
        .global_instruction("Global {g}.")
        .instruction("Root.")
        .sub_agent(mid)
        .build()
        .unwrap();
    let model = ScriptedModel::new()
        .on("root")
        .call("transfer_to_agent", to("mid"))
        .on("mid")
        .text("Hi.");
    let session = runner(&model).session("u", "s");
    let mut stream = session.run(&root, "go").state("g", "rule").stream();
    assert!(collect(&mut stream).await.1.is_none());
    let instruction_of = |agent| model.requests_of(agent)[0].system_instruction.clone();
    assert!(
        instruction_of("root").starts_with("Global rule.\n\nRoot.\n\nYou are an agent."),
        "{}",
        instruction_of("root")
    );
    assert!(
        instruction_of("mid").starts_with("Global rule.\n\nMid.\n\nYou are an agent."),
        "{}",
        instruction_of("mid")
    );
}

#[tokio::test]
async fn the_global_instruction_of_an_agent_inside_a_block_is_ignored() {
    let own = || {
        LlmAgent::builder("own")
            .instruction("Own.")
            .global_instruction("Not heard.")
    };
    let instruction_sent = async |model: &ScriptedModel, tree: Arc<dyn adk_build::DynAgent>| {
        let runner: Runner = Runner::builder().model(model.clone()).build().unwrap();
        runner.run(tree, "go").await.unwrap();
        model.requests_of("own")[0].system_instruction.clone()
    };
    // The root of this tree calls no model, so no global instruction applies.
    let block = SequentialAgent::builder("block")
        .sub_agent(own())
        .build()
        .unwrap();
    let text = instruction_sent(&ScriptedModel::new().text("ok"), Arc::new(block.clone())).await;
    assert!(text.starts_with("Own.\n\nYou are an agent."), "{text}");
    // The root of this tree calls a model, so its global instruction applies, also to agents inside
    // blocks below it.
    for (global, begins) in [
        ("", "Own.\n\nYou are"),
        ("For all.", "For all.\n\nOwn.\n\nYou are"),
    ] {
        let root = LlmAgent::builder("root")
            .global_instruction(global)
            .sub_agent(block.clone())
            .build()
            .unwrap();
        let model = ScriptedModel::new()
            .on("root")
            .call("transfer_to_agent", to("block"))
            .on("own")
            .text("ok");
        let text = instruction_sent(&model, Arc::new(root)).await;
        assert!(text.starts_with(begins), "{global}: {text}");
    }
    // Alone, the agent is the root.
    let text = instruction_sent(
        &ScriptedModel::new().text("ok"),
        Arc::new(own().build().unwrap()),
    )
    .await;
    assert!(text.starts_with("Not heard.\n\nOwn."), "{text}");
}

#[tokio::test]
async fn a_function_makes_the_instruction_of_each_call_and_braces_stay_text() {
    let said = Instruction::function(|cx: adk_build::ReadonlyContext| async move {
        let name: Option<String> = cx.get("name")?;
        Ok::<_, adk_build::Error>(format!(
            "{} of {} {{name}}",
            name.unwrap_or_default(),
            cx.agent_name()
        ))
    });
    let agent = LlmAgent::builder("a").instruction(said).build().unwrap();
    let model = ScriptedModel::new().text("ok");
    let session = runner(&model).session("u", "s");
    let mut stream = session.run(&agent, "go").state("name", "Ann").stream();
    assert!(collect(&mut stream).await.1.is_none());
    let instruction = &model.requests()[0].system_instruction;
    assert!(
        instruction.starts_with("Ann of a {name}\n\nYou are"),
        "{instruction}"
    );
}

#[tokio::test]
async fn a_function_that_fails_or_panics_fails_the_run() {
    let run = |said: Instruction| async move {
        let agent = LlmAgent::builder("a").instruction(said).build().unwrap();
        let model = ScriptedModel::new().text("ok");
        let error = runner(&model).run(&agent, "go").await.unwrap_err();
        assert!(model.requests().is_empty());
        error
    };
    let error = run(Instruction::function(|_| Err::<String, _>("no weather"))).await;
    assert_eq!(error.to_string(), "agent `a` (at a): no weather");
    let error = run(Instruction::function(|_| -> String { panic!("oh") })).await;
    assert_eq!(error.kind(), ErrorKind::Panic);
    let start = "its instruction panicked (reference ";
    assert!(error.message().starts_with(start), "{error}");
}
