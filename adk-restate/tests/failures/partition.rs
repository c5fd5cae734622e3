//! A small network: two workers and a server in network namespaces of their own, on one bridge. A
//! worker dies, or is cut off and comes back.

use super::cluster::{Balancer, Checked, Deployment, Place, Reference, Worker, runs_of, settings};
use super::effects;
use super::shapes::SHAPES;
use super::support::{Setup, until};
use adk::postgres::PostgresStore;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The bridge, and the namespaces of the server and of two workers.
struct Net {
    names: [String; 4],
    subnet: u8,
}

impl Net {
    /// Returns `None` if this process may not create namespaces.
    fn new() -> Option<Self> {
        let id = std::process::id() % 10_000;
        let names = ["br", "s", "a", "b"].map(|name| format!("adk{id}{name}"));
        let net = Self {
            names,
            subnet: u8::try_from(id % 250).unwrap(),
        };
        if !ip(&format!("link add {} type bridge", net.names[0])) {
            return None;
        }
        assert!(ip(&format!(
            "addr add {}/24 dev {}",
            net.ip(0),
            net.names[0]
        )));
        assert!(ip(&format!("link set {} up", net.names[0])));
        for at in 1..4 {
            let name = &net.names[at];
            for words in [
                format!("netns add {name}"),
                format!("link add {name} type veth peer name eth0 netns {name}"),
                format!("link set {name} master {} up", net.names[0]),
                format!("-n {name} addr add {}/24 dev eth0", net.ip(at)),
                format!("-n {name} link set eth0 up"),
                format!("-n {name} link set lo up"),
            ] {
                assert!(ip(&words), "ip {words}");
            }
        }
        Some(net)
    }

    /// Returns the address of the bridge (0), the server (1) or a worker (2, 3).
    fn ip(&self, at: usize) -> IpAddr {
        Ipv4Addr::new(10, 213, self.subnet, u8::try_from(at).unwrap() + 1).into()
    }

    fn within(&self, at: usize) -> Vec<String> {
        ["ip", "netns", "exec", &self.names[at]]
            .map(str::to_owned)
            .to_vec()
    }

    /// Disconnects or connects a namespace.
    fn connect(&self, at: usize, connected: bool) {
        let how = if connected { "up" } else { "down" };
        assert!(ip(&format!("link set {} {how}", self.names[at])));
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        for name in &self.names[1..] {
            // The namespace itself exists as long as a process is inside, so its link is deleted
            // first.
            ip(&format!("link del {name}"));
            ip(&format!("netns del {name}"));
        }
        ip(&format!("link del {}", self.names[0]));
    }
}

fn ip(words: &str) -> bool {
    let mut command = Command::new("ip");
    command.args(words.split(' ')).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Starts a deployment on a network, or returns `None` if the network cannot be created. In a long
/// run the store is Postgres.
async fn start() -> Option<(Net, Deployment, Option<Balancer>)> {
    let Some(net) = Net::new() else {
        println!("left out: this process may not make network namespaces");
        return None;
    };
    let mut place = Place::new();
    let mut to_store = None;
    if let (Ok(url), true) = (
        std::env::var("ADK_POSTGRES"),
        std::env::var_os("ADK_RESTATE_KILLS").is_some(),
    ) {
        // The database server listens only on the loopback interface of this machine.
        let server: SocketAddr = url.split(['@', '/']).nth(3).unwrap().parse().unwrap();
        let way = Balancer::new(SocketAddr::new(net.ip(0), 0), vec![server]).await;
        place.store = format!(
            "{}?sslmode=disable",
            url.replace(&server.to_string(), &way.address.to_string())
        );
        PostgresStore::connect(&place.store).await.unwrap();
        to_store = Some(way);
    }
    let worker = |at| {
        let within = net.within(at);
        let within: Vec<&str> = within.iter().map(String::as_str).collect();
        Worker::new(SocketAddr::new(net.ip(at), 9080), &within, "")
    };
    let mut settings = settings();
    // A lost peer sends nothing, so without keepalive the server would detect it only after a
    // minute.
    settings.extend([
        (
            "RESTATE_WORKER__INVOKER__HTTP2_KEEP_ALIVE_INTERVAL",
            "300ms",
        ),
        ("RESTATE_WORKER__INVOKER__HTTP2_KEEP_ALIVE_TIMEOUT", "300ms"),
        ("RESTATE_WORKER__INVOKER__CONNECT_TIMEOUT", "1s"),
    ]);
    let setup = Setup {
        within: net.within(1),
        ip: Some(net.ip(1)),
        settings,
        ..Setup::default()
    };
    let workers = vec![worker(2), worker(3)];
    let deployment = Deployment::start_with(place, setup, workers, net.ip(0)).await;
    Some((net, deployment, to_store))
}

/// Returns the number of calls that a worker has begun.
fn calls_of(deployment: &Deployment, worker: usize) -> usize {
    let pid = deployment.workers[worker].pid();
    effects::processes_of(&deployment.place.effects(), None)
        .get(&pid)
        .copied()
        .unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Restate and root: tests/peers/run-restate.sh"]
async fn one_worker_dies_and_the_other_takes_its_branches() {
    let _alone = super::ALONE.lock().await;
    let reference = Reference::new(&SHAPES).await;
    let Some((_net, mut deployment, _to_store)) = start().await else {
        return;
    };
    let runs = runs_of(&SHAPES);
    let client = deployment.client(&runs);
    until("both work", async || {
        (0..2).all(|worker| calls_of(&deployment, worker) > 5)
    })
    .await;
    let calls = calls_of(&deployment, 1);
    deployment.workers[0].kill();
    deployment.place.note("kill");
    let endings = client.endings().await;
    let checked = deployment.check(&reference, &runs, &endings).await;
    println!(
        "{checked:?}, {} of {} calls after the death",
        calls_of(&deployment, 1) - calls,
        reference.calls()
    );
    assert!(checked.faults.is_empty(), "{}", checked.faults[0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Restate and root: tests/peers/run-restate.sh"]
async fn a_worker_that_is_cut_off_repeats_nothing_when_it_comes_back() {
    let _alone = super::ALONE.lock().await;
    let reference = Reference::new(&SHAPES).await;
    let Some((net, deployment, _to_store)) = start().await else {
        return;
    };
    let mut random = fastrand::Rng::with_seed(super::setting("ADK_RESTATE_SEED", 7));
    let mut checked = Checked::default();
    let rounds = super::setting("ADK_RESTATE_KILLS", 24) / 8;
    for round in 0..rounds {
        let runs = runs_of(&SHAPES);
        let client = deployment.client(&runs);
        tokio::time::sleep(Duration::from_millis(random.u64(100..700))).await;
        let (worker, away) = (
            random.usize(..2),
            Duration::from_millis(random.u64(100..3_000)),
        );
        deployment
            .place
            .note(&format!("cut {}", deployment.workers[worker].pid()));
        net.connect(2 + worker, false);
        tokio::time::sleep(away).await;
        net.connect(2 + worker, true);
        let endings = client.endings().await;
        deployment.place.note("whole");
        let of_round = deployment.check(&reference, &runs, &endings).await;
        of_round
            .faults
            .iter()
            .for_each(|fault| println!("round {round}, away for {away:?}: {fault}"));
        checked.add(of_round);
    }
    println!(
        "{rounds} partitions: {} calls made again, {} clients took up again",
        checked.again, checked.stops
    );
    assert!(checked.faults.is_empty(), "{}", checked.faults[0]);
}
