//! The thread that owns the connection that writes: all that waits goes into one transaction.

use crate::Options;
use crate::cache::Cache;
use crate::error::{Doing, closed, copy, failed, of_file, read_only};
use crate::file::{DatabaseFile, check_before_open, resolve};
use crate::owner::Owner;
use crate::{Durability, runs, schema, tail};
use adk_core::engine::ClaimId;
use adk_core::{Error, ErrorKind, Result, StoreErrorKind};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// The most that goes into one transaction, so that the first is not held up by the last.
const MOST: usize = 512;

/// How long as many as went into the last transaction are waited for, so that they share the next: less than it takes to
/// bring one to the disk.
const GATHER: Duration = Duration::from_micros(50);

/// How long the thread stays awake after it has answered: as long as a run takes to come back, which is less than half of
/// what it takes to bring an event to the disk. It gives way to everybody meanwhile.
const AWAKE: Duration = Duration::from_micros(100);

/// The pages of the sessions that are written to, in KiB: each has some of its own in every index.
const CACHE: u32 = 32_768;

/// After so many pages of the write-ahead log they go into the file: 32 MB, so that a page that is written by many
/// events goes there once.
const CHECKPOINT: u32 = 8_000;

/// How long it is until what could not be written is tried again.
const AGAIN: Duration = Duration::from_millis(500);

/// At every so many commits it is looked whether the write-ahead log is still there. A single run would feel it at each, and
/// SQLite, which holds the log, brings it into the file at the end.
const LOG_EVERY: u32 = 16;

/// What a job works with.
pub(crate) struct Db {
    pub(crate) connection: Connection,
    pub(crate) cache: Cache,
    pub(crate) owner: Arc<Owner>,
    pub(crate) file: Arc<DatabaseFile>,
    commits: u32,
    /// Claims that were given back while nothing could be written.
    pub(crate) unwritten: Vec<ClaimId>,
}

/// Something to be written.
pub(crate) trait Job: Send {
    /// Does it in the transaction that is open. It may be asked again, after what it did was rolled back.
    fn run(&mut self, db: &mut Db) -> Result<()>;
    /// Reports to the sender: it is on the disk, or never will be.
    fn done(self: Box<Self>, result: Result<()>, db: &mut Db);
}

/// Hands jobs to the thread.
pub(crate) struct Writer {
    /// As whom it writes.
    pub(crate) owner: Arc<Owner>,
    pub(crate) file: Arc<DatabaseFile>,
    jobs: Option<Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(crate) async fn open(path: PathBuf, options: Options) -> Result<Self> {
        let (jobs, incoming) = channel();
        let (opened, result) = oneshot::channel();
        let run = move || match Db::open(&resolve(&path), options).map_err(|error| of_file(&path, error)) {
            Ok(mut db) => {
                let _ = opened.send(Ok((db.owner.clone(), db.file.clone())));
                db.serve(&incoming);
            }
            Err(error) => drop(opened.send(Err(error))),
        };
        let thread = std::thread::Builder::new().name("adk-sqlite".to_owned()).spawn(run);
        let thread = thread.map_err(|error| closed().with_source(error))?;
        let (owner, file) = result.await.map_err(|_| closed())??;
        Ok(Self { owner, file, jobs: Some(jobs), thread: Some(thread) })
    }

    /// Gives the job back when the thread has ended.
    pub(crate) fn post(&self, job: Box<dyn Job>) -> Result<(), Box<dyn Job>> {
        match &self.jobs {
            Some(jobs) => jobs.send(job).map_err(|error| error.0),
            None => Err(job),
        }
    }

    /// Does this in a transaction, together with what others ask for.
    pub(crate) async fn write<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut Db) -> Result<T> + Send + 'static,
    {
        let (reply, result) = oneshot::channel();
        let job = Call { work, value: None, reply };
        self.post(Box::new(job)).map_err(|_| closed())?;
        result.await.map_err(|_| closed())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // The thread ends when nobody can ask it any more, after what was asked.
        self.jobs = None;
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != std::thread::current().id()
        {
            let _ = thread.join();
        }
    }
}

struct Call<F, T> {
    work: F,
    value: Option<T>,
    reply: oneshot::Sender<Result<T>>,
}

impl<T: Send, F: FnMut(&mut Db) -> Result<T> + Send> Job for Call<F, T> {
    fn run(&mut self, db: &mut Db) -> Result<()> {
        self.value = Some((self.work)(db)?);
        Ok(())
    }

    fn done(self: Box<Self>, result: Result<()>, _: &mut Db) {
        let Self { value, reply, .. } = *self;
        // Whoever asked may be gone: it is done all the same.
        let _ = reply.send(result.and_then(|()| value.ok_or_else(closed)));
    }
}

impl Db {
    fn open(path: &Path, options: Options) -> Result<Self> {
        check_before_open(path, options.create)?;
        let connection = Connection::open(path).doing("open the file")?;
        connection.busy_timeout(options.busy_timeout).doing("open the file")?;
        if !options.create {
            schema::check_there(&connection)?;
        }
        let synchronous = match options.durability {
            Durability::Power => "FULL",
            Durability::Process => "NORMAL",
        };
        let set = || -> rusqlite::Result<()> {
            connection.set_prepared_statement_cache_capacity(64);
            connection.query_row("PRAGMA journal_mode=WAL", [], |_| Ok(()))?;
            // No foreign keys: what is deleted takes its rows along by `sessions::delete`, and what is written was looked up.
            // Programs that have them on, as ADK, find the same rules in the tables.
            connection.execute_batch(&format!(
                "PRAGMA synchronous={synchronous}; PRAGMA foreign_keys=OFF; PRAGMA cache_size=-{CACHE};
                 PRAGMA temp_store=MEMORY;"
            ))?;
            connection.query_row(&format!("PRAGMA wal_autocheckpoint={CHECKPOINT}"), [], |_| Ok(()))?;
            if let Some(bytes) = options.max_bytes {
                let page: u64 = connection.query_row("PRAGMA page_size", [], |row| row.get(0))?;
                let pages = (bytes / page.max(1)).max(1);
                connection.query_row(&format!("PRAGMA max_page_count={pages}"), [], |_| Ok(()))?;
            }
            Ok(())
        };
        set().doing("open the file")?;
        if connection.is_readonly("main").doing("open the file")? {
            return Err(read_only());
        }
        schema::prepare(&connection)?;
        #[cfg(test)]
        let connection = crate::turns::counted(connection);
        let file = Arc::new(DatabaseFile::of(&connection, path)?);
        let owner = Arc::new(Owner::new(file.path())?);
        owner.sweep(&runs::drivers(&connection)?);
        Ok(Self { connection, cache: Cache::default(), owner, file, commits: 0, unwritten: Vec::new() })
    }

    fn serve(&mut self, incoming: &Receiver<Box<dyn Job>>) {
        let mut last = 0;
        loop {
            let first = match next(incoming, last > 0, !self.unwritten.is_empty()) {
                Next::Job(job) => Some(job),
                Next::Idle => None,
                Next::End => break,
            };
            let mut jobs: Vec<_> = first.into_iter().chain(self.unwritten()).collect();
            jobs.extend(incoming.try_iter().take(MOST - 1));
            // Those who were answered together come back one after the other. A single run never waits.
            let began = Instant::now();
            while jobs.len() < last && began.elapsed() < GATHER {
                std::thread::yield_now();
                jobs.extend(incoming.try_iter().take(MOST - jobs.len()));
            }
            last = jobs.len();
            self.batch(jobs);
            if self.cache.tail.is_long() {
                self.merge();
            }
        }
    }

    /// In a transaction of its own, after all were answered: nobody's event is lost when it fails, as on a full disk.
    fn merge(&mut self) {
        let merged = self.execute("BEGIN IMMEDIATE").and_then(|()| {
            tail::merge(&self.connection)?;
            self.commit()
        });
        if merged.is_err() && !self.connection.is_autocommit() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        self.cache.tail.moved(merged.is_ok());
    }

    fn batch(&mut self, mut jobs: Vec<Box<dyn Job>>) {
        match self.together(&mut jobs) {
            Ok(results) => {
                for (job, result) in jobs.into_iter().zip(results) {
                    job.done(result.map_err(|error| of_file(self.file.path(), error)), self);
                }
            }
            Err(Lost { error, alone: true }) if jobs.len() > 1 => {
                // One of them took the others along: each shows what it is worth.
                drop(error);
                jobs.into_iter().for_each(|job| self.batch(vec![job]));
            }
            Err(Lost { error, .. }) => {
                for job in jobs {
                    job.done(Err(of_file(self.file.path(), copy(&error))), self);
                }
            }
        }
    }

    fn together(&mut self, jobs: &mut [Box<dyn Job>]) -> Result<Vec<Result<()>>, Lost> {
        self.execute("BEGIN IMMEDIATE").map_err(|error| Lost { error, alone: false })?;
        let results = self.inside(jobs);
        let committed = results.and_then(|results| self.commit().map(|()| results));
        committed.map_err(|error| {
            self.cache.clear();
            if !self.connection.is_autocommit() {
                let _ = self.connection.execute_batch("ROLLBACK");
            }
            let alone = error.kind() != ErrorKind::Store(StoreErrorKind::Misplaced);
            Lost { error, alone }
        })
    }

    /// The file is looked at last: what is acknowledged was in the file that others find, and a log that may be that of
    /// another file by now gets nothing.
    fn commit(&mut self) -> Result<()> {
        self.commits = self.commits.wrapping_add(1);
        if self.commits.is_multiple_of(LOG_EVERY) {
            self.file.check_with_log()?
        } else {
            self.file.check()?
        }
        self.execute("COMMIT")
    }

    /// The error of a job that has written nothing is its own; any other ends the transaction. A savepoint for each would
    /// spare the others, and copy every page that is written to.
    fn inside(&mut self, jobs: &mut [Box<dyn Job>]) -> Result<Vec<Result<()>>> {
        let version = self
            .connection
            .prepare_cached("PRAGMA data_version")
            .and_then(|mut statement| statement.query_row([], |row| row.get::<_, i64>(0)));
        self.cache.at_version(version.doing("begin a transaction")?);
        self.cache.alone = jobs.len() == 1;
        let mut results = Vec::with_capacity(jobs.len());
        for job in jobs {
            let before = self.connection.total_changes();
            let result = job.run(self);
            if let Err(error) = result {
                self.cache.clear();
                if self.connection.is_autocommit() || self.connection.total_changes() != before {
                    return Err(error);
                }
                results.push(Err(error));
            } else {
                results.push(result);
            }
        }
        Ok(results)
    }

    /// One of the statements around transactions, prepared once.
    fn execute(&self, sql: &str) -> Result<()> {
        let done = self.connection.prepare_cached(sql).and_then(|mut statement| statement.execute([]));
        done.map(drop).map_err(|error| failed("write", &error))
    }
}

/// What the thread does next.
enum Next {
    Job(Box<dyn Job>),
    /// Nobody has asked for a while.
    Idle,
    /// Nobody will ask any more.
    End,
}

/// The next job. A caller that was just answered asks again soon as a rule, and to be woken takes longer than to stay awake
/// that long. With something left to write the wait is a short one.
fn next(incoming: &Receiver<Box<dyn Job>>, answered: bool, is_unwritten: bool) -> Next {
    let began = Instant::now();
    while answered && began.elapsed() < AWAKE {
        match incoming.try_recv() {
            Ok(job) => return Next::Job(job),
            Err(TryRecvError::Empty) => std::thread::yield_now(),
            Err(TryRecvError::Disconnected) => return Next::End,
        }
    }
    if !is_unwritten {
        return incoming.recv().map_or(Next::End, Next::Job);
    }
    match incoming.recv_timeout(AGAIN) {
        Ok(job) => Next::Job(job),
        Err(RecvTimeoutError::Timeout) => Next::Idle,
        Err(RecvTimeoutError::Disconnected) => Next::End,
    }
}

/// A transaction that did not come about.
struct Lost {
    error: Error,
    /// Whether it is worth trying each job alone.
    alone: bool,
}
