//! Handovers to agents of other modules and crates.
#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
#![allow(clippy::unwrap_used)]

use adk::prelude::*;
use adk::testing::ScriptedModel;

fn runner(model: &ScriptedModel) -> Runner {
    Runner::builder().model(model.clone()).build().unwrap()
}

fn transfer_to(name: &str) -> adk::Value {
    adk::json!({"agent_name": name})
}

/// Agents of the shop.
pub mod shop {
    use adk::prelude::*;

    /// Says the price.
    #[tool]
    pub fn price(#[key] sold: Out<u32>, item: &str) -> usize {
        sold.set(3);
        item.len()
    }

    /// The hour of the day.
    #[derive(Debug)]
    pub struct Hour(pub u32);

    /// The resources of the shop.
    #[derive(Debug, adk::Resources)]
    pub struct Shop {
        /// The hour.
        pub hour: Hour,
    }

    /// Says whether the shop is open.
    #[tool]
    pub fn is_open(#[resource] hour: &Hour) -> bool {
        hour.0 > 8
    }

    llm::agent! {
        /// Sells.
        pub seller -> answer: String {
            instruction: "Sell {question}.",
            transfer: [super::stock::keeper],
            tools: [price],
            max_turns: 2,
        }
        /// Opens the door.
        pub porter -> answer: String { instruction: "Open.", tools: [is_open], max_turns: 2 }
    }

    workflow! {
        /// Packs in two steps.
        pub Packing(question: String) -> answer: String {
            agent wrapper -> wrapped: String { instruction: "Wrap {question}." }
            agent labeller -> answer: String { instruction: "Label {wrapped}." }

            wrapper;
            labeller
        }
    }
}

/// Agents of the stock.
pub mod stock {
    adk::llm::agent! {
        /// Counts.
        pub keeper -> answer: String { instruction: "Count {question}.", max_turns: 1 }
    }
}

workflow! {
    /// Answers a customer.
    pub Desk(question: String) -> answer: String {
        /// Sorts.
        agent triage -> answer: String {
            instruction: "Sort {question}.",
            transfer: [local, shop::seller, minimal::desk::clerk],
            max_turns: 2,
        }
        /// Knows the rest.
        agent local -> answer: String { instruction: "Answer {question}." }

        triage
    }
}

#[test]
fn the_tree_shows_the_targets_of_targets() {
    assert_eq!(
        Desk::SPEC.to_string(),
        "\
desk(question: String) -> answer: String
└─ triage -> answer
   ├─ transfer to local -> answer
   ├─ transfer to seller -> answer
   │  └─ transfer to keeper -> answer
   └─ transfer to clerk -> answer
      ├─ transfer to lawyer -> answer
      └─ transfer to auditor -> answer"
    );
    let calls = 2 + 1 + (2 + 1) + (3 + 1 + 1);
    assert_eq!(Desk::SPEC.bounds().model_calls, Some(calls));
    assert_eq!(Desk::SPEC.lints(), []);
}

#[tokio::test]
async fn agents_hand_over_across_modules() {
    let model = ScriptedModel::new()
        .on("triage")
        .call("transfer_to_agent", transfer_to("seller"))
        .on("seller")
        .call("price", adk::json!({"item": "pen"}))
        .call("transfer_to_agent", transfer_to("keeper"))
        .on("keeper")
        .text("Four pens.");
    let desk = Desk::default();
    let outcome = runner(&model).run(&desk, "a pen").await.unwrap();
    assert_eq!(outcome.output, "Four pens.");
    let told = |agent: &str| model.requests_of(agent)[0].system_instruction.clone();
    assert!(
        told("keeper").starts_with("Count a pen."),
        "{}",
        told("keeper")
    );
    assert!(told("triage").contains("Sells."), "{}", told("triage"));
}

#[tokio::test]
async fn agents_hand_over_across_crates_and_back() {
    let model = ScriptedModel::new()
        .on("triage")
        .call("transfer_to_agent", transfer_to("clerk"))
        .call("transfer_to_agent", transfer_to("local"))
        .on("clerk")
        .call("transfer_to_agent", transfer_to("lawyer"))
        .call("count", adk::json!({"text": "abc"}))
        .call("transfer_to_agent", transfer_to("triage"))
        .on("lawyer")
        .call("transfer_to_agent", transfer_to("clerk"))
        .on("local")
        .text("Done.");
    let desk = Desk::default();
    let runner = runner(&model);
    let mut stream = runner.run(&desk, "a bill").stream();
    let mut all = Vec::new();
    while let Some(event) = stream.next().await {
        all.push(event.unwrap().path.to_string());
    }
    assert!(
        all.contains(&"desk/triage/clerk/lawyer".to_owned()),
        "{all:?}"
    );
    assert!(all.contains(&"desk/triage/clerk@2".to_owned()), "{all:?}");
}

#[tokio::test]
async fn a_target_is_a_field() {
    let model = ScriptedModel::new()
        .on("triage")
        .call("transfer_to_agent", transfer_to("seller"))
        .on("seller")
        .text("no model");
    let own = ScriptedModel::new().text("its own model");
    let mut desk = Desk::default();
    desk.seller.set_model(own);
    let outcome = runner(&model).run(&desk, "a pen").await.unwrap();
    assert_eq!(outcome.output, "its own model");
    desk.seller.set_max_turns(3);
    let error = runner(&model).run(&desk, "a pen").await.unwrap_err();
    assert_eq!(error.kind(), adk::ErrorKind::Unchecked);
}

workflow! {
    /// Runs agents that hold their targets: as a step, as an instance, and as a tool.
    pub Held(question: String) -> (second: String, last: String) {
        /// Asks.
        agent chief -> last: String {
            instruction: "Ask.",
            tools: [agent(minimal::desk::clerk)],
            max_turns: 2,
        }

        minimal::desk::clerk;
        minimal::desk::clerk as again -> second;
        chief
    }
}

#[tokio::test]
async fn an_agent_holds_its_targets() {
    let model = ScriptedModel::new()
        .on("clerk")
        .call("transfer_to_agent", transfer_to("lawyer"))
        .call("transfer_to_agent", transfer_to("auditor"))
        .on("lawyer")
        .text("law")
        .on("again")
        .call("transfer_to_agent", transfer_to("again::auditor"))
        .on("again::auditor")
        .text("audit")
        .on("auditor")
        .text("tool")
        .on("chief")
        .call("clerk", adk::json!({"request": "x"}))
        .text("end");
    let outcome = runner(&model)
        .run(&Held::default(), "a bill")
        .await
        .unwrap();
    let output = outcome.output;
    assert_eq!([output.second, output.last], ["audit", "end"]);
    let calls = ["lawyer", "again::auditor", "auditor"].map(|agent| model.requests_of(agent).len());
    assert_eq!(calls, [1, 1, 1]);
}

workflow! {
    /// Hands over to a workflow of another module.
    pub Parcels(question: String) -> answer: String {
        agent triage -> answer: String {
            instruction: "Sort {question}.",
            transfer: [shop::Packing],
            max_turns: 1,
        }

        triage
    }
}

#[tokio::test]
async fn a_workflow_is_a_target() {
    let model = ScriptedModel::new()
        .on("triage")
        .call("transfer_to_agent", transfer_to("packing"))
        .on("packing::wrapper")
        .text("paper")
        .on("packing::labeller")
        .text("Packed.");
    let outcome = runner(&model).run(&Parcels::default(), "x").await.unwrap();
    assert_eq!(outcome.output, "Packed.");
    for event in outcome.session().events().skip(1) {
        let node = Parcels::SPEC.find(&event.author);
        assert!(node.is_some(), "{} is in the tree", event.author);
    }
}

workflow! {
    /// Hands over to an agent that needs a resource.
    pub Door(question: String) -> answer: String {
        agent triage -> answer: String {
            instruction: "Sort {question}.",
            transfer: [shop::porter],
            max_turns: 1,
        }

        triage
    }
}

#[tokio::test]
async fn the_resources_of_a_target_are_required() {
    let model = ScriptedModel::new()
        .on("triage")
        .call("transfer_to_agent", transfer_to("porter"))
        .on("porter")
        .call("is_open", adk::json!({}))
        .text("Open.");
    let runner = Runner::builder()
        .model(model)
        .resources(shop::Shop {
            hour: shop::Hour(9),
        })
        .build()
        .unwrap();
    let outcome = runner.run(&Door::default(), "the door").await.unwrap();
    assert_eq!(outcome.output, "Open.");
}
