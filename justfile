# Rounds of work on zooquake. `just` lists them; `just ci` is what has to pass before anything lands.

_default:
    @just --list

# Format, lints, all tests, and a short real run.
ci:
    .ci/run

# The tests that need no Docker engine and end in about a minute (needs cargo-nextest).
unit:
    cargo nextest run --workspace --profile unit

# The rest: real ensembles, browsers, and random histories against brute force (needs cargo-nextest).
real:
    cargo nextest run --workspace --profile real

# Format and lints.
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings

# Random histories of every checker against brute force, that many each.
histories n="1000000":
    cd checkers && ZOOQUAKE_HISTORIES={{n}} cargo test --release --test suite -- agree search:: crash::random nameless
    cd linearizability && ZOOQUAKE_HISTORIES={{n}} cargo test --release --test suite

# How long the checkers take for generated histories.
bench:
    cd bench && cargo bench

# Ten minutes of random inputs for a parser (needs cargo-fuzz and a nightly compiler; fuzz/README.md names the targets).
fuzz target:
    fuzz/seed.sh
    cargo +nightly fuzz run {{target}} -- -max_total_time=600 -max_len=4096

# What zooquake leaves behind when it is killed itself, that many times.
crashes n="20":
    ZOOQUAKE_CRASHES=kill:{{n}} cargo test --test crash -- --nocapture

# Licences, advisories and sources of all dependencies (needs cargo-deny).
deny:
    cargo deny check

# The documents as a book, in target/book (needs mdbook).
book:
    mdbook build docs

# The pages of the gallery anew, on real ensembles: about 20 minutes.
gallery:
    cargo build --release
    reports/gallery/make.sh

# Remove what runs that died left behind.
clean:
    cargo run --release -- clean
