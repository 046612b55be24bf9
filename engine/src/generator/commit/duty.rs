//! The duties of a client in a transaction, one after the other.

/// The next duty of a client in the transaction; the number counts its tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitDuty {
    Begin,
    Decide,
    Vote(u8),
    Decided(u8),
    Done,
}

impl CommitDuty {
    /// It was not answered `ok`; `certain`: it certainly did not happen.
    pub fn missed(&mut self, certain: bool) {
        *self = match *self {
            Self::Vote(0) if !certain => Self::Vote(1),
            Self::Vote(_) => Self::Decided(0),
            Self::Decided(0) => Self::Decided(1),
            _ => Self::Done,
        };
    }
}
