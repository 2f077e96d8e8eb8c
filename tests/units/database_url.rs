//! The URLs of databases.

use petstore::store::DatabaseUrl;

#[test]
fn a_database_is_a_sqlite_file_or_a_postgresql_url() {
    for (text, path) in [
        ("sqlite:petstore.db", "petstore.db"),
        ("sqlite:/var/lib/petstore.db", "/var/lib/petstore.db"),
        ("sqlite://petstore.db", "petstore.db"),
        ("sqlite:///var/lib/petstore.db", "/var/lib/petstore.db"),
    ] {
        assert_eq!(text.parse(), Ok(DatabaseUrl::Sqlite(path.into())), "{text}");
    }
    for bad in [
        "",
        "petstore.db",
        "sqlite:",
        "sqlite://",
        "sqlite::memory:",
        "sqlite:a.db?mode=rwc",
        "mysql:x",
        "postgres:x",
    ] {
        assert!(bad.parse::<DatabaseUrl>().is_err(), "{bad}");
    }
}
