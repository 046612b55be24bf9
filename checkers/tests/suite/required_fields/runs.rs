//! Small runs of users' own recipes whose clients give all that is asked of them: of each family valid ones, and such
//! as
//! are convicted.

use crate::expect::edited;
use crate::script::{self, changed, holding, standing, znode};
use zooquake_history::Record;
use zooquake_history::evidence::Znode;
use zooquake_history::plan::{Capabilities, RecipeSource, Resource, Workload};

/// A run that has fields to be taken out of it.
pub struct FieldRun {
    pub family: &'static str,
    /// The anomaly that convicts it; empty if it is valid.
    pub convicts: &'static str,
    /// The rows on which that rests; nothing else takes the conviction away.
    pub rests: &'static [&'static str],
    pub record: fn() -> Record,
}

const fn valid(family: &'static str, record: fn() -> Record) -> FieldRun {
    FieldRun {
        family,
        convicts: "",
        rests: &[],
        record,
    }
}

const fn convicted(
    family: &'static str,
    convicts: &'static str,
    rests: &'static [&'static str],
    record: fn() -> Record,
) -> FieldRun {
    FieldRun {
        family,
        convicts,
        rests,
        record,
    }
}

pub const RUNS: &[FieldRun] = &[
    valid("lock", || lock(LOCK)),
    convicted("lock", "double-grant", &["confirm holds"], || lock(&both("acquire"))),
    convicted("lock", "stale-write", &["acquire,elect czxid", "write mzxid"], || {
        unfenced(lock(&stale("acquire")))
    }),
    convicted("lock", "fencing-regression", &["acquire,elect token"], || {
        lock(&edited(
            LOCK,
            "czxid=20 path=/contenders/b token=20 => czxid=20 path=/contenders/b token=9",
        ))
    }),
    convicted(
        "lock",
        "unowned-release",
        &["acquire,elect czxid", "release,resign removed"],
        || lock(&unowned(LOCK)),
    ),
    convicted("lock", "orphan-node", &["quiesce sessions", "quiesce znodes"], || {
        orphan(lock(LOCK))
    }),
    valid("rwlock", || grants("rwlock", &reading(LOCK), fenced)),
    convicted("rwlock", "double-grant", &["confirm holds"], || {
        grants("rwlock", &reading(&both("acquire")), fenced)
    }),
    valid("semaphore", || grants("semaphore", &working(LOCK), |_| {})),
    convicted("semaphore", "over-capacity", &["confirm holds"], || {
        grants("semaphore", &working(&both("acquire")), |_| {})
    }),
    valid("election", || election(LOCK)),
    convicted("election", "two-leaders", &["confirm holds"], || {
        election(&both("acquire"))
    }),
    valid("barrier", || barrier(DOUBLE, false)),
    convicted("barrier", "early-release", &["enter czxid", "leave removed"], || {
        barrier(
            &edited(
                DOUBLE,
                "c2 invoke leave round=1; => | c1 ok leave round=1 removed=10; => c1 ok leave round=1 removed=10; c2 invoke leave round=1;",
            ),
            false,
        )
    }),
    valid("barrier", || barrier(JOINED, true)),
    convicted("barrier", "early-release", &[], || {
        barrier(
            &edited(
                JOINED,
                "c2 invoke join round=1 members=2 member=2; c2 ok join round=1 path=/contenders/b czxid=11 session=0x2 =>",
            ),
            true,
        )
    }),
    valid("queue", || queue(QUEUE)),
    convicted("queue", "duplicate-delivery lost-item", &["dequeue item"], || {
        queue(&edited(
            QUEUE,
            "c3 note taking item=2; c3 ok dequeue item=2 => c3 note taking item=1; c3 ok dequeue item=1",
        ))
    }),
    convicted("queue", "lost-item phantom-item", &["dequeue item"], || {
        queue(&edited(
            QUEUE,
            "c3 note taking item=2; c3 ok dequeue item=2 => c3 note taking item=9; c3 ok dequeue item=9",
        ))
    }),
    valid("commit", || commit(&commits())),
    convicted(
        "commit",
        "commit-without-votes split-decision",
        &["decide,decided decision", "vote voted"],
        || {
            commit(&edited(
                &commits(),
                "c1 answers t9 abort => c1 unknown decide t9 | c3 decided t9 abort => c3 decided t9 commit",
            ))
        },
    ),
    convicted("commit", "commit-without-votes", &["vote voted"], || {
        commit(&edited(&commits(), "c2 voted t1 yes => c2 voted t1 no"))
    }),
    valid("register", || register(REGISTER)),
    convicted("register", "not-linearizable", &["read value"], || {
        register(&edited(
            REGISTER,
            "c3 ok read value=2 mzxid=12 => c3 ok read value=9 mzxid=12",
        ))
    }),
    valid("counter", || counter(COUNTER)),
    convicted("counter", "duplicate-id lost-increment", &["increment id"], || {
        counter(&edited(COUNTER, "c2 ok increment id=3 => c2 ok increment id=2"))
    }),
    convicted("counter", "lost-increment", &["get value", "increment id"], || {
        counter(&edited(COUNTER, "c3 ok get value=3 => c3 ok get value=2"))
    }),
    valid("membership", || group(GROUP)),
    convicted(
        "membership",
        "phantom-member",
        &[
            "view view",
            "view view.members",
            "view view.members.path",
            "view view.members.value",
        ],
        || {
            group(&edited(
                GROUP,
                "c1 answer view n=2 session=0x1 group=m1@9/9:11 => c1 answer view n=2 session=0x1 group=m1@9/9:77",
            ))
        },
    ),
];

/// Marks the record as one of a user's own recipe.
fn own(record: Record) -> Record {
    changed(record, |record| {
        record.plan.workload.recipe = Some(RecipeSource::default());
        record.plan.workload.variant = "own".to_owned();
    })
}

/// Two clients that hold one after the other, lose a grant, and hold again; the first one still does at the end.
const LOCK: &str = "
    c1 note hello session=0x1; c2 note hello session=0x2
    c1 note session session=0x1 state=connected; c2 note session session=0x2 state=connected
    run ops
    c1 invoke acquire grant=g1; c1 ok acquire grant=g1 czxid=10 path=/contenders/a token=10 session=0x1
    c1 invoke write grant=g1 value=1; c1 ok write grant=g1 value=1 accepted=true mzxid=11
    c1 ask confirm; c1 answer confirm holds=true grant=g1 zxid=12
    c1 invoke release grant=g1; c1 ok release grant=g1 removed=10
    c2 invoke acquire grant=g2; c2 ok acquire grant=g2 czxid=20 path=/contenders/b token=20 session=0x2
    c2 invoke write grant=g2 value=2; c2 ok write grant=g2 value=2 accepted=true mzxid=21
    c2 ask confirm; c2 answer confirm holds=true grant=g2 zxid=22
    c2 invoke release grant=g2; c2 ok release grant=g2 removed=20
    c2 invoke acquire grant=g3; c2 ok acquire grant=g3 czxid=30 path=/contenders/c token=30 session=0x2
    c2 note lost grant=g3 why=expired
    run recovered
    c2 invoke acquire grant=g4; c2 ok acquire grant=g4 czxid=40 path=/contenders/d token=40 session=0x2
    c2 invoke write grant=g4 value=3; c2 ok write grant=g4 value=3 accepted=true mzxid=41
    c2 invoke release grant=g4; c2 ok release grant=g4 removed=40
    c1 invoke acquire grant=g5; c1 ok acquire grant=g5 czxid=50 path=/contenders/e token=50 session=0x1
    c1 invoke write grant=g5 value=4; c1 ok write grant=g5 value=4 accepted=true mzxid=51
    run audit
    c1 ask quiesce; c1 answer quiesce sessions=0x1 znodes=/contenders/e@50
    c2 ask quiesce; c2 answer quiesce sessions=0x2 znodes=
    run done";

/// The same, but that both hold at once, and confirm it.
fn both(takes: &str) -> String {
    let overlap = format!(
        "run recovered => c1 invoke {takes} grant=g8; c2 invoke {takes} grant=g9
         c1 ok {takes} grant=g8 czxid=32 path=/contenders/h token=32 session=0x1
         c2 ok {takes} grant=g9 czxid=34 path=/contenders/i token=34 session=0x2
         c1 ask confirm; c2 ask confirm; c1 answer confirm holds=true grant=g8 zxid=36
         c2 answer confirm holds=true grant=g9 zxid=37
         c1 invoke release grant=g8; c1 ok release grant=g8 removed=32
         c2 invoke release grant=g9; c2 ok release grant=g9 removed=34; run recovered"
    );
    edited(LOCK, &overlap)
}

/// The same, but that the older grant writes after the newer one did.
fn stale(takes: &str) -> String {
    let overlap = format!(
        "run recovered => c1 invoke {takes} grant=g8; c1 ok {takes} grant=g8 czxid=32 path=/contenders/h token=32 session=0x1
         c2 invoke {takes} grant=g9; c2 ok {takes} grant=g9 czxid=34 path=/contenders/i token=34 session=0x2
         c2 invoke write grant=g9 value=8; c2 ok write grant=g9 value=8 accepted=true mzxid=36
         c1 invoke write grant=g8 value=9; c1 ok write grant=g8 value=9 accepted=true mzxid=37
         c1 invoke release grant=g8; c1 ok release grant=g8 removed=32
         c2 invoke release grant=g9; c2 ok release grant=g9 removed=34; run recovered"
    );
    edited(LOCK, &overlap)
}

/// The same, but that a release removes the znode of another client's grant.
fn unowned(text: &str) -> String {
    edited(
        text,
        "c1 invoke release grant=g1; c1 ok release grant=g1 removed=10 => | \
         c2 ask confirm; c2 answer confirm holds=true grant=g2 zxid=22 => \
         c1 invoke release grant=g1; c1 ok release grant=g1 removed=20; c2 ask confirm; c2 answer confirm holds=true grant=g2 zxid=22 | \
         c2 invoke release grant=g2; c2 ok release grant=g2 removed=20 => c2 invoke release grant=g2; c2 ok release grant=g2 removed=null",
    )
}

fn grants(family: &str, text: &str, change: fn(&mut Workload)) -> Record {
    let mut record = script::record(family, "own", &["/contenders"], 2, script::history(text));
    change(&mut record.plan.workload);
    standing(own(record), vec![znode("/contenders/e", 50, "0x1")])
}

fn lock(text: &str) -> Record {
    grants("lock", text, fenced)
}

/// A resource in ZooKeeper that is guarded by tokens.
fn fenced(workload: &mut Workload) {
    workload.fenced = true;
    workload.resource = Resource::Zookeeper;
}

fn unfenced(record: Record) -> Record {
    changed(record, |record| record.plan.workload.fenced = false)
}

/// The same, but that a znode of the second client stands in the tree and nobody names it.
fn orphan(record: Record) -> Record {
    let znodes: Vec<Znode> = [("/contenders/e", 50, "0x1"), ("/contenders/x", 33, "0x2")]
        .map(|(path, czxid, owner)| znode(path, czxid, owner))
        .to_vec();
    standing(record, znodes)
}

/// The same text of a read-write lock, whose first grant is shared.
fn reading(text: &str) -> String {
    edited(
        text,
        "c1 invoke acquire grant=g1; => c1 invoke acquire grant=g1 mode=shared; | \
         c1 invoke write grant=g1 value=1; c1 ok write grant=g1 value=1 accepted=true mzxid=11 => c1 invoke read grant=g1; c1 ok read grant=g1",
    )
}

/// The same text of a semaphore, under whose leases there is work.
fn working(text: &str) -> String {
    text.replace(" write ", " work ")
}

/// The same text of an election whose leaders acknowledge.
fn election(text: &str) -> Record {
    let text = text.replace("acquire", "elect").replace("release", "resign");
    let text = text
        .replace(" session=0x1\n", " session=0x1 ack=none\n")
        .replace(" session=0x2\n", " session=0x2 ack=none\n");
    let text: String = text
        .lines()
        .map(|line| match (line.contains("ok write"), line.rsplit_once("mzxid=")) {
            (true, Some((_, mzxid))) => format!("{line} ack={}\n", mzxid.trim()),
            _ => format!("{line}\n"),
        })
        .collect();
    grants("election", &text, |workload| {
        fenced(workload);
        workload.capabilities = Some(Capabilities {
            acknowledges: true,
            ..Capabilities::NONE
        });
    })
}

/// Two rounds of a double barrier; the first client still has a znode at the end.
const DOUBLE: &str = "
    c1 note hello session=0x1; c2 note hello session=0x2
    c1 note session session=0x1 state=connected; c2 note session session=0x2 state=connected
    run ops
    c1 invoke enter round=1 members=2; c2 invoke enter round=1 members=2
    c1 ok enter round=1 path=/contenders/a czxid=10 session=0x1; c2 ok enter round=1 path=/contenders/b czxid=11 session=0x2
    c1 invoke leave round=1; c2 invoke leave round=1;
    c1 ok leave round=1 removed=10;
    c2 ok leave round=1 removed=11
    run recovered
    c1 invoke enter round=2 members=2; c2 invoke enter round=2 members=2
    c1 ok enter round=2 path=/contenders/c czxid=20 session=0x1; c2 ok enter round=2 path=/contenders/d czxid=21 session=0x2
    c1 invoke leave round=2; c2 invoke leave round=2
    c1 ok leave round=2 removed=20; c2 ok leave round=2 removed=21
    run audit
    c1 ask quiesce; c1 answer quiesce sessions=0x1 znodes=/contenders/e@50
    c2 ask quiesce; c2 answer quiesce sessions=0x2 znodes=
    run done";

/// Two rounds of the tutorial's barrier.
const JOINED: &str = "
    c1 note hello session=0x1; c2 note hello session=0x2; c3 note hello session=0x3
    c1 note session session=0x1 state=connected; c2 note session session=0x2 state=connected
    run ops
    c3 invoke enter round=1 members=2
    c1 invoke join round=1 members=2 member=1; c1 ok join round=1 path=/contenders/a czxid=10 session=0x1
    c2 invoke join round=1 members=2 member=2; c2 ok join round=1 path=/contenders/b czxid=11 session=0x2
    c3 ok enter round=1 session=0x3
    c1 invoke close round=1; c1 ok close round=1
    run recovered
    c3 invoke enter round=2 members=2
    c1 invoke join round=2 members=2 member=1; c1 ok join round=2 path=/contenders/c czxid=20 session=0x1
    c2 invoke join round=2 members=2 member=2; c2 ok join round=2 path=/contenders/d czxid=21 session=0x2
    c3 ok enter round=2 session=0x3
    run audit
    c1 ask quiesce; c1 answer quiesce sessions=0x1 znodes=/contenders/e@50
    c2 ask quiesce; c2 answer quiesce sessions=0x2 znodes=
    c3 ask quiesce; c3 answer quiesce sessions=0x3 znodes=
    run done";

fn barrier(text: &str, members: bool) -> Record {
    let clients = if members { 3 } else { 2 };
    let mut record = script::record("barrier", "own", &["/contenders"], clients, script::history(text));
    record.plan.workload.capabilities = Some(Capabilities {
        members,
        ..Capabilities::NONE
    });
    standing(own(record), vec![znode("/contenders/e", 50, "0x1")])
}

/// Items that come out once each.
const QUEUE: &str = "
    c1 note hello session=0x1; c2 note hello session=0x2; c3 note hello session=0x3
    run ops
    c1 invoke enqueue item=1; c1 ok enqueue item=1 path=/queue/a czxid=10
    c1 invoke enqueue item=2; c1 ok enqueue item=2 path=/queue/b czxid=11
    c2 invoke dequeue; c2 note taking item=1; c2 ok dequeue item=1
    c3 invoke dequeue; c3 note taking item=2; c3 ok dequeue item=2
    run recovered
    c1 invoke enqueue item=3; c1 ok enqueue item=3 path=/queue/c czxid=12
    c2 invoke dequeue; c2 note taking item=3; c2 ok dequeue item=3
    c3 invoke dequeue; c3 ok dequeue item=null
    c1 ask confirm; c1 answer confirm zxid=20
    run drain
    c2 ask confirm; c2 answer confirm zxid=21
    c2 invoke dequeue; c2 ok dequeue item=null
    run drained
    run audit
    c1 ask quiesce; c1 answer quiesce sessions=0x1 znodes=/contenders/e@50
    c2 ask quiesce; c2 answer quiesce sessions=0x2 znodes=
    c3 ask quiesce; c3 answer quiesce sessions=0x3 znodes=
    run done";

fn queue(text: &str) -> Record {
    let record = script::record("queue", "own", &["/contenders"], 3, script::history(text));
    standing(own(record), vec![znode("/contenders/e", 50, "0x1")])
}

/// Five commits and five aborts, and one more commit after recovery.
fn commits() -> String {
    let one = |tx: usize, vote: &str, decision: &str| {
        format!(
            "c1 begin t{tx} sites=c2,c3; c1 begun t{tx}
             c2 vote t{tx} {vote}; c3 vote t{tx} yes; c1 decide t{tx}; c2 voted t{tx} {vote}; c3 voted t{tx} yes; c1 answers t{tx} {decision}
             c2 asks t{tx}; c2 decided t{tx} {decision}; c3 asks t{tx}; c3 decided t{tx} {decision}\n"
        )
    };
    let committed: String = (1..=5).map(|tx| one(tx, "yes", "commit")).collect();
    let aborted: String = (6..=10).map(|tx| one(tx, "no", "abort")).collect();
    let last = one(11, "yes", "commit");
    format!(
        "c1 note hello session=0x1; c2 note hello session=0x2; c3 note hello session=0x3
         run ops\n{committed}{aborted}run recovered\n{last}run audit; run done"
    )
}

fn commit(text: &str) -> Record {
    own(script::record("commit", "own", &[], 3, script::history(text)))
}

const REGISTER: &str = "
    c1 note hello session=0x1; c2 note hello session=0x2; c3 note hello session=0x3
    run ops
    c1 invoke write value=1; c1 ok write value=1 mzxid=11 session=0x1 server=n1
    c2 invoke cas from=1 to=2; c2 ok cas from=1 to=2 mzxid=12 session=0x2 server=n2
    c3 invoke read; c3 ok read value=2 mzxid=12 session=0x3 server=n3
    run recovered
    c1 invoke write value=3; c1 ok write value=3 mzxid=13 session=0x1 server=n1
    c2 invoke cas from=3 to=4; c2 ok cas from=3 to=4 mzxid=14 session=0x2 server=n2
    c3 invoke read; c3 ok read value=4 mzxid=14 session=0x3 server=n3
    run audit; run done";

fn register(text: &str) -> Record {
    with_value("register", text, 14, holding("/register", "4"))
}

/// A run of three clients on one znode, which has this value since the transaction `mzxid`.
fn with_value(family: &str, text: &str, mzxid: i64, value: Znode) -> Record {
    let znode = Znode {
        czxid: 1,
        mzxid,
        ..value
    };
    standing(
        own(script::record(family, "own", &[], 3, script::history(text))),
        vec![znode],
    )
}

const COUNTER: &str = "
    c1 note hello session=0x1; c2 note hello session=0x2; c3 note hello session=0x3
    run ops
    c1 invoke increment; c1 ok increment id=1
    c3 invoke get; c3 ok get value=1
    run recovered
    c1 invoke increment; c1 ok increment id=2
    c3 invoke get; c3 ok get value=2
    c2 invoke increment; c2 ok increment id=3
    c3 ask confirm; c3 answer confirm zxid=30
    c3 invoke get; c3 ok get value=3
    run audit; run done";

fn counter(text: &str) -> Record {
    with_value("counter", text, 1, holding("/counter", "3"))
}

const GROUP: &str = "
    c1 note hello session=0x1; c2 note hello session=0x2; c3 note hello session=0x3
    c1 note session session=0x1 state=connected; c2 note session session=0x2 state=connected
    c1 invoke register member=m1 value=11; c1 ok register path=/members/m1 czxid=5 session=0x1
    c1 note view n=1 session=0x1 group=m1@5/5:11
    c2 invoke register member=m2 value=21; c2 ok register path=/members/m2 czxid=6 session=0x2
    c2 note view n=1 session=0x2 group=m1@5/5:11,m2@6/6:21
    run recovered
    c3 invoke register member=m3 value=31; c3 ok register path=/members/m3 czxid=7 session=0x3
    c2 invoke update value=22; c2 ok update path=/members/m2 mzxid=8
    c1 invoke deregister; c1 ok deregister removed=5
    c1 invoke register member=m1 value=11; c1 ok register path=/members/m1 czxid=9 session=0x1
    c1 note view n=2 session=0x1 group=m1@9/9:11,m2@6/8:22,m3@7/7:31
    c2 note view n=2 session=0x2 group=m1@9/9:11,m2@6/8:22,m3@7/7:31
    c3 note view n=2 session=0x3 group=m1@9/9:11,m2@6/8:22,m3@7/7:31
    run views
    c1 ask view; c2 ask view; c3 ask view
    c1 answer view n=2 session=0x1 group=m1@9/9:11,m2@6/8:22,m3@7/7:31 registered=m1@9 zxid=20
    c2 answer view n=2 session=0x2 group=m1@9/9:11,m2@6/8:22,m3@7/7:31 registered=m2@6 zxid=21
    c3 answer view n=2 session=0x3 group=m1@9/9:11,m2@6/8:22,m3@7/7:31 registered=m3@7 zxid=22
    run audit
    c1 ask quiesce; c1 answer quiesce sessions=0x1 znodes=/members/m1@9
    c2 ask quiesce; c2 answer quiesce sessions=0x2 znodes=/members/m2@6
    c3 ask quiesce; c3 answer quiesce sessions=0x3 znodes=/members/m3@7
    run done";

fn group(text: &str) -> Record {
    own(crate::membership::group(text, "m1@9/9:11,m2@6/8:22,m3@7/7:31"))
}
