//! The parts of a transaction, one after the other.

/// What a client does next in the transaction; the number counts its tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitDuty {
    Begin,
    Decide,
    Vote(u8),
    Decided(u8),
    Done,
}

impl CommitDuty {
    /// It was not answered `ok`; `known` if it certainly did not happen.
    pub fn missed(&mut self, known: bool) {
        *self = match *self {
            Self::Vote(0) if !known => Self::Vote(1),
            Self::Vote(_) => Self::Decided(0),
            Self::Decided(0) => Self::Decided(1),
            _ => Self::Done,
        };
    }
}
