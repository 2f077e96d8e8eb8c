//! The URLs of databases.

use petstore_databases::DatabaseUrl;

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

#[test]
fn a_url_names_one_server_or_several_and_shows_no_password() {
    for (text, shown) in [
        ("postgres://db.example/pets", "postgres://db.example/pets"),
        (
            "postgresql://me:s3cret@db:5433/pets",
            "postgres://me@db:5433/pets",
        ),
        (
            "postgres://me:s3cret@a,b:5433/pets",
            "postgres://me@a,b:5433/pets",
        ),
        (
            "postgres://me:s3cret@a/pets?target_session_attrs=read-write&sslmode=disable",
            "postgres://me@a/pets",
        ),
        (
            "postgres://me@%2Frun%2Fdb/pets",
            "postgres://me@/run/db/pets",
        ),
        (
            "postgres://me@/pets?host=/run/db&password=s3cret",
            "postgres://me@/run/db/pets",
        ),
    ] {
        let DatabaseUrl::Postgres(url) = text.parse().unwrap() else {
            panic!("{text}")
        };
        assert_eq!([url.to_string(), format!("{url:?}")], [shown, shown]);
    }
}

#[test]
fn an_invalid_url_is_rejected_without_showing_its_password() {
    for (text, reason) in [
        ("postgres://", "must name a host"),
        ("postgres://me:s3cret@/pets", "must name a host"),
        ("postgres://me:s3cret@db:port/pets", "port"),
        ("postgres://me:s3cret@db/pets?colour=s3cret", "colour"),
        (
            "postgres://me:s3cret@db/pets?sslmode=s3cret",
            "sslmode must be one of",
        ),
        (
            "postgres://me:s3cret@db/pets?target_session_attrs=read-only",
            "read-write",
        ),
        ("postgres://me:s3cr@et@db/pets", "%40"),
    ] {
        let error = text.parse::<DatabaseUrl>().unwrap_err();
        assert!(error.contains(reason) && !error.contains("s3cr"), "{error}");
    }
}
