//! A server of a real ensemble that is killed or frozen while operations of all sequences are under way: they wait for
//! each other, so that it strikes none of them at another step.

use super::line::{Strike, locked};
use crate::common::{docker, output_of};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;
use tokio::sync::watch;

/// Operations begin within this time of the strike, which takes the engine a while.
const SPREAD_MS: u64 = 300;

/// How often a strike is tried that the engine does not carry out.
const TRIES: u32 = 3;

/// Starts the server again as it was started before.
const START: &str =
    r#"xargs -0 -a /tmp/environ sh -c 'exec env -i "$@" /docker-entrypoint.sh zkServer.sh start-foreground' sh"#;

/// The user as which ZooKeeper runs in its image; without capabilities no other one may kill it.
const SERVER: &str = "1000";

/// Kills the server, and keeps its environment.
const KILL: &str = r#"for p in /proc/[0-9]*; do
    if [ "$(tr '\0' ' ' < $p/cmdline | cut -d' ' -f1)" = java ]; then cp -f $p/environ /tmp/environ && kill -9 "${p#/proc/}"; exit; fi
done; exit 1"#;

/// Strikes the servers in these containers.
pub struct Storm {
    containers: Vec<String>,
    gate: Mutex<Gate>,
    /// Odd while a server is struck.
    turn: watch::Sender<u64>,
}

#[derive(Default)]
struct Gate {
    playing: usize,
    waiting: usize,
}

/// A sequence that is being played.
struct PlayedSequence(Arc<Storm>);

impl Drop for PlayedSequence {
    fn drop(&mut self) {
        locked(&self.0.gate).playing -= 1;
        self.0.strike_if_all_wait();
    }
}

impl Storm {
    pub fn new(containers: Vec<String>) -> Arc<Self> {
        Arc::new(Self {
            containers,
            gate: Mutex::default(),
            turn: watch::Sender::new(0),
        })
    }

    /// Waits until no server is struck; the sequence is played until what is returned is dropped.
    pub fn enter(self: &Arc<Self>) -> BoxFuture<'static, Box<dyn Send>> {
        let storm = Arc::clone(self);
        async move {
            loop {
                storm.reaches(|turn| turn.is_multiple_of(2)).await;
                let mut gate = locked(&storm.gate);
                if storm.turn.borrow().is_multiple_of(2) {
                    gate.playing += 1;
                    break;
                }
            }
            Box::new(PlayedSequence(storm)) as Box<dyn Send>
        }
        .boxed()
    }

    /// The next strike.
    pub fn strike(self: &Arc<Self>) -> Strike {
        let now = *self.turn.borrow();
        let (storm, after) = (Arc::clone(self), Arc::clone(self));
        let begins = async move {
            locked(&storm.gate).waiting += 1;
            storm.strike_if_all_wait();
            storm.reaches(|turn| turn > now).await;
            tokio::time::sleep(Duration::from_millis(fastrand::u64(..SPREAD_MS))).await;
        };
        Strike {
            begins: begins.boxed(),
            is_over: async move { after.reaches(|turn| turn > now + 1).await }.boxed(),
        }
    }

    async fn reaches(&self, mut reached: impl FnMut(u64) -> bool) {
        // The sender is kept as long as the storm is.
        let _ = self.turn.subscribe().wait_for(|turn| reached(*turn)).await;
    }

    fn strike_if_all_wait(self: &Arc<Self>) {
        let mut gate = locked(&self.gate);
        if gate.waiting == 0 || gate.waiting < gate.playing {
            return;
        }
        gate.waiting = 0;
        self.turn.send_modify(|turn| *turn += 1);
        let storm = Arc::clone(self);
        tokio::task::spawn_blocking(move || {
            let striking = catch_unwind(AssertUnwindSafe(|| {
                let container = &storm.containers[fastrand::usize(..storm.containers.len())];
                strike_one(container);
                storm.containers.iter().for_each(|container| until_it_serves(container));
            }));
            if let Err(why) = striking {
                // The waiting sequences could not be notified. The panic's message, which the test harness has
                // captured, is lost, so it is printed again.
                let why = why.downcast_ref::<String>().map_or("a panic", String::as_str);
                let _ = writeln!(std::io::stderr(), "a strike failed: {why}");
                std::process::abort();
            }
            storm.turn.send_modify(|turn| *turn += 1);
        });
    }
}

fn strike_one(container: &str) {
    // Shorter than the session timeout, also with the election that may follow.
    let time = Duration::from_millis(fastrand::u64(200..2_000));
    // The engine may fail to freeze a container, with an error; a process may end while it is looked at.
    let strike = || match fastrand::bool() {
        true => did(&["pause", container], &["unpause", container], time),
        false => {
            let restart = ["exec", "--detach", "--user", SERVER, container, "sh", "-c", START];
            did(&["exec", "--user", SERVER, container, "sh", "-c", KILL], &restart, time)
        }
    };
    assert!(
        (0..TRIES).any(|_| strike()),
        "{container} was not struck in {TRIES} tries"
    );
}

/// Whether the engine did something; if so, it is undone after a while.
fn did(something: &[&str], undo: &[&str], time: Duration) -> bool {
    let output = output_of(Command::new("docker").args(something));
    if output.code != Some(0) {
        let _ = writeln!(std::io::stderr(), "docker {something:?}: {output}");
        return false;
    }
    sleep(time);
    docker(undo);
    true
}

/// Waits until the server of a container follows or leads.
fn until_it_serves(container: &str) {
    let asks = "exec 3<>/dev/tcp/127.0.0.1/2181 && echo srvr >&3 && cat <&3";
    crate::common::until("a server that serves", Duration::from_secs(60), || {
        let asked = Command::new("docker")
            .args(["exec", container, "bash", "-c", asks])
            .output();
        let answer = String::from_utf8_lossy(&asked.expect("the docker program").stdout).into_owned();
        answer.contains("Mode: ").then_some(())
    });
}
