//! What is in force of a store.

use petstore_app::{Contact, Effective, Source, StoreFacts, StoreOptions};
use petstore_domain::store_area::{
    Currency, EmailAddress, Language, Profile, StoreName, StoreTimeZone, TelephoneNumber,
};

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn a_member_of_the_profile_wins_over_its_option_and_that_over_the_default() {
    let none = StoreFacts::default();
    assert_eq!(
        none.name(),
        Effective {
            value: None,
            source: Source::Default
        }
    );
    assert_eq!(
        none.language(),
        Effective {
            value: Language::English,
            source: Source::Default
        }
    );
    assert_eq!(
        none.currency(),
        Effective {
            value: None,
            source: Source::Default
        }
    );
    assert_eq!(
        none.contact(),
        Effective {
            value: None,
            source: Source::Default
        }
    );
    assert_eq!(none.time_zone().source, Source::Default);
    assert_eq!(none.zone_of_days().as_str(), "UTC");
    let (euro, pound) = (Currency::new("EUR").unwrap(), Currency::new("GBP").unwrap());
    let url = "https://paws.example/ask".parse().unwrap();
    let options = StoreOptions {
        name: Some("Paws".to_owned()),
        language: Some(Language::German),
        currency: Some(euro.clone()),
        contact: Some(url),
        time_zone: StoreTimeZone::from_name("Europe/Berlin"),
    };
    let facts = StoreFacts::new(Profile::default(), &options);
    let source = Source::Option;
    assert_eq!(
        facts.name(),
        Effective {
            value: Some("Paws"),
            source
        }
    );
    assert_eq!(
        facts.language(),
        Effective {
            value: Language::German,
            source
        }
    );
    assert_eq!(
        facts.currency(),
        Effective {
            value: Some(&euro),
            source
        }
    );
    assert_eq!(facts.time_zone().source, source);
    assert_eq!(facts.zone_of_days().as_str(), "Europe/Berlin");
    let contact = options.contact.as_ref().map(Contact::Url);
    assert_eq!(
        facts.contact(),
        Effective {
            value: contact,
            source
        }
    );
    let email = EmailAddress::new("a@b".to_owned());
    let telephone = TelephoneNumber::new("030 1234".to_owned());
    let mut profile = Profile {
        name: StoreName::new("Claws".to_owned()),
        language: Some(Language::French),
        currency: Some(pound.clone()),
        email: email.clone(),
        telephone: telephone.clone(),
        time_zone: StoreTimeZone::from_name("Pacific/Auckland"),
        ..Profile::default()
    };
    let facts = StoreFacts::new(profile.clone(), &options);
    let source = Source::Profile;
    assert_eq!(
        facts.name(),
        Effective {
            value: Some("Claws"),
            source
        }
    );
    assert_eq!(
        facts.language(),
        Effective {
            value: Language::French,
            source
        }
    );
    assert_eq!(
        facts.currency(),
        Effective {
            value: Some(&pound),
            source
        }
    );
    assert_eq!(facts.time_zone().source, source);
    let evening_of_utc = "2026-12-01T12:00:00Z".parse().unwrap();
    assert_eq!(facts.day_of(evening_of_utc).to_string(), "2026-12-02");
    let value = email.as_ref().map(Contact::Email);
    assert_eq!(facts.contact(), Effective { value, source });
    profile.email = None;
    let facts = StoreFacts::new(profile, &options);
    let value = telephone.as_ref().map(Contact::Telephone);
    assert_eq!(facts.contact(), Effective { value, source });
}
