//! The photos of the animals in the window.

use hyper::Method;
use petstore_domain::store_area::PhotoId;
use serde_json::json;

use super::street::{Street, URL};

#[tokio::test]
async fn photos_are_shown_in_their_order_with_their_sizes_and_texts() {
    let street = Street::open().await;
    let id = street.add("Luna", &[("species", "Cat")]).await;
    let first = street.photo(id, Some("Luna asleep on a chair")).await;
    let second = street.photo(id, None).await;

    let list = street.get("/").await.expect(200).text;
    assert!(list.contains(&format!("/photos/{first}-")), "{list}");
    assert!(list.contains("alt=\"Luna asleep on a chair\""), "{list}");
    assert!(!list.contains(&second.to_string()), "{list}");

    let page = street.get(&format!("/animals/{id}")).await.expect(200);
    let [at_first, at_second] = [first, second].map(|id| page.text.find(&id.to_string()).unwrap());
    assert!(at_first < at_second);
    assert!(
        page.text.contains("alt=\"Photo 2 of Luna, cat\""),
        "{page:?}"
    );
    assert!(
        page.text.contains("width=\"960\" height=\"72\""),
        "{page:?}"
    );
    assert!(page.text.contains("loading=\"lazy\""), "{page:?}");
    let large = format!("{URL}/photos/{first}-large.jpg");
    let medium = format!("{URL}/photos/{first}-medium.jpg");
    for (name, content) in [
        ("", &*medium),
        (":width", "960"),
        (":height", "72"),
        (":alt", "Luna asleep on a chair"),
    ] {
        let meta = format!("<meta property=\"og:image{name}\" content=\"{content}\">");
        assert!(page.text.contains(&meta), "{meta}");
    }
    assert!(page.schema().to_string().contains(&large));
    // Each photo opens in the viewer, which needs no script and leads to the others and back.
    let viewer = page.between("<section class=\"viewer\" id=\"photo-2\"", "</section>");
    for shown in [
        "href=\"#photos\">Close<",
        "href=\"#photo-1\">Previous photo<",
        "Photo 2 of 2",
    ] {
        assert!(viewer.contains(shown), "{shown}: {viewer}");
    }
    assert!(viewer.contains(&format!("{second}-large.jpg")) && !viewer.contains("Next photo"));
    assert!(page.text.contains("<a href=\"#photo-2\"><img"), "{page:?}");

    let photos = &street.get("/animals.json").await.expect(200).json()[0]["photos"];
    assert_eq!(photos[0]["large"], json!(large));
    assert!(photos[0]["card"].as_str().unwrap().ends_with("-card.jpg"));
    assert_eq!(photos[1]["alt"], "Photo 2 of Luna, cat");
    let csv = street.get("/animals.csv").await.expect(200).text;
    assert!(csv.contains(&large), "{csv}");
}

#[tokio::test]
async fn the_files_of_photos_are_served_forever_and_everything_else_is_404() {
    let street = Street::open().await;
    let id = street.add("Luna", &[]).await;
    let photo = street.photo(id, None).await;
    for size in ["small", "card", "medium", "large"] {
        let file = street
            .get(&format!("/photos/{photo}-{size}.jpg"))
            .await
            .expect(200);
        assert_eq!(file.field("content-type"), "image/jpeg");
        assert_eq!(
            file.field("cache-control"),
            "public, max-age=31536000, immutable"
        );
    }
    for other in [
        format!("{photo}-huge.jpg"),
        format!("{photo}-small.png"),
        format!("{}-small.jpg", "0".repeat(32)),
        "..%2Fpets.db".to_owned(),
    ] {
        street.get(&format!("/photos/{other}")).await.expect(404);
    }
    let path = format!("/photos/{photo}-small.jpg");
    street.ask(Method::DELETE, &path, &[]).await.expect(405);
}

/// The element with this photo.
fn picture(page: &str, photo: PhotoId) -> String {
    let images = page
        .split("<img ")
        .skip(1)
        .map(|rest| rest.split_once('>').unwrap().0);
    images
        .into_iter()
        .find(|image| image.contains(&photo.to_string()))
        .unwrap()
        .to_owned()
}

#[tokio::test]
async fn a_browser_knows_every_file_of_a_photo_and_the_room_that_it_fills() {
    let street = Street::open().await;
    let id = street.add("Luna", &[]).await;
    let [wide, tall, little] = [
        street.photo_of(id, [1920, 1440]).await,
        street.photo_of(id, [900, 1600]).await,
        street.photo_of(id, [40, 30]).await,
    ];
    let page = street.get(&format!("/animals/{id}")).await.expect(200).text;
    let files = |photo, widths: [u32; 4]| {
        let sizes = ["small", "card", "medium", "large"].into_iter().zip(widths);
        let files = sizes.map(|(size, width)| format!("/photos/{photo}-{size}.jpg {width}w"));
        format!("srcset=\"{}\"", files.collect::<Vec<_>>().join(", "))
    };
    let first = picture(&page, wide);
    assert!(
        first.contains(&files(wide, [320, 640, 960, 1920])),
        "{first}"
    );
    assert!(
        first.contains("sizes=\"(min-width: 80rem) 37.0rem, "),
        "{first}"
    );
    assert!(first.contains("fetchpriority=\"high\""), "{first}");
    assert!(!first.contains("loading="), "{first}");
    let second = picture(&page, tall);
    assert!(second.contains("class=\"tall\""), "{second}");
    assert!(
        second.contains(&files(tall, [180, 360, 540, 900])),
        "{second}"
    );
    // Whole in a room of 4:3, it is narrower than the room.
    assert!(
        second.contains("sizes=\"(min-width: 80rem) 5.0rem, "),
        "{second}"
    );
    assert!(second.contains("loading=\"lazy\""), "{second}");
    let third = picture(&page, little);
    assert!(
        third.contains("class=\"little\"") && !third.contains("srcset"),
        "{third}"
    );

    // A card is cropped to 4:5, so the file is wider than the card.
    let card = picture(&street.get("/").await.expect(200).text, wide);
    assert!(
        card.contains("sizes=\"(min-width: 79rem) 28.3rem, "),
        "{card}"
    );
    assert!(
        card.contains("-medium.jpg 960w\"") && !card.contains("-large"),
        "{card}"
    );
}

#[tokio::test]
async fn a_photo_is_cropped_around_its_focus_and_an_upright_one_without_it_is_whole() {
    let street = Street::open().await;
    let id = street.add("Luna", &[]).await;
    let photo = street.photo_of(id, [900, 1600]).await;
    let whole = picture(&street.get("/").await.expect(200).text, photo);
    assert!(
        whole.contains("class=\"tall\"") && !whole.contains("fx"),
        "{whole}"
    );
    assert!(
        whole.contains("sizes=\"(min-width: 79rem) 12.0rem, "),
        "{whole}"
    );
    let home = street.get("/").await.expect(200);
    let style = home
        .between("<link rel=\"stylesheet\" href=\"", "\"")
        .to_owned();
    let style = street.get(&style).await.expect(200).text;
    street.focus(id, photo, [5_200, 1_249]).await;
    let cropped = picture(&street.get("/").await.expect(200).text, photo);
    // Steps of five hundredths.
    assert!(cropped.contains("class=\"fx10 fy2\""), "{cropped}");
    assert!(style.contains(".fx10 { --fx: 50% }\n.fy10") && style.contains(".fy2 { --fy: 10% }"));
    assert!(
        style.contains("object-position: var(--fx, 50%) var(--fy, 35%)"),
        "{style}"
    );
    // It fills the card.
    assert!(
        cropped.contains("sizes=\"(min-width: 79rem) 17.0rem, "),
        "{cropped}"
    );
}
