//! Days: how each language writes them, and what they mean that people type.

use jiff::civil::Date;
use petstore_domain::store_area::{Language, whole_key};

use super::{numbers::Numbers, numbers_in};

impl Numbers {
    /// A day that every reader understands in the same way, such as 3 May 2024.
    pub fn date(&self, date: Date) -> String {
        let months = (1..).zip(self.months);
        let month = months
            .into_iter()
            .find(|(number, _)| *number == date.month());
        (self.date)(
            date.day(),
            month.map(|(_, name)| name).unwrap_or_default(),
            date.year(),
        )
    }

    /// A day that somebody typed, with the names of months in all languages. Points are between day, month
    /// and year.
    ///
    /// # Errors
    ///
    /// `03/04/2024` has two meanings in English.
    pub fn parse_date(&self, typed: &str) -> Result<Option<Date>, [Date; 2]> {
        let lower = typed.trim().to_lowercase();
        let parts =
            lower.split(|between: char| between.is_whitespace() || ".,/-".contains(between));
        let parts: Vec<&str> = parts
            .filter(|part| !["", "de", "del", "of"].contains(part))
            .collect();
        let [first, second, third] = *parts else {
            return Ok(None);
        };
        let (day_first, month_first) = (date(third, second, first), date(third, first, second));
        Ok(
            match (date(first, second, third).or(day_first), month_first) {
                (Some(one), Some(other))
                    if one != other && !self.day_first && !lower.contains('.') =>
                {
                    return Err([one, other]);
                }
                (Some(date), _) => Some(date),
                (None, other) if !lower.contains('.') || month(first).is_some() => other,
                _ => None,
            },
        )
    }
}

fn date(year: &str, month_of: &str, day: &str) -> Option<Date> {
    let month = month(month_of).or_else(|| month_of.parse().ok())?;
    let year = (year.len() == 4).then(|| year.parse().ok())??;
    let endings = ["st", "nd", "rd", "th", "er", "º"];
    let day = endings
        .iter()
        .find_map(|ending| day.strip_suffix(ending))
        .unwrap_or(day);
    Date::new(year, month, day.parse().ok()?).ok()
}

/// The month whose name this is, or begins like this in every language that has one: `jui` would be two.
fn month(name: &str) -> Option<i8> {
    let name = whole_key(name);
    let months = Language::ALL
        .into_iter()
        .flat_map(|of| (1_i8..).zip(numbers_in(of).months));
    let mut meant =
        months.filter(|(_, month)| name.len() >= 3 && whole_key(month).starts_with(&name));
    let (month, _) = meant.next()?;
    meant.all(|(other, _)| other == month).then_some(month)
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
