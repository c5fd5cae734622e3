//! [`Silent`]: a network that drops connections. No data arrives on them any more, and neither side
//! is notified.

use crate::support::Database;
use std::io::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

/// Address of the database through such a network.
pub struct Silent {
    pub url: String,
    network: Arc<Network>,
}

#[derive(Default)]
struct Network {
    /// Number of times that all connections were dropped.
    cuts: AtomicU32,
    /// Whether new connections are dropped, too.
    is_dead: AtomicBool,
}

impl Silent {
    /// Starts a network that works.
    pub async fn new(database: &Database) -> Self {
        let server = database.url.split(['@', '/']).nth(3).unwrap().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let here = listener.local_addr().unwrap().to_string();
        let url = database.url.replace(&server, &here);
        let network = Arc::<Network>::default();
        let all = network.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&server).await.unwrap();
                let ((from, to), (back, there)) = (client.into_split(), server.into_split());
                let cuts = all.cuts.load(SeqCst);
                tokio::spawn(carry(from, there, cuts, all.clone()));
                tokio::spawn(carry(back, to, cuts, all.clone()));
            }
        });
        Self { url, network }
    }

    /// Drops the open connections. New connections work.
    pub fn cut(&self) {
        self.network.cuts.fetch_add(1, SeqCst);
    }

    /// Drops the open connections and all new ones.
    pub fn die(&self) {
        self.network.is_dead.store(true, SeqCst);
    }
}

async fn carry(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    cuts: u32,
    network: Arc<Network>,
) -> Result<()> {
    let mut bytes = vec![0; 65_536];
    loop {
        let size = from.read(&mut bytes).await?;
        if network.cuts.load(SeqCst) > cuts || network.is_dead.load(SeqCst) {
            // Neither connection is closed, so neither side learns that the data is lost.
            return std::future::pending().await;
        }
        if size == 0 {
            return Ok(());
        }
        to.write_all(&bytes[..size]).await?;
    }
}
