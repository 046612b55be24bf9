//! An operation on a register.

/// An operation on the register, with its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RegisterOp<V> {
    /// It was read to have this value.
    Read(V),
    /// It was given this value.
    Write(V),
    /// It had the first value and was given the second.
    Cas(V, V),
    /// A compare-and-set found another value than this one.
    Mismatch(V),
}

impl<V> RegisterOp<V> {
    /// What the register holds after it; `None` if that may be more than one value.
    pub fn left(&self) -> Option<&V> {
        match self {
            Self::Read(value) | Self::Write(value) | Self::Cas(_, value) => Some(value),
            Self::Mismatch(_) => None,
        }
    }

    /// The value that it found.
    pub(super) fn observed(&self) -> Option<&V> {
        match self {
            Self::Read(value) | Self::Cas(value, _) => Some(value),
            Self::Write(_) | Self::Mismatch(_) => None,
        }
    }

    /// The value that it wrote.
    pub(super) fn written(&self) -> Option<&V> {
        match self {
            Self::Write(value) | Self::Cas(_, value) => Some(value),
            Self::Read(_) | Self::Mismatch(_) => None,
        }
    }
}
