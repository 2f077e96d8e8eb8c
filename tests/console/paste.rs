//! Lines of a spreadsheet, as their preview shows them.

use petstore::domain::Role;

use super::browser::{Browser, Page, Shop};

/// A clerk of a store whose category 4 has the name Dogs.
async fn clerk(shop: &Shop) -> Browser<'_> {
    let mut clerk = shop.member("Cy", Role::Clerk).await;
    clerk.post("/categories", &[("label", "Dogs"), ("number", "4")]).await.expect(303);
    clerk
}

async fn preview(clerk: &mut Browser<'_>, lines: &str) -> Page {
    clerk.post("/add/preview", &[("lines", lines)]).await
}

/// The texts of each row of the table, with spaces between them.
fn rows(page: &Page) -> Vec<String> {
    let rows = page.between("<tbody>", "</tbody>").split("<tr").skip(1);
    let text = |row: &str| {
        let texts = row.split('>').skip(1).filter_map(|part| part.split('<').next());
        texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
    };
    rows.map(text).collect()
}

#[tokio::test]
async fn lines_of_a_spreadsheet_have_tabs_and_those_of_a_file_commas_or_semicolons() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    for lines in [
        "Rex\tdogs\r\nMax, the 2nd\t7\tSold\r\n",
        "Rex,4\n\"Max, the 2nd\",7,sold",
        "Rex;dogs;\nMax, the 2nd;7;Sold",
    ] {
        let shown = rows(&preview(&mut clerk, lines).await.expect(200));
        assert_eq!(shown, ["1 Rex Dogs Available OK", "2 Max, the 2nd Category 7 Sold OK"]);
    }
}

#[tokio::test]
async fn the_first_line_may_name_the_columns_in_another_order() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    let lines = "Status\tBreed\tCategory\tName\nreserved\tPug\tDogs\tRex\n\n\tPug\t7\tMax";
    let shown = rows(&preview(&mut clerk, lines).await.expect(200));
    assert_eq!(shown, ["2 Rex Dogs Reserved OK", "4 Max Category 7 Available OK"]);
}

#[tokio::test]
async fn columns_with_other_headings_are_left_out_and_named() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    for lines in ["Name,Category,Status\nRex,4,sold", "Rex,4,sold"] {
        let page = preview(&mut clerk, lines).await.expect(200);
        assert!(!page.text.contains("Leave out"), "{page:?}");
    }
    let page = preview(&mut clerk, "Name\tBreed\tCategory\t\tname\nRex\tPug\t4\t7\tR").await;
    assert!(page.text.contains(">Leave out “Breed”, “column 4”, “name”<"), "{page:?}");
    let page = preview(&mut clerk, "Name,Category,Age\nRex,4,7").await;
    assert_eq!(rows(&page), ["2 Rex Dogs Available OK"]);
    // A cell without a heading is not lost.
    let shown = rows(&preview(&mut clerk, "Category,Name\n4,Rex,Pug\n4,Max,").await.expect(422));
    let wrong = "2 Rex 4 It has more cells than there are headings.";
    assert_eq!(shown, [wrong, "3 Max Dogs Available OK"]);
}

#[tokio::test]
async fn each_wrong_line_has_its_number_and_its_error() {
    let shop = Shop::open().await;
    let mut clerk = clerk(&shop).await;
    let lines = "Rex,Cats\n\n,4\nMax,4,lost\nMax\nMax,4,sold,x";
    assert_eq!(
        rows(&preview(&mut clerk, lines).await.expect(422)),
        [
            "1 Rex Cats There is no category “Cats”. Choose one from the list, or type its number.",
            "3 4 Enter the name of the animal.",
            "4 Max 4 lost The status must be available, reserved or sold.",
            "5 Max It needs a name and a category, but has 1 column.",
            "6 Max 4 sold It may have a name, a category and a status, but has 4 columns.",
        ]
    );
}

#[tokio::test]
async fn of_too_many_lines_the_first_100_are_shown() {
    let shop = Shop::open().await;
    let page = preview(&mut clerk(&shop).await, &"Rex,4\n".repeat(500)).await.expect(422);
    assert!(page.text.contains("There are more than 100 lines."), "{page:?}");
    assert_eq!(rows(&page).len(), 100);
}
