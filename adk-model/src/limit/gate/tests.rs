use super::*;
use futures_util::FutureExt as _;
use std::collections::HashMap;

fn run(number: u128) -> RunId {
    format!("e-{}", uuid::Uuid::from_u128(number))
        .parse()
        .expect("an id")
}

/// Runs calls of several runs concurrently, each for `length`. Returns the start time and the run
/// of each call.
async fn start_times(
    limit: RateLimit,
    calls: &[(u128, u64)],
    length: Duration,
) -> Vec<(u64, u128)> {
    let (gate, start) = (Gate::new(limit), Instant::now());
    let log = Arc::new(Mutex::new(Vec::new()));
    let all = calls.iter().map(|&(number, tokens)| {
        let (gate, log) = (gate.clone(), log.clone());
        async move {
            let permit = gate.enter(run(number), tokens).await;
            lock(&log).push((start.elapsed().as_secs(), number));
            tokio::time::sleep(length).await;
            permit.settle(tokens);
        }
    });
    futures_util::future::join_all(all).await;
    lock(&log).clone()
}

#[tokio::test(start_paused = true)]
async fn runs_take_turns() {
    let greedy = [(1, 0), (1, 0), (1, 0), (1, 0), (2, 0), (3, 0)];
    let log = start_times(
        RateLimit::new().concurrency(1),
        &greedy,
        Duration::from_secs(1),
    )
    .await;
    let order: Vec<_> = log.into_iter().map(|(_, number)| number).collect();
    assert_eq!(
        order,
        [1, 1, 2, 3, 1, 1],
        "the second call of run 1 was queued before the others"
    );
}

#[tokio::test(start_paused = true)]
async fn no_minute_has_more_calls() {
    let log = start_times(
        RateLimit::new().calls_per_minute(3),
        &[(1, 0); 8],
        Duration::from_secs(1),
    )
    .await;
    let times: Vec<_> = log.into_iter().map(|(at, _)| at).collect();
    assert_eq!(times, [0, 0, 0, 60, 60, 60, 120, 120]);
}

#[tokio::test(start_paused = true)]
async fn no_minute_has_more_tokens() {
    let calls = [(1, 60), (1, 30), (1, 30), (1, 500), (1, 10)];
    let log = start_times(
        RateLimit::new().tokens_per_minute(100),
        &calls,
        Duration::ZERO,
    )
    .await;
    let times: Vec<_> = log.into_iter().map(|(at, _)| at).collect();
    assert_eq!(
        times,
        [0, 0, 60, 120, 180],
        "a call over the limit runs without others"
    );
}

#[tokio::test(start_paused = true)]
async fn the_actual_tokens_count() {
    let gate = Gate::new(RateLimit::new().tokens_per_minute(100));
    let start = Instant::now();
    gate.enter(run(1), 90).await.settle(10);
    gate.enter(run(1), 90).await.settle(100);
    assert_eq!(start.elapsed(), Duration::ZERO);
    gate.enter(run(1), 1).await;
    assert_eq!(start.elapsed(), WINDOW);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_leaves_the_queue() {
    let gate = Gate::new(RateLimit::new().concurrency(1));
    let first = gate.enter(run(1), 0).await;
    let mut second = Box::pin(gate.enter(run(2), 0));
    let mut third = Box::pin(gate.enter(run(3), 0));
    assert!((&mut second).now_or_never().is_none());
    assert!((&mut third).now_or_never().is_none());
    drop(second);
    drop(first);
    let third = third.await;
    assert!(lock(&gate.state).waiting.is_empty());
    drop(third);
    assert_eq!(lock(&gate.state).open, 0);
}

#[tokio::test(start_paused = true)]
async fn no_call_starts_while_the_provider_is_paused() {
    let gate = Gate::new(RateLimit::new());
    let start = Instant::now();
    let permit = gate.enter(run(1), 0).await;
    permit.pause(Duration::from_secs(20));
    permit.pause(Duration::from_secs(5));
    gate.enter(run(2), 0).await;
    assert_eq!(start.elapsed(), Duration::from_secs(20));
}

/// Starts random calls, and counts for each call how many start in the 60 seconds from it on.
#[tokio::test(start_paused = true)]
async fn any_mix_of_calls_keeps_the_limits_and_takes_turns() {
    let mut seed = std::env::var("ADK_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(7_u64);
    let mut next = move |most: u64| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % most
    };
    for _ in 0..50 {
        let (most, tokens) = (next(5) as u32 + 1, next(400) + 100);
        let limit = RateLimit::new()
            .calls_per_minute(most)
            .tokens_per_minute(tokens)
            .concurrency(3);
        let calls: Vec<_> = (0..30).map(|_| (u128::from(next(4)), next(100))).collect();
        let log = start_times(limit, &calls, Duration::from_secs(next(20))).await;
        assert_eq!(log.len(), calls.len());
        for (at, _) in &log {
            let minute = log
                .iter()
                .filter(|(other, _)| (*at..*at + 60).contains(other))
                .count();
            assert!(
                minute <= most as usize,
                "{minute} calls in a minute of {most}: {log:?}"
            );
        }
        // The first calls start before all calls are queued, so no order is asserted for them.
        let mut made: HashMap<u128, usize> = HashMap::new();
        let (first, later) = log.split_at(3);
        let wanted = |number: u128| {
            let all = calls.iter().filter(|(other, _)| *other == number).count();
            all - first.iter().filter(|(_, other)| *other == number).count()
        };
        for (_, number) in later {
            *made.entry(*number).or_default() += 1;
            for other in
                (0..4).filter(|other| wanted(*other) > made.get(other).copied().unwrap_or(0))
            {
                let ahead = made[number].saturating_sub(made.get(&other).copied().unwrap_or(0));
                assert!(
                    ahead <= 2,
                    "run {number} is {ahead} calls ahead of {other}: {log:?}"
                );
            }
        }
    }
}
