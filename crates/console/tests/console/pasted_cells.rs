//! Cells as spreadsheets write them, in pasted lines: as an import reads them.

use petstore_domain::{
    PetId, Role,
    store_area::{FieldValue, StorePet},
};
use petstore_testing::cells::{CELLS, COLUMNS, TableCell};

use super::{
    browser::{Browser, Shop},
    paste::{clerk, preview},
};

/// The number of lines that can be added at once.
const MAX_LINES: usize = 100;

async fn add_fields(shop: &Shop) {
    let mut manager = shop.member("Mia", Role::Manager).await;
    for (label, kind) in [
        ("Arrived", "date"),
        ("Neutered", "boolean"),
        ("Grams", "integer"),
    ] {
        let form = [("label", label), ("kind", kind)];
        manager.post("/settings/fields", &form).await.expect(303);
    }
}

/// Returns the lines of a table with these cells, each in a row of its own.
fn lines(cells: &[&TableCell]) -> String {
    let mut lines = format!("category\tname\t{}", COLUMNS.join("\t"));
    for cell in cells {
        lines.push_str("\n4\t");
        lines.push_str(&cell.row().join("\t"));
    }
    lines
}

fn value(pet: &StorePet, column: &str) -> String {
    if column == "name" {
        return pet.name.as_str().to_owned();
    }
    pet.fields
        .get(column)
        .map(FieldValue::to_string)
        .unwrap_or_default()
}

async fn expect_refused(clerk: &mut Browser<'_>, cell: &TableCell) {
    let page = preview(clerk, &lines(&[cell])).await;
    assert_eq!(page.status, 422, "{} {:?}", cell.column, cell.text);
}

#[tokio::test]
async fn a_cell_that_a_spreadsheet_writes_is_pasted_as_it_is_imported() {
    let shop = Shop::open().await;
    add_fields(&shop).await;
    let mut clerk = clerk(&shop).await;
    let (taken, refused): (Vec<_>, Vec<_>) = CELLS.iter().partition(|cell| cell.value.is_some());
    for cells in taken.chunks(MAX_LINES) {
        let page = clerk.post("/add/many", &[("lines", &*lines(cells))]).await;
        assert_eq!(page.status, 303, "{page:?}");
    }

    for (cell, id) in taken.iter().zip(1..) {
        let pet = shop.store.get_store_pet(PetId::new(id).unwrap()).await;
        let pet = pet.unwrap().unwrap();
        let expected = cell.value.unwrap();
        assert_eq!(
            value(&pet, cell.column),
            expected,
            "{} {:?} of {}",
            cell.column,
            cell.text,
            cell.program
        );
    }
    for cell in refused {
        expect_refused(&mut clerk, cell).await;
    }
}
