//! Drives the target that the variable `FUZZ_TARGET` names.

#![no_main]

#[path = "../../crates/api/tests/fuzz/targets/mod.rs"]
mod targets;

use std::sync::LazyLock;

use targets::{TARGETS, Target};

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let wanted = std::env::var("FUZZ_TARGET").unwrap_or_default();
    let target = TARGETS.into_iter().find(|(name, _)| *name == wanted);
    target.unwrap_or_else(|| {
        panic!("FUZZ_TARGET is one of body, query, cursor, key, head and picture")
    })
});

libfuzzer_sys::fuzz_target!(|input: &[u8]| TARGET.1(input));
