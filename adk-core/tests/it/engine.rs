//! The engine interface between a run and its journal: an engine that stores everything as JSON in
//! a map.

use crate::support::*;
use adk_build::engine::{
    self, Body, ClaimId, Engine, Reply, Retention, Roles, Slot, StepKey, Stored, Wait,
};
use adk_build::session::Location;
use adk_build::{BoxFuture, Error, Event, Flow, Result, Runner};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A journal that answers later, like a store, and keeps each event, step and note under its key.
#[derive(Clone, Default)]
struct Journal(Arc<Mutex<BTreeMap<String, String>>>);

impl Journal {
    fn record(&self, key: String, value: String) {
        let old = self.0.lock().unwrap().insert(key.clone(), value);
        assert_eq!(old, None, "{key} is recorded twice");
    }
}

impl engine::Journal for Journal {
    fn commit<'a>(&'a self, slot: Slot, body: Body) -> Reply<'a, Result<Stored>> {
        Reply::Later(Box::pin(async move {
            tokio::task::yield_now().await;
            // The stored text is the only remainder of the event.
            let mut draft = body.draft().await?;
            let text = serde_json::to_string(&*draft.event).unwrap();
            self.record(slot.to_string(), draft.event.text());
            for done in &slot.done {
                self.record(format!("{}.", done.path), format!("{:?}", done.flow));
            }
            draft.event = Arc::new(serde_json::from_str(&text).unwrap());
            Ok(slot.append(draft))
        }))
    }
    fn step(
        &self,
        _: ClaimId,
        key: StepKey,
        work: BoxFuture<'static, Result<Value>>,
    ) -> BoxFuture<'_, Result<Value>> {
        Box::pin(async move {
            let value = work.await?;
            self.record(key.to_string(), value.to_string());
            Ok(value)
        })
    }
    fn answer(&self, _: ClaimId, wait: Wait) -> BoxFuture<'_, Result<Option<Value>>> {
        let known = (&*wait.key.name == "decision").then(|| Value::from(true));
        Box::pin(std::future::ready(Ok(known)))
    }
}

impl Engine for Journal {
    fn retention(&self) -> Retention {
        Retention::Durable
    }
    fn location(&self) -> Location {
        Location::Memory
    }
    fn roles(&self) -> Roles<'_> {
        Roles {
            registry: None,
            waits: None,
            keys: None,
            driver: None,
            remote: None,
            timers: None,
        }
    }
}

#[tokio::test]
async fn every_record_has_a_unique_key() {
    let works = |name| {
        by(name, |cx| {
            Box::pin(async move {
                let (one, two) = (
                    cx.step("double", async { Ok(2) }),
                    cx.step("double", async { Ok(4) }),
                );
                let sum: i32 = two.await? + one.await?;
                cx.emit(Event::new().with_text("one")).await?;
                cx.emit(Event::new().with_text("two").with_state("user:sum", sum))
                    .await?;
                Ok(Flow::exit_if(cx.wait("decision").await?))
            })
        })
    };
    let one = vec![run(put("x", "note", |_| 1))];
    let tree = Tree::new(
        "w",
        vec![
            repeat("l", None, vec![run(works("a"))]),
            parallel("p", vec![run(say("b")), run(say("c"))]),
            repeat("m", Some(2), vec![run(say("d"))]),
            repeat(
                "n",
                Some(2),
                vec![each(
                    "e",
                    "item",
                    "items",
                    vec![select("s", "item", vec![vec![], one])],
                )],
            ),
            // Marks of finished branches are part of the next commit.
            run(say("z")),
        ],
    )
    .lets("items", serde_json::json!([0, 1]));
    let journal = Journal::default();
    let runner: Runner = Runner::builder().engine(journal.clone()).build().unwrap();
    let outcome = runner.run(&tree, "go").await.unwrap();
    let records = journal.0.lock().unwrap();
    let lines: Vec<_> = records
        .iter()
        .map(|(key, value)| format!("{key} {value}"))
        .collect();
    assert_eq!(
        lines,
        [
            "w!0 go",
            "w/l#1/a!0 one",
            "w/l#1/a!1 two",
            "w/l#1/a. Exit",
            r#"w/l#1/a:step.double@0 {"$call":{"kind":"step"},"$value":2}"#,
            r#"w/l#1/a:step.double@1 {"$call":{"kind":"step"},"$value":4}"#,
            "w/m#1/d!0 d",
            "w/m#1/d. Continue",
            "w/m#2/d!0 d",
            "w/m#2/d. Continue",
            "w/n#1/e!0 ",
            "w/n#1/e[0]!0 ",
            "w/n#1/e[1]!0 ",
            "w/n#1/e[1]/s/x!0 ",
            "w/n#1/e[1]/s/x. Continue",
            "w/n#2/e!0 ",
            "w/n#2/e[0]!0 ",
            "w/n#2/e[1]!0 ",
            "w/n#2/e[1]/s/x!0 ",
            "w/n#2/e[1]/s/x. Continue",
            "w/p/b!0 b",
            "w/p/b. Continue",
            "w/p/c!0 c",
            "w/p/c. Continue",
            "w/z!0 z",
        ]
    );
    assert_eq!(outcome.get::<i32>("user:sum").unwrap(), Some(6));
    assert_eq!(outcome.get::<Vec<i32>>("note").unwrap(), Some(vec![1]));
}

#[tokio::test]
async fn an_error_of_a_step_is_the_error_of_its_agent() {
    let tree = Tree::new(
        "w",
        vec![run(by("a", |cx| {
            Box::pin(async move {
                cx.step::<(), _, _>("fetch", async { Err(Error::other("no route")) })
                    .await?;
                Ok(Flow::Continue)
            })
        }))],
    );
    let runner: Runner = Runner::builder()
        .engine(Journal::default())
        .build()
        .unwrap();
    let error = runner.run(&tree, "go").await.unwrap_err();
    assert_eq!(error.to_string(), "agent `a` (at w/a): no route");
}
