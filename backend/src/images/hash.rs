//! A content hash that is the same in every build: it names images, so nothing may hang on the compiler.

/// FNV-1a over words instead of bytes, because the executable of a debug build is tens of megabytes hashed by
/// unoptimised code. It distinguishes versions of our own files; it is no protection against an attacker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hash(u64);

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

impl Hash {
    pub(super) fn new() -> Self {
        Hash(OFFSET)
    }

    /// Adds a part; its length goes in first, so that parts cannot run into each other.
    pub(super) fn part(mut self, bytes: &[u8]) -> Self {
        self.word(bytes.len() as u64);
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.word(u64::from_le_bytes(last));
        self
    }

    // The rotation brings the high bits, where a product gathers what it mixed, down to where the next product uses
    // them.
    fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(PRIME).rotate_left(29);
    }

    /// Twelve hexadecimal digits, short enough for a tag that people read.
    pub(super) fn tag(self) -> String {
        let mixed = (self.0 ^ (self.0 >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        format!("{mixed:016x}")[..12].to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_stable_and_tells_parts_apart() {
        let tag = |parts: &[&str]| {
            parts
                .iter()
                .fold(Hash::new(), |hash, part| hash.part(part.as_bytes()))
                .tag()
        };
        // A tag that changed with the compiler or the machine would rebuild every image.
        assert_eq!(tag(&["zooquake"]), tag(&["zooquake"]));
        let all = [
            tag(&[]),
            tag(&[""]),
            tag(&["", ""]),
            tag(&["a"]),
            tag(&["a\0"]),
            tag(&["ab", "c"]),
            tag(&["a", "bc"]),
            tag(&["12345678"]),
            tag(&["12345679"]),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(all[at + 1..].iter().all(|other| other != one), "{one} twice in {all:?}");
        }
    }
}
