//! Tests of slow disks, and of a server that stalls.

use super::cluster::{Deployment, Place, Reference, Worker, runs_of, settings};
use super::shapes::SHAPES;
use super::support::{Folder, Setup, free_port};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Writes per second of the slow disk.
const WRITES: u32 = 150;

/// A file system in a file, and a control group whose processes write to it slowly.
struct SlowDisk {
    folder: Folder,
    device: String,
    group: PathBuf,
}

impl SlowDisk {
    /// Returns `None` if this process may not create one.
    fn new() -> Option<Self> {
        let folder = Folder::new();
        let image = folder.path().join("image");
        std::fs::File::create(&image)
            .unwrap()
            .set_len(2 << 30)
            .unwrap();
        let device = said("losetup", &["-f", "--show", image.to_str().unwrap()])?;
        let group = PathBuf::from(format!("/sys/fs/cgroup/blkio/adk{}", std::process::id()));
        let disk = Self {
            folder,
            device,
            group,
        };
        said("mkfs.ext4", &["-q", &disk.device])?;
        std::fs::create_dir(disk.path()).unwrap();
        said("mount", &[&disk.device, disk.path().to_str().unwrap()])?;
        std::fs::create_dir(&disk.group).ok()?;
        let name = disk.device.strip_prefix("/dev/")?;
        let number = std::fs::read_to_string(format!("/sys/block/{name}/dev")).ok()?;
        let limit = format!("{} {WRITES}", number.trim());
        std::fs::write(disk.group.join("blkio.throttle.write_iops_device"), limit).ok()?;
        Some(disk)
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("disk")
    }

    /// Slows down a process.
    fn slow(&self, pid: u32) {
        std::fs::write(self.group.join("cgroup.procs"), pid.to_string()).unwrap();
    }
}

impl Drop for SlowDisk {
    fn drop(&mut self) {
        said("umount", &["-l", self.path().to_str().unwrap()]);
        said("losetup", &["-d", &self.device]);
        let _ = std::fs::remove_dir(&self.group);
    }
}

/// Returns the output of a command, or `None` if it fails.
fn said(program: &str, words: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(words)
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Restate and root: tests/peers/run-restate.sh"]
async fn a_slow_disk_and_a_restart_with_the_log_change_nothing() {
    let _alone = super::ALONE.lock().await;
    let reference = Reference::new(&SHAPES).await;
    let Some(disk) = SlowDisk::new() else {
        println!("left out: this process may not make file systems and control groups");
        return;
    };
    let mut place = Place::new();
    place.store = disk.path().join("runs.db").display().to_string();
    let local = || SocketAddr::new(Ipv4Addr::LOCALHOST.into(), free_port());
    let workers = vec![Worker::new(local(), &[], ""), Worker::new(local(), &[], "")];
    let setup = Setup {
        settings: settings(),
        data: Some(disk.path().join("data")),
        ..Setup::default()
    };
    let mut deployment =
        Deployment::start_with(place, setup, workers, Ipv4Addr::LOCALHOST.into()).await;
    deployment
        .workers
        .iter()
        .for_each(|worker| disk.slow(worker.pid()));
    disk.slow(deployment.server.pid());
    let runs = runs_of(&SHAPES);
    let begun = Instant::now();
    let client = deployment.client(&runs);
    tokio::time::sleep(Duration::from_secs(1)).await;
    deployment.server.kill();
    deployment.place.note("kill");
    deployment.server.restart().await;
    disk.slow(deployment.server.pid());
    let endings = client.endings().await;
    let checked = deployment.check(&reference, &runs, &endings).await;
    println!(
        "{:?} with {WRITES} writes a second: {checked:?}",
        begun.elapsed()
    );
    assert!(checked.faults.is_empty(), "{}", checked.faults[0]);
    drop(deployment);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Restate: tests/peers/run-restate.sh"]
async fn a_server_that_stalls_changes_nothing() {
    let _alone = super::ALONE.lock().await;
    let reference = Reference::new(&SHAPES).await;
    let deployment = Deployment::start().await;
    let runs = runs_of(&SHAPES);
    let client = deployment.client(&runs);
    let pid = deployment.server.pid().to_string();
    let mut random = fastrand::Rng::with_seed(super::setting("ADK_RESTATE_SEED", 7));
    for _ in 0..8 {
        said("kill", &["-STOP", &pid]).unwrap();
        tokio::time::sleep(Duration::from_millis(random.u64(50..600))).await;
        said("kill", &["-CONT", &pid]).unwrap();
        tokio::time::sleep(Duration::from_millis(random.u64(20..150))).await;
    }
    let endings = client.endings().await;
    let checked = deployment.check(&reference, &runs, &endings).await;
    assert!(
        checked.faults.is_empty() && checked.again == 0,
        "{checked:?}"
    );
}
