//! Workflows of every kind of block, whose agents have side effects and read keys of others.

use crate::support::*;
use adk_build::spec::{Attempts, KeySpec, Over, StepKind};
use adk_build::{Context, Error, ErrorKind, Event, Flow, KeySpec as Key, Result, Secret};
use serde_json::{Value, json};
use std::time::Duration;

/// Makes an agent with a call, an event with its result and the number of earlier events, and a
/// call whose record is its event.
pub fn works(name: &'static str) -> By {
    let mut agent = by(name, move |cx| Box::pin(work(name, cx)));
    agent.meta = agent
        .meta
        .writes(Box::leak(Box::new([KeySpec::new(name, "Value")])));
    agent
}

async fn work(name: &'static str, cx: &mut Context) -> Result<Flow> {
    let said: u64 = cx.state().get(name)?.unwrap_or_default();
    let gave: u64 = cx.step("model", async move { Ok(said + 1) }).await?;
    cx.state().set("temp:last", gave)?;
    cx.emit(
        Event::new()
            .with_text(format!("{name} {gave}"))
            .with_state(name, gave),
    )
    .await?;
    let last: Option<u64> = cx.state().get("temp:last")?;
    cx.emit_call(async move { Ok(Event::new().with_text(format!("{name} is done, {last:?}"))) })
        .await?;
    Ok(Flow::Continue)
}

/// Makes an agent that derives a secret from its state and reports whether it is odd.
fn hides(name: &'static str) -> By {
    let mut agent = by(name, move |cx| {
        Box::pin(async move {
            let known: Option<Secret<u64>> = cx.state().get(name)?;
            let next = known.map_or(1, |known| known.expose() + 1);
            let secret: Secret<u64> = cx
                .step("model", async move { Ok(Secret::new(next)) })
                .await?;
            cx.state().set(name, &secret)?;
            cx.emit(Event::new().with_text(format!("{name} {}", secret.expose() % 2)))
                .await?;
            Ok(Flow::Continue)
        })
    });
    agent.meta = agent
        .meta
        .writes(Box::leak(Box::new([KeySpec::new(name, "Secret<u64>")])));
    agent
}

/// Makes an agent that emits the secret of another agent.
fn tells(name: &'static str, key: &'static str) -> By {
    by(name, move |cx| {
        Box::pin(async move {
            let secret: Option<Secret<u64>> = cx.state().get(key)?;
            let twice: u64 = cx
                .step(
                    "twice",
                    async move { Ok(secret.map_or(0, |n| n.expose() * 2)) },
                )
                .await?;
            cx.emit(Event::new().with_text(format!("{key} is {twice} / 2")))
                .await?;
            Ok(Flow::Continue)
        })
    })
}

/// Makes an agent that exits after the other agent has emitted `times` events.
fn enough(name: &'static str, key: &'static str, times: u64) -> By {
    by(name, move |cx| {
        Box::pin(async move {
            let said: u64 = cx.state().get(key)?.unwrap_or_default();
            let done: bool = cx.step("judge", async move { Ok(said >= times) }).await?;
            Ok(Flow::exit_if(done))
        })
    })
}

/// Makes an agent with two concurrent calls.
fn both(name: &'static str) -> By {
    by(name, |cx| {
        Box::pin(async move {
            let (one, two) = (
                cx.step("one", async { Ok(1) }),
                cx.step("two", async { Ok(2) }),
            );
            let (two, one): (i32, i32) = (two.await?, one.await?);
            cx.emit(Event::new().with_state("sum", one + two)).await?;
            Ok(Flow::Continue)
        })
    })
}

/// Makes an agent that updates its own keys, around a key that is set and an update that fails.
fn counts(name: &'static str) -> By {
    by(name, move |cx| {
        Box::pin(async move {
            let before: Option<u64> = cx.state().get(&format!("user:{name}"))?;
            cx.state().set("waits", before.unwrap_or_default())?;
            let mut all = Vec::new();
            for scope in ["user:", "app:", "temp:", ""] {
                let key = format!("{scope}{name}");
                let n: u64 = cx
                    .state()
                    .update(key.clone(), |n: Option<u64>| n.unwrap_or(0) + 1)
                    .await?;
                assert_eq!(cx.state().get(&key)?, Some(n));
                all.push(n);
            }
            let failed = cx
                .state()
                .update("waits", |_: Option<String>| 1)
                .await
                .is_err();
            cx.emit(Event::new().with_text(format!("{name} {before:?} {all:?} {failed}")))
                .await?;
            cx.state()
                .update(name, |n: Option<u64>| n.unwrap_or(0) * 10)
                .await?;
            Ok(Flow::Continue)
        })
    })
}

pub fn item(name: &'static str) -> By {
    item_but(name, None)
}

/// Makes an agent that fails for one item.
fn item_but(name: &'static str, one: Option<u64>) -> By {
    let mut agent = by(name, move |cx| {
        Box::pin(async move {
            let item: u64 = cx.state().get("item")?.unwrap_or_default();
            let double = async move {
                let fails = one == Some(item);
                if fails {
                    Err(Error::other(format!("{item} is odd")))
                } else {
                    Ok(item * 2)
                }
            };
            let twice: u64 = cx.step("double", double).await?;
            cx.emit(Event::new().with_state("note", twice)).await?;
            Ok(Flow::Continue)
        })
    });
    agent.meta = agent.meta.writes(const { &[Key::new("note", "u64")] });
    agent
}

/// Makes an agent with two calls. The second one fails in attempts before `succeeds`, or
/// hangs. Its earlier writes stay.
fn flaky(name: &'static str, succeeds: u32, hangs: bool) -> By {
    let mut agent = by(name, move |cx| {
        Box::pin(async move {
            let attempt = cx.iteration().unwrap_or_default() + 1;
            let seen: Option<u64> = cx.state().get(name)?;
            let gave: u64 = cx
                .step("first", async move { Ok(seen.unwrap_or_default() + 1) })
                .await?;
            cx.emit(
                Event::new()
                    .with_text(format!("{name} {seen:?}"))
                    .with_state(name, gave),
            )
            .await?;
            let second = cx.step("second", async move {
                match attempt < succeeds {
                    true if hangs => std::future::pending().await,
                    true => Err(Error::new(
                        ErrorKind::Timeout,
                        format!("{attempt} of {name}"),
                    )),
                    false => Ok(attempt),
                }
            });
            let gave: u32 = second.await?;
            cx.emit(Event::new().with_text(format!("{name} gave {gave}")))
                .await?;
            Ok(Flow::Continue)
        })
    });
    agent.meta = agent
        .meta
        .writes(Box::leak(Box::new([KeySpec::new(name, "u64")])));
    agent
}

/// Makes an agent that reads the error.
fn sorry(name: &'static str) -> By {
    put(name, name, |cx| cx.state().get::<String>("error").unwrap())
}

/// Makes an agent that works after `seconds` seconds. A resumed run does not know of this delay.
fn after(name: &'static str, seconds: u64) -> By {
    let mut agent = by(name, move |cx| {
        Box::pin(async move {
            cx.emit(Event::new().with_state("both", name)).await?;
            let wait = async move {
                tokio::time::sleep(Duration::from_secs(seconds)).await;
                Ok(())
            };
            cx.step("wait", wait).await?;
            work(name, cx).await
        })
    });
    agent.meta = agent
        .meta
        .writes(Box::leak(Box::new([KeySpec::new(name, "Value")])));
    agent
}

/// Makes an agent that writes the key of the next block, with another value in each round.
fn tunes(name: &'static str, key: &'static str, value: fn(u32) -> Value) -> By {
    let mut agent = by(name, move |cx| {
        Box::pin(async move {
            let round = cx.iteration().unwrap_or_default();
            let value: Value = cx.step("model", async move { Ok(value(round)) }).await?;
            cx.emit(Event::new().with_state(key, value)).await?;
            Ok(Flow::Continue)
        })
    });
    agent.meta = agent
        .meta
        .writes(Box::leak(Box::new([KeySpec::new(key, "Value")])));
    agent
}

/// A workflow by name, and whether parts of it run concurrently.
pub type Named = (&'static str, fn() -> Tree, bool);

/// Returns all workflows.
#[allow(clippy::too_many_lines, reason = "a table")]
pub fn all() -> Vec<Named> {
    vec![
        (
            "sequence",
            || Tree::new("w", vec![run(works("a")), run(both("b")), run(works("c"))]),
            false,
        ),
        (
            "loop",
            || {
                Tree::new(
                    "w",
                    vec![
                        repeat(
                            "l",
                            Some(4),
                            vec![run(works("a")), run(enough("x", "a", 2))],
                        ),
                        run(works("b")),
                    ],
                )
            },
            false,
        ),
        (
            "nested loops",
            || {
                let inner = repeat(
                    "m",
                    Some(2),
                    vec![run(works("b")), run(enough("x", "b", 3))],
                );
                Tree::new(
                    "w",
                    vec![repeat("l", Some(2), vec![run(works("a")), inner])],
                )
            },
            false,
        ),
        (
            "match in a loop",
            || {
                let arms = vec![vec![run(works("a"))], vec![run(works("b"))], vec![]];
                let inside = vec![
                    run(tunes("r", "arm", |round| json!((round + 1) % 3))),
                    select("m", "arm", arms),
                ];
                Tree::new("w", vec![repeat("l", Some(4), inside), run(works("z"))])
            },
            false,
        ),
        (
            "until in a loop, and each with another list in each round",
            || {
                let list = |round| json!([round, round + 1]);
                let ends = run(tunes("d", "done", |round| json!(round > 0)));
                let inside = vec![
                    until("u", "done", vec![run(works("a")), ends]),
                    run(tunes("r", "items", list)),
                    each("e", "item", "items", vec![run(item("n"))]),
                ];
                Tree::new("w", vec![repeat("l", Some(2), inside)])
            },
            true,
        ),
        (
            "parallel",
            || {
                Tree::new(
                    "w",
                    vec![
                        parallel("p", vec![run(works("a")), run(both("b")), run(works("c"))]),
                        run(works("d")),
                    ],
                )
            },
            true,
        ),
        (
            "parallel that a branch leaves",
            || {
                let inside = vec![
                    run(works("a")),
                    sequence("s", vec![run(works("c")), run(enough("x", "c", 1))]),
                ];
                Tree::new(
                    "w",
                    vec![
                        repeat("l", Some(3), vec![parallel("p", inside)]),
                        run(works("d")),
                    ],
                )
            },
            true,
        ),
        (
            "try",
            || {
                let tried = vec![run(works("a")), run(flaky("f", 2, false))];
                let failed = vec![run(flaky("g", 9, false))];
                let twice = Attempts::new(Some(2)).delay(Duration::from_secs(1));
                let inside = vec![
                    attempts("t", Attempts::new(None), tried, vec![]),
                    attempts("u", twice, failed, vec![run(sorry("e"))]),
                    run(works("z")),
                ];
                Tree::new("w", inside)
            },
            false,
        ),
        (
            "try that times out",
            || {
                let limits = Attempts::new(None).timeout(Duration::from_secs(5));
                let branches = vec![run(works("a")), run(flaky("f", 2, true))];
                let tried = vec![
                    parallel("p", branches),
                    repeat("l", Some(1), vec![run(works("b"))]),
                ];
                Tree::new(
                    "w",
                    vec![attempts("t", limits, tried, vec![]), run(works("z"))],
                )
            },
            true,
        ),
        (
            "tries in elements and branches",
            || {
                let limits = Attempts::new(None);
                let inner = Tree::new("inner", vec![run(flaky("f", 2, false))]);
                let elements = each(
                    "e",
                    "item",
                    "items",
                    vec![attempts(
                        "t",
                        limits,
                        vec![run(item("n")), run(inner)],
                        vec![],
                    )],
                );
                let other = attempts("u", limits, vec![run(flaky("g", 2, false))], vec![]);
                Tree::new("w", vec![parallel("p", vec![elements, other])])
                    .lets("items", json!([3, 1]))
            },
            true,
        ),
        (
            "parallel(first)",
            || {
                let wins = sequence("s", vec![run(after("a", 2)), run(works("c"))]);
                let branches = vec![run(after("b", 9)), wins, run(flaky("f", 9, false))];
                Tree::new("w", vec![first("p", branches), run(works("z"))])
            },
            true,
        ),
        (
            "match",
            || {
                let arms = vec![
                    vec![run(works("a"))],
                    vec![run(works("b")), run(works("c"))],
                ];
                Tree::new("w", vec![select("m", "number", arms), run(works("d"))]).lets("number", 1)
            },
            false,
        ),
        (
            "each",
            || {
                let inside = vec![
                    each("e", "item", "items", vec![run(item("n"))]),
                    run(works("z")),
                ];
                Tree::new("w", inside).lets("items", json!([3, 1, 2]))
            },
            true,
        ),
        (
            "each with a maximum that skips failed elements",
            || {
                let kind = StepKind::Each {
                    item: "item",
                    list: "items",
                    max: Some(2),
                    over: Over::Cut,
                    max_concurrency: Some(1),
                };
                let elements = Node::Block("skipe", kind, vec![run(item_but("n", Some(1)))]);
                Tree::new("w", vec![elements, run(works("z"))]).lets("items", json!([3, 1, 2]))
            },
            true,
        ),
        (
            "each that fails after more failures than it skips",
            || {
                let kind = StepKind::Each {
                    item: "item",
                    list: "items",
                    max: None,
                    over: Over::Fail,
                    max_concurrency: Some(1),
                };
                let inside = vec![run(item_but("n", Some(1))), run(works("a"))];
                let body = vec![Node::Block("skip_one", kind, inside)];
                let tried = attempts("t", Attempts::new(Some(1)), body, vec![run(works("b"))]);
                Tree::new("w", vec![tried, run(works("z"))]).lets("items", json!([1, 3, 1, 1]))
            },
            true,
        ),
        (
            "parallel that skips failed branches",
            || {
                let fails = sequence("s", vec![run(works("b")), run(flaky("f", 9, false))]);
                let branches = vec![run(works("a")), fails, run(flaky("g", 9, false))];
                Tree::new("w", vec![parallel("skipp", branches), run(works("z"))])
            },
            true,
        ),
        (
            "updates",
            || {
                let round = vec![run(counts("a")), run(works("b")), run(counts("c"))];
                Tree::new("w", vec![repeat("l", Some(2), round), run(works("d"))])
            },
            false,
        ),
        (
            "updates in branches",
            || {
                let branches = vec![run(counts("a")), run(counts("b")), run(works("c"))];
                Tree::new("w", vec![parallel("p", branches), run(counts("a"))])
            },
            true,
        ),
        (
            "secrets",
            || {
                let branches = vec![
                    run(hides("b")),
                    sequence("s", vec![run(tells("c", "a")), run(hides("d"))]),
                ];
                let inner = Tree::new("inner", vec![run(hides("e")), run(tells("f", "e"))]);
                let round = vec![run(hides("a")), parallel("p", branches)];
                let end = vec![
                    repeat("l", Some(2), round),
                    run(inner),
                    run(tells("h", "a")),
                ];
                Tree::new("w", end)
            },
            true,
        ),
        (
            "workflows in workflows",
            || {
                let inner = Tree::new("inner", vec![repeat("m", Some(2), vec![run(works("b"))])])
                    .lets("own", 7);
                Tree::new("w", vec![run(works("a")), run(inner), run(works("c"))])
            },
            false,
        ),
    ]
}
