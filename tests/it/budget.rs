//! Prices, costs and budgets.

use adk::engine::MemoryJournal;
use adk::prelude::*;
use adk::session::{MemoryStore, SessionStore};
use adk::spec::{Budget, Price, Prices};
use adk::testing::{Reply, ScriptedModel};
use adk::{ErrorKind, RunConfig};
use std::sync::Arc;
use std::time::Duration;

/// Returns prices of one dollar for a thousand input tokens, and the same for output tokens.
fn prices() -> Prices {
    let price = Price::per_million("1000", "1000").expect("the price is valid");
    Prices::new("USD")
        .expect("the currency is valid")
        .model("scripted", price)
}

fn usage_reply(input: u64, output: u64) -> Reply {
    Reply::new().text("Text.").usage(input, output)
}

fn runner(model: ScriptedModel) -> Runner {
    Runner::builder()
        .model(model)
        .prices(prices())
        .build()
        .expect("the runner is valid")
}

fn budget(text: &str) -> Budget {
    text.parse().expect("the budget is valid")
}

workflow! {
    /// Writes a text and reviews it.
    pub Writing(topic: String) -> (draft: String, review: String) {
        agent writer -> draft: String {
            instruction: "Write about {topic}.",
            max_output_tokens: 100,
        }
        agent critic -> review: String { instruction: "Review {draft}.", max_output_tokens: 100 }

        writer; critic
    }
}

#[tokio::test]
async fn each_reply_and_the_run_report_their_cost() {
    let model = ScriptedModel::new()
        .reply(usage_reply(20, 10))
        .reply(usage_reply(50, 20));
    let runner = runner(model);
    let outcome = runner.run(&Writing::default(), "cats").await.unwrap();
    assert_eq!(outcome.usage.cost.to_string(), "0.10 USD");
    let costs = outcome.cost_by_agent();
    let costs: Vec<_> = costs
        .iter()
        .map(|(agent, usage)| format!("{agent} {}", usage.cost))
        .collect();
    assert_eq!(costs, ["critic 0.07 USD", "writer 0.03 USD"]);
    let told: Vec<_> = outcome
        .session()
        .events()
        .filter_map(|event| {
            event
                .details
                .as_ref()?
                .custom_metadata
                .get(adk::llm::COST_KEY)
                .cloned()
        })
        .collect();
    assert_eq!(told, ["0.03 USD", "0.07 USD"]);
    let stored = outcome
        .session()
        .events()
        .last()
        .map(|event| serde_json::to_string(event).unwrap())
        .unwrap();
    assert!(
        !stored.contains(r#""cost":0"#) && !stored.contains(r#"usageMetadata":{"cost"#),
        "{stored}"
    );
}

#[tokio::test]
async fn a_run_ends_before_a_call_that_may_exceed_the_budget() {
    let model = ScriptedModel::new()
        .reply(usage_reply(20, 80))
        .reply(usage_reply(20, 10));
    let asked = model.clone();
    let runner = runner(model);
    let session = runner.session("u", "s");
    let config = RunConfig::new().budget(budget("0.21 USD"));
    let error = session
        .run(&Writing::default(), "cats")
        .config(config)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BudgetExceeded);
    assert_eq!(
        error.to_string(),
        "agent `critic` (at writing/critic): the run would use more than its budget of 0.21 USD; \
         help: raise it, or lower the `max_output_tokens` of its agents: the longest answer is \
         reserved before each call"
    );
    assert_eq!(
        asked.requests().len(),
        1,
        "100 tokens of an answer do not fit beside 0.10 USD"
    );
    assert_eq!(
        session.open().await.unwrap().get("draft"),
        Some(Arc::new("Text.".into())),
        "what was committed stays"
    );
}

workflow! {
    /// Writes in a block that has its own budget, and reviews the text after the block.
    pub Reviewed(topic: String) -> (draft: String, review: String) {
        agent writer -> draft: String {
            instruction: "Write about {topic}.",
            max_output_tokens: 100,
        }
        agent critic -> review: String { instruction: "Review {draft}.", max_output_tokens: 100 }

        drafting: sequence(budget = "300 tokens") < writer >;
        critic
    }
}

#[tokio::test]
async fn the_budget_of_a_run_counts_after_a_block_that_has_its_own() {
    let model = ScriptedModel::new()
        .reply(usage_reply(20, 80))
        .repeat_last();
    let asked = model.clone();
    let config = RunConfig::new().budget(budget("0.21 USD"));
    let error = runner(model)
        .run(&Reviewed::default(), "cats")
        .config(config)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BudgetExceeded);
    assert_eq!(asked.requests().len(), 1);
}

workflow! {
    /// Writes in each round.
    pub Refining(topic: String) -> draft: String {
        agent writer -> draft: String { instruction: "Write about {topic}.", max_output_tokens: 50 }

        refinement: loop(max = 10, budget = "300 tokens") < writer >
    }
}

#[tokio::test]
async fn a_block_has_a_new_budget_each_time_it_runs() {
    let model = ScriptedModel::new()
        .reply(usage_reply(50, 40))
        .repeat_last();
    let asked = model.clone();
    let runner: Runner = Runner::builder().model(model).build().unwrap();
    for run in 1..=2 {
        let error = runner.run(&Refining::default(), "cats").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BudgetExceeded);
        assert!(
            error
                .to_string()
                .contains("`refining/refinement` would use more than its budget of 300 tokens"),
            "{error}"
        );
        assert_eq!(asked.requests().len(), 3 * run);
    }
}

workflow! {
    /// Writes twice in parallel.
    pub Both(topic: String) -> (a: String, b: String) {
        agent one -> a: String { instruction: "{topic}", max_output_tokens: 100 }
        agent two -> b: String { instruction: "{topic}", max_output_tokens: 100 }

        parallel(budget = "0.20 USD") < one; two >
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_until_a_parallel_call_releases_its_reserve() {
    let slow = || usage_reply(20, 10).after(Duration::from_secs(5));
    let model = ScriptedModel::new()
        .on("one")
        .reply(slow())
        .on("two")
        .reply(slow());
    let start = tokio::time::Instant::now();
    let outcome = runner(model).run(&Both::default(), "cats").await.unwrap();
    assert_eq!(outcome.usage.cost.to_string(), "0.06 USD");
    assert_eq!(
        start.elapsed().as_secs(),
        10,
        "both answers might not fit into it, so they came one after the other"
    );
}

workflow! {
    /// Runs an agent with a budget.
    pub Asking(topic: String) -> draft: String {
        agent writer -> draft: String {
            instruction: "{topic}",
            max_output_tokens: 100,
            budget: "0.05 USD",
        }

        try(on = all) < writer > else < otherwise >
    }
}

/// Writes another draft.
#[agent(writes = draft)]
fn otherwise() -> String {
    "none".to_owned()
}

#[tokio::test]
async fn an_agent_has_a_budget_for_its_turn_and_no_try_catches_the_error() {
    let model = ScriptedModel::new().reply(usage_reply(20, 10));
    let error = runner(model)
        .run(&Asking::default(), "cats")
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BudgetExceeded);
    assert!(
        error
            .to_string()
            .contains("`asking/try_1#1/writer` would use more"),
        "{error}"
    );
}

#[tokio::test]
async fn a_budget_needs_prices_for_all_models() {
    let message = async |runner: Runner, budget: &str| {
        let config = RunConfig::new().budget(budget.parse().unwrap());
        let error = runner
            .run(&Writing::default(), "cats")
            .config(config)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        error.to_string()
    };
    let build = || Runner::builder().model(ScriptedModel::new());
    let error = message(build().build().unwrap(), "1 USD").await;
    assert!(
        error.contains("there is a budget of 1.00 USD, and the runner has no prices"),
        "{error}"
    );
    let error = message(
        build().prices(Prices::published()).build().unwrap(),
        "1 USD",
    )
    .await;
    assert!(
        error.contains("no price for the model `scripted`"),
        "{error}"
    );
    let error = message(build().prices(prices()).build().unwrap(), "1 EUR").await;
    assert!(error.contains("the prices are in USD"), "{error}");
}

/// Pays.
#[tool(confirm)]
fn pay() -> &'static str {
    "paid"
}

workflow! {
    /// Pays a bill.
    pub Paying(bill: String) -> answer: String {
        agent reader -> sum: String { instruction: "How much is {bill}?", max_output_tokens: 10 }
        agent payer -> answer: String {
            instruction: "Pay {sum}.",
            tools: [pay],
            max_turns: 3,
            max_output_tokens: 10,
        }

        reader; payer
    }
}

#[tokio::test]
async fn recorded_costs_count_when_a_run_is_resumed() {
    for (most, fits) in [("0.40 USD", true), ("0.30 USD", false)] {
        let calls = Reply::new()
            .call("pay", serde_json::json!({}))
            .usage(90, 10);
        let model = ScriptedModel::new()
            .reply(usage_reply(90, 10))
            .reply(calls)
            .reply(usage_reply(90, 10));
        let sessions: Arc<dyn SessionStore> = Arc::new(MemoryStore::default());
        let engine = MemoryJournal::new();
        let config = RunConfig::new().budget(budget(most));
        // Another process resumes the run each time.
        let runner = || {
            let runner = Runner::builder()
                .session_store(sessions.clone())
                .engine(engine.clone());
            runner
                .model(model.clone())
                .prices(prices())
                .config(config.clone())
                .build()
                .unwrap()
        };
        let paused = runner()
            .run(&Paying::default(), "a bill")
            .await
            .unwrap_err();
        assert_eq!(paused.kind(), ErrorKind::Paused, "{paused}");
        let waiting = runner().waiting().await.unwrap().remove(0);
        runner().answer(&waiting.id, true).await.unwrap();
        match runner().resume(&Paying::default(), waiting.run_id).await {
            Ok(outcome) => assert!(
                fits && outcome.usage.cost.to_string() == "0.30 USD",
                "{outcome:?}"
            ),
            Err(error) => assert!(
                !fits && error.kind() == ErrorKind::BudgetExceeded,
                "{error}"
            ),
        }
        assert_eq!(model.requests().len(), if fits { 3 } else { 2 });
    }
}

#[test]
fn the_worst_case_is_quoted_before_a_run() {
    let price = Price::per_million("0.25", "2.00")
        .unwrap()
        .longest(100_000, 10_000);
    let prices = Prices::new("EUR").unwrap().model("small", price);
    let quote = Writing::SPEC.quote(&prices, "small");
    assert_eq!(
        quote.to_string(),
        "at most 0.0504 EUR: agent `writer` 0.0252 EUR"
    );
    let quote = Paying::SPEC.quote(&prices, "small");
    assert_eq!(
        quote.most.map(|most| most.to_string()).as_deref(),
        Some("0.10008")
    );
    let quote = Writing::SPEC.quote(&prices, "large");
    assert_eq!(
        quote.to_string(),
        "without a limit: agent `writer` asks a model whose price or longest answer is not known"
    );
}

workflow! {
    /// Names the models of its agents.
    pub Named(topic: String) -> draft: String {
        agent writer -> draft: String {
            model: "large",
            fallback: ["small", "tiny"],
            instruction: "{topic}",
            max_output_tokens: 1000,
            timeout: "10s",
            retry: 0,
        }

        writer
    }
}

#[test]
fn the_description_has_the_models_and_the_total_time() {
    assert_eq!(Named::SPEC.bounds().time, Some(Duration::from_secs(30)));
    let large = Price::per_million("1", "10")
        .unwrap()
        .longest(1_000_000, 50_000);
    let quote = Named::SPEC.quote(&Prices::new("USD").unwrap().model("large", large), "none");
    assert_eq!(
        quote.most.map(|most| most.to_string()).as_deref(),
        Some("1.01")
    );
}

workflow! {
    /// Asks again and again, although the model fails.
    pub Trying(topic: String) -> done: bool {
        agent writer -> draft: String {
            include_contents: none,
            instruction: "{topic}",
            max_output_tokens: 100,
            retry: 0,
        }

        loop(max = 20, until = done) < try(on = all) < writer > else < otherwise >; never >
    }
}

/// Never ends the loop.
#[agent(writes = done)]
fn never() -> bool {
    false
}

/// Runs [`Trying`], and returns the number of model calls.
async fn calls_within(reply: Reply, limit: &str) -> usize {
    let model = ScriptedModel::new().reply(reply).repeat_last();
    let asked = model.clone();
    let config = RunConfig::new().budget(budget(limit)).streaming(false);
    let run = runner(model);
    let _ = run.run(&Trying::default(), "cats").config(config).await;
    asked.requests().len()
}

#[tokio::test]
async fn a_call_of_unknown_usage_counts_as_its_reservation() {
    use adk::model::ModelErrorKind::{BrokenStream, InvalidResponse, RateLimited, Timeout};
    for limit in ["0.45 USD", "450 tokens"] {
        let silent = Reply::new().text("Text.");
        let calls = calls_within(silent, limit).await;
        assert!((3..=4).contains(&calls), "{limit}: {calls}");
        for kind in [BrokenStream, Timeout, InvalidResponse] {
            let calls = calls_within(Reply::error(kind, "cut"), limit).await;
            assert!((3..=4).contains(&calls), "{limit}, {kind:?}: {calls}");
        }
        let calls = calls_within(Reply::error(RateLimited, "later"), limit).await;
        assert_eq!(calls, 60, "{limit}: a refused call costs nothing");
        let calls = calls_within(usage_reply(5, 5), limit).await;
        assert_eq!(calls, 20, "{limit}: a known usage counts as it is");
    }
}

workflow! {
    /// Takes the faster draft.
    pub Racing(topic: String) -> draft: String {
        agent slow -> draft: String { instruction: "{topic}", max_output_tokens: 100 }
        agent critic -> review: String { instruction: "Review {draft}.", max_output_tokens: 100 }

        parallel(first) < slow; otherwise >; critic
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_counts_as_its_reservation() {
    let model = ScriptedModel::new()
        .on("slow")
        .reply(usage_reply(5, 5).after(Duration::from_secs(5)))
        .on("critic")
        .reply(usage_reply(5, 5));
    for (limit, fits) in [("0.15 USD", false), ("0.60 USD", true)] {
        let config = RunConfig::new().budget(budget(limit));
        let run = runner(model.clone());
        let outcome = run.run(&Racing::default(), "cats").config(config).await;
        assert_eq!(outcome.is_ok(), fits, "{limit}: {outcome:?}");
    }
}

#[test]
fn cache_writes_have_their_own_price() {
    let price = |price: &Price| price.of_call(100_010, 0, 100_000, 10).to_string();
    let published = Prices::published();
    let claude = published.of("claude-sonnet-4-5").unwrap();
    assert_eq!(price(claude), "0.37518");
    assert_eq!(claude.largest(100_000, 0).to_string(), "0.375");
    let own = Price::per_million("1", "1").unwrap();
    assert_eq!(price(&own), "0.10002", "as other input by default");
    assert_eq!(price(&own.cache_writes("2").unwrap()), "0.20002");
}
