//! Resources: the values that tools and agents take from the program.

use adk::engine::MemoryJournal;
use adk::model::{ModelRequest, ModelResponse};
use adk::prelude::*;
use adk::spec::ResourceSpec;
use adk::testing::ScriptedModel;
use adk::tool::FunctionTool;
use adk::{AgentMeta, CallbackContext, DynAgent, ErrorKind, Needs, ReadonlyContext};
use std::sync::{Arc, Mutex};

/// The sent texts.
#[derive(Clone, Default)]
struct Mailbox(Arc<Mutex<Vec<String>>>);

impl Mailbox {
    fn add(&self, text: String) {
        self.0
            .lock()
            .expect("no test panics with the lock")
            .push(text);
    }

    fn len(&self) -> usize {
        self.0.lock().expect("no test panics with the lock").len()
    }
}

/// Customers by number.
struct Customers(Vec<&'static str>);

/// Greetings, as a trait object.
type Greeting = Arc<dyn Fn(&str) -> String + Send + Sync>;

#[derive(adk::Resources)]
struct Shop {
    customers: Customers,
    mailbox: Mailbox,
    greeting: Greeting,
}

fn shop() -> (Shop, Mailbox) {
    let mailbox = Mailbox::default();
    let greeting: Greeting = Arc::new(|name| format!("Hello {name}"));
    (
        Shop {
            customers: Customers(vec!["Ada", "Grace"]),
            mailbox: mailbox.clone(),
            greeting,
        },
        mailbox,
    )
}

/// Finds a customer.
#[tool]
async fn find_customer(#[resource] customers: &Customers, id: usize) -> Result<String, String> {
    tokio::task::yield_now().await;
    customers
        .0
        .get(id)
        .map(|name| (*name).to_owned())
        .ok_or_else(|| "no such customer".to_owned())
}

/// Finds a customer, slowly.
#[tool(blocking)]
fn find_slowly(
    id: usize,
    #[resource] customers: &Customers,
    cx: &mut ToolContext,
) -> Result<String> {
    cx.state().set("temp:looked_up", id)?;
    Ok(customers.0[id].to_owned())
}

/// Greets.
#[agent(writes = greeting)]
async fn greet(
    #[resource] greeting: &Greeting,
    name: &str,
    #[resource] mailbox: &Mailbox,
) -> Result<String> {
    let text = greeting(name);
    mailbox.add(text.clone());
    Ok(text)
}

/// Sends a text.
#[agent]
async fn send(cx: &mut Context, greeting: &str, #[resource] mailbox: &Mailbox) -> Result<()> {
    mailbox.add(format!("sent by {}: {greeting}", cx.agent_name()));
    Ok(())
}

/// Counts the texts, on the thread pool for blocking work.
#[agent(writes = count, blocking)]
fn count(#[resource] mailbox: &Mailbox) -> usize {
    mailbox.len()
}

workflow! {
    /// Greets a customer.
    pub Greeter(name: String) -> count: usize {
        greet; send; count
    }
}

workflow! {
    /// Looks up a customer and greets.
    pub Desk(id: usize) -> count: usize {
        agent clerk -> name: String {
            instruction: "Who is {id}?",
            tools: [find_customer, find_slowly],
            max_turns: 3,
        }

        clerk;
        Greeter
    }
}

#[tokio::test]
async fn tools_and_agents_take_resources_by_their_types() {
    let (shop, mailbox) = shop();
    let model = ScriptedModel::new()
        .calls([
            ("find_customer", json!({"id": 0})),
            ("find_slowly", json!({"id": 1})),
        ])
        .text("Ada");
    let runner = Runner::builder()
        .model(model)
        .resources(shop)
        .build()
        .unwrap();
    let outcome = runner.run(&Desk::default(), 0_usize).await.unwrap();
    assert_eq!(outcome.output, 2);
    assert_eq!(
        *mailbox.0.lock().unwrap(),
        ["Hello Ada", "sent by send: Hello Ada"]
    );
}

/// An agent that is written by hand and takes resources from its context.
#[derive(Default)]
struct ByHand;

impl Agent for ByHand {
    const META: AgentMeta<'static> = AgentMeta::custom("by_hand").description("Greets by hand.");

    async fn run(&self, cx: &mut Context) -> Result<Flow> {
        let text = cx.resource::<Greeting>()?("you");
        cx.resource::<Mailbox>()?.add(text);
        Ok(Flow::Continue)
    }
}

/// Sends a text from a callback.
fn note(cx: &mut CallbackContext) -> Result<Option<Content>> {
    cx.resource::<Mailbox>()?
        .add(format!("before {}", cx.agent_name()));
    Ok(None)
}

/// Returns an instruction, as a function.
fn instruction(cx: ReadonlyContext) -> Result<String> {
    Ok(format!(
        "There are {} customers.",
        cx.resource::<Customers>()?.0.len()
    ))
}

workflow! {
    /// Has an instruction and a callback that take resources at run time.
    pub Late() {
        agent teller { instruction: instruction, before_agent: note }

        ByHand; teller
    }
}

#[tokio::test]
async fn agents_callbacks_and_instructions_take_resources_from_their_context() {
    let (shop, mailbox) = shop();
    let model = ScriptedModel::new().text("Hm.");
    let runner = Runner::builder()
        .model(model.clone())
        .resources(shop)
        .build()
        .unwrap();
    runner.run(&Late::default(), ()).await.unwrap();
    assert_eq!(*mailbox.0.lock().unwrap(), ["Hello you", "before teller"]);
    let asked = model.requests_of("teller");
    assert!(
        asked[0]
            .system_instruction
            .starts_with("There are 2 customers.")
    );
}

#[tokio::test]
async fn a_missing_resource_is_an_error_that_names_the_agent() {
    let runner = Runner::builder()
        .model(ScriptedModel::new())
        .build()
        .unwrap();
    let error = runner.run(&Late::default(), ()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResourceMissing);
    assert_eq!(error.path().unwrap().to_string(), "late/by_hand");
    assert!(
        error
            .to_string()
            .contains("resource-missing: the runner gives no"),
        "{error}"
    );
}

#[tokio::test]
async fn agents_built_at_run_time_are_checked_before_the_first_step() {
    let clerk = adk::llm::LlmAgent::builder("clerk")
        .tool(find_customer::default())
        .build()
        .unwrap();
    let model = ScriptedModel::new().text("Ada");
    let runner = Runner::builder().model(model.clone()).build().unwrap();
    let tree = adk::SequentialAgent::builder("desk").state_key::<String>("name");
    let tree = tree
        .sub_agent(greet::default())
        .sub_agent(clerk)
        .build()
        .unwrap();
    let error = runner
        .run(&tree, "Hello")
        .state("name", "Ada")
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResourceMissing);
    assert!(error.to_string().contains("`Greeting`"), "{error}");
    assert!(model.requests().is_empty());
    let (shop, mailbox) = shop();
    let runner = Runner::builder()
        .model(model)
        .resources(shop)
        .build()
        .unwrap();
    runner
        .run(&tree, "Hello")
        .state("name", "Ada")
        .await
        .unwrap();
    assert_eq!(*mailbox.0.lock().unwrap(), ["Hello Ada"]);
}

#[tokio::test]
async fn functions_and_tools_can_be_called_with_other_resources() {
    assert_eq!(
        find_customer(&Customers(vec!["Bob"]), 0).await.unwrap(),
        "Bob"
    );
    let (shop, _) = shop();
    let mut cx = ToolContext::for_tests_with(shop);
    let args = json!({"id": 1}).as_object().unwrap().clone();
    let found = adk::Tool::call(&find_slowly::default(), args.clone(), &mut cx)
        .await
        .unwrap();
    assert_eq!(found, "Grace");
    let mut cx = ToolContext::for_tests();
    let error = adk::Tool::call(&find_slowly::default(), args, &mut cx)
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("resource-missing: the runner gives no"),
        "{error}"
    );
}

workflow! {
    /// Greets after a person has agreed.
    pub Agreed(name: String) -> count: usize {
        /// May it go out?
        await yes: bool;
        Greeter
    }
}

#[tokio::test]
async fn sessions_and_resumed_runs_have_the_resources() {
    let (shop, mailbox) = shop();
    let runner = Runner::builder()
        .engine(MemoryJournal::new())
        .resources(shop);
    let runner = runner.workflow(Agreed::default()).build().unwrap();
    let session = runner.session("ada", "1");
    let error = session.run(&Agreed::default(), "Ada").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Paused);
    let waiting = session.waiting().await.unwrap();
    session.answer(&waiting[0].id, true).await.unwrap();
    assert_eq!(mailbox.len(), 0);
    let outcome = runner
        .resume(&Agreed::default(), waiting[0].run_id)
        .await
        .unwrap();
    assert_eq!((outcome.output, mailbox.len()), (2, 2));
}

/// A plugin that sends the text of each model request.
struct Listens;

impl Plugin for Listens {
    fn name(&self) -> &str {
        "listens"
    }

    async fn before_model(
        &self,
        cx: &mut CallbackContext,
        _: &mut ModelRequest,
    ) -> Result<Option<ModelResponse>> {
        cx.resource::<Mailbox>()?
            .add(format!("{} asks", cx.agent_name()));
        Ok(None)
    }
}

#[tokio::test]
async fn plugins_and_closure_tools_take_resources_from_their_context() {
    let (shop, mailbox) = shop();
    let tool = FunctionTool::new(
        "note",
        "Notes.",
        |(): (), cx: &mut ToolContext| -> Result<bool> {
            cx.resource::<Mailbox>()?.add("noted".to_owned());
            Ok(true)
        },
    );
    let clerk = adk::llm::LlmAgent::builder("clerk")
        .tool(tool)
        .build()
        .unwrap();
    let desk = adk::SequentialAgent::builder("desk")
        .sub_agent(clerk)
        .build()
        .unwrap();
    let model = ScriptedModel::new().call("note", json!({})).text("Done.");
    let runner = Runner::builder()
        .model(model)
        .plugin(Listens)
        .resources(shop)
        .build()
        .unwrap();
    runner.run(&desk, "Note it.").await.unwrap();
    assert_eq!(
        *mailbox.0.lock().unwrap(),
        ["clerk asks", "noted", "clerk asks"]
    );
}

/// An agent that declares a resource.
#[derive(Default)]
struct Says;

impl Agent for Says {
    const META: AgentMeta<'static> =
        AgentMeta::custom("says").resources(&[ResourceSpec::of::<Customers>("Customers")]);

    async fn run(&self, cx: &mut Context) -> Result<Flow> {
        cx.resource::<Customers>()?;
        Ok(Flow::Continue)
    }
}

workflow! {
    /// Asks a person before the agent runs.
    pub Asking() {
        agent teller { instruction: "Say something." }

        teller; Says
    }
}

#[tokio::test]
async fn the_declared_resources_of_an_agent_are_checked_before_the_first_step() {
    let model = ScriptedModel::new().text("Hm.");
    let runner = Runner::builder().model(model.clone()).build().unwrap();
    let error = runner.run(&Asking::default(), ()).await.unwrap_err();
    assert_eq!(
        (error.kind(), model.requests().len()),
        (ErrorKind::ResourceMissing, 0)
    );
    assert_eq!(error.path().unwrap().to_string(), "asking/says");
    let runner = Runner::builder()
        .model(model)
        .resources(shop().0)
        .build()
        .unwrap();
    runner.run(&Asking::default(), ()).await.unwrap();
}

/// A part of a program that knows only one of its resources.
fn needs_a_mailbox<R: adk::Gives<Mailbox>>(given: &R) -> usize {
    given.give().len()
}

#[test]
fn resources_are_found_by_type() {
    let (shop, _) = shop();
    assert_eq!(needs_a_mailbox(&shop), 0);
    fn needs<W: Needs<Shop>>() {}
    needs::<Desk>();
    needs::<Arc<Desk>>();
}

#[test]
fn the_description_lists_the_resources() {
    let (greet, find) = (greet::default(), find_customer::default());
    let taken: Vec<_> = greet
        .meta()
        .resources
        .iter()
        .map(|taken| taken.name)
        .collect();
    assert_eq!(taken, ["Greeting", "Mailbox"]);
    let declaration = adk::Tool::declaration(&find);
    assert_eq!(
        declaration.parameters["properties"]
            .as_object()
            .unwrap()
            .len(),
        1
    );
}

/// Generic resources; the program keeps one field for itself.
#[derive(adk::Resources)]
struct Generic<T> {
    number: Option<T>,
    #[resource(skip)]
    hidden: Vec<String>,
    given: Vec<String>,
}

#[test]
fn resources_may_be_generic_and_have_fields_that_are_not_given() {
    let all = Generic {
        number: Some(3_u8),
        hidden: vec!["hidden".to_owned()],
        given: vec!["given".to_owned()],
    };
    assert_eq!(all.hidden.len(), 1);
    let given: &Vec<String> = adk::Gives::give(&all);
    assert_eq!(given[0], "given");
    let number: &Option<u8> = adk::Gives::give(&all);
    assert_eq!(*number, Some(3));
}

/// Looks up customers, with agents that no step names.
mod front {
    use super::find_customer;
    use adk::prelude::*;

    workflow! {
        /// Asks the agents of the desk.
        pub Front(id: usize) -> name: String {
            agent helper -> name: String {
                instruction: "Who is {id}?",
                tools: [find_customer],
                max_turns: 3,
            }
            agent clerk -> name: String {
                instruction: "Who is {id}?",
                transfer: [helper],
                max_turns: 3,
            }

            clerk
        }
    }
}

#[test]
fn an_unused_resource_is_reported() {
    use adk::Resources;
    assert_eq!(Shop::unused(&[&Desk::SPEC]), [""; 0]);
    assert_eq!(
        Shop::unused(&[&front::Front::SPEC]),
        ["Mailbox", "Greeting"]
    );
    assert_eq!(
        Shop::unused(&[&front::Front::SPEC, &Greeter::SPEC]),
        [""; 0]
    );
    assert_eq!(
        Shop::unused(&[&Late::SPEC]),
        ["Customers", "Mailbox", "Greeting"]
    );
}
