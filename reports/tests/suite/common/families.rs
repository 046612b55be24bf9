//! A short run of each family, with the events as clients of a real ensemble sent them, and an anomaly made up of some.

use super::Run;
use super::build::{Builder, MS};
use serde_json::json;
use std::num::NonZeroUsize;
use zooquake_checkers::{Anomaly, AnomalySpan, Results, Verdict};
use zooquake_history::{Record, plan::Capabilities};

/// A run whose anomaly is proved by the tagged events.
pub fn invalid(family: &str, variant: &str, kind: &str, b: Builder) -> Run {
    let (history, tags) = b.finish();
    let mut record = Record::default();
    record.plan.workload.family = family.into();
    record.plan.workload.variant = variant.into();
    record.plan.cluster.clients = 3;
    record.plan.cluster.timing.session_ms = 2000;
    record.history = history;
    let anomaly = Anomaly {
        kind: kind.into(),
        property: "what it promises".into(),
        advisory: false,
        accepted: false,
        witness: tags.into_iter().map(|(_, index)| index).collect(),
        span: None,
        stuck: None,
        cause: None,
        why: "because".into(),
    };
    let results = Results {
        verdict: Verdict::Invalid,
        anomalies: vec![anomaly],
        ..Results::default()
    };
    let mut run = Run {
        record,
        results,
        ..Run::default()
    };
    run.spans();
    run
}

/// The reply to an enqueue is lost; the item is given to one consumer, and to another, which makes the delivery a
/// duplicate.
pub fn claimed() -> Run {
    let mut b = Builder::default();
    b.phase(10 * MS, "ops").tell(
        "100-150 c1 enqueue item=51 -> ok item=51
         190-210 c3 dequeue -> ok item=51",
    );
    b.fault(1, "drop-reply", "c1", 200 * MS, 260 * MS);
    b.fault_value("on")["evidence"] = json!({"lost": "reply", "op": "create", "path": "/queue/item-", "xid": 53,
        "session": "0x300000d935c0001", "zxid": 4_294_967_460_u64, "outcome": "applied"})
    .into();
    b.tell(
        "180-201 c1 enqueue item=52 -> info @enqueue !unknown outcome: connection to server has lost
         310 c2 note taking item=52 @taking
         300-330 c2 dequeue -> ok item=52 path=/taken/26f8-item-0000000051 czxid=4294967470 @first
         300-325 c3 dequeue -> ok item=null
         400-430 c3 dequeue -> ok item=52 path=/taken/26f8-item-0000000051 czxid=4294967470 @second
         900-920 c2 acknowledge item=52 -> ok item=52 @acknowledged",
    );
    b.phase(2000 * MS, "drained").tag("drained");
    invalid("queue", "claimed", "duplicate-delivery", b)
}

/// Two members wait for a third that is paused; one of them is let in all the same.
pub fn double_barrier() -> Run {
    let mut b = Builder::default();
    b.fault(1, "pause", "c3", 90 * MS, 900 * MS).tell(
        r#"100-500 c1 enter round=9 members=3 -> ok round=9 path=/barrier/9/c1 czxid=4294967300 session="0x1" @let in
           110-950 c2 enter round=9 members=3 -> ok round=9 path=/barrier/9/c1 czxid=4294967300 session="0x1"
           920-950 c3 enter round=9 members=3 -> ok round=9 path=/barrier/9/c1 czxid=4294967300 session="0x1"
           700-1200 c1 leave round=9 -> ok round=9 removed={"path":"/barrier/9/c1","czxid":4294967300} @left"#,
    );
    invalid("barrier", "double", "early-release", b)
}

/// The coordinator dies between the votes and the decision; a transaction before it is aborted.
pub fn commit() -> Run {
    let mut b = Builder::default();
    b.tell(
        r#"100-120 c1 begin tx=t1 sites=["c2","c3"] payload=x -> ok tx=t1
           101-250 c2 vote tx=t1 vote=yes work_ms=100 -> ok tx=t1 voted=yes
           101-240 c3 vote tx=t1 vote=no work_ms=100 -> ok tx=t1 voted=no
           260-280 c1 decide tx=t1 sites=["c2","c3"] payload=x -> ok tx=t1 decision=abort
           260-290 c2 decided tx=t1 -> ok tx=t1 decision=abort
           260-295 c3 decided tx=t1 -> ok tx=t1 decision=commit
           300-320 c1 begin tx=t2 sites=["c2","c3"] payload=x -> ok tx=t2
           301-450 c2 vote tx=t2 vote=yes work_ms=100 -> ok tx=t2 voted=yes @voted"#,
    );
    b.fault(1, "kill", "c1", 480 * MS, 900 * MS).tell(
        r#"460-481 c1 decide tx=t2 sites=["c2","c3"] payload=x -> info @no decision !stream-ended
           1000 c2 note exit incarnation=1"#,
    );
    b.phase(5000 * MS, "recovered").tag("recovered");
    b.tell("5010 c2 invoke decided tx=t2 @blocked")
        .phase(16_000 * MS, "audit");
    let mut run = invalid("commit", "coordinated", "blocked-transaction", b);
    // From the beginning of its transaction to recovery.
    run.results.anomalies[0].span = Some(AnomalySpan::Between(300 * MS, 5000 * MS));
    // As the checker does: what stays pending after the recovery, and nothing of before.
    let events = &run.record.history.events;
    run.results.anomalies[0]
        .witness
        .retain(|i| events[*i].time >= 5000 * MS);
    run
}

/// A server that lags answers a read with what was overwritten before.
pub fn register() -> Run {
    let mut b = Builder::default();
    b.fault(1, "partition", "n2", 150 * MS, 800 * MS).tell(
        r#"50-60 c2 read -> ok value=null mzxid=4294967296 server=n1 session="0x1" @nothing yet
           100-110 c1 write value=17 -> ok value=17 mzxid=4294967300 server=n1 session="0x1" @written
           200-215 c1 cas from=17 to=18 -> ok from=17 to=18 mzxid=4294967301 server=n1 session="0x1" @set
           210-230 c3 cas from=3 to=19 -> fail @not set !mismatch
           300-303 c2 read -> ok value=17 mzxid=4294967300 server=n2 session="0x1" @stale
           400-410 c3 write value=20 -> info @unknown !unknown outcome: connection loss"#,
    );
    invalid("register", "read", "not-linearizable", b)
}

/// A counter that gives an id twice.
pub fn counter() -> Run {
    let mut b = Builder::default();
    b.tell(
        "100-110 c1 increment -> ok id=1 mzxid=4294967300 @first
         200-215 c2 increment -> ok id=1 @again
         300-303 c3 get -> ok value=1 @read
         400-410 c3 increment -> info @unknown !timed out",
    );
    invalid("counter", "unconditional", "duplicate-id", b)
}

/// A semaphore of two leases that three clients hold.
pub fn semaphore() -> Run {
    let mut b = Builder::default();
    b.tell(
        "100-110 c1 acquire grant=g1 -> ok grant=g1 path=/semaphore/lease-1 czxid=4294967300 @granted
         200-210 c2 acquire grant=g2 -> ok grant=g2 path=/semaphore/lease-2 czxid=4294967300 @granted
         300-310 c3 acquire grant=g3 -> ok grant=g3 path=/semaphore/lease-3 czxid=4294967300 @granted
         500-550 c1 work grant=g1 work_ms=40 -> ok grant=g1 @worked
         600-650 c2 work grant=g2 work_ms=40 -> ok grant=g2 @worked
         700-750 c3 work grant=g3 work_ms=40 -> fail @worked !not-held",
    );
    let mut run = invalid("semaphore", "counted", "over-capacity", b);
    run.record.plan.workload.capabilities = Some(Capabilities {
        capacity: NonZeroUsize::new(2).expect("it is not 0"),
        ..Capabilities::NONE
    });
    run
}

/// A reader that is granted beside a writer; both confirm.
pub fn rwlock() -> Run {
    let mut b = Builder::default();
    b.tell(
        r#"10-20 c1 acquire grant=g1 -> ok grant=g1 path=/rwlock/a-write-0 czxid=7 session="0x1" token=7 @writer
           30-120 c2 acquire grant=g2 mode=shared -> ok grant=g2 path=/rwlock/b-read-1 czxid=7 session="0x1" token=7 @reader
           130 c1 ask confirm
           140 c1 answer confirm holds=true grant=g1 zxid=9 @writer-holds
           130 c2 ask confirm
           140 c2 answer confirm holds=true grant=g2 zxid=9 @reader-holds
           150-450 c1 write grant=g1 value=31 work_ms=300 -> ok grant=g1 value=31 token=7 accepted=true @wrote
           160-465 c2 read grant=g2 work_ms=300 -> ok grant=g2 value=31 @read
           470-480 c2 release grant=g2 -> ok grant=g2
           490-500 c1 release grant=g1 -> ok grant=g1"#,
    );
    invalid("rwlock", "neighbour", "double-grant", b)
}

/// A group of two; the second one does not show that the first one has changed its value and left.
pub fn group() -> Run {
    let mut b = Builder::default();
    b.tell(
        r#"100-110 c1 register member=m1 value=1 -> ok path=/members/m1 czxid=4294967300 session=0xa1
         150-160 c2 register member=m2 value=2 -> ok path=/members/m2 czxid=4294967301 session=0xa2
         170 c2 note view n=1 session=0xa2 members=[{"member":"m1","path":"/members/m1","czxid":4294967300,"mzxid":4294967300,"value":1},{"member":"m2","path":"/members/m2","czxid":4294967301,"mzxid":4294967301,"value":2}] @shown
         180 c1 note view n=1 session=0xa1 members=null
         200-300 c1 update value=3 -> ok path=/members/m1 mzxid=4294967302
         500-510 c1 deregister -> ok removed={"path":"/members/m1","czxid":4294967300}
         800 c2 ask view
         810 c2 answer view zxid=4294967310 view={"n":1,"session":"0xa2","members":[]} registered=null @answered"#,
    );
    invalid("membership", "tutorial", "stale-view", b)
}

/// A lock's clients, of which one loses its session to the ensemble and one closes its own; without an anomaly.
pub fn sessions() -> Run {
    let mut b = Builder::default();
    b.tell(
        r#"100 c1 note session state=connected session="0xa" server=n1
           900 c1 note session state=disconnected session="0xa"
           1200 c1 note session state=connected session="0xa" server=n2
           2000 c1 note session state=disconnected session="0xa"
           4000 c1 note session state=expired session="0xa"
           4200 c1 note session state=connected session="0xb" server=n2
           300 c2 note session state=connected session="0xc" server=n1
           5000 c2 note session state=closed session="0xc"
           500-600 c3 acquire grant=g1 -> ok grant=g1"#,
    );
    b.phase(6000 * MS, "done");
    let mut run = invalid("lock", "predecessor", "none", b);
    run.results = Results::default();
    run
}
