//! Formats dates in each language.

use jiff::civil::Date;

use super::numbers::Numbers;

impl Numbers {
    /// Formats a date with the name of its month, which cannot be misread like `03/05/2024`.
    ///
    /// Example: `3 May 2024` in English.
    pub fn date(&self, date: Date) -> String {
        let index = usize::try_from(date.month() - 1).unwrap_or_default();
        let month_name = self.months.get(index).copied().unwrap_or_default();
        (self.date)(date.day(), month_name, date.year())
    }
}

#[cfg(test)]
mod tests {
    use crate::numbers_in;
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
            let written =
                [English, German, French, Spanish].map(|language| numbers_in(language).date(day));
            // No-break spaces keep a date on one line.
            assert_eq!(written, expected.map(|text| text.replace(' ', "\u{a0}")));
        }
    }
}
