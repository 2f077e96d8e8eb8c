//! The profile of a store in files and copies.

use std::{fs, io::Cursor};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use image::{ImageFormat, Rgb, RgbImage};
use petstore_photos::{Format, make_logo};

use super::{
    export_all::{PROFILE, export_with_fields},
    import::fresh,
    program::{directory, run},
};

#[tokio::test]
async fn a_profile_is_copied_and_an_import_replaces_only_one_that_says_nothing() {
    let here = directory();
    fs::write(here.path().join("first.ndjson"), PROFILE).unwrap();
    fs::write(
        here.path().join("other.ndjson"),
        PROFILE.replace("Lyon", "Lille"),
    )
    .unwrap();
    for (backend, other) in [("sqlite", "postgres"), ("postgres", "sqlite")] {
        let (database, to) = (fresh(backend, backend).await, fresh(other, "copy").await);
        let import = |file| {
            let import = [
                "import",
                file,
                "--keep-ids",
                "--create",
                "--database",
                &database,
            ];
            run(here.path(), &import).expect_success().stderr
        };
        assert!(!import("first.ndjson").contains("left out"));
        assert!(import("other.ndjson").contains("so that of the file was left out."));
        run(here.path(), &["copy", "--from", &database, "--to", &to]).expect_success();
        assert!(
            export_with_fields(here.path(), &to).starts_with(PROFILE),
            "{other}"
        );
    }
}

/// A PNG.
fn picture() -> Vec<u8> {
    let picture = RgbImage::from_fn(600, 300, |x, _| {
        Rgb([u8::try_from(x % 256).unwrap(), 9, 99])
    });
    let mut out = Cursor::new(Vec::new());
    picture.write_to(&mut out, ImageFormat::Png).unwrap();
    out.into_inner()
}

#[tokio::test]
async fn a_logo_is_in_an_export_and_a_copy_and_an_import_makes_it_anew_or_says_what_is_wrong() {
    let here = directory();
    let with_logo = |png: &[u8]| {
        let member = format!("\"logo\":\"{}\",\"version\":9", STANDARD.encode(png));
        PROFILE.replace("\"version\":9", &member)
    };
    let made = make_logo(&picture(), Format::Png).unwrap();
    let (sent, expected) = (with_logo(&picture()), with_logo(&made.png));
    fs::write(here.path().join("logo.ndjson"), sent).unwrap();
    fs::write(
        here.path().join("damaged.ndjson"),
        with_logo(&made.png[..99]),
    )
    .unwrap();
    fs::write(
        here.path().join("text.ndjson"),
        with_logo(b"").replace("\"\"", "\"?\""),
    )
    .unwrap();
    for (backend, other) in [("sqlite", "postgres"), ("postgres", "sqlite")] {
        let (database, to) = (fresh(backend, backend).await, fresh(other, "copy").await);
        let import = |file| {
            let import = [
                "import",
                file,
                "--keep-ids",
                "--create",
                "--database",
                &database,
            ];
            run(here.path(), &import)
        };
        let damaged = import("damaged.ndjson");
        assert!(
            damaged
                .stderr
                .contains("line 1: the logo cannot be used: The PNG picture is truncated"),
            "{damaged:?}"
        );
        let text = import("text.ndjson");
        assert!(
            text.stderr.contains("logo must be a PNG picture in base64"),
            "{text:?}"
        );
        import("logo.ndjson").expect_success();
        assert!(
            export_with_fields(here.path(), &database).starts_with(&expected),
            "{backend}"
        );
        run(here.path(), &["copy", "--from", &database, "--to", &to]).expect_success();
        assert!(
            export_with_fields(here.path(), &to).starts_with(&expected),
            "{other}"
        );
        run(here.path(), &["check", "--database", &to]).expect_success();
    }
}
