//! Tests of `src/store/postgres/url.rs`.

use super::*;

#[test]
fn sslmode_and_sslrootcert_are_those_of_libpq() {
    let ssl = |query: &str| {
        let url = PostgresUrl::parse(&format!("postgres://db/pets?{query}")).unwrap().unwrap();
        (url.ssl_mode(), url.root_certificate().cloned())
    };
    assert_eq!(ssl(""), (SslMode::Prefer, None));
    assert_eq!(ssl("sslmode=require"), (SslMode::Require, None));
    assert_eq!(
        ssl("sslmode=require&sslrootcert=%2Fca.pem"),
        (SslMode::VerifyCa, Some("/ca.pem".into()))
    );
    assert_eq!(ssl("sslrootcert=system&sslmode=verify-full"), (SslMode::VerifyFull, None));
}
