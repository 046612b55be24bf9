//! Adler-32 (RFC 1950).

const MODULUS: u32 = 65_521;

/// So many bytes can be added up before the sums exceed 32 bits.
const CHUNK: usize = 5_552;

pub(super) fn checksum(bytes: &[u8]) -> u32 {
    let (mut low, mut high) = (1_u32, 0_u32);
    for chunk in bytes.chunks(CHUNK) {
        for &byte in chunk {
            low += u32::from(byte);
            high += low;
        }
        low %= MODULUS;
        high %= MODULUS;
    }
    high << 16 | low
}

#[cfg(test)]
mod tests {
    use super::checksum;

    #[test]
    fn known_checksums() {
        assert_eq!(checksum(b""), 1);
        assert_eq!(checksum(b"Wikipedia"), 0x11e6_0398);
        // Of a mebibyte of 0xff, by zlib.
        assert_eq!(checksum(&vec![0xff; 1 << 20]), 0x8e88_ef11);
    }
}
