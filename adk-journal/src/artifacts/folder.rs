//! [`FolderArtifacts`]: artifacts as files in a folder.

use super::folder_names::{component, push, unescape};
use super::{ArtifactStore, StoredPart, is_of_user};
use crate::session::SessionKey;
use crate::{BoxFuture, Error, ErrorKind, Part, Result, StoreErrorKind, task};
use std::fs::{self, File};
use std::io::{self, ErrorKind as Io, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Artifacts as files in a folder, which several processes may share.
///
/// ```no_run
/// # use adk_build as adk;
/// # fn example() -> adk::Result<()> {
/// use adk::FolderArtifacts;
/// let runner: adk::Runner =
///     adk::Runner::builder().artifact_store(FolderArtifacts::open("artifacts")?).build()?;
/// # let _ = runner;
/// # Ok(())
/// # }
/// ```
///
/// **Each version is one file**, `APP/USER/sessions/SESSION/NAME/VERSION`, or
/// `APP/USER/user/NAME/VERSION` for names that begin with `user:`. The file holds a line of JSON
/// that describes the part ([`StoredPart`]), then the bytes of inline data. Names may be any text.
/// They are escaped, so that no path leaves the folder, and two names differ also on file systems
/// that ignore case. The limit is that of paths, on Linux 4,096 bytes for all names together.
///
/// **A version is complete or absent.** The store writes it in `tmp`, syncs it to the disk, and
/// then links it to the first free number. A process that dies before that leaves its file in
/// `tmp`, where the file may be deleted while no store has the folder open. The file system must
/// support hard links, which FAT and exFAT do not.
///
/// **Files stay until they are deleted** with [`delete`](ArtifactStore::delete), because this store
/// does not learn that a session was deleted in another store. The files of a session are those in
/// the result of [`list`](ArtifactStore::list) whose names do not begin with `user:`.
#[derive(Clone, Debug)]
pub struct FolderArtifacts {
    root: PathBuf,
}

impl FolderArtifacts {
    /// Opens a folder of artifacts, and creates it if it does not exist.
    ///
    /// # Errors
    /// [`ErrorKind::Store`], when the folder cannot be created or written to.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        let open = || {
            // The process may change its working directory later.
            let root = std::path::absolute(folder)?;
            fs::create_dir_all(&root)?;
            let this = Self { root };
            fs::remove_dir(this.scratch()?)?;
            Ok(this)
        };
        open().map_err(|error| to_error("open the folder", folder, error))
    }

    /// Returns the folder of the versions of a file.
    fn folder(&self, session: &SessionKey, name: &str) -> PathBuf {
        let mut path = self.owner(session, is_of_user(name));
        push(&mut path, name);
        path
    }

    /// Returns the folder of the files of a session or its user.
    fn owner(&self, session: &SessionKey, is_user: bool) -> PathBuf {
        let mut path = self.root.clone();
        push(&mut path, &session.app);
        push(&mut path, &session.user);
        if is_user {
            path.push("user");
        } else {
            path.push("sessions");
            push(&mut path, &session.id);
        }
        path
    }

    /// Executes blocking work on the thread pool for it.
    fn blocking<T: Send + 'static>(
        &self,
        what: String,
        work: impl FnOnce(&Self) -> io::Result<T> + Send + 'static,
    ) -> BoxFuture<'_, Result<T>> {
        Box::pin(async move {
            let this = self.clone();
            match task::run_blocking(move || work(&this)).await {
                Ok(done) => done.map_err(|error| to_error(&what, &self.root, error)),
                Err(panic) => {
                    let error = io::Error::other("its thread panicked");
                    Err(to_error(&what, &self.root, error).with_source(panic))
                }
            }
        })
    }

    /// Creates a folder for the writes of one call, in this process or another.
    fn scratch(&self) -> io::Result<PathBuf> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let all = self.root.join("tmp");
        fs::create_dir_all(&all)?;
        loop {
            // On a network file system, processes of two machines may have the same id.
            let own = all.join(format!(
                "{}-{}",
                std::process::id(),
                NEXT.fetch_add(1, Relaxed)
            ));
            match fs::create_dir(&own) {
                Ok(()) => return Ok(own),
                Err(error) if error.kind() == Io::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn save(&self, folder: &Path, part: &StoredPart) -> io::Result<u32> {
        let scratch = self.scratch()?;
        let version = self.write(&scratch.join("part"), folder, part);
        // Remaining files take space, but do no harm.
        let _ = fs::remove_dir_all(&scratch);
        version
    }

    fn write(&self, draft: &Path, folder: &Path, part: &StoredPart) -> io::Result<u32> {
        let mut file = File::create_new(draft)?;
        file.write_all(part.json.as_bytes())?;
        file.write_all(b"\n")?;
        file.write_all(part.data.as_deref().unwrap_or_default())?;
        file.sync_all()?;
        drop(file);
        loop {
            match fs::create_dir_all(folder) {
                Ok(()) => {}
                // Another process deleted the folder before `create_dir_all` could see that it is a
                // folder.
                Err(error) if error.kind() == Io::AlreadyExists && !folder.is_file() => continue,
                Err(error) => return Err(error),
            }
            let version = match latest(folder)? {
                None => 0,
                Some(latest) => latest
                    .checked_add(1)
                    .ok_or_else(|| io::Error::other("there are too many versions"))?,
            };
            // A link does not replace a file, so only one of two processes gets the number.
            match fs::hard_link(draft, folder.join(version.to_string())) {
                Ok(()) => {
                    // The folders may be new, and the process that created them may not have synced
                    // them yet.
                    folder
                        .ancestors()
                        .take_while(|above| above.starts_with(&self.root))
                        .try_for_each(sync)?;
                    return Ok(version);
                }
                Err(error) if error.kind() == Io::AlreadyExists => {}
                // The folder was deleted, unless the draft itself does not exist.
                Err(error) if error.kind() == Io::NotFound && draft.exists() => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Deletes all versions at once, so that a process that dies does not leave a part of them.
    fn delete(&self, folder: &Path) -> io::Result<()> {
        let scratch = self.scratch()?;
        let deleted = match fs::rename(folder, scratch.join("deleted")) {
            Ok(()) => folder.parent().map_or(Ok(()), sync),
            Err(error) if error.kind() == Io::NotFound => Ok(()),
            Err(error) => Err(error),
        };
        deleted.and(fs::remove_dir_all(&scratch))
    }
}

impl ArtifactStore for FolderArtifacts {
    fn save<'a>(
        &'a self,
        session: &'a SessionKey,
        name: &'a str,
        part: Part,
    ) -> BoxFuture<'a, Result<u32>> {
        let folder = self.folder(session, name);
        match StoredPart::new(&part) {
            Ok(part) => self.blocking(format!("save the artifact `{name}`"), move |this| {
                this.save(&folder, &part)
            }),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }

    fn load<'a>(
        &'a self,
        session: &'a SessionKey,
        name: &'a str,
        version: Option<u32>,
    ) -> BoxFuture<'a, Result<Option<Part>>> {
        let folder = self.folder(session, name);
        let read = self.blocking(format!("load the artifact `{name}`"), move |_| {
            read(&folder, version)
        });
        Box::pin(async move { read.await?.map(parse).transpose() })
    }

    fn list<'a>(&'a self, session: &'a SessionKey) -> BoxFuture<'a, Result<Vec<String>>> {
        let owners = [self.owner(session, false), self.owner(session, true)];
        self.blocking("list artifacts".to_owned(), move |_| {
            let mut all = Vec::new();
            owners
                .iter()
                .try_for_each(|owner| names(owner, "", &mut all))?;
            all.sort();
            Ok(all)
        })
    }

    fn versions<'a>(
        &'a self,
        session: &'a SessionKey,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Vec<u32>>> {
        let folder = self.folder(session, name);
        self.blocking(
            format!("list the versions of the artifact `{name}`"),
            move |_| {
                let mut all: Vec<_> = versions(&folder)?.collect();
                all.sort_unstable();
                Ok(all)
            },
        )
    }

    fn delete<'a>(&'a self, session: &'a SessionKey, name: &'a str) -> BoxFuture<'a, Result<()>> {
        let folder = self.folder(session, name);
        self.blocking(format!("delete the artifact `{name}`"), move |this| {
            this.delete(&folder)
        })
    }
}

/// Returns the names of the entries of a folder. A folder that does not exist has no entries.
fn entries(folder: &Path) -> io::Result<Vec<String>> {
    match fs::read_dir(folder) {
        // This store writes only names that are valid UTF-8.
        Ok(all) => all
            .filter_map(|entry| {
                entry
                    .map(|entry| entry.file_name().into_string().ok())
                    .transpose()
            })
            .collect(),
        // A file at this path belongs to another program.
        Err(error) if matches!(error.kind(), Io::NotFound | Io::NotADirectory) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Returns the versions in the folder of a file, in any order.
fn versions(folder: &Path) -> io::Result<impl Iterator<Item = u32> + use<>> {
    let version = |name: String| {
        name.parse::<u32>()
            .ok()
            .filter(|version| version.to_string() == name)
    };
    Ok(entries(folder)?.into_iter().filter_map(version))
}

fn latest(folder: &Path) -> io::Result<Option<u32>> {
    Ok(versions(folder)?.max())
}

fn read(folder: &Path, version: Option<u32>) -> io::Result<Option<Vec<u8>>> {
    let Some(version) = version.map_or_else(|| latest(folder), |version| Ok(Some(version)))? else {
        return Ok(None);
    };
    match fs::read(folder.join(version.to_string())) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == Io::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn parse(bytes: Vec<u8>) -> Result<Part> {
    let line = bytes.iter().position(|byte| *byte == b'\n');
    let parts =
        line.and_then(|end| Some((std::str::from_utf8(&bytes[..end]).ok()?, &bytes[end + 1..])));
    let Some((json, data)) = parts else {
        let message = "an artifact cannot be read: its file does not begin with a line of JSON";
        return Err(
            Error::new(ErrorKind::Store(StoreErrorKind::Corrupt), message)
                .with_help("check whether another program wrote it"),
        );
    };
    StoredPart {
        json: json.to_owned(),
        data: Some(data.into()),
    }
    .into_part()
}

/// Adds the names of the files below a folder. `before` is the beginning of the names, from the
/// folders above.
fn names(folder: &Path, before: &str, all: &mut Vec<String>) -> io::Result<()> {
    for entry in entries(folder)? {
        let Some((held, continues)) = component(&entry) else {
            continue;
        };
        let (text, inside) = (format!("{before}{held}"), folder.join(&entry));
        if continues {
            names(&inside, &text, all)?;
        } else if let Some(name) = unescape(&text)
            // An interrupted save leaves a folder without versions.
            && latest(&inside)?.is_some()
        {
            all.push(name);
        }
    }
    Ok(())
}

/// Syncs the entries of a folder to the disk.
fn sync(folder: &Path) -> io::Result<()> {
    // Only Unix can open a folder as a file.
    if !cfg!(unix) {
        return Ok(());
    }
    match File::open(folder) {
        Ok(folder) => folder.sync_all(),
        // Another process has deleted the folder.
        Err(error) if error.kind() == Io::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn to_error(what: &str, folder: &Path, error: io::Error) -> Error {
    use StoreErrorKind as Kind;
    let (kind, help) = match error.kind() {
        Io::StorageFull | Io::QuotaExceeded | Io::FileTooLarge => {
            (Kind::Full, "make room on the disk")
        }
        Io::PermissionDenied | Io::ReadOnlyFilesystem => {
            (Kind::ReadOnly, "make the folder writable")
        }
        Io::InvalidFilename => (Kind::Other, "choose a shorter name"),
        _ => (
            Kind::Other,
            "check the folder, its disk and its file system, which must support hard links",
        ),
    };
    let message = format!("`{}`: failed to {what}: {error}", folder.display());
    Error::new(ErrorKind::Store(kind), message)
        .with_help(help)
        .with_source(error)
}
