//! A tool that is a workflow by itself.

use adk_build::engine::{MemoryJournal, RunFilter, RunStatus};
use adk_build::model::{NoProvider, ToolDeclaration};
use adk_build::session::{EventFilter, MemoryStore, SessionStore};
use adk_build::spec::{KeySpec, ResourceSpec, ToolMeta};
use adk_build::{
    Error, ErrorKind, Resources, Result, RunEnd, Runner, Tool, ToolArgs, ToolContext, ToolError,
    ToolWorkflow,
};
use serde_json::{Value, json};
use std::any::{Any, TypeId};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, LazyLock};

/// A tool that counts its calls.
#[derive(Clone, Default)]
struct Pay(Arc<AtomicU32>);

static DECLARATION: LazyLock<ToolDeclaration> = LazyLock::new(|| {
    let parameters = json!({
        "type": "object",
        "properties": {
            "amount": {"type": "integer", "description": "In cents."},
            "to": {"type": "string"},
        },
        "required": ["amount"],
    });
    ToolDeclaration::new("pay", "Pays.", parameters)
});

impl Tool for Pay {
    const META: ToolMeta<'static> = ToolMeta::new("pay", "Pays.")
        .confirm(true)
        .writes(&[KeySpec::new("user:paid", "u64")]);

    fn declaration(&self) -> &ToolDeclaration {
        &DECLARATION
    }

    async fn call(&self, args: ToolArgs, cx: &mut ToolContext) -> Result<Value, ToolError> {
        self.0.fetch_add(1, SeqCst);
        let amount = args["amount"].as_u64().unwrap_or_default();
        if amount == 0 {
            return Err(ToolError::failed("nothing to pay"));
        }
        cx.state().set("user:paid", amount)?;
        Ok(json!({"paid": amount, "to": args.get("to")}))
    }

    fn needs_confirmation(&self, args: ToolArgs, _: &mut ToolContext) -> Result<bool, ToolError> {
        Ok(args["amount"].as_u64() > Some(100))
    }
}

struct World {
    engine: MemoryJournal,
    sessions: Arc<dyn SessionStore>,
    pay: Pay,
}

impl World {
    fn new() -> Self {
        Self {
            engine: MemoryJournal::new(),
            sessions: Arc::new(MemoryStore::new()),
            pay: Pay::default(),
        }
    }

    /// Builds the runner of another process.
    fn runner(&self) -> Runner {
        let runner = Runner::builder()
            .session_store(self.sessions.clone())
            .engine(self.engine.clone());
        let runner: Runner = runner
            .workflow(ToolWorkflow::new(self.pay.clone()))
            .build()
            .expect("a runner");
        runner.by_name()
    }

    fn calls(&self) -> u32 {
        self.pay.0.load(SeqCst)
    }
}

async fn pay(runner: &Runner, input: Value) -> Result<Value> {
    Ok(runner
        .new_session("ann")
        .run_by_name("pay", input)?
        .await?
        .output)
}

#[tokio::test]
async fn arguments_are_inputs_and_the_result_is_the_output() {
    let world = World::new();
    let runner = world.runner();
    let known = runner.workflows().next().unwrap();
    assert_eq!((known.name(), known.description()), ("pay", "Pays."));
    assert_eq!(
        known.form().input_schema()["properties"],
        DECLARATION.parameters["properties"]
    );
    assert_eq!(known.form().input_schema()["required"], json!(["amount"]));
    let output = pay(&runner, json!({"amount": 7.0, "to": "bob"}))
        .await
        .unwrap();
    assert_eq!(
        output,
        json!({"paid": 7, "to": "bob"}),
        "a whole float is an integer"
    );
    let session = runner.new_session("ann");
    session.open().await.unwrap();
    let seen = session.get(&EventFilter::new()).await.unwrap().unwrap();
    assert_eq!(json!(seen.state)["user:paid"], 7);
    let faults = known.check(&json!({"amount": "much", "for": 1}));
    let fields: Vec<_> = faults.iter().map(|fault| &*fault.field).collect();
    assert_eq!(fields, ["for", "amount"], "{faults:?}");
    let missing = known.check(&json!({"to": null}));
    assert_eq!(missing.len(), 1, "{missing:?}");
    assert_eq!(missing[0].field, "amount");
}

#[tokio::test]
async fn a_failed_call_fails_the_run() {
    let world = World::new();
    let error: Error = pay(&world.runner(), json!({"amount": 0}))
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Agent, "tool `pay`: nothing to pay")
    );
    assert_eq!(error.path().unwrap().to_string(), "pay");
    let runs = world.runner().runs(&RunFilter::any()).await.unwrap();
    assert!(matches!(
        &runs[0].status,
        RunStatus::Failed(error) if error.message.contains("nothing to pay")
    ));
}

#[tokio::test]
async fn a_person_agrees_before_it_runs_in_another_process() {
    for yes in [true, false] {
        let world = World::new();
        let mut stream = world
            .runner()
            .new_session("ann")
            .run_by_name("pay", json!({"amount": 500}))
            .unwrap()
            .stream();
        while let Some(event) = stream.next().await {
            event.unwrap();
        }
        let RunEnd::Paused(waiting) = stream.end() else {
            panic!("it waits")
        };
        assert_eq!(
            waiting[0].question,
            "May the tool `pay` be called with {\"amount\":500}?"
        );
        assert_eq!(world.calls(), 0);
        let runner = world.runner();
        runner.answer(&waiting[0].id, yes).await.unwrap();
        let recovered = runner.recover().await.unwrap();
        assert_eq!((recovered.len(), world.calls()), (1, u32::from(yes)));
        assert_eq!(recovered[0].result.is_ok(), yes, "{recovered:?}");
    }
}

/// A long-running tool, whose result is a preliminary response.
struct Order;

static ORDER: LazyLock<ToolDeclaration> = LazyLock::new(|| {
    ToolDeclaration::new(
        "order",
        "Orders.",
        json!({"type": "object", "properties": {}}),
    )
});

impl Tool for Order {
    const META: ToolMeta<'static> = ToolMeta::new("order", "Orders.").long_running(true);

    fn declaration(&self) -> &ToolDeclaration {
        &ORDER
    }

    async fn call(&self, _: ToolArgs, _: &mut ToolContext) -> Result<Value, ToolError> {
        Ok(json!("ordered"))
    }
}

#[tokio::test]
async fn the_answer_is_the_result_of_a_long_running_tool() {
    let runner = Runner::builder()
        .engine(MemoryJournal::new())
        .workflow(ToolWorkflow::new(Order));
    let runner: Runner = runner.build().unwrap();
    let runner = runner.by_name();
    let mut stream = runner
        .new_session("ann")
        .run_by_name("order", Value::Null)
        .unwrap()
        .stream();
    let mut said = Vec::new();
    while let Some(event) = stream.next().await {
        let event = event.unwrap();
        said.extend(
            event
                .function_responses()
                .map(|answer| json!(answer.response)),
        );
    }
    assert_eq!(said, [json!({"result": "ordered"})]);
    let RunEnd::Paused(waiting) = stream.end() else {
        panic!("it waits")
    };
    runner.answer(&waiting[0].id, "delivered").await.unwrap();
    let run = runner
        .runs(&RunFilter::of_run(waiting[0].run_id))
        .await
        .unwrap();
    let outcome = runner.resume_by_name(&run[0]).unwrap().await.unwrap();
    assert_eq!(outcome.output, "delivered");
}

/// The exchange rate, in cents for a euro.
struct Rate(u64);

impl Resources for Rate {
    fn get(&self, id: TypeId) -> Option<&(dyn Any + Send + Sync)> {
        (id == TypeId::of::<u64>()).then_some(&self.0)
    }

    fn types() -> Vec<ResourceSpec<'static>> {
        vec![ResourceSpec::of::<u64>("u64")]
    }
}

/// A tool that requires the rate.
struct Convert;

impl Tool for Convert {
    const META: ToolMeta<'static> =
        ToolMeta::new("convert", "Converts.").resources(&[ResourceSpec::of::<u64>("u64")]);

    fn declaration(&self) -> &ToolDeclaration {
        &ORDER
    }

    async fn call(&self, _: ToolArgs, cx: &mut ToolContext) -> Result<Value, ToolError> {
        Ok(json!(cx.resource::<u64>()?))
    }
}

#[tokio::test]
async fn the_tool_gets_the_resources_of_the_runner() {
    let with = Runner::<NoProvider>::builder()
        .resources(Rate(7))
        .workflow(ToolWorkflow::new(Convert));
    let session = with.build().unwrap().by_name().new_session("ann");
    assert_eq!(
        session
            .run_by_name("convert", json!({}))
            .unwrap()
            .await
            .unwrap()
            .output,
        7
    );
    let without: Runner = Runner::builder()
        .workflow(ToolWorkflow::new(Convert))
        .build()
        .unwrap();
    let session = without.by_name().new_session("ann");
    let error = session
        .run_by_name("convert", json!({}))
        .unwrap()
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResourceMissing);
}
