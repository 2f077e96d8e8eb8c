//! Tests of `src/server/connection_slots.rs`.

use std::net::IpAddr;

use super::*;

#[test]
fn a_closed_connection_leaves_nothing_in_memory() {
    let slots = Arc::new(ConnectionSlots {
        in_total: 10,
        per_address: 10,
        proxies: Networks::default(),
        exempts_loopback: true,
        taken: Mutex::default(),
    });
    for last in 0..100 {
        let client = Arc::new(IpAddr::from([192, 0, 2, last]).into());
        drop(slots.take(&client, &Arc::default()));
    }
    let taken = slots.taken();
    assert_eq!((taken.in_total, taken.by_address.len(), taken.untrusted.len()), (0, 0, 0));
}
