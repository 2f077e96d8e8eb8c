//! Signatures of messages.

use petstore_app::delivery::{Secret, sign};
use rand::{SeedableRng, rngs::StdRng};

/// Computed by the standard's own package for Python, `standardwebhooks` 1.1.0.
#[test]
fn a_signature_is_that_of_the_standard() {
    let secret = Secret::from_bytes(std::array::from_fn(|at| u8::try_from(at).unwrap()));
    assert_eq!(
        secret.reveal(),
        "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    );
    let sign = |secrets: &[&Secret]| {
        let body = br#"{"type":"pet.added"}"#;
        sign(
            secrets.iter().copied(),
            "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W",
            1_674_087_231,
            body,
        )
    };
    let expected = "v1,3JM28CrNH5aUgO2DKbxhuVYu+wbWc829X5JpwQu5O0M=";
    assert_eq!(sign(&[&secret]), expected);
    let other = Secret::generate(&mut StdRng::seed_from_u64(1));
    assert_eq!(
        sign(&[&secret, &other]),
        format!("{expected} {}", sign(&[&other]))
    );
}
