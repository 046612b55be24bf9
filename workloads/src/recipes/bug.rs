//! Planted bugs, by the ids under which [`super::planted`] lists them.

/// A planted bug, by the id under which it is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the table says what each is")]
pub enum Bug {
    L1,
    L7b,
    L8,
    L11,
    L12,
    L13c,
    L28,
    L29,
    E4,
    E5,
    E13,
    E15,
    Q1,
    Q2,
    Q4,
    Q6,
    Q7,
    Q8,
    Q9,
    B1,
    B3,
    B7,
    B8,
    T1,
    T6,
    P1,
    P2,
    P2b,
    P3,
    P7,
    R1,
    R2,
}
