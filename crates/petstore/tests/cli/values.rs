//! The values of options: which are accepted, and what an error says.

use std::{any::Any, net::SocketAddr, time::Duration};

use petstore_domain::store_area::Currency;

const HOURS: fn(u64) -> Duration = Duration::from_hours;

/// What the command line makes of a value of an option of `petstore serve`.
fn parsed<T: Any + Clone + Send + Sync>(option: &str, value: &str) -> Result<T, String> {
    let arguments = ["petstore", "serve", &format!("--{option}={value}")];
    let matches = petstore::cli::command().try_get_matches_from(arguments);
    let matches = matches.map_err(|error| error.to_string())?;
    let (_, serve) = matches.subcommand().unwrap();
    Ok(serve
        .get_one::<T>(&option.replace('-', "_"))
        .unwrap()
        .clone())
}

#[track_caller]
fn expect_rejected(option: &str, values: &[&str], reason: &str) {
    for value in values {
        let error = parsed::<()>(option, value).unwrap_err();
        let line = error.lines().next().unwrap();
        assert!(line.ends_with(reason), "{line}");
    }
}

#[test]
fn a_currency_has_three_capital_letters() {
    assert_eq!(parsed("currency", "EUR"), Ok(Currency::new("EUR").unwrap()));
    let reason = "a currency is a code of ISO 4217, which has three capital letters, such as EUR";
    expect_rejected("currency", &["", "eur", "EU", "EURO", "€"], reason);
}

#[test]
fn contacts_are_kept_for_at_most_400_days() {
    for (text, days) in [("0s", 0), ("30d", 30), ("400d", 400)] {
        assert_eq!(
            parsed("keep-contacts", text),
            Ok(HOURS(days * 24)),
            "{text}"
        );
    }
    expect_rejected(
        "keep-contacts",
        &["401d", "10y"],
        "it must be from 0s to 400d",
    );
}

#[test]
fn a_duration_has_a_unit() {
    for (text, duration) in [
        ("90d", HOURS(90 * 24)),
        ("12h", HOURS(12)),
        ("30s", Duration::from_secs(30)),
        ("1h 30m", Duration::from_mins(90)),
    ] {
        assert_eq!(parsed("shutdown-delay", text), Ok(duration), "{text}");
    }
    let bad = ["", "90", "d", "-1d", "1 fortnight"];
    for option in [
        "shutdown-delay",
        "client-timeout",
        "keep-changes",
        "reservation",
    ] {
        expect_rejected(
            option,
            &bad,
            "it must be a duration, such as 30s, 12h or 90d",
        );
    }
}

#[test]
fn a_duration_with_limits_can_be_each_of_them() {
    for (option, shortest, longest) in [
        (
            "client-timeout",
            ("1s", Duration::from_secs(1)),
            ("24h", HOURS(24)),
        ),
        (
            "reservation",
            ("1m", Duration::from_mins(1)),
            ("400d", HOURS(400 * 24)),
        ),
    ] {
        for (text, duration) in [shortest, longest] {
            assert_eq!(parsed(option, text), Ok(duration), "{option} {text}");
        }
    }
    assert_eq!(parsed("keep-changes", "1d"), Ok(HOURS(24)));
    expect_rejected(
        "client-timeout",
        &["0s", "999ms", "2days"],
        "it must be from 1s to 24h",
    );
    expect_rejected(
        "reservation",
        &["59s", "0s", "400d 1s"],
        "it must be from 1m to 400d",
    );
    expect_rejected("keep-changes", &["23h", "0s"], "it must be at least 1d");
}

#[test]
fn an_address_to_listen_on_may_have_a_name_or_no_host() {
    for (text, address) in [
        ("127.0.0.1:8080", "127.0.0.1:8080"),
        ("[::1]:0", "[::1]:0"),
        (":8080", "0.0.0.0:8080"),
        ("localhost:8080", "127.0.0.1:8080"),
    ] {
        assert_eq!(
            parsed("listen", text),
            Ok(address.parse::<SocketAddr>().unwrap()),
            "{text}"
        );
    }
    let bad = [
        "",
        "8080",
        "localhost",
        "127.0.0.1:",
        "127.0.0.1:65536",
        "127.0.0.1:http",
    ];
    let form = "an address to listen on is HOST:PORT, such as 127.0.0.1:8080, localhost:8080 or :8080 \
                for all addresses";
    expect_rejected("listen", &bad, form);
}

#[test]
fn a_rate_can_be_off() {
    for rate in ["off", "9/s"] {
        let arguments = ["petstore", "serve", "--rate-limit", rate];
        assert!(
            petstore::cli::command()
                .try_get_matches_from(arguments)
                .is_ok(),
            "{rate}"
        );
    }
    expect_rejected("rate-limit", &["", "Off", "0/s", "600"], "; or off");
}
