//! A short run of each family in which several clients hold at a time.

use super::Run;
use super::build::Builder;
use super::families::invalid;
use std::num::NonZeroUsize;
use zooquake_checkers::plan::Capabilities;

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
