//! Workers with an old build of a workflow that are replaced by workers with another build in the
//! middle of runs. The new worker has another address, or takes the address of the old one.

use super::cluster::{Client, Deployment, Place, Reference, Runs, Worker, runs_of, settings};
use super::effects;
use super::program::runner;
use super::support::{Setup, free_port, until};
use adk::runner::RunnerBuilder;
use adk::{DefaultProvider, Runner};
use std::collections::HashSet;
use std::net::{Ipv4Addr, SocketAddr};

/// The original workflow.
mod old {
    use adk::prelude::*;
    workflow! {
        /// A question, and branches.
        pub Desk(topic: String) -> report: String {
            agent first -> first: String { instruction: "Begin with {topic}" }
            agent left -> left: String { instruction: "Left of {first}" }
            agent right -> right: String { instruction: "Right of {first}" }
            agent end -> report: String { instruction: "End {left} {right}" }

            first;
            /// Continue with {first}?
            await go: bool;
            sides: parallel <
                left;
                <
                    right;
                    /// Is this right? {right}
                    await fine: bool
                >
            >
            end
        }
    }
}

/// The workflow with a further step at its end, which is compatible.
mod added {
    use adk::prelude::*;
    workflow! {
        /// A question, and branches.
        pub Desk(topic: String) -> report: String {
            agent first -> first: String { instruction: "Begin with {topic}" }
            agent left -> left: String { instruction: "Left of {first}" }
            agent right -> right: String { instruction: "Right of {first}" }
            agent end -> report: String { instruction: "End {left} {right}" }
            agent polisher -> report: String { instruction: "Polish {report}" }

            first;
            /// Continue with {first}?
            await go: bool;
            sides: parallel <
                left;
                <
                    right;
                    /// Is this right? {right}
                    await fine: bool
                >
            >
            end; polisher
        }
    }
}

/// The workflow with another branch, which is incompatible.
mod changed {
    use adk::prelude::*;
    workflow! {
        /// A question, and branches.
        pub Desk(topic: String) -> report: String {
            agent first -> first: String { instruction: "Begin with {topic}" }
            agent left -> left: String { instruction: "Left of {first}" }
            agent above -> right: String { instruction: "Above {first}" }
            agent end -> report: String { instruction: "End {left} {right}" }

            first;
            /// Continue with {first}?
            await go: bool;
            sides: parallel <
                left;
                <
                    above;
                    /// Is this right? {right}
                    await fine: bool
                >
            >
            end
        }
    }
}

/// Adds the workflow in the version of this build, which `ADK_BUILD` selects.
pub fn with_desk(builder: RunnerBuilder<DefaultProvider>) -> RunnerBuilder<DefaultProvider> {
    match std::env::var("ADK_BUILD").unwrap_or_default().as_str() {
        "added" => builder.workflow(added::Desk::default()),
        "changed" => builder.workflow(changed::Desk::default()),
        _ => builder.workflow(old::Desk::default()),
    }
}

/// A deployment of the old build, with a run that waits.
struct Scene {
    deployment: Deployment,
    /// Runner that answers.
    runner: Runner,
    runs: Runs,
    client: Client,
}

impl Scene {
    async fn new() -> Self {
        let worker = Worker::new(free_address(), &[], "old");
        let setup = Setup {
            settings: settings(),
            ..Setup::default()
        };
        let deployment = Deployment::start_with(
            Place::new(),
            setup,
            vec![worker],
            Ipv4Addr::LOCALHOST.into(),
        )
        .await;
        let store = deployment.place.sqlite().await;
        let restate = adk::restate::Restate::new(&deployment.server.ingress(), store).unwrap();
        let runner = runner(restate);
        let runs = runs_of(&["desk"]);
        let client = asks(&deployment, &runner, &runs, "old").await;
        Self {
            deployment,
            runner,
            runs,
            client,
        }
    }

    /// Replaces the worker by another build at the same address.
    async fn replace(&mut self, build: &'static str) {
        let worker = &mut self.deployment.workers[0];
        worker.kill();
        self.deployment.place.note("kill");
        worker.build = build;
        worker.start(&self.deployment.place).await;
        self.deployment.register().await;
    }

    /// Returns the failures that Restate shows for invocations that it keeps retrying.
    async fn failures(&self) -> String {
        let open = self.deployment.open_invocations().await;
        let failure =
            |row: &serde_json::Value| row["last_failure"].as_str().unwrap_or_default().to_owned();
        open.iter().map(failure).collect::<Vec<_>>().join("\n")
    }
}

fn free_address() -> SocketAddr {
    SocketAddr::new(Ipv4Addr::LOCALHOST.into(), free_port())
}

/// Begins runs with a client of a build, and waits until each run waits.
async fn asks(deployment: &Deployment, runner: &Runner, runs: &Runs, build: &str) -> Client {
    let url = deployment.server.ingress();
    let client = deployment.place.client_of(build, Some(&url), runs, false);
    until("the runs wait", async || {
        let waiting = runner.waiting().await.unwrap();
        runs.iter()
            .all(|(_, run)| waiting.iter().any(|wait| wait.run_id == *run))
    })
    .await;
    client
}

/// Waits until the runs have asked this question, and answers.
async fn answer(runner: &Runner, runs: &Runs, key: &str) {
    let asked = async || {
        let waiting = runner.waiting().await.unwrap();
        let is_meant = |id: &str| runs.iter().any(|(_, run)| id.starts_with(&run.to_string()));
        let of_key = waiting
            .into_iter()
            .filter(|wait| is_meant(&wait.id) && wait.path.name() == key);
        of_key.map(|wait| wait.id).collect::<Vec<_>>()
    };
    until("the runs ask", async || asked().await.len() == runs.len()).await;
    for wait in asked().await {
        runner.answer(&wait, true).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Restate: tests/peers/run-restate.sh"]
async fn new_runs_use_a_new_deployment_and_old_runs_end_on_the_old_one() {
    let _alone = super::ALONE.lock().await;
    let reference = Reference::new(&["desk"]).await;
    let Scene {
        deployment,
        runner,
        runs,
        client,
    } = Scene::new().await;
    let mut newer = Worker::new(free_address(), &[], "changed");
    newer.start(&deployment.place).await;
    deployment.server.register(newer.address).await;
    let new_runs = runs_of(&["desk"]);
    let new_client = asks(&deployment, &runner, &new_runs, "changed").await;
    for key in ["go", "fine"] {
        answer(&runner, &runs, key).await;
        answer(&runner, &new_runs, key).await;
    }
    let (endings, new_endings) = (client.endings().await, new_client.endings().await);
    let checked = deployment.check(&reference, &runs, &endings).await;
    assert!(
        checked.faults.is_empty() && checked.again == 0,
        "{checked:?}"
    );
    let effects = deployment.place.effects();
    let processes = |runs: &Runs| effects::processes_of(&effects, Some(runs[0].1));
    assert_eq!(
        processes(&runs).into_keys().collect::<HashSet<_>>(),
        [deployment.workers[0].pid()].into()
    );
    assert_eq!(
        processes(&new_runs).into_keys().collect::<HashSet<_>>(),
        [newer.pid()].into()
    );
    let above = effects::of_run(&effects, new_runs[0].1);
    assert!(
        above.contains(&effects::Seen::End(
            "desk/sides/sequence_1/above:model@0".to_owned()
        )),
        "{above:?}"
    );
    assert_eq!(new_endings.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Restate: tests/peers/run-restate.sh"]
async fn a_compatible_build_takes_over_runs_in_place() {
    let _alone = super::ALONE.lock().await;
    for is_in_branches in [false, true] {
        let mut scene = Scene::new().await;
        if is_in_branches {
            answer(&scene.runner, &scene.runs, "go").await;
            until("a branch asks", async || {
                !scene.runner.waiting().await.unwrap().is_empty()
            })
            .await;
        }
        scene.replace("added").await;
        if !is_in_branches {
            answer(&scene.runner, &scene.runs, "go").await;
        }
        answer(&scene.runner, &scene.runs, "fine").await;
        let endings = scene.client.endings().await;
        assert_eq!(
            endings.len(),
            1,
            "{}",
            scene
                .deployment
                .describe(&scene.runner, scene.runs[0].1)
                .await
        );
        let output = endings[0].output.to_string();
        assert!(
            output.starts_with("\"polisher at desk/polisher"),
            "{output}"
        );
        let seen = effects::of_run(&scene.deployment.place.effects(), scene.runs[0].1);
        let begun = seen
            .iter()
            .filter(|line| matches!(line, effects::Seen::Begin(..)))
            .count();
        assert_eq!(begun, 5, "each call once: {seen:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Restate: tests/peers/run-restate.sh"]
async fn an_incompatible_build_is_refused_until_it_is_rolled_back() {
    let _alone = super::ALONE.lock().await;
    let reference = Reference::new(&["desk"]).await;
    for is_in_branches in [false, true] {
        let mut scene = Scene::new().await;
        if is_in_branches {
            answer(&scene.runner, &scene.runs, "go").await;
            until("a branch asks", async || {
                !scene.runner.waiting().await.unwrap().is_empty()
            })
            .await;
        }
        scene.replace("changed").await;
        answer(
            &scene.runner,
            &scene.runs,
            if is_in_branches { "fine" } else { "go" },
        )
        .await;
        until("the reason is shown", async || {
            let failures = scene.failures().await;
            failures.contains("-     llm right") && failures.contains("+     llm above")
        })
        .await;
        scene.replace("old").await;
        if !is_in_branches {
            answer(&scene.runner, &scene.runs, "fine").await;
        }
        let endings = scene.client.endings().await;
        let checked = scene
            .deployment
            .check(&reference, &scene.runs, &endings)
            .await;
        assert!(
            checked.faults.is_empty() && checked.again == 0,
            "{is_in_branches}: {checked:?}"
        );
    }
}
