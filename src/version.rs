//! Which zooquake this is.

/// Its version, such as `0.1.0`.
pub const NUMBER: &str = env!("CARGO_PKG_VERSION");

/// The commit that it was built from; `None` of a debug build without `ZOOQUAKE_COMMIT`, and of one outside of a
/// checkout.
pub const COMMIT: Option<&str> = option_env!("ZOOQUAKE_BUILT_FROM");

/// Both, as `0.1.0 (3f2a91c)`.
pub const FULL: &str = env!("ZOOQUAKE_VERSION");
