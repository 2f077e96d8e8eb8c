//! Microchips that a spreadsheet has changed.

use super::{
    browser::Shop,
    pages::pets,
    paste::{clerk, preview, rows},
};

#[tokio::test]
async fn a_chip_that_a_spreadsheet_has_shortened_is_refused_with_the_way_to_undo_it() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    for chip in ["9.81E+14", "2,76098E+14"] {
        let form = [
            ("name", "Rex"),
            ("category", "Dogs"),
            ("field.microchip", chip),
        ];
        let page = clerk.post("/add", &form).await.expect(422);
        assert!(
            page.text.contains("Excel has shortened the number"),
            "{page:?}"
        );
        let lines = format!("name\tcategory\tmicrochip\nRex\tDogs\t{chip}");
        let page = preview(&mut clerk, &lines).await.expect(422);
        assert!(
            rows(&page)[0].contains("Excel has shortened the number"),
            "{page:?}"
        );
        assert!(rows(&page)[0].contains("0 decimal places"), "{page:?}");
    }
    assert!(pets(&shop).await.is_empty());
    for chip in ["0A12E34F", "AVID*023*456*789", "981000000000002"] {
        let form = [
            ("name", "Rex"),
            ("category", "Dogs"),
            ("field.microchip", chip),
        ];
        clerk.post("/add", &form).await.expect(303);
    }
}

#[tokio::test]
async fn the_remains_of_a_spreadsheet_make_no_second_animal_with_a_chip() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    let form = [
        ("name", "Rex"),
        ("category", "Dogs"),
        ("field.microchip", "981000000000001"),
    ];
    clerk.post("/add", &form).await.expect(303);
    for chip in [
        "'981000000000001",
        "981000000000001.0",
        "=\"981000000000001\"",
        "981,000,000,000,001",
    ] {
        let form = [
            ("name", "Max"),
            ("category", "Dogs"),
            ("field.microchip", chip),
        ];
        let page = clerk.post("/add", &form).await.expect(422);
        assert!(page.text.contains("Rex"), "{chip}: {page:?}");
    }
    assert_eq!(pets(&shop).await.len(), 1);
}
