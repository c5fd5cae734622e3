//! [`Relay`] and [`Http`]: the HTTP exchange of a call, without redirects and with a limit for the
//! answer.
//!
//! genai reads whole bodies, and neither genai nor reqwest can limit their size. Therefore genai
//! gets an address of the loopback interface, where a [`Relay`] serves this one call: it forwards
//! the request to the provider, returns the answer, and counts its bytes. The bodies of all
//! providers pass through the relay.

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, Response, Url};
use secrecy::{ExposeSecret as _, SecretString};
use std::future::poll_fn;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::pin::pin;
use std::task::Poll;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Maximum number of bytes that are read from the body of an error.
const ERROR_LIMIT: usize = 64 * 1024;

/// Minimum length of a secret, because shorter values are words.
pub(crate) const SHORTEST_SECRET: usize = 6;

/// Header that distinguishes genai's request from requests of other programs on this machine.
pub(crate) const TOKEN: &str = "x-adk-relay";

#[derive(Clone)]
pub(crate) struct Http {
    /// Client that follows no redirects.
    pub(crate) client: Client,
    /// Maximum size of an answer in bytes, after decompression.
    pub(crate) limit: usize,
}

/// How the end of an event is found in a streamed answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// The answer has no events, or binary ones.
    Whole,
    Lines,
    /// An empty line ends an event, as in server-sent events.
    Blocks,
}

pub(crate) enum Failure {
    /// The loopback interface is not available.
    Local(io::Error),
    Transport(reqwest::Error),
    /// A redirect with its host, without path and credentials. `None` if it has no host.
    Redirect {
        status: u16,
        host: Option<String>,
    },
    Status {
        status: u16,
        body: String,
        headers: HeaderMap,
    },
    /// The answer ended in the middle of an event.
    Incomplete,
    /// A successful response with a web page instead of an answer.
    Page {
        body: String,
    },
    TooLong {
        what: &'static str,
        limit: usize,
    },
}

/// Server for one call of genai.
pub(crate) struct Relay {
    http: Http,
    framing: Framing,
    /// Secrets that are removed from events, because genai may log them.
    secrets: Vec<SecretString>,
    /// Text that is appended to an answer, so that genai sees its end.
    end_mark: &'static str,
    /// Function that changes the body of the request.
    mend: fn(Vec<u8>) -> Vec<u8>,
    listener: TcpListener,
    /// Base URL for genai.
    pub(crate) url: String,
    /// Value of the header [`TOKEN`].
    pub(crate) token: String,
    /// Scheme and authority of the provider, with credentials.
    origin: String,
    /// Query of the base URL, which is added to each request.
    query: Option<String>,
}

struct Request {
    target: String,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Relay {
    /// Listens for a call to this base URL.
    pub(crate) async fn new(
        http: &Http,
        base_url: &str,
        secrets: &[SecretString],
        framing: Framing,
        end_mark: &'static str,
        mend: fn(Vec<u8>) -> Vec<u8>,
    ) -> Result<Self, Failure> {
        let listener = TcpListener::bind(("127.0.0.1", 0))
            .await
            .map_err(Failure::Local)?;
        let address = listener.local_addr().map_err(Failure::Local)?;
        let (base, query) = match base_url.split_once('?') {
            Some((base, query)) => (base, Some(query.to_owned())),
            None => (base_url, None),
        };
        let authority = base.find("://").map_or(0, |at| at + 3);
        let path = base[authority..]
            .find('/')
            .map_or(base.len(), |at| authority + at);
        // The keys of `RandomState` come from the operating system, so other programs cannot guess
        // the token.
        let random = || RandomState::new().hash_one(address);
        Ok(Self {
            http: http.clone(),
            framing,
            secrets: secrets.to_vec(),
            end_mark,
            mend,
            url: format!("http://{address}{}", &base[path..]),
            token: format!("{:016x}{:016x}", random(), random()),
            origin: base[..path].to_owned(),
            query,
            listener,
        })
    }

    pub(crate) async fn serve<T>(self, call: impl Future<Output = T>) -> Result<T, Failure> {
        let mut relay = pin!(self.run());
        let mut call = pin!(call);
        let mut ended = false;
        poll_fn(|task| {
            if !ended && let Poll::Ready(result) = relay.as_mut().poll(task) {
                ended = true;
                if let Err(failure) = result {
                    return Poll::Ready(Err(failure));
                }
            }
            call.as_mut().poll(task).map(Ok)
        })
        .await
    }

    /// Receives the request, forwards it, and returns the answer. On an error, genai only sees its
    /// connection end.
    pub(crate) async fn run(self) -> Result<(), Failure> {
        let (mut socket, request) = self.accept().await?;
        let mut response = self.send(request).await?;
        let mut next = response.chunk().await.map_err(Failure::Transport)?;
        if is_page(response.headers(), next.as_deref()) {
            let body = start_of(&mut response, next.unwrap_or_default().into()).await;
            return Err(Failure::Page { body });
        }
        let mut head =
            b"HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n".to_vec();
        if let Some(content_type) = response.headers().get(CONTENT_TYPE) {
            head.extend_from_slice(&[b"content-type: ", content_type.as_bytes(), b"\r\n"].concat());
        }
        head.extend_from_slice(b"\r\n");
        // If genai has its answer, it closes the connection; that is not an error.
        if socket.write_all(&head).await.is_err() {
            return Ok(());
        }
        let mut meter = Meter::new(self.http.limit, self.framing);
        // genai rescans an unfinished event with each piece, so it gets an event only as a whole.
        let mut held = Vec::new();
        while let Some(bytes) = next {
            meter.count(&bytes)?;
            held.extend_from_slice(&bytes);
            let rest = held.split_off(held.len() - meter.event);
            if send_chunk(&mut socket, &self.mask_secrets(held))
                .await
                .is_err()
            {
                return Ok(());
            }
            held = rest;
            next = response.chunk().await.map_err(Failure::Transport)?;
        }
        let is_in_event = meter.event != 0;
        // After an incomplete event, the mark would become part of that event.
        let end_mark = if is_in_event { "" } else { self.end_mark };
        held.extend_from_slice(end_mark.as_bytes());
        if send_chunk(&mut socket, &self.mask_secrets(held))
            .await
            .is_ok()
        {
            let _ = socket.write_all(b"0\r\n\r\n").await;
        }
        // genai accepts a last event without an empty line, so this error counts only if genai
        // cannot read the event.
        if is_in_event {
            Err(Failure::Incomplete)
        } else {
            Ok(())
        }
    }

    /// Replaces secrets in whole events, in case the provider repeats them.
    fn mask_secrets(&self, mut events: Vec<u8>) -> Vec<u8> {
        if self.framing == Framing::Whole {
            return events;
        }
        let secrets = self
            .secrets
            .iter()
            .map(|secret| secret.expose_secret().as_bytes());
        for secret in secrets.filter(|secret| secret.len() >= SHORTEST_SECRET) {
            while let Some(at) = events.windows(secret.len()).position(|part| part == secret) {
                events.splice(at..at + secret.len(), *b"***");
            }
        }
        events
    }

    /// Accepts the connection of genai, and closes connections of other programs.
    async fn accept(&self) -> Result<(TcpStream, Request), Failure> {
        loop {
            let (mut socket, _) = self.listener.accept().await.map_err(Failure::Local)?;
            // Without this setting, TCP would hold an event back until genai's side has
            // acknowledged the previous event.
            let _ = socket.set_nodelay(true);
            if let Some(request) = read(&mut socket, &self.token).await {
                return Ok((socket, request));
            }
        }
    }

    /// Forwards a request, and returns the response if it is a success.
    async fn send(&self, request: Request) -> Result<Response, Failure> {
        let mut url = format!("{}{}", self.origin, request.target);
        if let Some(query) = &self.query {
            url.push(if url.contains('?') { '&' } else { '?' });
            url.push_str(query);
        }
        let sent = self
            .http
            .client
            .post(&url)
            .headers(request.headers)
            .body((self.mend)(request.body))
            .send();
        let mut response = sent.await.map_err(Failure::Transport)?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        if status.is_redirection() {
            let location = response
                .headers()
                .get(LOCATION)
                .and_then(|value| value.to_str().ok());
            let host = location.and_then(|location| host(&url, location));
            return Err(Failure::Redirect {
                status: status.as_u16(),
                host,
            });
        }
        let body = start_of(&mut response, Vec::new()).await;
        Err(Failure::Status {
            status: status.as_u16(),
            body,
            headers: response.headers().clone(),
        })
    }
}

/// Reads the beginning of a body as text. If the connection breaks, the text ends there.
async fn start_of(response: &mut Response, mut body: Vec<u8>) -> String {
    while body.len() < ERROR_LIMIT
        && let Ok(Some(bytes)) = response.chunk().await
    {
        body.extend_from_slice(&bytes);
    }
    body.truncate(ERROR_LIMIT);
    String::from_utf8_lossy(&body).into_owned()
}

/// Reports whether a response is a web page, because no format of a provider begins with `<`.
fn is_page(headers: &HeaderMap, start: Option<&[u8]>) -> bool {
    let content_type = headers
        .get(CONTENT_TYPE)
        .map_or(&[][..], HeaderValue::as_bytes);
    content_type.to_ascii_lowercase().starts_with(b"text/html")
        || start.is_some_and(|start| start.trim_ascii_start().starts_with(b"<"))
}

/// Sends a chunk. An empty chunk is skipped, because it would end the body.
async fn send_chunk(socket: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    let size = format!("{:x}\r\n", bytes.len());
    socket
        .write_all(&[size.as_bytes(), bytes, b"\r\n"].concat())
        .await
}

/// Returns scheme, host and port of a redirect's target.
fn host(url: &str, location: &str) -> Option<String> {
    let target = Url::parse(url).ok()?.join(location).ok()?;
    target
        .has_host()
        .then(|| target.origin().ascii_serialization())
}

/// Reads a request in the form that reqwest writes. Returns `None` if it lacks the token.
async fn read(socket: &mut TcpStream, token: &str) -> Option<Request> {
    let mut bytes = Vec::new();
    let end = loop {
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        if let Some(at) = bytes.windows(4).position(|end| end == b"\r\n\r\n") {
            break at;
        }
    };
    let mut body = bytes.split_off(end + 4);
    let head = &bytes[..end];
    let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let first = std::str::from_utf8(lines.next()?).ok()?;
    let target = first.split(' ').nth(1)?.to_owned();
    let mut headers = HeaderMap::new();
    for line in lines {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let name = HeaderName::from_bytes(&line[..colon]).ok()?;
        let mut value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii()).ok()?;
        // Sensitive values are not part of `Debug` output.
        value.set_sensitive(is_secret(name.as_str()));
        headers.append(name, value);
    }
    if headers.remove(TOKEN)? != token {
        return None;
    }
    let length: usize = headers
        .remove("content-length")?
        .to_str()
        .ok()?
        .parse()
        .ok()?;
    while body.len() < length {
        if socket.read_buf(&mut body).await.ok()? == 0 {
            return None;
        }
    }
    headers.remove("host");
    headers.remove("connection");
    Some(Request {
        target,
        headers,
        body,
    })
}

pub(crate) fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    ["auth", "key", "token", "secret", "cookie", "pass", "sig"]
        .iter()
        .any(|word| name.contains(word))
}

struct Meter {
    limit: usize,
    framing: Framing,
    total: usize,
    /// Number of bytes since the end of the last event.
    event: usize,
    /// Whether the current line is empty so far.
    empty_line: bool,
    last: u8,
}

impl Meter {
    fn new(limit: usize, framing: Framing) -> Self {
        Self {
            limit,
            framing,
            total: 0,
            event: 0,
            empty_line: true,
            last: 0,
        }
    }

    fn count(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.total = self.total.saturating_add(bytes.len());
        if self.total > self.limit {
            return Err(Failure::TooLong {
                what: "the answer",
                limit: self.limit,
            });
        }
        if self.framing == Framing::Whole {
            return Ok(());
        }
        // An unfinished event is held in memory, and genai copies it, so its limit is lower than
        // that of the answer.
        let limit = self.limit / 4;
        for byte in bytes {
            // If `\r` has ended an event, a `\n` after it does not belong to the next event.
            if (*byte, self.last, self.event) != (b'\n', b'\r', 0) {
                self.event += 1;
            }
            match byte {
                // The second half of a CRLF line end.
                b'\n' if self.last == b'\r' => {}
                b'\n' | b'\r' => {
                    if self.empty_line || self.framing == Framing::Lines {
                        self.event = 0;
                    }
                    self.empty_line = true;
                }
                _ => self.empty_line = false,
            }
            self.last = *byte;
            if self.event > limit {
                return Err(Failure::TooLong {
                    what: "one event of the stream",
                    limit,
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_counted_by_any_end_of_line() {
        let fits = |framing, text: &str| {
            let whole = Meter::new(40, framing).count(text.as_bytes()).is_ok();
            let mut meter = Meter::new(40, framing);
            let pieces = text
                .as_bytes()
                .chunks(1)
                .all(|piece| meter.count(piece).is_ok());
            assert_eq!(whole, pieces, "{text:?}");
            whole
        };
        for end in ["\n", "\r\n", "\r"] {
            let text = |lines: &[&str]| lines.join(end);
            assert!(
                fits(Framing::Blocks, &text(&["12345", "", "12345", "", "12345"])),
                "{end:?}"
            );
            assert!(
                !fits(Framing::Blocks, &text(&["12345", "12345", "12345"])),
                "{end:?}"
            );
            assert!(
                fits(Framing::Lines, &text(&["12345", "12345", "12345"])),
                "{end:?}"
            );
        }
        assert!(!fits(Framing::Lines, "12345678901"));
        assert!(fits(Framing::Whole, &"x".repeat(40)) && !fits(Framing::Whole, &"x".repeat(41)));
    }

    #[test]
    fn a_redirect_names_only_its_host() {
        let url = "https://me:secret@gate.example/v1/chat";
        for (location, found) in [
            (
                "http://other.example:81/x?key=secret",
                Some("http://other.example:81"),
            ),
            ("//me:secret@other.example/x", Some("https://other.example")),
            ("/v2", Some("https://gate.example")),
            ("http://[", None),
            ("data:text/plain,secret", None),
        ] {
            assert_eq!(host(url, location).as_deref(), found, "{location}");
        }
    }
}
