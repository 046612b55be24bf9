//! Jute, ZooKeeper's serialization: integers in big-endian order, bytes and vectors behind their lengths.

/// What is left of a record. Each reading takes what it returns; `None` if there is less, or its length is impossible.
#[derive(Debug, Clone, Copy)]
pub(super) struct Jute<'a>(pub(super) &'a [u8]);

impl<'a> Jute<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn int(&mut self) -> Option<i32> {
        Some(i32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    pub(super) fn long(&mut self) -> Option<i64> {
        Some(i64::from_be_bytes(self.take(8)?.try_into().ok()?))
    }

    pub(super) fn boolean(&mut self) -> Option<bool> {
        Some(self.take(1)?[0] != 0)
    }

    /// Bytes; a null one, of the length -1, is empty.
    pub(super) fn buffer(&mut self) -> Option<&'a [u8]> {
        match self.int()? {
            -1 => Some(&[]),
            length => self.take(usize::try_from(length).ok()?),
        }
    }

    /// A text; what is not UTF-8 is replaced.
    pub(super) fn string(&mut self) -> Option<String> {
        self.buffer().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    /// A vector, whose elements `one` reads; a null one, of the length -1, is empty.
    pub(super) fn vector<T>(&mut self, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let length = self.int()?;
        if length < -1 {
            return None;
        }
        // Not reserved ahead: the length is not trusted, and every element takes bytes.
        let mut all = Vec::new();
        for _ in 0..length {
            all.push(one(self)?);
        }
        Some(all)
    }
}
