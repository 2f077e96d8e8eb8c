//! Writes days in each language, and parses days that people type.

use jiff::civil::Date;
use petstore_domain::store_area::{Language, whole_key};

use super::{numbers::Numbers, numbers_in};

impl Numbers {
    /// Returns a day that every reader understands in the same way, such as 3 May 2024.
    pub fn date(&self, date: Date) -> String {
        let index = usize::try_from(date.month() - 1).unwrap_or_default();
        let month_name = self.months.get(index).copied().unwrap_or_default();
        (self.date)(date.day(), month_name, date.year())
    }

    /// Parses a day that somebody typed, with the names of months in all languages. Points are between day, month
    /// and year.
    ///
    /// Example: `25.03.2024`, `25 mars 2024` and `2024-03-25` are the same day.
    ///
    /// # Errors
    ///
    /// `03/04/2024` has two meanings in English, which the error has.
    pub fn parse_date(&self, text: &str) -> Result<Option<Date>, [Date; 2]> {
        let text = text.trim().to_lowercase();
        let parts: Vec<&str> = text
            .split(|character: char| character.is_whitespace() || ".,/-".contains(character))
            .filter(|part| !["", "de", "del", "of"].contains(part))
            .collect();
        let [first, second, third] = *parts else {
            return Ok(None);
        };

        let year_first = date(first, second, third);
        let usual_date = year_first.or_else(|| date(third, second, first));
        let month_first = date(third, first, second);
        let has_points = text.contains('.');
        match (usual_date, month_first) {
            (Some(usual_date), Some(month_first))
                if usual_date != month_first && !self.day_first && !has_points =>
            {
                Err([usual_date, month_first])
            }
            (Some(usual_date), _) => Ok(Some(usual_date)),
            // With points, only the name of a month can come first.
            (None, month_first) if !has_points || month(first).is_some() => Ok(month_first),
            (None, _) => Ok(None),
        }
    }
}

/// Parses a day from its parts. The month is a number or a name.
fn date(year: &str, month_text: &str, day: &str) -> Option<Date> {
    if year.len() != 4 {
        return None;
    }
    let month = match month(month_text) {
        Some(month) => month,
        None => month_text.parse().ok()?,
    };
    let ordinal_endings = ["st", "nd", "rd", "th", "er", "º"];
    let day = ordinal_endings
        .iter()
        .find_map(|ending| day.strip_suffix(ending))
        .unwrap_or(day);
    Date::new(year.parse().ok()?, month, day.parse().ok()?).ok()
}

/// Returns the number of the only month whose name begins like this in any language.
///
/// Example: `jan` is 1, and `jui` is none, because it can be `juin` or `juillet`.
fn month(beginning: &str) -> Option<i8> {
    let beginning = whole_key(beginning);
    if beginning.len() < 3 {
        return None;
    }

    let mut matching_month = None;
    for language in Language::ALL {
        for (number, name) in (1_i8..).zip(numbers_in(language).months) {
            if !whole_key(name).starts_with(&beginning) {
                continue;
            }
            if matching_month.is_some_and(|month| month != number) {
                return None;
            }
            matching_month = Some(number);
        }
    }
    matching_month
}

#[cfg(test)]
mod tests {
    use super::*;
    use petstore_domain::store_area::Language::{English, French, German, Spanish};

    #[test]
    fn a_day_is_written_as_people_of_the_language_write_it() {
        for (day, expected) in [
            (
                "2024-05-03",
                [
                    "3 May 2024",
                    "3. Mai 2024",
                    "3 mai 2024",
                    "3 de mayo de 2024",
                ],
            ),
            (
                "2024-05-01",
                [
                    "1 May 2024",
                    "1. Mai 2024",
                    "1er mai 2024",
                    "1 de mayo de 2024",
                ],
            ),
            (
                "2023-12-31",
                [
                    "31 December 2023",
                    "31. Dezember 2023",
                    "31 décembre 2023",
                    "31 de diciembre de 2023",
                ],
            ),
        ] {
            let day = day.parse().unwrap();
            let written = [English, German, French, Spanish].map(|of| numbers_in(of).date(day));
            // No line ends within a day.
            assert_eq!(written, expected.map(|text| text.replace(' ', "\u{a0}")));
        }
    }

    #[test]
    fn every_day_that_is_written_is_read_again_in_every_language() {
        for month in 1..=12 {
            for day in [1, 2, 22, 28] {
                let date = Date::new(2024, month, day).unwrap();
                for language in Language::ALL {
                    let written = numbers_in(language).date(date);
                    for reader in Language::ALL {
                        assert_eq!(
                            numbers_in(reader).parse_date(&written),
                            Ok(Some(date)),
                            "{written}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_typed_day_is_read_and_one_with_two_meanings_only_where_it_has_one() {
        for (typed, expected) in [
            ("2024-03-25", Some("2024-03-25")),
            ("25.03.2024", Some("2024-03-25")),
            ("25. 3. 2024", Some("2024-03-25")),
            ("03.04.2024", Some("2024-04-03")),
            ("25/03/2024", Some("2024-03-25")),
            ("03/25/2024", Some("2024-03-25")),
            ("Mar 25, 2024", Some("2024-03-25")),
            ("25 mars 2024", Some("2024-03-25")),
            ("25. Mär. 2024", Some("2024-03-25")),
            ("1er août 2024", Some("2024-08-01")),
            ("1st May 2024", Some("2024-05-01")),
            ("1º de mayo del 2024", Some("2024-05-01")),
            ("3 juil. 2024", Some("2024-07-03")),
            ("3 Dez 2024", Some("2024-12-03")),
            ("3 jui 2024", None),
            ("3 ma 2024", None),
            ("25.03.24", None),
            ("31.02.2024", None),
            ("03.25.2024", None),
            ("2024", None),
            ("x", None),
        ] {
            let expected = expected.map(|day| day.parse().unwrap());
            for language in Language::ALL {
                assert_eq!(
                    numbers_in(language).parse_date(typed),
                    Ok(expected),
                    "{typed}"
                );
            }
        }
        let [april, march] = ["2024-04-03", "2024-03-04"].map(|day| day.parse().unwrap());
        for typed in ["03/04/2024", "3-4-2024"] {
            assert_eq!(numbers_in(English).parse_date(typed), Err([april, march]));
            for language in [German, French, Spanish] {
                assert_eq!(numbers_in(language).parse_date(typed), Ok(Some(april)));
            }
        }
    }
}
