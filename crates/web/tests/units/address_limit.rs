//! The limits of a server.

use petstore_web::server::per_address_of;

#[test]
fn clients_need_20_addresses_to_use_all_connection_slots_of_a_large_service() {
    assert_eq!(per_address_of(10_000), 500);
    assert_eq!(per_address_of(768), 64);
}
