//! The corpus of the fuzz targets: every test run replays inputs that once failed or might fail.
//! `scripts/torture fuzz` looks for more.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod targets;

use std::{
    fs,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use targets::{TARGETS, service::THREAD};

/// Whether a connection panicked, which its client sees as a closed connection.
static PANICKED: AtomicBool = AtomicBool::new(false);

#[test]
fn every_input_of_the_corpus_gets_a_response_of_the_contract() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if thread::current().name() == Some(THREAD) {
            PANICKED.store(true, Ordering::SeqCst);
        }
        default(panic);
    }));
    let corpus = petstore_testing::root().join("crates/api/tests/fuzz/corpus");
    for (name, run) in TARGETS {
        let mut inputs: Vec<_> = fs::read_dir(corpus.join(name))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        inputs.sort();
        assert!(inputs.len() >= 5, "{name} has {} inputs", inputs.len());
        for path in inputs {
            eprintln!("{}", path.display());
            run(&fs::read(&path).unwrap());
            assert!(!PANICKED.load(Ordering::SeqCst), "a connection panicked");
        }
    }
}
