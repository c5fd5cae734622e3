//! Push notifications: changes of a task are sent to the addresses that its client has given.
//!
//! An address is kept in a session of an app of its own, with the state of the task that it was told last: one app for the tasks
//! of all tenants, whose users are the ids of tasks. The process that drives a task tells its addresses of each change. What a
//! process has not told before it ended is told by any other that finds it.

use super::error::RpcRefusal;
use super::prefix::is_below;
use super::task::state;
use super::{Answer, Answered, Call, json, read};
use crate::access::Caller;
use crate::refuse::Refusal;
use crate::runs::{Change, lock};
use crate::serve::App;
use adk_a2a::rpc::ErrorCode;
use adk_a2a::{
    CONTENT_TYPE, ListTaskPushNotificationConfigsResponse, PushConfigRequest, StreamResponse,
    TaskPushNotificationConfig, TaskState, TaskStatus, TaskStatusUpdateEvent,
};
use adk_core::engine::{RunFilter, RunInfo};
use adk_core::runner::SessionHandle;
use adk_core::session::{EventFilter, SessionSnapshot, now_micros};
use adk_core::{Error, ErrorKind, Event, Result, RunId, StateDelta};
use futures_util::future::join_all;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use reqwest::{Client, Url, header, redirect};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;

/// The most addresses of a task.
const MOST: usize = 10;
/// How long an address may take to answer.
const ANSWER: Duration = Duration::from_secs(5);
/// How often an address is tried, and the pause before the second time.
const ATTEMPTS: u32 = 3;
const PAUSE: Duration = Duration::from_secs(1);
/// How often all addresses are looked at, and for how many times as long as that takes they are let alone.
const EVERY: Duration = Duration::from_secs(5);
const REST: u32 = 20;
/// How long the process that has changed a task has to tell of it, before another does: as long as an address is tried.
const GRACE: Duration = Duration::from_secs(20);
/// How long the addresses of a task that has failed are kept: it may be tried again.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// The keys of the session of an address: what its client has given, the app of the task, and what it was told last.
const CONFIG: &str = "config";
const APP: &str = "app";
const TOLD: &str = "told";
const TOKEN: HeaderName = HeaderName::from_static("x-a2a-notification-token");

/// Where tasks may be told, and what is told at the moment.
pub(crate) struct Push {
    allowed: Vec<Url>,
    /// None without an address, since it reads certificates.
    client: Option<Client>,
    /// Tasks whose addresses are being told, and what they are to be told next.
    telling: Mutex<HashMap<RunId, VecDeque<News>>>,
}

/// What the addresses of a task are told.
#[derive(Clone, Copy, Debug)]
enum News {
    /// It goes on.
    GoesOn,
    /// How it is, as the store has it.
    AsItIs,
}

/// What an address was told.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Told {
    state: TaskState,
    /// When the run got there.
    updated: u64,
}

impl Told {
    fn of(run: &RunInfo) -> Self {
        Self { state: state(&run.status), updated: run.updated }
    }

    /// Whether an address that was told this has to be told how the run is. A run that is taken over goes on as before.
    fn is_old(self, now: Self) -> bool {
        self.state != now.state || self.updated != now.updated && now.state != TaskState::Working
    }
}

/// An address of a task.
struct Kept {
    handle: SessionHandle,
    config: TaskPushNotificationConfig,
    app: String,
    told: Told,
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
        Ok(Self { allowed, client, telling: Mutex::default() })
    }

    pub(crate) fn is_on(&self) -> bool {
        !self.allowed.is_empty()
    }

    fn allows(&self, url: &Url) -> bool {
        self.allowed.iter().any(|allowed| is_below(url, allowed))
    }

    /// Whether this server posts to an address; another may.
    fn posts_to(&self, config: &TaskPushNotificationConfig) -> bool {
        Url::parse(&config.url).is_ok_and(|url| self.allows(&url))
    }

    /// Posts to an address, which is tried a few times.
    async fn post(&self, config: &TaskPushNotificationConfig, body: &str) {
        let Some(client) = &self.client else { return };
        let mut request = client.post(&config.url).header(header::CONTENT_TYPE, CONTENT_TYPE);
        if let Some((name, value)) = credentials(config).ok().flatten() {
            request = request.header(name, value);
        }
        let request = request.body(body.to_owned());
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

impl App {
    fn addresses(&self) -> adk_core::Runner {
        let runner = self.main_runner();
        runner.for_app(format!("{}:push", runner.app_name()))
    }

    /// The session of an address of a task. The id is the client's and may be long.
    fn address(&self, task: RunId, id: &str) -> SessionHandle {
        self.addresses().session(task.to_string(), format!("{:032x}", RunId::of_text(id).as_u128()))
    }

    /// The addresses of a task.
    async fn kept(&self, task: RunId) -> Result<Vec<Kept>> {
        let addresses = self.addresses();
        let there = addresses.sessions(Some(&task.to_string())).await?;
        let mut all: Vec<_> = there.iter().filter_map(|there| self.read_kept(there)).collect();
        all.sort_by(|one, other| one.config.id.cmp(&other.config.id));
        Ok(all)
    }

    fn read_kept(&self, there: &SessionSnapshot) -> Option<Kept> {
        let handle = self.addresses().session(&there.key.user, &there.key.id);
        let (config, app, told) = (field(there, CONFIG)?, field(there, APP)?, field(there, TOLD)?);
        Some(Kept { handle, config, app, told })
    }

    /// Tells the addresses of tasks of what happens to them: of those that this process drives at once, and of those that were
    /// left by another.
    pub(crate) fn push_changes(self: &Arc<Self>, mut changes: UnboundedReceiver<Change>) {
        if !self.push.is_on() {
            return;
        }
        let app = Arc::downgrade(self);
        let told = tokio::spawn(async move {
            while let Some(Change { app: of, run, goes_on }) = changes.recv().await {
                let Some(app) = app.upgrade() else { return };
                app.tell(of, run, if goes_on { News::GoesOn } else { News::AsItIs });
            }
        });
        self.until_stopped(told.abort_handle());
        let app = Arc::downgrade(self);
        let swept = tokio::spawn(async move {
            // Of what was there before this process nobody may be telling.
            let mut grace = Duration::ZERO;
            loop {
                let Some(app) = app.upgrade() else { return };
                let begun = Instant::now();
                if app.sweep(grace).await.is_ok() {
                    grace = GRACE;
                }
                drop(app);
                tokio::time::sleep(EVERY.max(begun.elapsed() * REST)).await;
            }
        });
        self.until_stopped(swept.abort_handle());
    }

    /// Tells of all tasks that have changed so long ago that the process which has changed them would have told.
    async fn sweep(self: &Arc<Self>, grace: Duration) -> Result<()> {
        // No server drives the runs of an engine that has them driven elsewhere, so any tells of them at once.
        let is_elsewhere = self.main_runner().engine().driver().is_some();
        let grace = if is_elsewhere { Duration::ZERO } else { grace };
        let mut tasks = BTreeMap::<RunId, Vec<Kept>>::new();
        for there in self.addresses().sessions(None).await? {
            let task = there.key.user.parse().ok();
            if let Some((task, kept)) = task.zip(self.read_kept(&there)) {
                tasks.entry(task).or_default().push(kept);
            }
        }
        for (task, all) in tasks {
            let Some(of) = all.first().map(|kept| kept.app.clone()) else { continue };
            let now =
                self.main_runner().for_app(&of).runs(&RunFilter::of_run(task)).await?.into_iter().next();
            let age = now.as_ref().map(|run| Duration::from_micros(now_micros().saturating_sub(run.updated)));
            let is_over = match (&now, age) {
                (Some(run), Some(age)) => state(&run.status) == TaskState::Failed && age >= KEPT,
                // Its session was deleted.
                _ => true,
            };
            if is_over {
                for kept in all {
                    kept.handle.delete().await?;
                }
                continue;
            }
            let Some(run) = now else { continue };
            let told = Told::of(&run);
            // That a task goes on says who drives it.
            if (told.state != TaskState::Working || is_elsewhere)
                && age.is_some_and(|age| age >= grace)
                && all.iter().any(|kept| self.push.posts_to(&kept.config) && kept.told.is_old(told))
            {
                self.tell(of, task, News::AsItIs);
            }
        }
        Ok(())
    }

    /// Tells the addresses of a task, after what they are being told.
    fn tell(self: &Arc<Self>, of: String, task: RunId, news: News) {
        let mut telling = lock(&self.push.telling);
        if let Some(next) = telling.get_mut(&task) {
            next.push_back(news);
            return;
        }
        telling.insert(task, VecDeque::new());
        drop(telling);
        let app = self.clone();
        tokio::spawn(async move {
            let mut news = Some(news);
            while let Some(now) = news {
                // What the store fails to say now is found when all are looked at.
                let _ = app.told(&of, task, now).await;
                let mut telling = lock(&app.push.telling);
                news = telling.get_mut(&task).and_then(VecDeque::pop_front);
                if news.is_none() {
                    telling.remove(&task);
                }
            }
        });
    }

    async fn told(self: &Arc<Self>, of: &str, task: RunId, news: News) -> Result<(), Refusal> {
        let all = self.kept(task).await?;
        if all.is_empty() {
            return Ok(());
        }
        let runner = self.main_runner().for_app(of);
        let Some(run) = runner.runs(&RunFilter::of_run(task)).await?.into_iter().next() else {
            return Ok(());
        };
        let Some(workflow) = runner.workflows().find(|workflow| workflow.name() == run.workflow) else {
            return Ok(());
        };
        let (now, status) = match news {
            News::GoesOn => {
                let status = TaskStatus { state: TaskState::Working, message: None, timestamp: None };
                (Told { state: TaskState::Working, updated: run.updated }, status)
            }
            News::AsItIs => {
                let call = Call { app: self.clone(), runner, caller: Caller::operator(), workflow };
                (Told::of(&run), call.status(&run, None).await?)
            }
        };
        let update = StreamResponse::StatusUpdate(Box::new(TaskStatusUpdateEvent {
            task_id: task.to_string(),
            context_id: run.session.id.clone(),
            status: TaskStatus { state: now.state, ..status },
            metadata: Map::new(),
        }));
        let body = json(&update).to_string();
        let posted = all.iter().filter(|kept| self.push.posts_to(&kept.config)).map(|kept| async {
            let is_old = kept.told.is_old(now);
            if is_old {
                self.push.post(&kept.config, &body).await;
            }
            // A task that has failed may be tried again.
            if matches!(now.state, TaskState::Completed | TaskState::Canceled) {
                kept.handle.delete().await?;
            } else if is_old {
                kept.handle.append(vec![Event::new().with_state(TOLD, json(&now))]).await?;
            }
            Ok(())
        });
        join_all(posted).await.into_iter().collect::<Result<()>>()?;
        Ok(())
    }
}

fn field<T: DeserializeOwned>(there: &SessionSnapshot, key: &str) -> Option<T> {
    serde_json::from_value(Value::clone(there.state.get(key)?)).ok()
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
        if !push.posts_to(config) {
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
        config.task_id = run.run_id.to_string();
        if config.id.is_empty() {
            config.id = RunId::new().to_string();
        }
        let others = self.app.kept(run.run_id).await?;
        if others.iter().filter(|kept| kept.config.id != config.id).count() >= MOST {
            let fact = "the task has as many addresses as it may have";
            return Err(RpcRefusal::new(ErrorCode::UnsupportedOperation, fact, "delete one of them"));
        }
        let handle = self.app.address(run.run_id, &config.id);
        handle.delete().await?;
        let fields = [(CONFIG, json(&config)), (APP, json(&run.session.app)), (TOLD, json(&Told::of(run)))];
        handle.create(StateDelta::from_iter(fields)).await?;
        // It may have changed meanwhile.
        self.app.tell(run.session.app.clone(), run.run_id, News::AsItIs);
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
        Ok(Answer::Value(match method {
            "ListTaskPushNotificationConfigs" => {
                let all = self.app.kept(run.run_id).await?;
                json(&ListTaskPushNotificationConfigsResponse {
                    configs: all.into_iter().map(|kept| kept.config).collect(),
                    next_page_token: String::new(),
                })
            }
            "DeleteTaskPushNotificationConfig" => {
                self.app.address(run.run_id, &asked.id).delete().await?;
                Value::Null
            }
            _ => {
                let there = self.app.address(run.run_id, &asked.id).get(&EventFilter::new().last(0)).await?;
                let kept = there.and_then(|there| self.app.read_kept(&there)).ok_or_else(|| {
                    let fact = "the task has no push notifications of this id";
                    let help = "`ListTaskPushNotificationConfigs` has those that there are";
                    RpcRefusal::new(ErrorCode::TaskNotFound, fact, help)
                })?;
                json(&kept.config)
            }
        }))
    }
}
