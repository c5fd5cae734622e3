//! [`Lossy`]: a proxy between a client and the server. It counts round trips, and can break the
//! connection during a commit: the server commits, and the answer is lost.

use crate::support::Database;
use std::io::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// The last bytes of a message that commits a transaction.
const COMMIT: &[u8] = b"COMMIT\0";

/// A part of the message that parses the statement by which a run begins.
const BEGINS: &[u8] = b"INSERT INTO adkw_runs";

/// The last bytes of a message that executes a statement. For a prepared statement, the message
/// begins with `BIND`.
const SYNC: &[u8] = b"S\0\0\0\x04";
const BIND: u8 = b'B';

/// The last bytes of an answer when no transaction is open.
const IDLE: &[u8] = b"Z\0\0\0\x05I";

/// Address of the database through connections that may break.
pub struct Lossy {
    pub url: String,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    asked: AtomicU32,
    commits: AtomicU32,
    loses: AtomicBool,
    cuts: AtomicBool,
    is_gone: AtomicBool,
}

impl Lossy {
    /// Starts a proxy that loses nothing.
    pub async fn new(database: &Database) -> Self {
        let server = database.url.split(['@', '/']).nth(3).unwrap().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let here = listener.local_addr().unwrap().to_string();
        // Over TLS the proxy would not recognize a commit.
        let url = format!("{}?sslmode=disable", database.url.replace(&server, &here));
        let counts = Arc::<Counts>::default();
        let count = counts.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if count.is_gone.load(Relaxed) {
                    continue;
                }
                let (server, count) = (server.clone(), count.clone());
                tokio::spawn(async move {
                    carry(client, TcpStream::connect(server).await?, &count).await
                });
            }
        });
        Self { url, counts }
    }

    /// Loses the answer to every second commit from now on.
    pub fn lose(&self) {
        self.counts.loses.store(true, Relaxed);
    }

    /// Loses the answer to the commit of the next run that begins, and everything after it.
    pub fn cut(&self) {
        self.counts.cuts.store(true, Relaxed);
    }

    /// Returns the number of lost answers.
    pub fn lost_answers(&self) -> u32 {
        self.counts.commits.load(Relaxed).div_ceil(2)
    }

    /// Returns the number of round trips.
    pub fn round_trips(&self) -> u32 {
        self.counts.asked.load(Relaxed)
    }
}

async fn carry(mut client: TcpStream, mut server: TcpStream, counts: &Counts) -> Result<()> {
    let (mut asked, mut answered) = (vec![0; 65_536], vec![0; 65_536]);
    let (mut is_idle, mut begins) = (false, false);
    loop {
        tokio::select! {
            size = client.read(&mut asked) => {
                let asked = &asked[..size?];
                server.write_all(asked).await?;
                counts.asked.fetch_add(1, Relaxed);
                // Outside of a transaction, each statement commits.
                let is_alone = is_idle && asked.first() == Some(&BIND) && asked.ends_with(SYNC);
                let is_commit = is_alone || asked.ends_with(COMMIT);
                begins |= asked.windows(BEGINS.len()).any(|part| part == BEGINS);
                if begins && is_commit && counts.cuts.load(Relaxed) {
                    let answer = server.read(&mut answered).await;
                    counts.is_gone.store(true, Relaxed);
                    return answer.map(drop);
                }
                if counts.is_gone.load(Relaxed) {
                    return Ok(());
                }
                if is_commit
                    && counts.loses.load(Relaxed)
                    && counts.commits.fetch_add(1, Relaxed).is_multiple_of(2)
                {
                    return server.read(&mut answered).await.map(drop);
                } else if asked.is_empty() {
                    return Ok(());
                }
            }
            size = server.read(&mut answered) => match size? {
                0 => return Ok(()),
                size => {
                    is_idle = answered[..size].ends_with(IDLE);
                    client.write_all(&answered[..size]).await?;
                }
            }
        }
    }
}
