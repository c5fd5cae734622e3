//! A connection to the server that breaks off in the middle of a commit: the server has done it, and its answer is lost.

use crate::support::Database;
use std::io::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// How a client sends it.
const COMMIT: &[u8] = b"COMMIT\0";

/// Loses the answer to every second commit, from the first on.
pub struct Lossy {
    /// The database, by way of the connections that break off.
    pub url: String,
    commits: Arc<AtomicU32>,
}

impl Lossy {
    pub async fn new(database: &Database) -> Self {
        let server = database.url.split(['@', '/']).nth(3).unwrap().to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let here = listener.local_addr().unwrap().to_string();
        // Over TLS it would see no commit.
        let url = format!("{}?sslmode=disable", database.url.replace(&server, &here));
        let commits = Arc::new(AtomicU32::new(0));
        let count = commits.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (server, count) = (server.clone(), count.clone());
                tokio::spawn(async move { carry(client, TcpStream::connect(server).await?, &count).await });
            }
        });
        Self { url, commits }
    }

    /// How many answers were lost.
    pub fn lost(&self) -> u32 {
        self.commits.load(Relaxed).div_ceil(2)
    }
}

async fn carry(mut client: TcpStream, mut server: TcpStream, commits: &AtomicU32) -> Result<()> {
    let (mut asked, mut answered) = (vec![0; 65_536], vec![0; 65_536]);
    loop {
        tokio::select! {
            size = client.read(&mut asked) => {
                let asked = &asked[..size?];
                server.write_all(asked).await?;
                if asked.ends_with(COMMIT) && commits.fetch_add(1, Relaxed).is_multiple_of(2) {
                    return server.read(&mut answered).await.map(drop);
                } else if asked.is_empty() {
                    return Ok(());
                }
            }
            size = server.read(&mut answered) => match size? {
                0 => return Ok(()),
                size => client.write_all(&answered[..size]).await?,
            }
        }
    }
}
