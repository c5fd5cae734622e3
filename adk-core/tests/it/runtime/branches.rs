//! Concurrent branches.

use super::*;

#[tokio::test]
async fn branches_have_names_and_see_their_own_events() {
    fn visible_authors(cx: &Context) -> String {
        let all: Vec<_> = cx
            .history()
            .iter()
            .map(|event| event.author.to_string())
            .collect();
        all.join(",")
    }
    let look = |name| {
        by(name, |cx| {
            Box::pin(async move {
                cx.emit(Event::new().with_text("first")).await?;
                let text = visible_authors(cx);
                cx.emit(Event::new().with_text(text)).await?;
                Ok(Flow::Continue)
            })
        })
    };
    let both = parallel(
        "both",
        vec![run(look("a")), sequence("s", vec![run(look("b"))])],
    );
    let tree = Tree::new("w", vec![both, run(look("c"))]);
    let mut stream = runner().run(&tree, "go").stream();
    let mut seen = Vec::new();
    while let Some(event) = stream.next().await {
        let event = event.unwrap();
        seen.push(format!(
            "{} {} {}",
            event.branch.as_deref().unwrap_or("-"),
            event.path,
            event.text()
        ));
    }
    assert_eq!(
        seen,
        [
            "- w go",
            "both.a w/both/a first",
            "both.s w/both/s/b first",
            "both.a w/both/a user,a",
            "both.s w/both/s/b user,b",
            "- w/c first",
            "- w/c user,a,b,a,b,c",
        ]
    );
}

#[tokio::test]
async fn the_first_error_cancels_siblings_and_committed_events_are_delivered() {
    let slow = by("slow", |cx| {
        Box::pin(async move {
            cx.emit(Event::new().with_text("one")).await?;
            tokio::time::sleep(std::time::Duration::from_secs(3600)).await;
            unreachable!("cancelled")
        })
    });
    let fails = by("fails", |cx| {
        Box::pin(async move {
            cx.emit(Event::new().with_text("two")).await?;
            Err(adk_build::Error::other("no luck"))
        })
    });
    let tree = Tree::new("w", vec![parallel("p", vec![run(slow), run(fails)])]);
    assert_eq!(
        paths(&tree).await,
        [
            "w/p/slow",
            "w/p/fails",
            "agent `fails` (at w/p/fails): no luck"
        ]
    );
}

#[tokio::test]
async fn an_exit_in_a_branch_cancels_siblings_and_ends_the_loop() {
    let slow = by("slow", |_| Box::pin(std::future::pending()));
    let tree = Tree::new(
        "w",
        vec![repeat(
            "l",
            None,
            vec![parallel("p", vec![run(slow), run(exit("stop"))])],
        )],
    );
    let outcome = runner().run(&tree, "go").await.unwrap();
    assert_eq!(outcome.loops[0].rounds, 1);
}

#[tokio::test]
async fn max_concurrency_limits_the_branches_that_run() {
    static RUNNING: AtomicUsize = AtomicUsize::new(0);
    static MOST: AtomicUsize = AtomicUsize::new(0);
    let work = |name| {
        by(name, |cx| {
            Box::pin(async move {
                MOST.fetch_max(RUNNING.fetch_add(1, SeqCst) + 1, SeqCst);
                cx.emit(Event::new()).await?;
                RUNNING.fetch_sub(1, SeqCst);
                Ok(Flow::Continue)
            })
        })
    };
    let all = ["a", "b", "c", "d", "e"].map(|name| run(work(name))).into();
    runner()
        .run(&Tree::new("w", vec![limited("p", 2, all)]), "go")
        .await
        .unwrap();
    assert_eq!(MOST.load(SeqCst), 2);
}
