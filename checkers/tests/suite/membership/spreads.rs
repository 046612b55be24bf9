//! How long changes take to be shown.

use super::group;
use zooquake_checkers::analysis::{Analysis, LatencyKind};
use zooquake_checkers::sample::sample;

#[test]
fn a_change_spreads_from_its_answer_to_each_other_client_s_first_notice() {
    let text = "
        1 c1 invoke register member=m1 value=11
        1.5 c2 note view n=1 session=0x2 group=m1@5/5:11
        2 c1 ok register path=/members/m1 czxid=5 session=0x1
        2.2 c1 note view n=1 session=0x1 group=m1@5/5:11
        3 c3 note view n=1 session=0x3 group=m1@5/5:11
        4 c1 invoke update value=12; 5 c1 ok update path=/members/m1 mzxid=6
        6 c1 invoke update value=13; 7 c1 ok update path=/members/m1 mzxid=7
        8 c2 note view n=2 session=0x2 group=m1@5/7:13
        9 c1 invoke update value=14; 10 c1 ok update path=/members/m1 mzxid=8
        11 c1 invoke deregister; 11 c1 ok deregister
        12 c1 invoke register member=m1 value=15; 13 c1 ok register path=/members/m1 czxid=10 session=0x1
        14 c3 note view n=2 session=0x3 group=m1@10/10:15";
    let record = group(text, "");
    let run = Analysis::new(&record);
    let told = run.latencies(LatencyKind::Spread).into_iter();
    let told: Vec<(&str, u64, u64)> = told
        .map(|latency| (latency.node, run.time(latency.from) / 1_000_000, latency.ns / 1_000_000))
        .collect();
    let wanted = [
        // Before it was answered.
        ("c2", 2_000, 0),
        ("c3", 2_000, 1_000),
        // One notice may show several changes at once.
        ("c2", 5_000, 3_000),
        ("c2", 7_000, 1_000),
        // A znode made later at the path shows none of an earlier one's changes.
        ("c3", 13_000, 1_000),
    ];
    assert_eq!(told, wanted);
    assert_eq!(sample(&record).units_in_all, 6);
}
