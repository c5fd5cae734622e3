//! Push notifications: changes of a task are sent to the addresses that its client has given.
//!
//! The addresses of a task are kept in a session of an app of its own, so that another process finds them. Each process tells of
//! the tasks whose addresses it was given, and at its start of those that it finds.

use super::error::RpcRefusal;
use super::task::state;
use super::updates::{Heard, Updates};
use super::{Answer, Answered, Call, json, read};
use crate::access::Caller;
use crate::runs::lock;
use crate::serve::App;
use adk_a2a::rpc::ErrorCode;
use adk_a2a::{
    CONTENT_TYPE, ListTaskPushNotificationConfigsResponse, PushConfigRequest, StreamResponse,
    TaskPushNotificationConfig, TaskState,
};
use adk_core::engine::{RunFilter, RunInfo, RunStatus};
use adk_core::runner::{KnownWorkflow, SessionHandle};
use adk_core::session::EventFilter;
use adk_core::{Error, ErrorKind, Result, RunId, Runner, StateDelta};
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use reqwest::{Client, Url, header, redirect};
use serde_json::Value;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

/// The most addresses of a task.
const MOST: usize = 10;
/// How long an address may take to answer.
const ANSWER: Duration = Duration::from_secs(5);
/// How often an address is tried, and the pause before the second time.
const ATTEMPTS: u32 = 3;
const PAUSE: Duration = Duration::from_secs(1);
/// How often a task that waits is looked at.
const EVERY: Duration = Duration::from_secs(1);

const FIELD: &str = "configs";
const TOKEN: HeaderName = HeaderName::from_static("x-a2a-notification-token");

/// Where tasks may be told, and which are.
pub(crate) struct Push {
    allowed: Vec<Url>,
    /// None without an address, since it reads certificates.
    client: Option<Client>,
    told: Mutex<HashSet<RunId>>,
    /// Held while the addresses of a task are changed.
    change: tokio::sync::Mutex<()>,
}

impl Push {
    /// # Errors
    /// When a prefix is no URL of HTTP.
    pub(crate) fn new(prefixes: &[String]) -> Result<Self> {
        let config = |message: String, help: &str| Error::new(ErrorKind::Config, message).with_help(help);
        let allowed = prefixes.iter().map(|prefix| {
            let url = Url::parse(prefix).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
            url.ok_or_else(|| {
                let message = format!("`{prefix}`, to which notifications may be pushed, is no URL of HTTP");
                config(message, "write it with its scheme, as in `https://hooks.example.org/tasks`")
            })
        });
        let allowed = allowed.collect::<Result<_>>()?;
        // Where it redirects to was not allowed.
        let client = Client::builder().redirect(redirect::Policy::none()).timeout(ANSWER);
        let client = (!prefixes.is_empty()).then(|| client.build()).transpose().map_err(|error| {
            config(
                format!("no notification can be pushed: {error}"),
                "check the certificates of this machine",
            )
        })?;
        Ok(Self { allowed, client, told: Mutex::default(), change: tokio::sync::Mutex::default() })
    }

    pub(super) fn is_on(&self) -> bool {
        !self.allowed.is_empty()
    }

    fn allows(&self, url: &Url) -> bool {
        self.allowed.iter().any(|allowed| {
            let folder = allowed.path().trim_end_matches('/');
            let is_below =
                url.path().strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            url.origin() == allowed.origin()
                && is_below
                && url.username().is_empty()
                && url.password().is_none()
        })
    }

    async fn post(&self, config: &TaskPushNotificationConfig, update: &StreamResponse) {
        let url = Url::parse(&config.url).ok().filter(|url| self.allows(url));
        let (Some(url), Some(client)) = (url, &self.client) else { return };
        let body = json(update).to_string();
        let mut request = client.post(url).header(header::CONTENT_TYPE, CONTENT_TYPE).body(body);
        if let Some((name, value)) = credentials(config).ok().flatten() {
            request = request.header(name, value);
        }
        for attempt in 0..ATTEMPTS {
            let Some(request) = request.try_clone() else { return };
            match request.send().await {
                Ok(answer) if !answer.status().is_server_error() => return,
                _ if attempt + 1 < ATTEMPTS => tokio::time::sleep(PAUSE * (1 << attempt)).await,
                _ => {}
            }
        }
    }
}

/// The header by which a notification says that it comes from here.
fn credentials(config: &TaskPushNotificationConfig) -> Result<Option<(HeaderName, HeaderValue)>, ()> {
    let (name, value) = match &config.authentication {
        Some(info) if !info.credentials.is_empty() => {
            (AUTHORIZATION, format!("{} {}", info.scheme, info.credentials))
        }
        _ if config.token.is_empty() => return Ok(None),
        _ => (TOKEN, config.token.clone()),
    };
    let mut value = HeaderValue::from_str(&value).map_err(drop)?;
    value.set_sensitive(true);
    Ok(Some((name, value)))
}

/// The session that holds the addresses of a task.
fn kept(runner: &Runner, run: &RunInfo) -> SessionHandle {
    let app = runner.for_app(app_of(runner));
    app.session(&run.session.user, run.run_id.to_string())
}

fn app_of(runner: &Runner) -> String {
    format!("{}:push", runner.app_name())
}

async fn configs(kept: &SessionHandle) -> Result<Vec<TaskPushNotificationConfig>> {
    let there = kept.get(&EventFilter::new().last(0)).await?;
    let value = there.and_then(|there| there.state.get(FIELD).map(|value| Value::clone(value)));
    Ok(value.and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default())
}

async fn keep(kept: &SessionHandle, configs: &[TaskPushNotificationConfig]) -> Result<()> {
    kept.delete().await?;
    if !configs.is_empty() {
        kept.create(StateDelta::from_iter([(FIELD, json(&configs))])).await?;
    }
    Ok(())
}

impl Call {
    pub(super) fn check_push(&self, config: &TaskPushNotificationConfig) -> Result<(), RpcRefusal> {
        let push = &self.app.push;
        if !push.is_on() {
            let fact = "this server posts to nobody";
            let help = "use `SubscribeToTask` or `GetTask`, or allow addresses with `Server::push_to`";
            return Err(RpcRefusal::new(ErrorCode::PushNotificationNotSupported, fact, help));
        }
        let invalid = |fact: &str, help: &str| Err(RpcRefusal::new(ErrorCode::InvalidParams, fact, help));
        if !Url::parse(&config.url).is_ok_and(|url| push.allows(&url)) {
            let help = "`Server::push_to` says which addresses may be told; ask who runs it";
            return invalid("the `url` of the push notifications is none that this server posts to", help);
        }
        if credentials(config).is_err() {
            return invalid("the token of the push notifications cannot be sent", "give one line of ASCII");
        }
        Ok(())
    }

    /// Keeps an address, and tells it of the task from now on.
    pub(super) async fn keep_push(
        &self,
        run: &RunInfo,
        mut config: TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, RpcRefusal> {
        let refuse =
            |fact: &str, help: &str| Err(RpcRefusal::new(ErrorCode::UnsupportedOperation, fact, help));
        config.task_id = run.run_id.to_string();
        if config.id.is_empty() {
            config.id = RunId::new().to_string();
        }
        let handle = kept(&self.runner, run);
        let change = self.app.push.change.lock().await;
        let mut all = configs(&handle).await?;
        all.retain(|other| other.id != config.id);
        if all.len() >= MOST {
            return refuse("the task has as many addresses as it may have", "delete one of them");
        }
        all.push(config.clone());
        keep(&handle, &all).await?;
        drop(change);
        self.app.tell(&self.runner, &self.workflow, run, state(&run.status));
        Ok(config)
    }

    pub(super) async fn push_config(&self, method: &str, params: Value) -> Answered {
        if method == "CreateTaskPushNotificationConfig" {
            let config: TaskPushNotificationConfig = read(params)?;
            self.check_push(&config)?;
            let run = self.run(&config.task_id).await?;
            if !run.status.is_open() {
                let fact = "the task has ended, so there is nothing more to tell of it";
                return Err(RpcRefusal::new(ErrorCode::UnsupportedOperation, fact, "`GetTask` says how"));
            }
            return Ok(Answer::Value(json(&self.keep_push(&run, config).await?)));
        }
        if !self.app.push.is_on() {
            self.check_push(&TaskPushNotificationConfig::default())?;
        }
        let asked: PushConfigRequest = read(params)?;
        let run = self.run(&asked.task_id).await?;
        let handle = kept(&self.runner, &run);
        let mut all = configs(&handle).await?;
        Ok(Answer::Value(match method {
            "ListTaskPushNotificationConfigs" => json(&ListTaskPushNotificationConfigsResponse {
                configs: all,
                next_page_token: String::new(),
            }),
            "DeleteTaskPushNotificationConfig" => {
                let _change = self.app.push.change.lock().await;
                all.retain(|config| config.id != asked.id);
                keep(&handle, &all).await?;
                Value::Null
            }
            _ => {
                let found = all.into_iter().find(|config| config.id == asked.id);
                json(&found.ok_or_else(|| {
                    let fact = "the task has no push notifications of this id";
                    let help = "`ListTaskPushNotificationConfigs` has those that there are";
                    RpcRefusal::new(ErrorCode::TaskNotFound, fact, help)
                })?)
            }
        }))
    }
}

impl App {
    /// Tells of the tasks that have addresses already, of those that have ended in the meantime too.
    pub(crate) fn push_again(self: &Arc<Self>, runner: &Runner) {
        if !self.push.is_on() {
            return;
        }
        let (app, runner) = (Arc::downgrade(self), runner.clone());
        let again = tokio::spawn(async move {
            let Ok(kept) = runner.for_app(app_of(&runner)).sessions(None).await else { return };
            for id in kept.iter().filter_map(|kept| kept.key.id.parse().ok()) {
                let Ok(runs) = runner.runs(&RunFilter::of_run(id)).await else { return };
                let Some(app) = app.upgrade() else { return };
                for run in runs {
                    let workflow = runner.workflows().find(|workflow| workflow.name() == run.workflow);
                    if let Some(workflow) = workflow {
                        app.tell(&runner, &workflow, &run, TaskState::Working);
                    }
                }
            }
        });
        self.until_stopped(again.abort_handle());
    }

    /// Tells of a task until it has ended, unless that is done already.
    fn tell(self: &Arc<Self>, runner: &Runner, workflow: &KnownWorkflow, run: &RunInfo, known: TaskState) {
        let id = run.run_id;
        if !lock(&self.push.told).insert(id) {
            return;
        }
        let (runner, workflow) = (runner.clone(), workflow.clone());
        let teller = Teller { app: Arc::downgrade(self), runner, workflow, run: id, state: known };
        let told = tokio::spawn(teller.run());
        self.until_stopped(told.abort_handle());
    }
}

/// Tells of one task. While the task waits it does not keep the server alive.
struct Teller {
    app: Weak<App>,
    runner: Runner,
    workflow: KnownWorkflow,
    run: RunId,
    /// The state that was told last.
    state: TaskState,
}

impl Teller {
    async fn run(mut self) {
        // A store that fails is asked again.
        while !matches!(self.until_it_waits().await, Ok(true)) {
            loop {
                tokio::time::sleep(EVERY).await;
                let paused = match self.found().await {
                    Ok(Some(run)) => run.status == RunStatus::Paused,
                    Ok(None) => false,
                    Err(_) => true,
                };
                if !paused {
                    break;
                }
                if self.app.strong_count() == 0 {
                    return;
                }
            }
        }
        if let Some(app) = self.app.upgrade() {
            lock(&app.push.told).remove(&self.run);
        }
    }

    async fn found(&self) -> Result<Option<RunInfo>> {
        Ok(self.runner.runs(&RunFilter::of_run(self.run)).await?.into_iter().next())
    }

    /// Tells what happens until the task waits; whether there is no more to tell.
    async fn until_it_waits(&mut self) -> Result<bool> {
        let (Some(app), Some(run)) = (self.app.upgrade(), self.found().await?) else { return Ok(true) };
        let kept = kept(&self.runner, &run);
        let (runner, workflow) = (self.runner.clone(), self.workflow.clone());
        let call = Call { app: app.clone(), runner, caller: Caller::operator(), workflow };
        let mut updates = Updates::new(&call, run, None, Heard::Stored(app.runs.listen(self.run)));
        while let Some(update) = updates.next().await {
            // Asked for again below.
            let Ok(StreamResponse::StatusUpdate(update)) = update else { continue };
            if update.status.state == self.state {
                continue;
            }
            self.state = update.status.state;
            let update = StreamResponse::StatusUpdate(update);
            for config in configs(&kept).await? {
                app.push.post(&config, &update).await;
            }
        }
        let is_over = self.state.is_terminal();
        if is_over {
            kept.delete().await?;
        }
        Ok(is_over || configs(&kept).await?.is_empty())
    }
}
