//! [`Push`]: push notifications, which send changes of a task to the addresses of its client.
//!
//! Each address is a session, whose state contains the last notified state of the task. A separate
//! app holds these sessions for the tasks of all tenants; its users are the ids of tasks. The
//! process that drives a task notifies its addresses of each change. If the process ends first,
//! another process sends the notification.

use super::error::RpcRefusal;
use super::prefix::is_below;
use super::task::task_state;
use super::{RpcAnswer, RpcCall, RpcResult, json, read};
use crate::app::{App, Caller, RunChange, lock};
use crate::refuse::Refusal;
use adk_a2a::rpc::ErrorCode;
use adk_a2a::{
    CONTENT_TYPE, ListTaskPushNotificationConfigsResponse, PushConfigRequest, StreamResponse,
    TaskPushNotificationConfig, TaskState, TaskStatus, TaskStatusUpdateEvent,
};
use adk_core::engine::{RunFilter, RunInfo};
use adk_core::runner::SessionHandle;
use adk_core::session::{EventFilter, SessionSnapshot, now_micros};
use adk_core::{Error, ErrorKind, Event, Result, RunId, Runner, StateDelta};
use futures_util::future::join_all;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use reqwest::{Client, Url, header, redirect};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// The maximum number of addresses of a task.
const MOST: usize = 10;
/// The timeout of one `POST` request.
const ANSWER: Duration = Duration::from_secs(5);
/// The maximum number of attempts for one notification.
const ATTEMPTS: u32 = 3;
/// The pause before the second attempt.
const PAUSE: Duration = Duration::from_secs(1);
/// The minimum pause between two sweeps over all addresses.
const EVERY: Duration = Duration::from_secs(5);
/// The pause after a sweep, as a multiple of the duration of the sweep.
const REST: u32 = 20;
/// The time in which the process that drives a task notifies its addresses. It covers all attempts;
/// later, another process sends the notification.
const GRACE: Duration = Duration::from_secs(20);
/// The lifetime of the addresses of a failed task, which may be retried.
const FAILED_LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);

/// The state key of the client's configuration of an address.
const CONFIG: &str = "config";
/// The state key of the app of the task.
const APP: &str = "app";
/// The state key of the last notified state.
const NOTIFIED: &str = "told";
const TOKEN: HeaderName = HeaderName::from_static("x-a2a-notification-token");

/// The allowed addresses and the notifications that are being sent.
pub(super) struct Push {
    allowed: Vec<Url>,
    /// The HTTP client; `None` without allowed addresses, because creating it reads certificates.
    client: Option<Client>,
    /// The tasks whose notifications are being sent, with the queue of their next notifications.
    sending: Mutex<HashMap<RunId, VecDeque<Notification>>>,
}

/// A notification for the addresses of a task.
#[derive(Clone, Copy, Debug)]
enum Notification {
    /// The task continues.
    Working,
    /// The current state of the task in the store.
    Current,
}

/// The last state that an address was notified of.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct NotifiedState {
    state: TaskState,
    /// The time of the last change of the run.
    updated: u64,
}

impl NotifiedState {
    fn new(run: &RunInfo) -> Self {
        Self {
            state: task_state(&run.status),
            updated: run.updated,
        }
    }

    /// Returns whether an address needs a notification of the state `now`. A resumed run is still
    /// working.
    fn is_outdated(self, now: Self) -> bool {
        self.state != now.state || self.updated != now.updated && now.state != TaskState::Working
    }
}

/// A stored address of a task.
struct PushAddress {
    handle: SessionHandle,
    config: TaskPushNotificationConfig,
    app: String,
    notified: NotifiedState,
}

impl Push {
    /// Creates the sender for addresses below the prefixes.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if a prefix is not an HTTP URL.
    pub(super) fn new(prefixes: &[String]) -> Result<Self> {
        let config =
            |message: String, help: &str| Error::new(ErrorKind::Config, message).with_help(help);
        let allowed = prefixes.iter().map(|prefix| {
            let url = Url::parse(prefix)
                .ok()
                .filter(|url| matches!(url.scheme(), "http" | "https"));
            url.ok_or_else(|| {
                let message = format!("the push address `{prefix}` is not an HTTP URL");
                config(
                    message,
                    "write it with its scheme, as in `https://hooks.example.org/tasks`",
                )
            })
        });
        let allowed = allowed.collect::<Result<_>>()?;
        // The target of a redirect may not be an allowed address.
        let client = Client::builder()
            .redirect(redirect::Policy::none())
            .timeout(ANSWER);
        let client = (!prefixes.is_empty())
            .then(|| client.build())
            .transpose()
            .map_err(|error| {
                config(
                    format!("cannot create an HTTP client for push notifications: {error}"),
                    "check the certificates of this machine",
                )
            })?;
        Ok(Self {
            allowed,
            client,
            sending: Mutex::default(),
        })
    }

    pub(super) fn is_on(&self) -> bool {
        !self.allowed.is_empty()
    }

    fn allows(&self, url: &Url) -> bool {
        self.allowed.iter().any(|allowed| is_below(url, allowed))
    }

    /// Returns whether this server allows an address. Another server may have other allowed
    /// addresses.
    fn posts_to(&self, config: &TaskPushNotificationConfig) -> bool {
        Url::parse(&config.url).is_ok_and(|url| self.allows(&url))
    }

    /// Posts to an address, with up to [`ATTEMPTS`] attempts.
    async fn post(&self, config: &TaskPushNotificationConfig, body: &str) {
        let Some(client) = &self.client else { return };
        let mut request = client
            .post(&config.url)
            .header(header::CONTENT_TYPE, CONTENT_TYPE);
        if let Some((name, value)) = credentials(config).ok().flatten() {
            request = request.header(name, value);
        }
        let request = request.body(body.to_owned());
        for attempt in 0..ATTEMPTS {
            let Some(request) = request.try_clone() else {
                return;
            };
            match request.send().await {
                Ok(answer) if !answer.status().is_server_error() => return,
                _ if attempt + 1 < ATTEMPTS => tokio::time::sleep(PAUSE * (1 << attempt)).await,
                _ => {}
            }
        }
    }
}

/// Returns the header that authenticates a notification to the client.
fn credentials(
    config: &TaskPushNotificationConfig,
) -> Result<Option<(HeaderName, HeaderValue)>, ()> {
    let (name, value) = match &config.authentication {
        Some(info) if !info.credentials.is_empty() => (
            AUTHORIZATION,
            format!("{} {}", info.scheme, info.credentials),
        ),
        _ if config.token.is_empty() => return Ok(None),
        _ => (TOKEN, config.token.clone()),
    };
    let mut value = HeaderValue::from_str(&value).map_err(drop)?;
    value.set_sensitive(true);
    Ok(Some((name, value)))
}

/// Returns the runner of the app that holds the addresses.
fn push_runner(app: &App) -> Runner {
    let runner = app.main_runner();
    runner.for_app(format!("{}:push", runner.app_name()))
}

/// Returns the session of an address of a task. The client's id may be long, so the session id is a
/// hash.
fn address(app: &App, task: RunId, id: &str) -> SessionHandle {
    push_runner(app).session(
        task.to_string(),
        format!("{:032x}", RunId::of_text(id).as_u128()),
    )
}

/// Reads the addresses of a task.
async fn addresses_of(app: &App, task: RunId) -> Result<Vec<PushAddress>> {
    let sessions = push_runner(app).sessions(Some(&task.to_string())).await?;
    let mut all: Vec<_> = sessions
        .iter()
        .filter_map(|session| read_address(app, session))
        .collect();
    all.sort_by(|left, right| left.config.id.cmp(&right.config.id));
    Ok(all)
}

fn read_address(app: &App, snapshot: &SessionSnapshot) -> Option<PushAddress> {
    let handle = push_runner(app).session(&snapshot.key.user, &snapshot.key.id);
    Some(PushAddress {
        handle,
        config: field(snapshot, CONFIG)?,
        app: field(snapshot, APP)?,
        notified: field(snapshot, NOTIFIED)?,
    })
}

impl Push {
    /// Notifies addresses: at once of the tasks that this process drives, and by sweeps of the
    /// tasks of processes that have ended.
    pub(super) fn start(self: &Arc<Self>, app: &Arc<App>) {
        if !self.is_on() {
            return;
        }
        let mut changes = app.changes();
        let (push, weak) = (self.clone(), Arc::downgrade(app));
        let notifier = tokio::spawn(async move {
            while let Some(RunChange {
                app: app_name,
                run,
                is_running,
            }) = changes.recv().await
            {
                let Some(app) = weak.upgrade() else { return };
                push.notify(
                    &app,
                    app_name,
                    run,
                    if is_running {
                        Notification::Working
                    } else {
                        Notification::Current
                    },
                );
            }
        });
        app.until_stopped(notifier.abort_handle());
        let (push, weak) = (self.clone(), Arc::downgrade(app));
        let sweeper = tokio::spawn(async move {
            // Changes before the start of this process may have no process that notifies of them.
            let mut grace = Duration::ZERO;
            loop {
                let Some(app) = weak.upgrade() else { return };
                let begun = Instant::now();
                if push.sweep(&app, grace).await.is_ok() {
                    grace = GRACE;
                }
                drop(app);
                tokio::time::sleep(EVERY.max(begun.elapsed() * REST)).await;
            }
        });
        app.until_stopped(sweeper.abort_handle());
    }

    /// Notifies of all tasks whose last change is older than `grace` and was not notified.
    async fn sweep(self: &Arc<Self>, app: &Arc<App>, grace: Duration) -> Result<()> {
        // If the engine drives runs outside of the servers, no server notifies at once, so do not
        // wait.
        let is_elsewhere = app.main_runner().engine().driver().is_some();
        let grace = if is_elsewhere { Duration::ZERO } else { grace };
        let mut tasks = BTreeMap::<RunId, Vec<PushAddress>>::new();
        for session in push_runner(app).sessions(None).await? {
            let task = session.key.user.parse().ok();
            if let Some((task, address)) = task.zip(read_address(app, &session)) {
                tasks.entry(task).or_default().push(address);
            }
        }
        for (task, all) in tasks {
            let Some(app_name) = all.first().map(|address| address.app.clone()) else {
                continue;
            };
            let now = app
                .main_runner()
                .for_app(&app_name)
                .runs(&RunFilter::of_run(task))
                .await?
                .into_iter()
                .next();
            let age = now
                .as_ref()
                .map(|run| Duration::from_micros(now_micros().saturating_sub(run.updated)));
            let is_over = match (&now, age) {
                (Some(run), Some(age)) => {
                    task_state(&run.status) == TaskState::Failed && age >= FAILED_LIFETIME
                }
                // The session of the run was deleted.
                _ => true,
            };
            if is_over {
                for address in all {
                    address.handle.delete().await?;
                }
                continue;
            }
            let Some(run) = now else { continue };
            let current = NotifiedState::new(&run);
            // The driving process notifies of a working task.
            if (current.state != TaskState::Working || is_elsewhere)
                && age.is_some_and(|age| age >= grace)
                && all.iter().any(|address| {
                    self.posts_to(&address.config) && address.notified.is_outdated(current)
                })
            {
                self.notify(app, app_name, task, Notification::Current);
            }
        }
        Ok(())
    }

    /// Queues a notification for the addresses of a task.
    fn notify(
        self: &Arc<Self>,
        app: &Arc<App>,
        app_name: String,
        task: RunId,
        notification: Notification,
    ) {
        let mut sending = lock(&self.sending);
        if let Some(queue) = sending.get_mut(&task) {
            queue.push_back(notification);
            return;
        }
        sending.insert(task, VecDeque::new());
        drop(sending);
        let (push, app) = (self.clone(), app.clone());
        tokio::spawn(async move {
            let mut next = Some(notification);
            while let Some(notification) = next {
                // If the store fails now, a later sweep finds the change.
                let _ = push
                    .send_notification(&app, &app_name, task, notification)
                    .await;
                let mut sending = lock(&push.sending);
                next = sending.get_mut(&task).and_then(VecDeque::pop_front);
                if next.is_none() {
                    sending.remove(&task);
                }
            }
        });
    }

    async fn send_notification(
        self: &Arc<Self>,
        app: &Arc<App>,
        app_name: &str,
        task: RunId,
        notification: Notification,
    ) -> Result<(), Refusal> {
        let all = addresses_of(app, task).await?;
        if all.is_empty() {
            return Ok(());
        }
        let runner = app.main_runner().for_app(app_name);
        let runs = runner.runs(&RunFilter::of_run(task)).await?;
        let Some(run) = runs.into_iter().next() else {
            return Ok(());
        };
        let Some(workflow) = runner
            .workflows()
            .find(|workflow| workflow.name() == run.workflow)
        else {
            return Ok(());
        };
        let (now, status) = match notification {
            Notification::Working => {
                let status = TaskStatus {
                    state: TaskState::Working,
                    message: None,
                    timestamp: None,
                };
                (
                    NotifiedState {
                        state: TaskState::Working,
                        updated: run.updated,
                    },
                    status,
                )
            }
            Notification::Current => {
                let call = RpcCall {
                    app: app.clone(),
                    push: self.clone(),
                    runner,
                    caller: Caller::operator(),
                    workflow,
                };
                (NotifiedState::new(&run), call.status(&run, None).await?)
            }
        };
        let update = StreamResponse::StatusUpdate(Box::new(TaskStatusUpdateEvent {
            task_id: task.to_string(),
            context_id: run.session.id.clone(),
            status: TaskStatus {
                state: now.state,
                ..status
            },
            metadata: Map::new(),
        }));
        let body = json(&update).to_string();
        let posted = all
            .iter()
            .filter(|address| self.posts_to(&address.config))
            .map(|address| async {
                let is_outdated = address.notified.is_outdated(now);
                if is_outdated {
                    self.post(&address.config, &body).await;
                }
                // Keep the addresses of a failed task, which may be retried.
                if matches!(now.state, TaskState::Completed | TaskState::Canceled) {
                    address.handle.delete().await?;
                } else if is_outdated {
                    address
                        .handle
                        .append(vec![Event::new().with_state(NOTIFIED, json(&now))])
                        .await?;
                }
                Ok(())
            });
        join_all(posted).await.into_iter().collect::<Result<()>>()?;
        Ok(())
    }
}

fn field<T: DeserializeOwned>(snapshot: &SessionSnapshot, key: &str) -> Option<T> {
    serde_json::from_value(Value::clone(snapshot.state.get(key)?)).ok()
}

impl RpcCall {
    pub(super) fn check_push(&self, config: &TaskPushNotificationConfig) -> Result<(), RpcRefusal> {
        let push = &self.push;
        if !push.is_on() {
            let fact = "this server sends no push notifications";
            let help =
                "use `SubscribeToTask` or `GetTask`, or allow addresses with `Server::push_to`";
            return Err(RpcRefusal::new(
                ErrorCode::PushNotificationNotSupported,
                fact,
                help,
            ));
        }
        let invalid =
            |fact: &str, help: &str| Err(RpcRefusal::new(ErrorCode::InvalidParams, fact, help));
        if !push.posts_to(config) {
            let help = "use an allowed address, or ask the operator to allow this one with \
                        `Server::push_to`";
            return invalid(
                "the `url` of the push notifications is not an allowed address",
                help,
            );
        }
        if credentials(config).is_err() {
            return invalid(
                "the token of the push notifications is not valid",
                "use one line of ASCII",
            );
        }
        Ok(())
    }

    /// Stores an address and notifies it of the task.
    pub(super) async fn keep_push(
        &self,
        run: &RunInfo,
        mut config: TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, RpcRefusal> {
        config.task_id = run.run_id.to_string();
        if config.id.is_empty() {
            config.id = RunId::new().to_string();
        }
        let others = addresses_of(&self.app, run.run_id).await?;
        if others
            .iter()
            .filter(|address| address.config.id != config.id)
            .count()
            >= MOST
        {
            let fact = format!("the task has reached the limit of {MOST} addresses");
            return Err(RpcRefusal::new(
                ErrorCode::UnsupportedOperation,
                fact,
                "delete an address first",
            ));
        }
        let handle = address(&self.app, run.run_id, &config.id);
        handle.delete().await?;
        let fields = [
            (CONFIG, json(&config)),
            (APP, json(&run.session.app)),
            (NOTIFIED, json(&NotifiedState::new(run))),
        ];
        handle.create(StateDelta::from_iter(fields)).await?;
        // The task may have changed since it was read.
        let app_name = run.session.app.clone();
        self.push
            .notify(&self.app, app_name, run.run_id, Notification::Current);
        Ok(config)
    }

    pub(super) async fn push_config(&self, method: &str, params: Value) -> RpcResult {
        if method == "CreateTaskPushNotificationConfig" {
            let config: TaskPushNotificationConfig = read(params)?;
            self.check_push(&config)?;
            let run = self.run(&config.task_id).await?;
            if !run.status.is_open() {
                let fact = "the task has ended, so it has no more updates";
                return Err(RpcRefusal::new(
                    ErrorCode::UnsupportedOperation,
                    fact,
                    "get its result with `GetTask`",
                ));
            }
            return Ok(RpcAnswer::Value(json(&self.keep_push(&run, config).await?)));
        }
        if !self.push.is_on() {
            self.check_push(&TaskPushNotificationConfig::default())?;
        }
        let request: PushConfigRequest = read(params)?;
        let run = self.run(&request.task_id).await?;
        Ok(RpcAnswer::Value(match method {
            "ListTaskPushNotificationConfigs" => {
                let all = addresses_of(&self.app, run.run_id).await?;
                json(&ListTaskPushNotificationConfigsResponse {
                    configs: all.into_iter().map(|address| address.config).collect(),
                    next_page_token: String::new(),
                })
            }
            "DeleteTaskPushNotificationConfig" => {
                address(&self.app, run.run_id, &request.id).delete().await?;
                Value::Null
            }
            _ => {
                let session = address(&self.app, run.run_id, &request.id)
                    .get(&EventFilter::new().last(0))
                    .await?;
                let address = session
                    .and_then(|session| read_address(&self.app, &session))
                    .ok_or_else(|| {
                        let fact = "the task has no push notifications with this id";
                        let help = "list the ids with `ListTaskPushNotificationConfigs`";
                        RpcRefusal::new(ErrorCode::TaskNotFound, fact, help)
                    })?;
                json(&address.config)
            }
        }))
    }
}
