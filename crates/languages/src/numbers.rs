//! Formats numbers and amounts of money in each language.

use std::fmt::Display;

use petstore_domain::store_area::Currency;

/// The number and date formats of a language.
#[derive(Debug)]
pub struct Numbers {
    /// The decimal separator.
    pub decimal_point: char,
    /// The separator between groups of three digits.
    pub group_separator: char,
    /// The number of digits from which an integer part is grouped. Spanish does not group four digits.
    pub(crate) grouped_from: usize,
    /// Whether the currency precedes the amount.
    pub(crate) currency_first: bool,
    /// The names of the months, from January.
    pub months: [&'static str; 12],
    /// Formats a date from the day, the name of the month, and the year.
    pub date: fn(i8, &str, i16) -> String,
    /// Whether `03/04` always means 3 April. In English, it can also mean 4 March.
    pub(crate) day_first: bool,
}

const NO_BREAK_SPACE: char = '\u{a0}';

impl Numbers {
    /// Formats an integer with group separators.
    pub fn integer(&self, number: impl Display) -> String {
        self.number(&number.to_string())
    }

    /// Formats a decimal number with group separators, and keeps its decimals as they are.
    ///
    /// Example: `1249.5` becomes `1,249.5` in English.
    pub fn number(&self, number: &str) -> String {
        let (whole, decimals) = number.split_once('.').unzip();
        let whole = whole.unwrap_or(number);
        let (minus, digits) = whole
            .strip_prefix('-')
            .map_or(("", whole), |digits| ("-", digits));
        let mut text = minus.to_owned();
        let is_grouped = digits.len() >= self.grouped_from;
        for (index, digit) in digits.chars().enumerate() {
            let remaining_digits = digits.len() - index;
            if is_grouped && index > 0 && remaining_digits % 3 == 0 {
                text.push(self.group_separator);
            }
            text.push(digit);
        }
        if let Some(decimals) = decimals {
            text.push(self.decimal_point);
            text.push_str(decimals);
        }
        text
    }

    /// Formats a price with its currency, rounded to the decimals of the currency. Without a currency,
    /// it keeps its own decimals.
    ///
    /// Example: `1249.5` in euros becomes `€1,249.50` in English.
    pub fn amount(&self, price: &str, currency: Option<&Currency>) -> String {
        let Some(currency) = currency else {
            return self.number(price);
        };
        let sign = match currency.as_str() {
            "EUR" => "€",
            "GBP" => "£",
            "USD" => "$",
            code => code,
        };
        let amount = self.number(&currency.round(price));
        if !self.currency_first {
            return format!("{amount}{NO_BREAK_SPACE}{sign}");
        }
        let (minus, number) = match amount.strip_prefix('-') {
            Some(number) => ("-", number),
            None => ("", &*amount),
        };
        let space = if sign == currency.as_str() {
            "\u{a0}"
        } else {
            ""
        };
        format!("{minus}{sign}{space}{number}")
    }

    /// Formats a number for an input, without group separators.
    pub fn plain(&self, number: &str) -> String {
        number.replace('.', &self.decimal_point.to_string())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::numbers_in;
    use petstore_domain::store_area::{
        Decimal,
        Language::{self, English, French, German, Spanish},
    };
    use petstore_formats::cells::parse_number;

    /// Formats a price with a currency, or without one (`""`).
    fn written(language: Language, price: &str, currency: &str) -> String {
        numbers_in(language).amount(price, Currency::new(currency).as_ref())
    }

    /// Parses a typed number. If it is ambiguous, returns its two meanings and an unambiguous spelling
    /// of each.
    fn read(language: Language, typed: &str, currency: &str) -> Result<String, [String; 4]> {
        let currency = Currency::new(currency);
        let is_whole = currency
            .as_ref()
            .is_some_and(|currency| currency.decimals() == 0);
        let plain = |number: &str| numbers_in(language).plain(number);
        parse_number(typed, currency.as_ref(), is_whole).map_err(|ambiguous| {
            [
                ambiguous.whole.clone(),
                plain(&ambiguous.exact),
                ambiguous.whole,
                plain(&ambiguous.exact_spelling),
            ]
        })
    }

    #[test]
    fn an_amount_is_written_as_people_of_the_language_write_it() {
        for (price, currency, [english, german, french, spanish]) in [
            (
                "1249.5",
                "EUR",
                ["€1,249.50", "1.249,50 €", "1_249,50 €", "1249,50 €"],
            ),
            (
                "12495",
                "EUR",
                ["€12,495.00", "12.495,00 €", "12_495,00 €", "12.495,00 €"],
            ),
            (
                "999999.995",
                "GBP",
                [
                    "£1,000,000.00",
                    "1.000.000,00 £",
                    "1_000_000,00 £",
                    "1.000.000,00 £",
                ],
            ),
            (
                "249.00",
                "USD",
                ["$249.00", "249,00 $", "249,00 $", "249,00 $"],
            ),
            (
                "1249.50",
                "CHF",
                [
                    "CHF 1,249.50",
                    "1.249,50 CHF",
                    "1_249,50 CHF",
                    "1249,50 CHF",
                ],
            ),
            (
                "1249.5",
                "JPY",
                ["JPY 1,250", "1.250 JPY", "1_250 JPY", "1250 JPY"],
            ),
            (
                "1249.5",
                "KWD",
                [
                    "KWD 1,249.500",
                    "1.249,500 KWD",
                    "1_249,500 KWD",
                    "1249,500 KWD",
                ],
            ),
            ("0.0049", "EUR", ["€0.00", "0,00 €", "0,00 €", "0,00 €"]),
            ("0.005", "EUR", ["€0.01", "0,01 €", "0,01 €", "0,01 €"]),
            ("007.0050", "EUR", ["€7.01", "7,01 €", "7,01 €", "7,01 €"]),
            (
                "-1249.5",
                "EUR",
                ["-€1,249.50", "-1.249,50 €", "-1_249,50 €", "-1249,50 €"],
            ),
            ("1249.5", "", ["1,249.5", "1.249,5", "1_249,5", "1249,5"]),
            ("1249", "", ["1,249", "1.249", "1_249", "1249"]),
            ("0.0500", "", ["0.0500", "0,0500", "0,0500", "0,0500"]),
        ] {
            let all = [English, German, French, Spanish]
                .map(|language| written(language, price, currency));
            let expected = [english, german, french, spanish]
                .map(|text| text.replace(' ', "\u{a0}").replace('_', "\u{202f}"));
            assert_eq!(all, expected, "{price} {currency}");
        }
        let largest = written(German, "999999999999.9999", "EUR");
        assert_eq!(largest, "1.000.000.000.000,00\u{a0}€");
        let four = [English, German, French, Spanish];
        let integers = four.map(|language| numbers_in(language).integer(-1_234_567));
        let expected = [
            "-1,234,567",
            "-1.234.567",
            "-1\u{202f}234\u{202f}567",
            "-1.234.567",
        ];
        assert_eq!(integers, expected);
        assert_eq!(
            four.map(|language| numbers_in(language).integer(999)),
            ["999"; 4]
        );
        assert_eq!(numbers_in(Spanish).integer(9_999), "9999");
    }

    #[test]
    fn a_number_is_read_as_people_of_any_language_type_it() {
        for (typed, expected) in [
            ("249", "249"),
            ("249.5", "249.5"),
            ("249,50", "249.50"),
            ("1,249.50", "1249.50"),
            ("1.249,50", "1249.50"),
            ("1 249,50", "1249.50"),
            ("1\u{a0}249,50", "1249.50"),
            ("1\u{202f}249,50", "1249.50"),
            ("1\u{2009}249.50", "1249.50"),
            ("1'249.50", "1249.50"),
            ("1’249.50", "1249.50"),
            ("1 249", "1249"),
            ("1.249.000", "1249000"),
            ("1,249,000.5", "1249000.5"),
            ("0,125", "0.125"),
            ("0.125", "0.125"),
            ("1,2490", "1.2490"),
            ("-1.249,5", "-1249.5"),
            ("249,-", "249"),
            ("249.—", "249"),
            ("1.249,--", "1249"),
            ("€ 249,50", "249.50"),
            ("249,50\u{a0}€", "249.50"),
            ("€1,249.50", "1249.50"),
            ("EUR 249,-", "249"),
            ("249 EUR", "249"),
            // These are not numbers. They are returned without spaces, and are rejected later.
            ("249,50 CHF", "249,50CHF"),
            ("$249", "$249"),
            ("12.49,50", "12.49,50"),
            ("1,2,3", "1,2,3"),
            ("0,125.5", "0,125.5"),
            ("-", "-"),
            ("€", "€"),
            ("249-", "249-"),
            ("dear", "dear"),
            ("", ""),
        ] {
            for language in Language::ALL {
                assert_eq!(
                    read(language, typed, "EUR").as_deref(),
                    Ok(expected),
                    "{typed}"
                );
            }
        }
        assert_eq!(read(German, "$249,50", "").as_deref(), Ok("249.50"));
        assert_eq!(read(German, "$249,50", "CAD").as_deref(), Ok("249.50"));
    }

    #[test]
    fn an_amount_is_read_with_the_signs_of_the_currency_of_the_store() {
        for (typed, currency) in [
            ("$249.50", "MXN"),
            ("$ 249,50", "ARS"),
            ("R$ 249,50", "BRL"),
            ("US$ 249.50", "USD"),
            ("249,50 zł", "PLN"),
            ("249,50 kr.", "SEK"),
            ("Fr. 249.50", "CHF"),
            ("₹249.50", "INR"),
            ("249,50 Euro", "EUR"),
            ("249,50 €", "EUR"),
        ] {
            assert_eq!(
                read(Spanish, typed, currency).as_deref(),
                Ok("249.50"),
                "{typed}"
            );
        }
        assert_eq!(read(Spanish, "zł 249,50", "EUR").as_deref(), Ok("zł249,50"));
        assert_eq!(read(English, "\u{2212}1.5", "").as_deref(), Ok("-1.5"));
    }

    #[test]
    fn what_can_mean_two_things_is_refused_with_both_in_the_language() {
        let refused = |language, typed, texts: [&str; 4]| {
            assert_eq!(
                read(language, typed, "EUR"),
                Err(texts.map(str::to_owned)),
                "{typed}"
            );
        };
        for typed in ["1.249", "1,249", "€1,249", "1.249 €"] {
            refused(English, typed, ["1249", "1.249", "1249", "1.2490"]);
            refused(German, typed, ["1249", "1,249", "1249", "1,2490"]);
        }
        refused(French, "1.250", ["1250", "1,25", "1250", "1,25"]);
        refused(Spanish, "1.000", ["1000", "1", "1000", "1"]);
        // If the currency has no decimals, or the field is for integers, only one meaning is possible.
        assert_eq!(read(German, "1.249 JPY", "JPY").as_deref(), Ok("1249"));
        assert_eq!(parse_number("1.249", None, true), Ok("1249".to_owned()));
    }

    proptest! {
        /// A formatted amount is parsed in the same language as the same amount. Only an amount with one
        /// separator before three digits may be ambiguous; then one of its spellings has that value.
        #[test]
        fn what_is_written_is_read_again(
            number in "(0|[1-9][0-9]{0,11})(\\.[0-9]{1,4})?",
            currency in prop::sample::select(vec!["EUR", "GBP", "USD", "CHF", "JPY", "KWD", ""]),
            language in prop::sample::select(Language::ALL.to_vec()),
        ) {
            let value = |number: &str| Decimal::new(number).map(|number| number.ten_thousandths());
            let of = Currency::new(currency);
            let amount = of.as_ref().map_or_else(|| number.clone(), |of| of.round(&number));
            prop_assume!(Decimal::new(&amount).is_some());
            match read(language, &written(language, &number, currency), currency) {
                Ok(read) => prop_assert_eq!(value(&read), value(&amount)),
                Err([_, _, first, second]) => {
                    prop_assert!(currency.is_empty() || currency == "KWD");
                    let read = [first, second].map(|text| read(language, &text, currency).unwrap());
                    prop_assert!(read.iter().any(|read| value(read) == value(&amount)), "{:?}", read);
                }
            }
        }
    }
}
