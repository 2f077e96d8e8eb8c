//! The format of API keys, and what a scope allows.

use petstore_domain::{ApiKey, Deployment, KeyDigest, Scope};
use proptest::prelude::*;
use rand::{SeedableRng, rngs::StdRng};

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

#[test]
fn a_key_has_its_prefix_30_random_and_6_checksum_characters() {
    let mut random = StdRng::seed_from_u64(1);
    for deployment in Deployment::ALL {
        let key = ApiKey::generate(deployment, &mut random);
        let rest = key.reveal().strip_prefix(deployment.key_prefix()).unwrap();
        assert_eq!(rest.len(), 36);
        assert!(rest.bytes().all(|byte| BASE62.contains(&byte)));
    }
}

#[test]
fn the_checksum_is_the_crc_32_in_base62() {
    // The check value of the algorithm of gzip and PNG.
    assert_eq!(crc32fast::hash(b"123456789"), 0xCBF4_3926);
    let key = ApiKey::generate(Deployment::Production, &mut StdRng::seed_from_u64(3));
    let (checked, checksum) = key.reveal().split_at(40);
    let digit = |byte| BASE62.iter().position(|&digit| digit == byte).unwrap();
    let value = checksum
        .bytes()
        .fold(0, |value, byte| value * 62 + digit(byte));
    assert_eq!(value, crc32fast::hash(checked.as_bytes()) as usize);
}

#[test]
fn debug_shows_neither_the_key_nor_its_digest() {
    let key = ApiKey::generate(Deployment::Production, &mut StdRng::seed_from_u64(2));
    assert_eq!(format!("{key:?}"), "ApiKey(hidden)");
    assert_eq!(format!("{:?}", key.digest()), "KeyDigest(hidden)");
}

#[test]
fn a_scope_includes_those_below_it() {
    use Scope::{Read, StoreAdmin, StoreRead, StoreWrite, Write};
    for (scope, included) in [
        (Read, &[Read][..]),
        (Write, &[Read, Write]),
        (StoreRead, &[Read, StoreRead]),
        (StoreWrite, &[Read, Write, StoreRead, StoreWrite]),
        (StoreAdmin, &Scope::ALL),
    ] {
        let allowed = Scope::ALL
            .into_iter()
            .filter(|&needed| scope.allows(needed));
        assert_eq!(allowed.collect::<Vec<_>>(), included, "{scope:?}");
    }
}

proptest! {
    #[test]
    fn a_generated_key_is_recognised_in_its_own_deployment_only(seed: u64) {
        let key = ApiKey::generate(Deployment::Staging, &mut StdRng::seed_from_u64(seed));
        prop_assert_eq!(
            KeyDigest::from_presented(key.reveal(), Deployment::Staging),
            Some(key.digest())
        );
        prop_assert_eq!(KeyDigest::from_presented(key.reveal(), Deployment::Production), None);
    }

    #[test]
    fn a_key_with_one_character_changed_is_invalid(
        seed: u64,
        at in 0..46_usize,
        to in proptest::char::range(' ', '~'),
    ) {
        let key = ApiKey::generate(Deployment::Production, &mut StdRng::seed_from_u64(seed));
        let mut text = key.reveal().to_owned();
        text.replace_range(at..=at, &to.to_string());
        prop_assume!(text != key.reveal());
        prop_assert_eq!(KeyDigest::from_presented(&text, Deployment::Production), None);
    }

    #[test]
    fn arbitrary_text_is_not_a_key(text: String) {
        prop_assert_eq!(KeyDigest::from_presented(&text, Deployment::Production), None);
    }
}
