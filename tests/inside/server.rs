//! Tests of `src/server/mod.rs`.

use super::*;

#[test]
fn only_exhausted_resources_pause_the_accept_loop() {
    for errno in [
        Errno::CONNABORTED,
        Errno::CONNRESET,
        Errno::NETDOWN,
        Errno::PROTO,
        Errno::PERM,
        Errno::TIMEDOUT,
    ] {
        assert!(affects_one_connection(&errno.into()), "{errno}");
    }
    // Unexpected errors also pause the loop, which could spin otherwise.
    for errno in [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM, Errno::INVAL] {
        assert!(!affects_one_connection(&errno.into()), "{errno}");
    }
}
