//! `petstore import` of what is not a file of animals.

use std::fs;

use super::program::{directory, new_key, run};

#[test]
fn a_folder_or_a_file_in_utf_16_is_rejected_with_what_to_do() {
    let here = directory();
    new_key(here.path());
    let utf16 = |text: &str, bom: &[u8]| {
        [
            bom,
            &text
                .encode_utf16()
                .flat_map(u16::to_le_bytes)
                .collect::<Vec<u8>>(),
        ]
        .concat()
    };
    let csv = "name,categoryId\nRex,1\n";
    fs::write(here.path().join("bom.csv"), utf16(csv, &[0xFF, 0xFE])).unwrap();
    fs::write(here.path().join("plain.csv"), utf16(csv, &[])).unwrap();
    let line = r#"{"name":"Rex","categoryId":1}"#;
    fs::write(here.path().join("lines.ndjson"), utf16(line, &[])).unwrap();
    fs::create_dir(here.path().join("folder.csv")).unwrap();
    for (name, says) in [
        ("bom.csv", "it is in UTF-16; save it as UTF-8"),
        ("plain.csv", "it is in UTF-16; save it as UTF-8"),
        ("lines.ndjson", "it is in UTF-16; save it as UTF-8"),
        ("folder.csv", "it is a folder; name a file in it"),
    ] {
        let done = run(here.path(), &["import", name]);
        assert_eq!(done.status.code(), Some(2), "{done:?}");
        assert_eq!(
            done.expect_one_line(),
            format!("error: cannot read {name}: {says}\n")
        );
    }
    fs::write(here.path().join("seven.csv"), "name,categoryId\nRex,07\n").unwrap();
    let done = run(here.path(), &["import", "seven.csv"]);
    assert!(
        done.stderr.contains("without leading zeros"),
        "{}",
        done.stderr
    );
}
