//! Promises about tables of earlier formats: a store upgrades them when it opens, and a process
//! that had them open goes on.

use crate::people::{addressed, callers_see_their_waits, pause, process, two};
use crate::place::DynPlace;
use adk_build::engine::RunFilter;
use adk_build::session::{EventFilter, SessionKey};
use adk_build::{Answerer, Part, RunId, Runner};

/// The runs and waits in tables of an earlier format are found by their users.
pub async fn upgraded_lists(place: &dyn DynPlace, earlier: impl AsyncFn()) {
    let waiting = pause(place, addressed).await;
    earlier().await;
    let runner = process(place, addressed).await;
    callers_see_their_waits(&runner, &waiting).await;
    for (filter, many) in [
        (RunFilter::any().user("u").limit(9), 1),
        (RunFilter::unfinished().user("u").limit(9), 1),
        (RunFilter::failed().user("u").limit(9), 0),
        (RunFilter::any().user("bob").limit(9), 0),
    ] {
        assert_eq!(
            runner.runs(&filter).await.unwrap().len(),
            many,
            "{filter:?}"
        );
    }
}

/// The runs and waits that a process without the columns `user_id` and `answered_by` writes are
/// found by their users.
pub async fn earlier_process(place: &dyn DynPlace, execute: impl AsyncFn(&str)) {
    let waiting = pause(place, addressed).await;
    let (run, new) = (waiting[0].run_id, RunId::new());
    execute(&format!(
        "INSERT INTO adkw_runs (id, session, status, epoch, record, app, workflow)
            SELECT '{new}', session, status, epoch, record, app, workflow FROM adkw_runs;
        INSERT INTO adkw_waits (id, run, key, waiting, app, session)
            SELECT replace(id, '{run}', '{new}'), '{new}', key, replace(waiting, '{run}', '{new}'),
                app, session
            FROM adkw_waits"
    ))
    .await;
    let runner = process(place, addressed).await;
    let of_user = RunFilter::any().user("u").limit(9);
    assert_eq!(runner.runs(&of_user).await.unwrap().len(), 2);
    let all = runner.waiting().await.unwrap();
    assert_eq!(all.len(), 2 * waiting.len());
    for (caller, many) in [
        (Answerer::user("u"), 6),
        (Answerer::user("bob"), 2),
        (Answerer::user("bob").role("staff"), 4),
    ] {
        let filter = RunFilter::unfinished().answerer(&caller);
        assert_eq!(runner.waiting_of(&filter).await.unwrap().len(), many);
    }
}

/// A waiting run in tables of an earlier format continues, even if its answer was not processed
/// yet.
pub async fn earlier_format(place: &dyn DynPlace, is_answered: bool, earlier: impl AsyncFn()) {
    let waiting = pause(place, two).await;
    if is_answered {
        let runner = process(place, two).await;
        runner.answer(&waiting[0].id, true).await.unwrap();
        runner.answer(&waiting[1].id, true).await.unwrap();
    }
    let listed = async |runner: &Runner| {
        runner
            .runs(&RunFilter::of_run(waiting[0].run_id))
            .await
            .unwrap()
            .remove(0)
    };
    let before = listed(&process(place, two).await).await;
    earlier().await;
    // Two processes open the tables at the same moment.
    let (one, two_) = tokio::join!(place.open_dyn(), place.open_dyn());
    let runner = one.knows("app", two());
    // The earlier format did not store the time of an end or a wait, nor usage.
    let after = listed(&runner).await;
    assert_eq!(
        (after.created, &after.status, after.usage),
        (before.created, &before.status, None)
    );
    assert!(
        after.created <= after.updated && after.updated <= before.updated,
        "{after:?} {before:?}"
    );
    if !is_answered {
        let again = runner.waiting().await.unwrap();
        assert_eq!(again, waiting);
        assert_eq!((&*again[0].user, &*again[0].session), ("u", "s"));
        for wait in &waiting {
            runner.answer(&wait.id, true).await.unwrap();
        }
    }
    let recovered = runner.recover().await.unwrap();
    assert_eq!(recovered.len(), 1, "{recovered:?}");
    assert!(recovered[0].result.as_ref().unwrap().is_empty());
    let ended = listed(&runner).await;
    assert!(
        ended.usage.is_some() && ended.ended() > Some(before.updated),
        "{ended:?}"
    );
    let key = SessionKey::new("app", "u", "s");
    let all = two_
        .sessions
        .read(&key, &EventFilter::new())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(all.events.last().unwrap().text(), "end");
    assert_eq!(
        one.artifacts()
            .save(&key, "a", Part::text("x"))
            .await
            .unwrap(),
        0
    );
    assert_eq!(
        two_.artifacts()
            .save(&key, "a", Part::text("y"))
            .await
            .unwrap(),
        1
    );
}
