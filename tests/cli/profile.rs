//! The profile of a store in files and copies.

use std::fs;

use super::{
    export_all::{PROFILE, export_with_fields},
    import::fresh,
    program::{directory, run},
};

#[tokio::test]
async fn a_profile_is_copied_and_an_import_replaces_only_one_that_says_nothing() {
    let here = directory();
    fs::write(here.path().join("first.ndjson"), PROFILE).unwrap();
    fs::write(here.path().join("other.ndjson"), PROFILE.replace("Lyon", "Lille")).unwrap();
    for (backend, other) in [("sqlite", "postgres"), ("postgres", "sqlite")] {
        let (database, to) = (fresh(backend, backend).await, fresh(other, "copy").await);
        let import = |file| {
            let import = ["import", file, "--keep-ids", "--create", "--database", &database];
            run(here.path(), &import).expect_success().stderr
        };
        assert!(!import("first.ndjson").contains("left out"));
        assert!(import("other.ndjson").contains("so that of the file was left out."));
        run(here.path(), &["copy", "--from", &database, "--to", &to]).expect_success();
        assert!(export_with_fields(here.path(), &to).starts_with(PROFILE), "{other}");
    }
}
