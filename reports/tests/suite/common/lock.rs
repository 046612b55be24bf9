//! Clients that take turns with a lock, as it looks from outside.

use super::build::{Builder, MS};
use fastrand::Rng;
use serde_json::json;
use zooquake_checkers::EventType::{Fail, Info, Invoke, Ok};
use zooquake_checkers::evidence::ServerSample;

/// Faults on clients: number, kind, client, from, until.
const PAUSE_HOLDER: (u64, u64) = (24_000, 27_400);
const KILL: (u64, u64) = (8_100, 11_000);
const CUT: (u64, u64) = (45_200, 48_400);
const LEADER_CUT: (u64, u64) = (15_800, 20_900);
const SERVER_PAUSE: (u64, u64) = (34_000, 36_500);

struct Client {
    process: u64,
    asks_at: u64,
}

/// The history of the run.
pub fn sixty_seconds() -> Builder {
    let mut rng = Rng::with_seed(7);
    let mut b = Builder::default();
    let mut clients: Vec<Client> = (0..5)
        .map(|i| Client {
            process: i,
            asks_at: 1000 + 37 * i,
        })
        .collect();
    frame(&mut b);
    let mut free = 1000;
    let mut grant = 0;
    while free < 57_000 {
        let next = (0..5).min_by_key(|&i| clients[i].asks_at).unwrap();
        grant += 1;
        free = turn(&mut b, &mut rng, (next, &mut clients), grant, free);
    }
    for (i, client) in clients.iter().enumerate() {
        if client.asks_at < 60_000 {
            b.op(
                client.asks_at * MS,
                i + 1,
                client.process,
                Invoke,
                "acquire",
                json!({"grant": format!("w{i}"), "timeout_ms": 120_000}),
            );
            let at = 66_000 + i as u64 * 40;
            b.op(
                at * MS,
                i + 1,
                client.process,
                Ok,
                "acquire",
                json!({"grant": format!("w{i}"), "czxid": 0x2_0000_0000_u64 + i as u64}),
            );
            b.op(
                (at + 5) * MS,
                i + 1,
                client.process,
                Invoke,
                "release",
                json!({"grant": format!("w{i}")}),
            );
            b.op(
                (at + 12) * MS,
                i + 1,
                client.process,
                Ok,
                "release",
                json!({"grant": format!("w{i}"), "removed": null}),
            );
        }
    }
    b
}

fn frame(b: &mut Builder) {
    b.phase(900 * MS, "ops")
        .phase(60_000 * MS, "heal")
        .phase(60_400 * MS, "recover")
        .phase(65_900 * MS, "recovered");
    b.phase(65_950 * MS, "final")
        .phase(66_700 * MS, "audit")
        .phase(67_100 * MS, "done");
    b.fault(1, "kill", "c2", KILL.0 * MS, KILL.1 * MS);
    b.fault(2, "partition", "n2", LEADER_CUT.0 * MS, LEADER_CUT.1 * MS);
    b.fault(3, "pause", "c3", PAUSE_HOLDER.0 * MS, PAUSE_HOLDER.1 * MS);
    b.fault(4, "pause", "n1", SERVER_PAUSE.0 * MS, SERVER_PAUSE.1 * MS);
    b.fault(6, "partition", "c4", CUT.0 * MS, CUT.1 * MS);
    for client in 1..=5 {
        b.lane(
            500 * MS,
            client,
            Info,
            "hello",
            json!({"pid": 10 + client, "incarnation": 1, "session": format!("0x100{client}")}),
        );
        b.lane(66_800 * MS, client, Invoke, "quiesce", json!({}));
        b.lane(
            66_900 * MS,
            client,
            Ok,
            "quiesce",
            json!({"sessions": [], "znodes": []}),
        );
    }
}

/// One client acquires, writes and releases; returns when the lock is free again. Times are milliseconds.
fn turn(b: &mut Builder, rng: &mut Rng, (who, clients): (usize, &mut [Client]), grant: usize, free: u64) -> u64 {
    let client = &mut clients[who];
    let (c, name) = (who + 1, format!("g{grant}"));
    let mut at = free.max(client.asks_at) + rng.u64(3..14);
    if (LEADER_CUT.0..LEADER_CUT.0 + 2600).contains(&at) {
        at = LEADER_CUT.0 + 2600 + rng.u64(5..90);
    }
    let p = client.process;
    b.op(
        client.asks_at * MS,
        c,
        p,
        Invoke,
        "acquire",
        json!({"grant": name, "timeout_ms": 120_000}),
    );
    let value = json!({"grant": name, "path": format!("/lock/x-{grant}"), "czxid": 0x1_0000_0000_u64 + grant as u64, "session": "0x1001"});
    b.op(at * MS, c, p, Ok, "acquire", value);
    for n in 0..rng.u64(1..4) {
        let work = [20, 60, 140, 400][rng.usize(0..4)];
        at += 1;
        let write = json!({"grant": name, "value": grant as u64 * 10 + n, "work_ms": work});
        if c == 2 && at > KILL.0 - 1500 && at < KILL.0 {
            return killed(b, client, (c, p), at, write);
        }
        if c == 3 && at > 22_500 && at < 26_000 {
            clients[4].asks_at = PAUSE_HOLDER.1 + 900;
            return late(b, &mut clients[who], (c, p), at, write);
        }
        b.op(at * MS, c, p, Invoke, "write", write);
        at += work + rng.u64(1..6);
        if c == 4 && at > CUT.0 && at < CUT.1 {
            b.op(at * MS, c, p, Fail, "write", json!({"grant": name, "value": 0}))
                .error("not-held");
            b.lane(
                (at - 1) * MS,
                c,
                Info,
                "lost",
                json!({"grant": name, "why": "disconnected"}),
            );
            client.asks_at = CUT.1 + rng.u64(50..300);
            return at + 1900;
        }
        let kind = json!({"grant": name, "value": grant as u64 * 10 + n, "token": null, "accepted": true});
        b.op(at * MS, c, p, Ok, "write", kind);
    }
    b.op((at + 1) * MS, c, p, Invoke, "release", json!({"grant": name}));
    let end = at + 2 + rng.u64(2..9);
    if rng.u8(0..24) == 0 {
        b.op(end * MS, c, p, Info, "release", json!({"grant": name}))
            .error("ConnectionLoss: /lock/x");
        client.process += 5;
    } else {
        b.op(
            end * MS,
            c,
            p,
            Ok,
            "release",
            json!({"grant": name, "removed": {"path": format!("/lock/x-{grant}"), "czxid": 1}}),
        );
    }
    client.asks_at = end + rng.u64(100..900);
    end
}

/// The process is killed while it works: nobody knows what became of the write, and the lock waits for the session.
fn killed(b: &mut Builder, client: &mut Client, (c, p): (usize, u64), at: u64, write: serde_json::Value) -> u64 {
    b.op(at * MS, c, p, Invoke, "write", write);
    b.op((KILL.0 + 3) * MS, c, p, Info, "write", json!(null))
        .error("stream-ended");
    b.lane((KILL.0 + 4) * MS, c, Info, "exit", json!({"incarnation": 1}));
    b.lane(
        (KILL.1 - 2) * MS,
        c,
        Info,
        "hello",
        json!({"pid": 44, "incarnation": 2, "session": "0x2001"}),
    );
    client.process += 5;
    client.asks_at = KILL.1 + 60;
    KILL.0 + 2100
}

/// The client is frozen while it works, its session expires, the next one writes, and then its own write arrives.
fn late(b: &mut Builder, client: &mut Client, (c, p): (usize, u64), at: u64, write: serde_json::Value) -> u64 {
    let name = write["grant"].clone();
    let (frozen, next) = (PAUSE_HOLDER.0, PAUSE_HOLDER.0 + 2150);
    let work = json!({"grant": name, "value": write["value"], "work_ms": 2600});
    b.op(at.max(frozen - 420) * MS, c, p, Invoke, "write", work)
        .tag("late-work");
    let (end, rival) = (PAUSE_HOLDER.1 + 30, 7001);
    let accepted = json!({"grant": name, "value": write["value"], "token": null, "accepted": true});
    b.op(end * MS, c, p, Ok, "write", accepted).tag("late-write");
    b.op(
        (frozen - 200) * MS,
        5,
        rival,
        Invoke,
        "acquire",
        json!({"grant": "g900", "timeout_ms": 120_000}),
    )
    .tag("rival-asks");
    let granted = json!({"grant": "g900", "path": "/lock/x-900", "czxid": 0x1_0000_0900_u64, "session": "0x1005"});
    b.op(next * MS, 5, rival, Ok, "acquire", granted).tag("rival-grant");
    b.op(
        (next + 2) * MS,
        5,
        rival,
        Invoke,
        "write",
        json!({"grant": "g900", "value": 9001, "work_ms": 300}),
    );
    let ok = json!({"grant": "g900", "value": 9001, "token": null, "accepted": true});
    b.op((next + 310) * MS, 5, rival, Ok, "write", ok).tag("rival-write");
    b.op(
        (next + 320) * MS,
        5,
        rival,
        Invoke,
        "write",
        json!({"grant": "g900", "value": 9002, "work_ms": 600}),
    );
    let ok = json!({"grant": "g900", "value": 9002, "token": null, "accepted": true});
    b.op((next + 925) * MS, 5, rival, Ok, "write", ok);
    b.op((next + 930) * MS, 5, rival, Invoke, "release", json!({"grant": "g900"}));
    b.op(
        (next + 941) * MS,
        5,
        rival,
        Ok,
        "release",
        json!({"grant": "g900", "removed": null}),
    );
    b.lane(
        (end + 2) * MS,
        c,
        Info,
        "lost",
        json!({"grant": name, "why": "session expired"}),
    );
    client.process += 5;
    client.asks_at = end + 400;
    end + 20
}

/// What three servers say of themselves meanwhile.
pub fn servers() -> Vec<ServerSample> {
    let mut samples = Vec::new();
    for tick in 0..330_u64 {
        let ms = 500 + tick * 200;
        for n in 1..=3 {
            let cut = (LEADER_CUT.0..LEADER_CUT.1).contains(&ms);
            let silent = (cut && (n == 2 || ms < LEADER_CUT.0 + 1500))
                || (n == 1 && (SERVER_PAUSE.0..SERVER_PAUSE.1).contains(&ms));
            let leader = if ms < LEADER_CUT.0 { 2 } else { 3 };
            let epoch = if ms < LEADER_CUT.0 { 1 } else { 2 };
            let mode = if silent {
                "silent"
            } else if n == leader {
                "leader"
            } else {
                "follower"
            };
            let epoch = if silent { 0 } else { epoch };
            samples.push(ServerSample {
                time: ms * MS,
                server: format!("n{n}"),
                mode: mode.into(),
                epoch,
                zxid: (epoch << 32) + tick as i64,
                version: if silent { String::new() } else { "3.8.0".into() },
            });
        }
    }
    samples
}
