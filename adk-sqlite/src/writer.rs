//! [`Writer`]: the thread that owns the writing connection and combines waiting jobs into one
//! transaction.

use crate::Options;
use crate::cache::Cache;
use crate::error::{Doing, closed_error, copy, read_only, sqlite_error, with_file};
use crate::file::{DatabaseFile, check_before_open, resolve};
use crate::owner::Owner;
use crate::statements::Statements;
use crate::{Durability, schema, tail};
use adk_journal::engine::ClaimId;
use adk_model::{Error, ErrorKind, Result, StoreErrorKind};
use adk_store::complete;
use adk_store::lists::owners;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Maximum number of jobs in a transaction, so that the last job does not delay the first too long.
const MOST: usize = 512;

/// Time for which the thread collects jobs: it waits until there are as many jobs as in the last
/// transaction, so that they share the next one. The time is shorter than one write to the disk.
const GATHER: Duration = Duration::from_micros(50);

/// Time for which the thread polls for a job after a transaction. A run usually sends its next
/// event within this time, which is less than half of one write to the disk. The thread yields to
/// other threads between polls.
const AWAKE: Duration = Duration::from_micros(100);

/// Page cache in KiB. It holds the pages of active sessions: each session touches pages of its own
/// in every index.
const CACHE: u32 = 32_768;

/// Number of pages in the write-ahead log that starts a checkpoint: 32 MB, so that a page that many
/// events change is written to the file once.
const CHECKPOINT: u32 = 8_000;

/// Time until releases that could not be written are tried again.
const AGAIN: Duration = Duration::from_millis(500);

/// Number of commits between checks of the write-ahead log. A check at each commit would slow down
/// a single run. It is not needed, because SQLite keeps the log open, and writes it into the file
/// at the end.
const LOG_EVERY: u32 = 16;

/// State that jobs work with.
pub(crate) struct Db {
    pub(crate) connection: Connection,
    pub(crate) cache: Cache,
    pub(crate) owner: Arc<Owner>,
    pub(crate) file: Arc<DatabaseFile>,
    commits: u32,
    /// Released claims whose release could not be written.
    pub(crate) unwritten: Vec<ClaimId>,
}

/// Work for the writer thread.
pub(crate) trait Job: Send {
    /// Executes the work in the open transaction. Called again if the transaction was rolled back.
    fn run(&mut self, db: &mut Db) -> Result<()>;
    /// Reports the result to the sender, after the transaction was committed or has failed.
    fn done(self: Box<Self>, result: Result<()>, db: &mut Db);
}

/// Handle that sends jobs to the writer thread.
pub(crate) struct Writer {
    /// The owner of this store's claims.
    pub(crate) owner: Arc<Owner>,
    pub(crate) file: Arc<DatabaseFile>,
    jobs: Option<Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(crate) async fn open(path: PathBuf, options: Options) -> Result<Self> {
        let (jobs, incoming) = channel();
        let (opened, result) = oneshot::channel();
        let run = move || match Db::open(&resolve(&path), options)
            .map_err(|error| with_file(&path, error))
        {
            Ok(mut db) => {
                let _ = opened.send(Ok((db.owner.clone(), db.file.clone())));
                db.serve(&incoming);
            }
            Err(error) => drop(opened.send(Err(error))),
        };
        let thread = std::thread::Builder::new()
            .name("adk-sqlite".to_owned())
            .spawn(run);
        let thread = thread.map_err(|error| closed_error().with_source(error))?;
        let (owner, file) = result.await.map_err(|_| closed_error())??;
        Ok(Self {
            owner,
            file,
            jobs: Some(jobs),
            thread: Some(thread),
        })
    }

    /// Sends a job. Returns the job when the thread has ended.
    pub(crate) fn post(&self, job: Box<dyn Job>) -> Result<(), Box<dyn Job>> {
        match &self.jobs {
            Some(jobs) => jobs.send(job).map_err(|error| error.0),
            None => Err(job),
        }
    }

    /// Executes `work` in a transaction, which other jobs may share.
    pub(crate) async fn write<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut Db) -> Result<T> + Send + 'static,
    {
        let (reply, result) = oneshot::channel();
        let job = Call {
            work,
            value: None,
            reply,
        };
        self.post(Box::new(job)).map_err(|_| closed_error())?;
        result.await.map_err(|_| closed_error())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Closing the channel ends the thread after the jobs already sent.
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
        // The receiver may be dropped; the work is done anyway.
        let _ = reply.send(result.and_then(|()| value.ok_or_else(closed_error)));
    }
}

impl Db {
    fn open(path: &Path, options: Options) -> Result<Self> {
        check_before_open(path, options.create)?;
        let connection = Connection::open(path).doing("open the file")?;
        connection
            .busy_timeout(options.busy_timeout)
            .doing("open the file")?;
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
            // Foreign keys are off: `sessions::delete` removes dependent rows, and writes check
            // their references first. Programs with foreign keys on, such as ADK, find the same
            // rules in the tables.
            connection.execute_batch(&format!(
                "PRAGMA synchronous={synchronous}; PRAGMA foreign_keys=OFF;
                 PRAGMA cache_size=-{CACHE}; PRAGMA temp_store=MEMORY;"
            ))?;
            connection.query_row(
                &format!("PRAGMA wal_autocheckpoint={CHECKPOINT}"),
                [],
                |_| Ok(()),
            )?;
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
        let connection = crate::tests::turns::count_steps(connection);
        let file = Arc::new(DatabaseFile::identify(&connection, path)?);
        let owner = Arc::new(Owner::new(file.path())?);
        owner.sweep(&complete(owners(
            &mut Statements(&connection),
            &owner.name,
        ))?);
        Ok(Self {
            connection,
            cache: Cache::default(),
            owner,
            file,
            commits: 0,
            unwritten: Vec::new(),
        })
    }

    fn serve(&mut self, incoming: &Receiver<Box<dyn Job>>) {
        let mut last = 0;
        loop {
            let first = match next(incoming, last > 0, !self.unwritten.is_empty()) {
                Next::Job(job) => Some(job),
                Next::Idle => None,
                Next::End => break,
            };
            let mut jobs: Vec<_> = first.into_iter().chain(self.take_unwritten()).collect();
            jobs.extend(incoming.try_iter().take(MOST - 1));
            // After a transaction, its callers send their next jobs one by one, so a short wait
            // collects them. A single run never waits here.
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

    /// Moves the rows of the tail in a transaction of their own, after all jobs are done. A
    /// failure, as on a full disk, therefore loses no event.
    fn merge(&mut self) {
        let merged = self.execute("BEGIN IMMEDIATE").and_then(|()| {
            tail::merge(&self.connection)?;
            self.commit()
        });
        if merged.is_err() && !self.connection.is_autocommit() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        self.cache.tail.finish_move(merged.is_ok());
    }

    fn batch(&mut self, mut jobs: Vec<Box<dyn Job>>) {
        match self.execute_together(&mut jobs) {
            Ok(results) => {
                for (job, result) in jobs.into_iter().zip(results) {
                    job.done(
                        result.map_err(|error| with_file(self.file.path(), error)),
                        self,
                    );
                }
            }
            Err(Lost { error, alone: true }) if jobs.len() > 1 => {
                // Some job has made the transaction fail, so each job gets a transaction of its
                // own.
                drop(error);
                jobs.into_iter().for_each(|job| self.batch(vec![job]));
            }
            Err(Lost { error, .. }) => {
                for job in jobs {
                    job.done(Err(with_file(self.file.path(), copy(&error))), self);
                }
            }
        }
    }

    fn execute_together(&mut self, jobs: &mut [Box<dyn Job>]) -> Result<Vec<Result<()>>, Lost> {
        self.execute("BEGIN IMMEDIATE").map_err(|error| Lost {
            error,
            alone: false,
        })?;
        let results = self.execute_jobs(jobs);
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

    /// Commits after a check of the file. The check comes last, so that acknowledged data is in the
    /// file that other programs find, and a log that may belong to another file receives nothing.
    fn commit(&mut self) -> Result<()> {
        self.commits = self.commits.wrapping_add(1);
        if self.commits.is_multiple_of(LOG_EVERY) {
            self.file.check_with_log()?
        } else {
            self.file.check()?
        }
        self.execute("COMMIT")
    }

    /// Executes jobs in the open transaction. A job that fails without a write gets its own error;
    /// any other error ends the transaction. A savepoint for each job would spare the other jobs,
    /// but copies every page that is written.
    fn execute_jobs(&mut self, jobs: &mut [Box<dyn Job>]) -> Result<Vec<Result<()>>> {
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

    /// Executes a statement around a transaction, prepared once.
    fn execute(&self, sql: &str) -> Result<()> {
        let done = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute([]));
        done.map(drop)
            .map_err(|error| sqlite_error("write", &error))
    }
}

/// The next action of the thread.
enum Next {
    Job(Box<dyn Job>),
    /// Time to try unwritten releases again.
    Idle,
    /// All senders are dropped.
    End,
}

/// Waits for the next job. Polls for a short time after a transaction, because a caller usually
/// sends its next job soon and waking the thread takes longer. With unwritten releases, waits only
/// until their next attempt.
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

/// A transaction that was rolled back.
struct Lost {
    error: Error,
    /// Whether each job may succeed in a transaction of its own.
    alone: bool,
}
