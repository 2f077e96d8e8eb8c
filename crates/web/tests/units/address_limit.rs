//! The limits of a server.

use petstore_web::server::default_limit_per_address;

#[test]
fn clients_need_20_addresses_to_use_all_connection_slots_of_a_large_service() {
    assert_eq!(default_limit_per_address(10_000), 500);
    assert_eq!(default_limit_per_address(768), 64);
}
