//! The addresses that an operator gives the interface.

use petstore_web::edge::{BaseUrl, Origin};

#[test]
fn a_base_url_is_http_and_ends_in_v1() {
    for good in ["https://pets.example/v1", "http://127.0.0.1:8080/shop/v1"] {
        assert_eq!(good.parse::<BaseUrl>().unwrap().as_str(), good);
    }
    for bad in [
        "pets.example/v1",
        "ftp://pets.example/v1",
        "https://pets.example/",
        "https://pets.example/v1/",
        "https://pets.example/v2",
        "https://pets.example//v1",
        "https://pets.example/v1?x=1",
        "https://pets.example/v1#x",
        "https://me:secret@pets.example/v1",
        "",
    ] {
        assert!(bad.parse::<BaseUrl>().is_err(), "{bad}");
    }
}

#[test]
fn an_origin_is_written_as_browsers_write_it() {
    for good in [
        "https://shop.example",
        "http://localhost:3000",
        "https://[::1]:8443",
    ] {
        assert_eq!(good.parse::<Origin>().unwrap().header_value(), good);
    }
    for bad in [
        "*",
        "null",
        "",
        "shop.example",
        "ftp://shop.example",
        "https://Shop.example",
        "https://shop.example/",
        "https://shop.example:443",
        "https://me@shop.example",
    ] {
        assert!(bad.parse::<Origin>().is_err(), "{bad}");
    }
}
