//! [`Disk`]: the log, with the data that its lines make.

use crate::data::{Change, Data};
use adk_journal::engine::{from_text, to_text};
use adk_journal::session::Session;
use adk_model::{Error, ErrorKind, Result, StoreErrorKind};
use std::fs::{File, OpenOptions};
use std::io::{Read, Result as IoResult, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) struct Disk {
    lock: File,
    log: File,
    /// The length of the lines that `data` contains.
    read: u64,
    pub(crate) data: Data,
}

pub(crate) fn disk_error(error: std::io::Error) -> Error {
    let message = format!("the store cannot use its folder: {error}");
    Error::new(ErrorKind::Store(StoreErrorKind::Other), message)
        .with_help("make the folder writable, and free space on its disk")
}

pub(crate) fn open_file(path: PathBuf) -> Result<File> {
    let mut options = OpenOptions::new();
    let options = options.create(true).truncate(false).read(true).write(true);
    options.open(path).map_err(disk_error)
}

impl Disk {
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        Ok(Self {
            lock: open_file(folder.join("lock"))?,
            log: open_file(folder.join("log.jsonl"))?,
            read: 0,
            data: Data::default(),
        })
    }

    /// Applies the lines that other processes have written. A line without its end is not written
    /// yet, or never will be.
    pub(crate) fn catch_up(&mut self) -> Result<()> {
        let mut new = Vec::new();
        let found = self.log.seek(SeekFrom::Start(self.read));
        let found = found.and_then(|_| self.log.read_to_end(&mut new));
        found.map_err(disk_error)?;
        let lines = new.split_inclusive(|byte| *byte == b'\n');
        for line in lines.filter(|line| line.ends_with(b"\n")) {
            self.apply(from_text(&String::from_utf8_lossy(line), "the log")?, None)?;
            self.read += line.len() as u64;
        }
        Ok(())
    }

    fn apply(&mut self, changes: Vec<Change>, delivered: Option<&Arc<Session>>) -> Result<()> {
        let mut changes = changes.into_iter();
        changes.try_for_each(|change| self.data.apply(change, delivered))
    }

    /// Lets `decide` choose changes while no other process writes, and writes all of them or none.
    /// Its caller gives the event to the session `delivered`.
    pub(crate) fn transaction<T>(
        &mut self,
        delivered: Option<&Arc<Session>>,
        decide: impl FnOnce(&Data, &mut Vec<Change>) -> Result<T>,
    ) -> Result<T> {
        let lock = self.lock.try_clone().map_err(disk_error)?;
        lock.lock().map_err(disk_error)?;
        let result = self.catch_up().and_then(|()| {
            let mut changes = Vec::new();
            let value = decide(&self.data, &mut changes)?;
            if !changes.is_empty() {
                let line = to_text(&changes)? + "\n";
                self.append(line.as_bytes()).map_err(disk_error)?;
                self.apply(changes, delivered)?;
                self.read += line.len() as u64;
            }
            Ok(value)
        });
        lock.unlock().map_err(disk_error)?;
        result
    }

    /// Writes a line at the end of the last whole line. What a killed process has left there goes.
    fn append(&mut self, line: &[u8]) -> IoResult<()> {
        self.log.set_len(self.read)?;
        self.log.seek(SeekFrom::Start(self.read))?;
        self.log.write_all(line)?;
        self.log.sync_data()
    }
}
