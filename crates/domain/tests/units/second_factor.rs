//! Codes of an authenticator app, and recovery codes.

use jiff::Timestamp;
use petstore_domain::staff::{SecondFactor, TotpSecret, generate_recovery_code};
use rand::{SeedableRng, rngs::StdRng};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

#[test]
fn codes_are_those_of_the_standard() {
    // RFC 6238, appendix B, the last six of its eight digits.
    let secret = TotpSecret::from_bytes(b"12345678901234567890").unwrap();
    for (second, code) in [
        (59, "287082"),
        (1_111_111_109, "081804"),
        (1_111_111_111, "050471"),
        (1_234_567_890, "005924"),
        (2_000_000_000, "279037"),
        (20_000_000_000, "353130"),
    ] {
        assert_eq!(secret.code_at(at(second)), code);
    }
}

#[test]
fn a_secret_has_one_spelling_that_reads_back() {
    let secret = TotpSecret::from_bytes(b"12345678901234567890").unwrap();
    assert_eq!(
        secret.setup_key(),
        "GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ"
    );
    assert!(TotpSecret::parse(&secret.setup_key()) == Some(secret));
    for bad in [
        "",
        "GEZD",
        "gezd gnbv gy3t qojq gezd gnbv gy3t qojq",
        "1111",
        "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQAA",
    ] {
        assert!(TotpSecret::parse(bad).is_none(), "{bad}");
    }
    let uri = TotpSecret::from_bytes(b"12345678901234567890")
        .unwrap()
        .uri("Zoé & co");
    assert_eq!(
        uri,
        "otpauth://totp/Petstore:Zo%C3%A9%20%26%20co?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Petstore"
    );
}

#[test]
fn a_code_and_a_recovery_code_are_each_accepted_once() {
    let random = &mut StdRng::seed_from_u64(1);
    let secret = TotpSecret::generate(random);
    let (recovery, digest) = generate_recovery_code(random);
    let fresh = SecondFactor {
        sealed_secret: vec![],
        last_period: 0,
        recovery: vec![digest],
    };
    let now = at(3000);
    for (second, is_valid) in [
        (2940, false),
        (2970, true),
        (3000, true),
        (3030, true),
        (3060, false),
    ] {
        let code = secret.code_at(at(second));
        assert_eq!(
            fresh.with_used_code(&code, &secret, now).is_some(),
            is_valid,
            "{second}"
        );
    }
    let code = secret.code_at(now);
    let used = fresh
        .with_used_code(&format!("{} {}", &code[..3], &code[3..]), &secret, now)
        .unwrap();
    assert_eq!(used.with_used_code(&code, &secret, now), None);
    assert_eq!(
        used.with_used_code(&secret.code_at(at(2970)), &secret, now),
        None
    );
    let used = used
        .with_used_code(&recovery.to_uppercase(), &secret, now)
        .unwrap();
    assert_eq!(used.with_used_code(&recovery, &secret, now), None);
    for wrong in ["", "12345", "1234567", "abcd-efgh-ijkl-mnop"] {
        assert_eq!(fresh.with_used_code(wrong, &secret, now), None, "{wrong}");
    }
}
