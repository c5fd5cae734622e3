//! Faults of builders, returned as values.

use crate::build::support::{run_lines, says};
use adk_build::callback::CallbackContext;
use adk_build::llm::LlmAgent;
use adk_build::tool::FunctionTool;
use adk_build::tools::exit_loop;
use adk_build::{
    AgentMeta, AgentTool, BoxFuture, BuildError, Context, DynAgent, Error, ErrorKind, Flow,
    KeySpec, LoopAgent, ParallelAgent, Prepare, Result, SequentialAgent, Tree,
};
use std::sync::Arc;

fn checks(error: &BuildError) -> Vec<(&str, &str)> {
    error
        .faults()
        .iter()
        .map(|fault| (&*fault.node, fault.check.name()))
        .collect()
}

#[test]
fn all_faults_are_reported_at_once() {
    let search = || FunctionTool::new("search", "Searches.", |(), _| "found");
    let loud = FunctionTool::new("loud", " ", |(), _| ());
    let list = FunctionTool::new("list", "Takes a list.", |_: Vec<u8>, _| ());
    let agent = LlmAgent::builder("1st")
        .instruction("Write about {topic}.")
        .tool(search())
        .tool(search())
        .tool(loud)
        .tool(list)
        .tool(FunctionTool::new("transfer_to_agent", "Mine.", |(), _| ()));
    let tree = SequentialAgent::builder("root").sub_agents((
        agent,
        LoopAgent::builder("never")
            .max_iterations(0)
            .sub_agent(says("user")),
        LlmAgent::builder("leaves").tool(exit_loop::default()),
        LoopAgent::builder("endless").sub_agent(says("")),
        ParallelAgent::builder("empty"),
        says("root"),
    ));
    let all = tree.check();
    let error = tree.build().unwrap_err();
    assert_eq!(all, error.faults());
    assert_eq!(
        error.to_string(),
        "\
name-invalid: `1st` is no name; help: use letters, digits and `_`, not beginning with a digit
tool-duplicate: agent `1st` has two tools of the name `search`; help: remove one of them, or give \
    it another name, `#[tool(name = \"...\")]`
tool-undocumented: agent `1st` has a tool `loud` without a description; help: say when and how to \
    call it: models see nothing else of it
tool-reserved: agent `1st` has a tool of the name `transfer_to_agent`, which the runtime gives to \
    a tool of its own; help: give it another name, `#[tool(name = \"...\")]`
key-missing: agent `1st` reads `topic`, but nothing before it writes that key; help: declare that \
    the session holds it, `.state_key::<TYPE>(\"topic\")`, or give it a first value, \
    `.initial_state(\"topic\", VALUE)`, or read `{topic?}` if it may be absent, or write \
    `\\\\{topic}` if the braces are text
tool-argument: tool `list` of agent `1st` takes arguments that are no object; help: take a struct, \
    whose fields the model fills in
loop-max: `max_iterations` of block `never` is 0; help: it is the largest number of rounds, 1 or \
    more
name-reserved: `user` cannot be the name of a step: events of the user and of models carry it; \
    help: choose another name
exit-outside-loop: agent `leaves` may end a loop by its tool `exit_loop`, but is not inside a \
    loop; help: put it into a `LoopAgent`
loop-endless: loop `endless` has no `max_iterations`, and nothing inside can end it; help: set it, \
    or put an agent that can end a loop into it
name-invalid: `` is no name; help: use letters, digits and `_`, not beginning with a digit
block-empty: block `empty` has no steps; help: remove it, or put an agent into it
name-duplicate: `root` has the name of the tree itself; help: give one of them another name"
    );
}

#[test]
fn structural_faults_are_always_refused_and_flow_faults_when_checked() {
    let tree = |checks| {
        let reader = LlmAgent::builder("reader").instruction("Read {nothing}.");
        SequentialAgent::builder("root")
            .sub_agents((reader, says("a"), says("a")))
            .flow_checks(checks)
    };
    assert_eq!(
        checks(&tree(true).build().unwrap_err()),
        [("reader", "key-missing"), ("a", "name-duplicate")]
    );
    assert_eq!(
        checks(&tree(false).build().unwrap_err()),
        [("a", "name-duplicate")]
    );
    let all: Vec<_> = tree(false)
        .check()
        .into_iter()
        .map(|fault| fault.check.name())
        .collect();
    assert_eq!(all, ["key-missing", "name-duplicate"]);
    let error = Error::from(tree(false).build().unwrap_err());
    assert_eq!(error.kind(), ErrorKind::Config);
    let source =
        std::error::Error::source(&error).and_then(|source| source.downcast_ref::<BuildError>());
    assert_eq!(source.unwrap().faults().len(), 1);
}

#[test]
fn branches_and_rounds_are_checked_too() {
    let writer = |name| {
        LlmAgent::builder(name)
            .instruction("Write.")
            .output_key("draft")
    };
    let reader = || LlmAgent::builder("reader").instruction("Read {draft}.");
    let text = |error: BuildError| error.to_string();
    assert_eq!(
        text(
            ParallelAgent::builder("both")
                .sub_agents((writer("one"), writer("two")))
                .build()
                .unwrap_err()
        ),
        "key-race: agent `two` writes `draft`, which agent `one` writes at the same time; help: \
         let each branch write a key of its own, and join them after the parallel block"
    );
    let late = LoopAgent::builder("again")
        .max_iterations(2)
        .sub_agents((reader(), writer("late")));
    assert_eq!(
        text(late.build().unwrap_err()),
        "key-maybe-missing: agent `reader` reads `draft`, but agent `late` writes it later in the \
         same loop, so it is not there in the first round; help: give it a first value, \
         `.initial_state(\"draft\", VALUE)`, or read `{draft?}` if it may be absent"
    );
    let early = SequentialAgent::builder("all").sub_agents((reader(), writer("late")));
    assert!(
        text(early.build().unwrap_err())
            .contains("it is written later, by agent `late`: run that before agent `reader`")
    );
}

#[test]
fn check_and_build_report_the_same_faults() {
    let writer = |name| {
        LlmAgent::builder(name)
            .instruction("Write.")
            .output_key("draft")
    };
    let tree = SequentialAgent::builder("root").sub_agents((
        ParallelAgent::builder("both").sub_agents((writer("one"), writer("two"))),
        LlmAgent::builder("reader").instruction("Read {review}."),
    ));
    let faults = tree.check();
    let error = tree.build().unwrap_err();
    assert_eq!(
        checks(&error),
        [("two", "key-race"), ("reader", "key-missing")]
    );
    assert_eq!(error.faults(), faults);
}

#[test]
fn a_skippable_block_guarantees_no_writes() {
    let tree = |skips: bool| {
        let writer = LlmAgent::builder("writer")
            .instruction("Write.")
            .output_key("draft");
        let mut work = LoopAgent::builder("work")
            .max_iterations(2)
            .sub_agent(writer);
        if skips {
            work = work.before_agent(|_: &mut CallbackContext| Some("Nothing is to be done."));
        }
        SequentialAgent::builder("root").sub_agents((
            work,
            LlmAgent::builder("reader").instruction("Read {draft}."),
        ))
    };
    assert!(tree(false).build().is_ok());
    // A callback that returns nothing skips nothing.
    let writer = LlmAgent::builder("writer")
        .instruction("Write.")
        .output_key("draft");
    let silent = SequentialAgent::builder("silent")
        .sub_agent(writer)
        .before_agent(|_: &mut CallbackContext| ());
    let reader = LlmAgent::builder("reader").instruction("Read {draft}.");
    assert!(
        SequentialAgent::builder("root")
            .sub_agents((silent, reader))
            .build()
            .is_ok()
    );
    assert_eq!(
        tree(true).build().unwrap_err().to_string(),
        "key-maybe-missing: agent `reader` reads `draft`, but nothing in loop `work` runs when the \
         block's `before_agent` answers in its place (this includes agent `writer`, which writes \
         it); help: give it a first value, `.initial_state(\"draft\", VALUE)`, or read `{draft?}` \
         if it may be absent"
    );
}

#[test]
fn an_agent_refused_alone_is_checked_within_the_tree() {
    let reader = || {
        LlmAgent::builder("reader")
            .instruction("Read {draft}.")
            .tool(exit_loop::default())
    };
    let part = SequentialAgent::builder("part").sub_agent(reader()).build();
    assert_eq!(
        checks(part.as_ref().unwrap_err()),
        [("reader", "key-missing"), ("reader", "exit-outside-loop")]
    );
    let writer = LlmAgent::builder("writer")
        .instruction("Write.")
        .output_key("draft");
    let whole = LoopAgent::builder("whole")
        .max_iterations(2)
        .sub_agents((writer, part))
        .build();
    assert_eq!(whole.unwrap().check(), []);
}

#[test]
fn a_reused_agent_or_block_is_one_fault() {
    let same: Arc<dyn DynAgent> = Arc::new(says("a"));
    let error = SequentialAgent::builder("root")
        .sub_agents([same.clone(), same])
        .build()
        .unwrap_err();
    assert_eq!(checks(&error), [("a", "agent-reused")]);

    let error = SequentialAgent::builder("root")
        .sub_agents([says("a"), says("a")])
        .build()
        .unwrap_err();
    assert_eq!(checks(&error), [("a", "name-duplicate")]);

    let block = SequentialAgent::builder("block")
        .sub_agents([says("a"), says("b")])
        .build()
        .unwrap();
    let twice = ParallelAgent::builder("root")
        .sub_agents([block.clone(), block])
        .build();
    assert_eq!(
        twice.unwrap_err().to_string(),
        "agent-reused: `block` is the same block as one before it; help: build a second one, with \
         a name of its own"
    );
    let llm = Arc::new(LlmAgent::builder("llm").build().unwrap());
    let error = SequentialAgent::builder("root")
        .sub_agents([llm.clone(), llm])
        .build()
        .unwrap_err();
    assert_eq!(checks(&error), [("llm", "agent-reused")]);

    // An agent with subagents counts as one agent, regardless of the number of names in it.
    let team =
        LlmAgent::builder("team").sub_agents([LlmAgent::builder("one"), LlmAgent::builder("two")]);
    let team = Arc::new(team.build().unwrap());
    let error = SequentialAgent::builder("root")
        .sub_agents([team.clone(), team])
        .build()
        .unwrap_err();
    assert_eq!(checks(&error), [("team", "agent-reused")]);
}

#[test]
fn agents_below_an_llm_agent_are_part_of_the_tree() {
    let same: Arc<dyn DynAgent> = Arc::new(LlmAgent::builder("expert").build().unwrap());
    let router = LlmAgent::builder("router").sub_agents([same.clone(), same.clone()]);
    assert_eq!(
        checks(&router.clone().build().unwrap_err()),
        [("router", "agent-reused")]
    );
    let router = LlmAgent::builder("router").sub_agent(same.clone());
    let error = SequentialAgent::builder("root")
        .sub_agents((router, same))
        .build()
        .unwrap_err();
    assert_eq!(checks(&error), [("expert", "agent-reused")]);

    let deep = LlmAgent::builder("b").sub_agents((
        LlmAgent::builder("router").tool(FunctionTool::new("t", "", |(), _| ())),
        LoopAgent::builder("empty"),
        LlmAgent::builder("not valid"),
    ));
    let error = LlmAgent::builder("router")
        .sub_agent(deep)
        .build()
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "\
name-duplicate: `router`, a step in `router`, has the name of the tree itself; help: give one of \
    them another name
tool-undocumented: agent `router` has a tool `t` without a description; help: say when and how to \
    call it: models see nothing else of it
block-empty: block `empty` has no steps; help: remove it, or put an agent into it
name-invalid: `not valid` is no name; help: use letters, digits and `_`, not beginning with a digit"
    );
}

#[test]
fn too_deep_trees_are_refused_without_a_stack_overflow() {
    let mut tree = LoopAgent::builder("l")
        .max_iterations(1)
        .sub_agent(says("a"));
    for depth in 0..100_000 {
        tree = LoopAgent::builder(format!("l{depth}"))
            .max_iterations(1)
            .sub_agent(tree);
    }
    let error = tree.build().unwrap_err();
    assert_eq!(error.faults()[0].check.name(), "syntax");
    assert!(
        error
            .to_string()
            .contains("128 blocks and agents are nested"),
        "{error}"
    );

    let mut agent = LlmAgent::builder("l");
    for depth in 0..10_000 {
        agent = LlmAgent::builder(format!("l{depth}")).sub_agent(agent);
    }
    assert_eq!(
        agent.build().unwrap_err().faults()[0].check.name(),
        "syntax"
    );
}

#[test]
fn a_single_agent_is_a_tree() {
    let error = Tree::of(says("not a name")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "name-invalid: `not a name` is no name; help: use letters, digits and `_`, not beginning \
         with a digit"
    );
    for name in ["user", "model"] {
        assert_eq!(
            Tree::of(says(name)).unwrap_err().faults()[0].check.name(),
            "name-reserved"
        );
        assert_eq!(
            SequentialAgent::builder(name)
                .sub_agent(says("a"))
                .build()
                .unwrap_err()
                .faults()
                .len(),
            1
        );
    }
    assert!(Tree::of(says("class")).is_ok() && Tree::of(says("naïve")).is_ok());
}

/// An agent that ends the loop `outer`.
struct EndsOuter;

impl DynAgent for EndsOuter {
    fn meta(&self) -> &AgentMeta<'_> {
        const {
            &AgentMeta::custom("ends_outer")
                .may_exit(true)
                .exits(&["outer"])
        }
    }
    fn run_dyn<'a>(&'a self, _: &'a mut Context) -> BoxFuture<'a, Result<Flow>> {
        Box::pin(async { Ok(Flow::ExitTo("outer".into())) })
    }
    fn prepare_dyn(&self, _: &mut Prepare<'_>) {}
}

#[test]
fn an_exit_by_name_outside_of_all_loops_is_one_fault() {
    assert_eq!(
        SequentialAgent::builder("root")
            .sub_agent(EndsOuter)
            .build()
            .unwrap_err()
            .to_string(),
        "exit-outside-loop: agent `ends_outer` may end loop `outer`, but no loop of that name is \
         around it; help: put it into a `LoopAgent` of that name"
    );
    assert!(
        LoopAgent::builder("outer")
            .sub_agent(EndsOuter)
            .build()
            .is_ok()
    );
}

#[test]
fn an_empty_loop_is_not_reported_as_endless_too() {
    assert_eq!(
        checks(&LoopAgent::builder("again").build().unwrap_err()),
        [("again", "block-empty")]
    );
    let zero = LoopAgent::builder("again").max_iterations(0).build();
    assert_eq!(
        checks(&zero.unwrap_err()),
        [("again", "loop-max"), ("again", "block-empty")]
    );
}

#[test]
fn duplicate_declarations_of_a_key_are_refused() {
    let tree = || SequentialAgent::builder("root").sub_agent(says("a"));
    let twice = tree()
        .state_key::<String>("k")
        .initial_state("k", 3_u32)
        .state_key::<u32>("s")
        .state_key::<u32>("s");
    let said: Vec<String> = twice.check().iter().map(ToString::to_string).collect();
    assert_eq!(
        said.join("\n"),
        "key-duplicate: `k` is declared twice: by `.initial_state` and by `.state_key`; help: \
         remove one of them, or choose another name\nkey-duplicate: `s` is declared twice by \
         `.state_key`; help: remove one of them, or choose another name"
    );
    assert!(twice.flow_checks(false).build().is_ok());
    assert!(
        tree()
            .initial_state("k", "a")
            .state_key::<String>("s")
            .build()
            .is_ok()
    );
}

#[test]
fn a_text_as_first_value_may_be_a_str() {
    /// An agent that reads a text.
    struct Reads;

    impl DynAgent for Reads {
        fn meta(&self) -> &AgentMeta<'_> {
            const READS: &[KeySpec<'_>] = &[KeySpec::new("text", "String").of::<String>()];
            const { &AgentMeta::custom("reads").reads(READS) }
        }
        fn run_dyn<'a>(&'a self, _: &'a mut Context) -> BoxFuture<'a, Result<Flow>> {
            Box::pin(async { Ok(Flow::Continue) })
        }
        fn prepare_dyn(&self, _: &mut Prepare<'_>) {}
    }

    let tree = || SequentialAgent::builder("root").sub_agent(Reads);
    assert!(tree().initial_state("text", "a").build().is_ok());
    assert_eq!(
        tree()
            .flow_checks(false)
            .initial_state("means", [f32::NAN])
            .build()
            .unwrap_err()
            .to_string(),
        "syntax: the initial value of state key `means` holds NaN at `[0]`, which JSON has no form \
         for; help: use an `Option<f64>` that is `None` where there is no number"
    );
    assert_eq!(
        tree()
            .initial_state("text", 1_u8)
            .build()
            .unwrap_err()
            .to_string(),
        "key-type: agent `reads` reads `text` as `String`, but `.initial_state` gives it as `u8`; \
         help: read it as `u8`, or read another key"
    );
    assert_eq!(
        tree()
            .state_key::<u8>("text")
            .build()
            .unwrap_err()
            .to_string(),
        "key-type: agent `reads` reads `text` as `String`, but `.state_key` declares it as `u8`; \
         help: read it as `u8`, or read another key"
    );
}

/// An agent whose run panics.
struct Panics;

impl DynAgent for Panics {
    fn meta(&self) -> &AgentMeta<'_> {
        const { &AgentMeta::custom("panics") }
    }
    fn run_dyn<'a>(&'a self, _: &'a mut Context) -> BoxFuture<'a, Result<Flow>> {
        Box::pin(async { panic!("on purpose") })
    }
    fn prepare_dyn(&self, _: &mut Prepare<'_>) {}
}

#[tokio::test(start_paused = true)]
async fn an_error_names_the_agent_and_its_path() {
    let tree = LoopAgent::builder("lp")
        .max_iterations(2)
        .sub_agent(Panics)
        .build()
        .unwrap();
    let error = run_lines(&tree).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.path().unwrap().to_string()),
        (ErrorKind::Panic, "lp#1/panics".into())
    );
}

#[test]
fn a_key_is_a_name_that_prompts_can_read() {
    let writes = |key: &'static str| {
        LlmAgent::builder("writer")
            .instruction("Write.")
            .output_key(key)
    };
    for key in ["draft", "user:plan", "temp:名前", "type"] {
        assert_eq!(writes(key).check(), [], "{key}");
    }
    for key in ["no key", "", "1st", "usr:plan", "user:", "a-b"] {
        let error = writes(key).build().unwrap_err();
        assert_eq!(checks(&error), [("writer", "name-invalid")], "{key}");
    }
    let desk = LlmAgent::builder("desk")
        .instruction("Hand over.")
        .sub_agent(writes("no key"));
    assert_eq!(
        checks(&desk.build().unwrap_err()),
        [("writer", "name-invalid")]
    );
    // Other faults of a single agent are reported as well.
    let desk = LlmAgent::builder("desk")
        .instruction("Hand over.")
        .sub_agent(writes("draft").max_turns(0));
    assert_eq!(checks(&desk.build().unwrap_err()), [("writer", "syntax")]);
    assert_eq!(
        writes("no key").build().unwrap_err().to_string(),
        "name-invalid: agent `writer` writes `no key`, which is no key that a prompt can read; \
         help: use letters, digits and `_`, not beginning with a digit, perhaps after `user:`, \
         `app:` or `temp:`, as in `no_key`"
    );
    let json = serde_json::json!({
        "name": "root", "agent_class": "SequentialAgent",
        "sub_agents": [
            {"name": "writer", "instruction": "Write.", "output_key": "no key"},
            {"name": "desk", "instruction": "Hand over.", "sub_agents": [
                {"name": "clerk", "instruction": "Write.", "output_key": "no key"},
            ]},
        ],
    });
    let error = Tree::from_config(&json, &adk_build::Registry::default()).unwrap_err();
    let places: Vec<_> = error.faults().iter().map(|fault| &*fault.place).collect();
    assert_eq!(
        places,
        ["sub_agents[0].output_key", "sub_agents[1].sub_agents"]
    );
}

#[test]
fn an_agent_that_waits_cannot_be_a_tool() {
    let pay = FunctionTool::new("pay", "Pays.", |(), _| ()).confirm(true);
    let payer = LlmAgent::builder("payer")
        .description("Pays.")
        .tool(pay)
        .build()
        .unwrap();
    let clerk = LlmAgent::builder("clerk")
        .description("Hands over.")
        .sub_agent(payer)
        .build()
        .unwrap();
    let error = LlmAgent::builder("boss")
        .tool(AgentTool::new(clerk))
        .build()
        .unwrap_err();
    assert_eq!(checks(&error), [("boss", "wait-in-tool")]);
}
