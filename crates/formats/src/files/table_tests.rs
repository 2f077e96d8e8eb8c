//! Texts that are read as tables.

use proptest::prelude::*;

use super::*;

const LIMITS: TableLimits = TableLimits {
    rows: 10,
    columns: 5,
};

fn read_text(text: &str) -> Result<Table, TableProblem> {
    read_table(text, LIMITS, None, &|_| false)
}

fn read_cells(text: &str) -> Vec<Vec<String>> {
    let table = read_text(text).unwrap();
    table.rows.into_iter().map(|row| row.cells).collect()
}

#[test]
fn between_tabs_a_quote_is_text_unless_a_spreadsheet_must_quote_the_cell() {
    for (text, first_cell) in [
        ("\"Smokey - gentle\tx\nB\tx", "\"Smokey - gentle"),
        ("\"Lucky\" Luke\tx\nB\tx", "\"Lucky\" Luke"),
        ("\"Rex\"\tx\nB\tx", "\"Rex\""),
        ("\"\tx\nB\tx", "\""),
        ("\"one\ntwo\"\tx\nB\tx", "one\ntwo"),
        ("\"one\ttwo\"\tx\nB\tx", "one\ttwo"),
        ("\"5\"\" tall\"\tx\nB\tx", "5\" tall"),
        ("\"one\ntwo\" three\tx\nB\tx", "\"one"),
    ] {
        let rows = read_cells(text);
        assert_eq!(rows[0][0], first_cell, "{text:?}");
        assert_eq!(rows.last().unwrap(), &["B", "x"], "{text:?}");
    }
}

#[test]
fn between_commas_quotes_follow_rfc_4180_or_the_line_is_named() {
    assert_eq!(
        read_cells("\"A, \"\"x\"\"\",1\r\n\"B\n2\",3"),
        [["A, \"x\"", "1"], ["B\n2", "3"]]
    );
    for (text, line) in [
        ("A,1\nB,\"two\nC,3", 2),
        ("A,1\n\n\"Lucky\" Luke,2", 3),
        ("A,5\" tall", 1),
        ("A;\"b\"c", 1),
        ("A,\"\n\"\nB,\"", 3),
    ] {
        assert_eq!(
            read_text(text),
            Err(TableProblem::InvalidQuote { line }),
            "{text:?}"
        );
    }
}

#[test]
fn the_first_line_decides_between_a_comma_and_a_semicolon() {
    let rows = read_cells("name,description\nRex,\"Sweet; loves kids\"");
    assert_eq!(
        rows,
        [["name", "description"], ["Rex", "Sweet; loves kids"]]
    );
    assert_eq!(read_cells("\"a,b\";c\nd;e"), [["a,b", "c"], ["d", "e"]]);
    assert_eq!(
        read_cells("one column\nof \"a\" list"),
        [["one column"], ["of \"a\" list"]]
    );
}

#[test]
fn the_separator_is_the_one_that_makes_a_table_of_the_text() {
    for (text, first_row) in [
        (
            "name,category,description (max; 200)\nRex,Dogs,x",
            vec!["name", "category", "description (max; 200)"],
        ),
        (
            "name,note (a; b)\nRex,x\nLuna,y\n",
            vec!["name", "note (a; b)"],
        ),
        ("Name;Preis, EUR\nRex;249,50\n", vec!["Name", "Preis, EUR"]),
        (
            "a;\"one\ttwo\";c\nd;e;f\ng;h;i\n",
            vec!["a", "one\ttwo", "c"],
        ),
        ("sep=;\r\nname;a,b,c\r\nRex;1\r\n", vec!["name", "a,b,c"]),
        ("\u{FEFF}SEP=\t\nname,a\tb\n", vec!["name,a", "b"]),
        ("\"sep=,\"\nname,a;b;c\n", vec!["name", "a;b;c"]),
        ("sep=,,\nname,a;b;c\n", vec!["name", "a;b;c"]),
    ] {
        assert_eq!(read_cells(text)[0], first_row, "{text:?}");
    }
    let known = |heading: &str| ["name", "note (a; b)"].contains(&heading);
    let table = read_table("name,note (a; b)\nRex,x; y", LIMITS, None, &known).unwrap();
    assert_eq!(table.separator, Separator::Comma);
    let table = read_table("sep=;\na;b,c", LIMITS, Some(Separator::Comma), &known).unwrap();
    assert_eq!((table.rows[0].line, &*table.rows[0].cells[0]), (2, "a;b"));
}

#[test]
fn rows_above_the_headings_are_titles_if_they_have_fewer_cells() {
    let known = |heading: &str| ["Name", "Rasse", "Alter"].contains(&heading);
    for (text, first_line, titles) in [
        (
            "Unsere Tiere;;\nStand: heute;;\n\nName;Rasse;Alter\nRex;Mops;3",
            4,
            vec!["Unsere Tiere", "Stand: heute"],
        ),
        (
            "Tiere, Hunde\nName;Rasse\nRex;Mops",
            2,
            vec!["Tiere, Hunde"],
        ),
        ("Tiere\nName,Rasse\nRex,Mops", 2, vec!["Tiere"]),
        ("\"Tiere\n2026\",\nName,Rasse\n", 3, vec!["Tiere\n2026"]),
        (
            "Stand\theute\t\nName\tRasse\tFarbe\n",
            2,
            vec!["Stand heute"],
        ),
        ("sep=;\nTiere;\nName;Rasse\n", 3, vec!["Tiere"]),
        ("\u{FEFF}Tiere;\nName;Rasse\n", 2, vec!["Tiere"]),
        ("Name\tRasse\nRex\tMops", 1, vec![]),
        // As many cells as there are headings, or only one known heading: an animal.
        ("Rex\tMops\nName\tRasse\n", 1, vec![]),
        ("Tiere\t\nName\tFarbe\nRex\tbraun", 1, vec![]),
        ("Tiere\t\nRex\tMops\n", 1, vec![]),
    ] {
        let table = read_table(text, LIMITS, None, &known).unwrap();
        assert_eq!(table.titles, titles, "{text:?}");
        assert_eq!(table.rows[0].line, first_line, "{text:?}");
        let first_cell = &table.rows[0].cells[0];
        assert!(text[table.rows[0].start..].starts_with(&**first_cell));
    }
    let many_lines = "Tiere;\n".repeat(11) + "Name;Rasse\n";
    let table = read_table(&many_lines, LIMITS, None, &known).unwrap();
    assert_eq!(table.rows[0].line, 1);
}

#[test]
fn a_quoted_cell_that_can_be_several_rows_is_ambiguous() {
    for (text, is_ambiguous) in [
        ("A\t\"Shy\nB\tLoud\"", true),
        ("A\t\"Shy\nB\tx\nC\tLoud\"\n", true),
        ("A\t\"one\ntwo\"\tx", false),
        ("A\t\"one\ttwo\"", false),
        ("A\t\"one\ttwo\nthree\"", false),
    ] {
        let table = read_text(text).unwrap();
        assert_eq!(table.rows[0].is_ambiguous, is_ambiguous, "{text:?}");
    }
}

#[test]
fn a_text_without_content_has_no_row() {
    for text in [
        "",
        "\u{FEFF}",
        " \n\t\n",
        ",,,\n,",
        "\t\t",
        "\r\n",
        "\u{FEFF}\u{FEFF}\n",
    ] {
        let table = read_text(text).unwrap();
        assert_eq!(
            table,
            Table {
                rows: Vec::new(),
                row_count: 0,
                separator: table.separator,
                titles: Vec::new(),
            },
            "{text:?}"
        );
    }
}

#[test]
fn each_row_knows_its_first_line_and_byte() {
    let text = "\u{FEFF}a\tb\r\n\r\n\"c\nd\"\te\rf\tg";
    let table = read_text(text).unwrap();
    let row_starts: Vec<_> = table
        .rows
        .iter()
        .map(|row| (row.line, &text[row.start..][..1]))
        .collect();
    assert_eq!(row_starts, [(1, "a"), (3, "\""), (5, "f")]);
}

#[test]
fn what_is_above_the_limits_is_counted_and_not_kept() {
    let text = format!(
        "{}x{}\n{}",
        "\t".repeat(9),
        "\t".repeat(9),
        "a\tb\n".repeat(30)
    );
    let table = read_text(&text).unwrap();
    assert_eq!((table.rows.len(), table.row_count), (10, 31));
    assert_eq!(
        (table.rows[0].cells.len(), table.rows[0].has_more_cells),
        (5, true)
    );
}

proptest! {
    #[test]
    fn cells_that_a_spreadsheet_copies_are_read_as_they_were(
        rows in proptest::collection::vec(proptest::array::uniform3("[a\"\t\n ]{0,6}"), 1..6),
    ) {
        let mut text = String::new();
        for row in &rows {
            let copied_cells = row.each_ref().map(|cell| {
                if cell.contains(['\t', '\n', '"']) {
                    format!("\"{}\"", cell.replace('"', "\"\""))
                } else {
                    cell.clone()
                }
            });
            text.push_str(&copied_cells.join("\t"));
            text.push('\n');
        }
        let trimmed_rows = rows.iter().map(|row| row.each_ref().map(|cell| cell.trim()));
        let filled_rows: Vec<_> = trimmed_rows.filter(|row| row.concat() != "").collect();
        prop_assert_eq!(read_cells(&text), filled_rows);
    }
}
