//! CSV files for spreadsheets.

use petstore::{
    domain::{PetId, PetRef, PetStatus},
    files::{CsvWriter, Writer},
};

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
        let mut out = Vec::new();
        let mut writer = CsvWriter::for_spreadsheet(&mut out).unwrap();
        let status = PetStatus::Sold;
        writer.write(PetRef { id: PetId::new(1).unwrap(), name, category_id: 1, status }).unwrap();
        writer.finish().unwrap();
        drop(writer);
        let mut reader = csv::Reader::from_reader(&*out);
        assert_eq!(&reader.records().next().unwrap().unwrap()[1], expected);
    }
}
