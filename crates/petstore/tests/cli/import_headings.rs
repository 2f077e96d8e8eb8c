//! `petstore import` of a CSV file with other headings.

use std::fs;

use super::program::{directory, run};

const FILE: &str =
    "Cat Name,Kind,categoryId,Status = now\nLuna,Dog,1,available\nFrank,Cat,2,pending\n";

#[test]
fn a_column_with_another_heading_is_the_one_that_the_map_says_and_others_are_ignored_on_request() {
    let here = directory();
    fs::write(here.path().join("animals.csv"), FILE).unwrap();
    let import = [
        "import",
        "animals.csv",
        "--create",
        "--ignore-unknown-columns",
    ];
    let map = ["--map", "cat name=name", "--map", "Status = now=status"];
    let said = run(here.path(), &[&import[..], &map].concat())
        .expect_success()
        .stderr;
    assert!(
        said.starts_with("Columns that are left out: \"Kind\".\nImported 2 animals "),
        "{said}"
    );
    let exported = run(here.path(), &["export"]).expect_success().stdout;
    assert_eq!(
        exported,
        "id,name,categoryId,status\n1,Luna,1,available\n2,Frank,2,pending\n"
    );
}

#[test]
fn unknown_columns_are_listed_with_the_closest_names() {
    let here = directory();
    let rejected = |content: &str, options: &[&str]| {
        fs::write(here.path().join("animals.csv"), content).unwrap();
        let import = ["import", "animals.csv", "--create"];
        let line = run(here.path(), &[&import, options].concat()).expect_one_line();
        assert!(
            !here.path().join("petstore.db").exists(),
            "a bad file makes no database"
        );
        let reason = line.strip_prefix("error: nothing was imported: animals.csv: line 1: ");
        reason
            .unwrap_or_else(|| panic!("{line}"))
            .trim_end()
            .to_owned()
    };
    let rest = "; petstore reads name, categoryId, status, id, listed, species, breed, sex, born, colour, size, \
                description, price, microchip, category. Name each column with --map 'HEADING=NAME', or leave them out with --ignore-unknown-columns";
    assert_eq!(
        rejected(FILE, &[]),
        format!(
            "the header has unknown columns: \"Cat Name\" (perhaps --map 'Cat Name=name'), \
             \"Kind\", \"Status = now\" (perhaps --map 'Status = now=status'){rest}"
        )
    );
    // A name that another column has is not suggested.
    assert_eq!(
        rejected("name,Chip,categoryId\n", &["--map", "Chip=chip"]),
        "--map names \"chip\", which is no field of the store; names: name, categoryId, status, id, \
         listed, species, breed, sex, born, colour, size, description, price, microchip, \
         category"
    );
    // Words that share a few letters are not suggested.
    assert_eq!(
        rejected("name,Donation,categoryId\n", &[]),
        format!("the header has unknown columns: \"Donation\"{rest}")
    );
    assert!(rejected("name\n", &[]).ends_with(
        "the header has no column \"categoryId\"; add it with the number of each animal's category, or \
         add category with its label, or add species, or name the column that has one of them, such as \
         --map 'HEADING=category'"
    ));
    assert_eq!(
        rejected("name,categoryId\n", &["--map", "Title=name"]),
        "the header has no column \"Title\", which --map names; it has \"name\", \"categoryId\""
    );
    assert_eq!(
        rejected("name,Name,categoryId\n", &[]),
        "both \"name\" and \"Name\" are the column name; remove one of them"
    );
    let many = format!("{}name", "x,".repeat(60));
    assert!(rejected(&many, &[]).contains(" and 10 more; petstore reads"));
}

#[test]
fn a_map_must_name_a_column_and_is_for_csv_only() {
    let here = directory();
    fs::write(here.path().join("animals.ndjson"), "{}\n").unwrap();
    for (arguments, says) in [
        (
            &["animals.csv", "--map", "Name"][..],
            "write HEADING=NAME, such as 'Animal Name=name'",
        ),
        (
            &["animals.csv", "--map", "Name=N.m"],
            "\"N.m\" is not one of the names: name, categoryId",
        ),
        (
            &["animals.csv", "--map", "Name"],
            "status, id, listed, and the names of the store's fields",
        ),
        (
            &["animals.csv", "--map", "A=name", "--map", "B=Name"],
            "--map has \"name\" twice; a column has one name, or the names category and species, and a name",
        ),
        (
            &["animals.csv", "--map", "A=name", "--map", "A=breed"],
            "--map has \"A\" twice",
        ),
        (
            &["animals.ndjson", "--map", "Name=name"],
            "--map, --ignore-unknown-columns and --separator are for",
        ),
        (
            &["animals.ndjson", "--ignore-unknown-columns"],
            "are for CSV files",
        ),
    ] {
        let done = run(here.path(), &[&["import"], arguments].concat());
        assert_eq!(done.status.code(), Some(2), "{done:?}");
        assert!(done.expect_one_line().contains(says), "{says}");
    }
}

#[test]
fn a_member_counts_in_any_case_and_with_any_space_so_that_it_is_never_left_out() {
    let here = directory();
    for (id, [name, category, status]) in (1..).zip([
        ["Name", "CategoryId", "Status"],
        ["NAME", "category id", "STATUS"],
        [" name ", "CATEGORYID", "status\t"],
        ["n ame", "Category\u{a0}ID", " Status"],
    ]) {
        let file = format!("{name},{category},{status},Kind\nLuna,1,Sold,Dog\n");
        fs::write(here.path().join("animals.csv"), file).unwrap();
        let import = [
            "import",
            "animals.csv",
            "--create",
            "--ignore-unknown-columns",
        ];
        run(here.path(), &import).expect_success();
        let exported = run(here.path(), &["export"]).expect_success().stdout;
        assert_eq!(exported.lines().last(), Some(&*format!("{id},Luna,1,sold")));
    }
    let file = "name,categoryId,Status,State\nLuna,1,sold,sold\n";
    fs::write(here.path().join("animals.csv"), file).unwrap();
    let import = [
        "import",
        "animals.csv",
        "--map",
        "State=status",
        "--ignore-unknown-columns",
    ];
    let told = run(here.path(), &import).expect_one_line();
    assert!(
        told.contains("both \"Status\" and \"State\" are the column status"),
        "{told}"
    );
}
