//! The formats of files.

use jiff::civil::date;
use petstore_domain::store_area::Language;
use petstore_domain::{PetId, PetRef, PetStatus};
use petstore_formats::files::{
    CsvOptions, CsvWriter, Format, Separator, Source, Writer, open_rows,
};
use petstore_languages::table_words;

#[test]
fn text_that_a_spreadsheet_would_read_as_a_formula_is_quoted() {
    for (name, expected) in [
        ("=HYPERLINK(\"http://x\")", "'=HYPERLINK(\"http://x\")"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "\t'=1"),
        ("\r=1", "\r'=1"),
        ("  =1", "  '=1"),
        ("＝1", "'＝1"),
        ("Rex;=1", "Rex;'=1"),
        ("Rex\t@x, -y", "Rex\t'@x, '-y"),
        ("Rex\n=1\n=2", "Rex\n'=1\n'=2"),
        ("Rex\",=1", "Rex\",'=1"),
        ("Mary-Ann = 1 + 1", "Mary-Ann = 1 + 1"),
        ("Frank", "Frank"),
        ("'=1", "'=1"),
        ("", ""),
    ] {
        let mut file = Vec::new();
        let mut writer = CsvWriter::for_spreadsheet(&mut file, Separator::Semicolon).unwrap();
        let (id, status) = (PetId::new(1).unwrap(), PetStatus::Available);
        writer
            .write(PetRef {
                id,
                name,
                category_id: 1,
                status,
            })
            .unwrap();
        writer.finish().unwrap();
        drop(writer);
        let table = file.strip_prefix("\u{FEFF}".as_bytes()).unwrap();
        let written = csv::ReaderBuilder::new()
            .delimiter(b';')
            .from_reader(table)
            .into_records()
            .next()
            .unwrap()
            .unwrap();
        assert_eq!(&written[1], expected);
    }
}

#[test]
fn quotes_must_follow_rfc_4180() {
    let words = table_words(Language::English);
    let options = CsvOptions::new(Vec::new(), words, date(2026, 11, 28));
    let is_valid = |row: &str| {
        let file = format!("name,categoryId\n{row}\n");
        let source = Source::from_reader(file.as_bytes()).unwrap();
        let mut rows = open_rows(&source, Format::Csv, false, &options).unwrap();
        let row = rows.read_row().unwrap().unwrap();
        row.is_ok_and(|_| rows.read_row().unwrap().is_none())
    };
    for good in [
        ",1",
        "a,1",
        "\"\",1",
        "\"a\",1",
        "\"a\nb\",\"1\"",
        "\"a\"\"b\",1",
        "\"\"\"\",1",
    ] {
        assert!(is_valid(good), "{good}");
    }
    for bad in [
        "\",1",
        "a\",1",
        "\"a,1",
        "a\"b\",1",
        "\"a\"b,1",
        "\"a\" ,1",
        "a,\"1",
        "\"a\"\",1",
        " \"a\",1",
    ] {
        assert!(!is_valid(bad), "{bad}");
    }
}
