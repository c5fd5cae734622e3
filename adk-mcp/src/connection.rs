//! [`Connection`]: a connection to a server, and its requests.

use crate::answers::Answers;
use crate::http::HttpClient;
use crate::lenient;
use crate::limits::Limits;
use crate::lines::Lines;
use crate::listed::ListedTool;
use crate::process::{self, Process};
use crate::server::{HttpServer, McpServer, StdioServer};
use crate::settings::{OnProgress, Progress, Settings};
use crate::turn::{Turn, lock};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientConfig, ClientRequest,
    ElicitRequestParams, ElicitResult, ElicitationCapability, FormElicitationCapability,
    GetPromptRequest, GetPromptRequestParams, Implementation, ListToolsRequest, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ProgressToken, PromptMessage,
    ReadResourceRequestParams, ResourceContents, ServerResult, Tool,
};
use rmcp::service::{
    ClientInitializeError, NotificationContext, PeerRequestOptions, RequestContext, RequestHandle,
    RunningService, ServiceError,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ErrorData, RoleClient, ServiceExt as _};
use secrecy::ExposeSecret as _;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock};
use tokio::runtime::Handle;

/// Maximum number of pages of a list.
const PAGES: usize = 100;

/// An established connection. It may have ended since.
pub(crate) struct Connection {
    service: RunningService<RoleClient, Client>,
    process: tokio::sync::Mutex<Option<Process>>,
    /// Reason why this client ended the connection.
    fault: Arc<OnceLock<String>>,
    /// Set when a request could not be sent, so that the next one opens another connection.
    broken: AtomicBool,
    /// Tools of the last listing, until the server reports a change.
    pub(crate) listed: Mutex<Option<Vec<Arc<ListedTool>>>>,
}

pub(crate) enum Failure {
    Refused(String),
    /// The connection has ended or could not be established; the text contains the known causes.
    Lost(String),
    /// The server violated the protocol or exceeded a limit.
    Bad(String),
}

/// Handler of the server's requests and notifications: questions to the user, changes of the tools,
/// progress of calls.
struct Client {
    changed: AtomicBool,
    calls: Mutex<HashMap<ProgressToken, String>>,
    on_progress: Option<OnProgress>,
    /// Whether the server may ask the user.
    elicitation: bool,
    turn: Turn,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let mut info = ClientConfig::default();
        info.client_info = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        if self.elicitation {
            let form = FormElicitationCapability::new();
            info.capabilities.elicitation = Some(ElicitationCapability::default().with_form(form));
        }
        info
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(self.turn.ask(request).await)
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.store(true, SeqCst);
    }

    async fn on_progress(
        &self,
        told: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let Some(on_progress) = &self.on_progress else {
            return;
        };
        let tool = lock(&self.calls).get(&told.progress_token).cloned();
        if let Some(tool) = tool {
            let ProgressNotificationParam {
                progress,
                total,
                message,
                ..
            } = told;
            on_progress(Progress {
                tool,
                progress,
                total,
                message,
            });
        }
    }
}

impl Connection {
    /// Starts the server or connects to it, and performs the handshake.
    pub(crate) async fn open(
        Settings {
            server,
            limits,
            on_progress,
            elicitation,
            ..
        }: &Settings,
    ) -> Result<Self, String> {
        let client = Client {
            changed: AtomicBool::new(false),
            calls: Mutex::default(),
            on_progress: on_progress.clone(),
            elicitation: *elicitation,
            turn: Turn::default(),
        };
        let fault = Arc::default();
        let (service, process) = match server {
            McpServer::Stdio(server) => {
                let (service, process) = Self::start(server, limits, client, &fault).await?;
                (service, Some(process))
            }
            McpServer::Http(server) => (connect(server, limits, client).await?, None),
        };
        Ok(Self {
            service,
            process: tokio::sync::Mutex::new(process),
            fault,
            broken: AtomicBool::new(false),
            listed: Mutex::default(),
        })
    }

    async fn start(
        server: &StdioServer,
        limits: &Limits,
        client: Client,
        fault: &Arc<OnceLock<String>>,
    ) -> Result<(RunningService<RoleClient, Client>, Process), String> {
        let (mut process, stdout, stdin) =
            process::start(server).map_err(|error| format!("cannot be started: {error}"))?;
        let lines = Lines::new(stdout, stdin, limits.message_bytes, fault.clone());
        match client.serve(Answers::new(lines)).await {
            Ok(service) => Ok((service, process)),
            Err(error) => {
                let why = fault.get().cloned().unwrap_or_else(|| refusal(&error));
                Err(format!(
                    "did not answer as an MCP server: {why}{}",
                    process.last_words().await
                ))
            }
        }
    }

    /// Returns the order of calls, for servers that may ask the user.
    pub(crate) fn turn(&self) -> &Turn {
        &self.service.service().turn
    }

    pub(crate) fn is_alive(&self) -> bool {
        !self.service.is_closed()
            && !self.service.is_transport_closed()
            && !self.broken.load(SeqCst)
    }

    /// Reports whether the tools have changed since the last call of this function.
    pub(crate) fn has_changed(&self) -> bool {
        self.service.service().changed.swap(false, SeqCst)
    }

    pub(crate) async fn tools(&self, most: usize) -> Result<Vec<Tool>, Failure> {
        let (mut tools, mut cursor) = (Vec::new(), None);
        for _ in 0..PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            let page = match self.service.list_tools(Some(params.clone())).await {
                Err(ServiceError::UnexpectedResponse) => self.readable_page(params).await,
                page => page,
            };
            let page = self.check_answer(page).await?;
            tools.extend(page.tools);
            if tools.len() > most {
                return Err(Failure::Bad(format!("it offers more than {most} tools")));
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(tools);
            }
        }
        Err(Failure::Bad(format!(
            "its list of tools has more than {PAGES} pages"
        )))
    }

    /// Requests a page of tools again, and reads it without the tools that cannot be read.
    async fn readable_page(
        &self,
        params: PaginatedRequestParams,
    ) -> Result<ListToolsResult, ServiceError> {
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
        match self.service.send_request(request).await? {
            ServerResult::ListToolsResult(page) => Ok(page),
            ServerResult::CustomResult(page) => {
                lenient::page(page.0).ok_or(ServiceError::UnexpectedResponse)
            }
            _ => Err(ServiceError::UnexpectedResponse),
        }
    }

    /// Reads a resource. Dropping the future asks the server to cancel the request.
    pub(crate) async fn resource(&self, uri: &str) -> Result<Vec<ResourceContents>, Failure> {
        let result = self
            .service
            .peer()
            .read_resource(ReadResourceRequestParams::new(uri))
            .await;
        Ok(self.check_answer(result).await?.contents)
    }

    pub(crate) async fn prompt(
        &self,
        params: GetPromptRequestParams,
    ) -> Result<Vec<PromptMessage>, Failure> {
        let request = ClientRequest::GetPromptRequest(GetPromptRequest::new(params));
        let sent = self.service.send_request(request).await;
        let messages = match self.check_answer(sent).await? {
            ServerResult::GetPromptResult(result) => Some(result.messages),
            ServerResult::CustomResult(result) => lenient::messages(&result.0),
            _ => None,
        };
        messages.ok_or_else(|| Failure::Bad("the server did not answer with a prompt".to_owned()))
    }

    /// Calls a tool. Dropping the future asks the server to cancel the call.
    pub(crate) async fn call(
        &self,
        params: CallToolRequestParams,
    ) -> Result<CallToolResult, Failure> {
        let tool = params.name.to_string();
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let sent = self
            .service
            .send_cancellable_request(request, PeerRequestOptions::no_options())
            .await;
        let handle = self.check_answer(sent).await?;
        let answer = Call::new(self.service.service(), handle, tool)
            .answer()
            .await;
        let bad = || Failure::Bad("the server did not answer with a result".to_owned());
        match self.check_answer(answer).await? {
            ServerResult::CallToolResult(result) => Ok(result),
            ServerResult::CustomResult(result) => lenient::result(result.0).ok_or_else(bad),
            ServerResult::EmptyResult(_) => Ok(CallToolResult::default()),
            ServerResult::InputRequiredResult(_) => Err(Failure::Refused(
                "the server asks for input, which this client does not support".to_owned(),
            )),
            _ => Err(bad()),
        }
    }

    async fn check_answer<T>(&self, answer: Result<T, ServiceError>) -> Result<T, Failure> {
        let error = match answer {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        Err(match error {
            ServiceError::McpError(error) => Failure::Refused(error.message.into_owned()),
            ServiceError::TransportClosed => {
                let fault = self
                    .fault
                    .get()
                    .map(|fault| format!(": {fault}"))
                    .unwrap_or_default();
                let words = match &mut *self.process.lock().await {
                    Some(process) => process.last_words().await,
                    None => String::new(),
                };
                Failure::Lost(format!("the connection ended{fault}{words}"))
            }
            ServiceError::TransportSend(error) => {
                self.broken.store(true, SeqCst);
                Failure::Lost(chain(&*error.error))
            }
            error => Failure::Bad(error.to_string()),
        })
    }
}

/// A call of a tool that waits for its answer. On drop, asks the server to cancel the call.
struct Call<'a> {
    client: &'a Client,
    token: ProgressToken,
    handle: Option<RequestHandle<RoleClient>>,
}

impl<'a> Call<'a> {
    fn new(client: &'a Client, handle: RequestHandle<RoleClient>, tool: String) -> Self {
        let token = handle.progress_token.clone();
        if client.on_progress.is_some() {
            lock(&client.calls).insert(token.clone(), tool);
        }
        Self {
            client,
            token,
            handle: Some(handle),
        }
    }

    async fn answer(mut self) -> Result<ServerResult, ServiceError> {
        let Some(handle) = &mut self.handle else {
            return Err(ServiceError::TransportClosed);
        };
        let answer = (&mut handle.rx).await;
        self.handle = None;
        answer.unwrap_or(Err(ServiceError::TransportClosed))
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        lock(&self.client.calls).remove(&self.token);
        if let (Some(handle), Ok(runtime)) = (self.handle.take(), Handle::try_current()) {
            runtime.spawn(handle.cancel(Some("the caller has stopped waiting".to_owned())));
        }
    }
}

async fn connect(
    server: &HttpServer,
    limits: &Limits,
    client: Client,
) -> Result<RunningService<RoleClient, Client>, String> {
    let mut headers = HashMap::new();
    for (name, value) in &server.headers {
        let name = http::HeaderName::try_from(&**name)
            .map_err(|_| format!("the header name `{name}` is invalid"))?;
        let mut value = http::HeaderValue::try_from(value.expose_secret())
            .map_err(|_| format!("the value of the header `{name}` is invalid"))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    let builder = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let http = builder.build().map_err(|error| chain(&error))?;
    let config = StreamableHttpClientTransportConfig::with_uri(server.url.expose_secret())
        .max_json_response_size(limits.message_bytes)
        .max_sse_event_size(limits.message_bytes)
        .custom_headers(headers);
    let transport = StreamableHttpClientTransport::with_client(HttpClient::new(http), config);
    client
        .serve(Answers::new(transport))
        .await
        .map_err(|error| format!("cannot be reached: {}", refusal(&error)))
}

fn refusal(error: &ClientInitializeError) -> String {
    match error {
        // Only the transport's error is shown, because the error around it contains type names of
        // Rust.
        ClientInitializeError::TransportError { error, .. } => chain(&*error.error),
        error => chain(error),
    }
}

/// Formats an error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}
