//! Execution of built trees.

use crate::build::support::{run_lines, says};
use adk_build::{DynAgent, LoopAgent, ParallelAgent, SequentialAgent, Tree};
use std::sync::Arc;

#[tokio::test(start_paused = true)]
async fn a_loop_may_be_the_root() {
    let tree = LoopAgent::builder("lp")
        .max_iterations(2)
        .sub_agent(says("a"))
        .sub_agent(says("b"))
        .build()
        .unwrap();
    assert_eq!(
        run_lines(&tree).await.unwrap(),
        ["lp#1/a", "lp#1/b", "lp#2/a", "lp#2/b"]
    );
}

#[tokio::test(start_paused = true)]
async fn blocks_are_steps_of_one_list() {
    let inner = LoopAgent::builder("inner")
        .max_iterations(3)
        .sub_agent(says("a").exits_in(2).announced())
        .sub_agent(says("b"));
    let both = ParallelAgent::builder("both").sub_agents([says("left"), says("right")]);
    let tree = SequentialAgent::builder("root")
        .sub_agent(inner)
        .sub_agent(both)
        .build()
        .unwrap();
    assert_eq!(tree.spec().steps.len(), 14);
    let expected = [
        "root/inner#1/a",
        "root/inner#1/b",
        "root/inner#2/a",
        "root/both/left [both.left]",
        "root/both/right [both.right]",
    ];
    assert_eq!(run_lines(&tree).await.unwrap(), expected);
    // A built block that is a trait object is inlined as well.
    let shared: Arc<dyn DynAgent> = Arc::new(tree);
    let outer = LoopAgent::builder("outer")
        .max_iterations(1)
        .sub_agent(shared)
        .build()
        .unwrap();
    assert_eq!(outer.spec().steps.len(), 16);
    assert_eq!(
        run_lines(&outer).await.unwrap()[0],
        "outer#1/root/inner#1/a"
    );
}

#[tokio::test(start_paused = true)]
async fn any_agent_may_be_the_root() {
    let agent: Arc<dyn DynAgent> = Arc::new(says("alone"));
    assert_eq!(run_lines(&*agent).await.unwrap(), ["alone"]);
    let tree = Tree::of(agent).unwrap();
    assert_eq!(run_lines(&tree).await.unwrap(), ["alone"]);
}

#[tokio::test(start_paused = true)]
async fn unchecked_flow_allows_exits_without_announcement_or_loop() {
    let tree = |checks| {
        let body = SequentialAgent::builder("body").sub_agents([says("a").exits_in(2), says("b")]);
        LoopAgent::builder("lp").sub_agent(body).flow_checks(checks)
    };
    let error = tree(true).build().unwrap_err();
    assert_eq!(
        error
            .faults()
            .iter()
            .map(|fault| fault.check.name())
            .collect::<Vec<_>>(),
        ["loop-endless"]
    );
    let tree = tree(false).build().unwrap();
    assert_eq!(
        run_lines(&tree).await.unwrap(),
        ["lp#1/body/a", "lp#1/body/b", "lp#2/body/a"]
    );

    let tree = SequentialAgent::builder("root").sub_agents([says("a").exits_in(0), says("b")]);
    let tree = tree.flow_checks(false).build().unwrap();
    assert_eq!(run_lines(&tree).await.unwrap(), ["root/a", "root/b"]);
}

#[tokio::test(start_paused = true)]
async fn a_tree_is_not_copied_and_serves_many_runs_at_once() {
    let tree = Arc::new(
        LoopAgent::builder("lp")
            .max_iterations(3)
            .sub_agent(says("a"))
            .build()
            .unwrap(),
    );
    let runs: Vec<_> = (0..8)
        .map(|_| {
            let tree = tree.clone();
            tokio::spawn(async move { run_lines(&*tree).await.unwrap().len() })
        })
        .collect();
    for run in runs {
        assert_eq!(run.await.unwrap(), 3);
    }
}
