//! What anomalies of consensus protocols are that have the names of those of recipes, and what mends them.

use super::mends::{Mend, mend};

/// Anomalies in words, each name once.
pub(super) const PROTOCOL_MENDS: &[Mend] = &[
    mend(
        &["two-leaders"],
        "Two nodes took themselves for the leader at one moment.",
        "Give each term a number that a majority has acknowledged, and refuse what a leader of a lower one sends; a majority of votes \
         alone does not stop a leader that is frozen or cut off.",
    ),
    mend(
        &["two-ensemble-leaders"],
        "Two nodes led one epoch.",
        "Let a majority write an epoch to disk before its leader leads, and acknowledge none that is not higher.",
    ),
    mend(
        &["lesser-vote-won"],
        "A server was elected by one that had more than it.",
        "Compare epochs before zxids, and zxids before ids, and send a vote again when it changes.",
    ),
    mend(
        &["no-leader"],
        "Every fault was healed, and no one leader was followed by a majority.",
        "Let who has heard of no leader for a time look again, and send votes again until they are answered.",
    ),
];
