//! Texts of people who mean no good, and what pages must make of them.

use petstore_domain::{
    PetName,
    store_area::{
        About, Address, Colour, ContactPage, EmailAddress, FieldValue, Link, LinkLabel, LinkUrl,
        Links, PetPatch, Profile, RequestedValue, StoreName, TelephoneNumber,
    },
};

/// A profile of which every text is this one, as far as its rule allows it.
pub fn of(text: &str) -> Profile {
    let line: String = text
        .chars()
        .filter(|character| !character.is_control())
        .collect();
    let word: String = line
        .chars()
        .filter(|character| !character.is_whitespace())
        .collect();
    let encoded: String = form_urlencoded::byte_serialize(line.as_bytes()).collect();
    let labelled = |label: &str| {
        let url = LinkUrl::new(format!("https://claws.example/?'<b>\"{word}#{encoded}"));
        let label = LinkLabel::new(label.chars().take(60).collect());
        Some(Link {
            label: label?,
            url: url?,
        })
    };
    let links: Vec<_> = [&line, "Imprint"]
        .into_iter()
        .filter_map(labelled)
        .collect();
    let paragraph = |most: usize| line.chars().take(most).collect::<String>();
    Profile {
        name: StoreName::new(paragraph(120)),
        email: EmailAddress::new(
            word.replace('@', "").chars().take(200).collect::<String>() + "@b",
        ),
        telephone: TelephoneNumber::new("+49 (0)30 123-45".to_owned()),
        contact_page: ContactPage::new(format!("https://claws.example/{{id}}?'<b>\"{word}")),
        address: Address::new(format!("{}\r\nLine 2", paragraph(400))),
        hours: Address::new(format!("{}\nLine 2", paragraph(400))),
        about: About::new(format!("{}\n\nParagraph 2\nLine 2", paragraph(1900))),
        links: Links::new(links),
        colour: Colour::new("#FF8800".to_owned()),
        ..Profile::default()
    }
}

/// Texts that mean something to a browser, to a mail program, or to the eye.
pub fn hostile_texts() -> Vec<String> {
    let texts = [
        "<script>alert(1)</script>",
        "</script><script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "]]></title><b>&amp;",
        "javascript:alert(1)",
        "\u{202e}evil\u{2066}",
        "?subject=x&body=y%0d%0aBcc:a@b",
        "a\u{85}\u{7f}b",
        "'\"`´»“„",
    ];
    let long = "<b>\u{202e}".repeat(16 << 10);
    texts.map(str::to_owned).into_iter().chain([long]).collect()
}

/// An animal of which every text is this one, as far as its rule allows it.
pub fn animal_of(text: &str) -> PetPatch {
    let line: String = text
        .chars()
        .filter(|character| !character.is_control())
        .collect();
    let value = |most: usize| {
        let text = line.chars().take(most).collect();
        RequestedValue::Set(FieldValue::Text(text))
    };
    let fields = [
        ("breed", value(200)),
        ("colour", value(200)),
        ("description", value(4_000)),
    ];
    let fields = fields.map(|(name, value)| (name.to_owned(), value));
    let name = text[..text.floor_char_boundary(PetName::MAX_LENGTH)].to_owned();
    PetPatch {
        name: PetName::new(name),
        fields: fields.into(),
        ..PetPatch::default()
    }
}

pub fn expect_harmless(path: &str, page: &str) {
    for forbidden in [
        "<script>",
        "<img src=x",
        "onerror=alert(1)>",
        "<b>",
        "\u{202e}",
        "\u{2066}",
        "\u{85}",
    ] {
        assert!(
            !page.contains(forbidden),
            "{path} has {forbidden:?}: {page}"
        );
    }
    assert!(page.len() < 60_000, "{path}: {}", page.len());
    // Nothing in a link is another scheme, or another field of a mail.
    for link in page.split("href=\"").skip(1) {
        let link = link.split('"').next().unwrap();
        let starts = ["/", "#", "https://", "mailto:", "tel:+493012345", "http://"];
        let is_known = link.is_empty() || starts.iter().any(|start| link.starts_with(start));
        assert!(is_known, "{path}: {link}");
        if let Some(mail) = link.strip_prefix("mailto:") {
            let query = mail.split_once('?').map(|(_, query)| query);
            let is_own = query.is_none_or(|query| query.starts_with("subject="));
            assert!(is_own && !mail.contains('&'), "{path}: {link}");
        }
    }
}
