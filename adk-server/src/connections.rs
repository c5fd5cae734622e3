//! [`serve_connections`]: the connections of a listener, with the limits that `axum::serve` does
//! not have.
//!
//! A client needs no token to hold a connection, so each phase of a connection has a limit: the
//! headers and the pause between two requests, the writes of a response, and the end of the server.
//! [`read_body_in_time`](crate::app::read_body_in_time) limits the body of a request.

use crate::app::Limits;
use axum::Router;
use axum::serve::Listener;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::pin::pin;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_io_timeout::TimeoutStream;

/// The time that connections have for their last responses, if runs have used the whole
/// [`Limits::grace`].
pub(crate) const LINGER: Duration = Duration::from_secs(1);

/// Serves the connections of a listener until `stop` returns the time that the open connections
/// have to end. Connections that have not ended by then are dropped.
pub(crate) async fn serve_connections(
    mut listener: TcpListener,
    router: Router,
    limits: &Limits,
    stop: impl Future<Output = Duration>,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(limits.header_time());
    let is_stopping = watch::Sender::new(false);
    let mut connections = JoinSet::new();
    let mut stop = pin!(stop);
    let time_left = loop {
        tokio::select! {
            time_left = &mut stop => break time_left,
            Some(_) = connections.join_next() => {}
            // The clients of other connections wait in the queue of the operating system.
            (stream, _) = Listener::accept(&mut listener),
                if connections.len() < limits.connections.max(1) =>
            {
                let (http, router) = (http.clone(), router.clone());
                let (stall, is_stopping) = (limits.stall_time(), is_stopping.subscribe());
                connections.spawn(serve_connection(stream, http, router, stall, is_stopping));
            }
        }
    };
    drop(listener);
    is_stopping.send_replace(true);
    let ended = async { while connections.join_next().await.is_some() {} };
    if timeout(time_left, ended).await.is_err() {
        // A handler that blocks its thread cannot be dropped, and must not keep the server.
        let _ = timeout(LINGER, connections.shutdown()).await;
    }
}

/// Serves the requests of one connection.
async fn serve_connection(
    stream: TcpStream,
    http: http1::Builder,
    router: Router,
    stall: Duration,
    mut is_stopping: watch::Receiver<bool>,
) {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(stall));
    let stream = TokioIo::new(Box::pin(stream));
    let connection = http.serve_connection(stream, TowerToHyperService::new(router));
    let mut connection = pin!(connection.with_upgrades());
    tokio::select! {
        _ = connection.as_mut() => return,
        () = async { drop(is_stopping.wait_for(|is| *is).await) } => {}
    }
    connection.as_mut().graceful_shutdown();
    // A client that breaks the protocol or disconnects is not an error of the server.
    let _ = connection.await;
}
