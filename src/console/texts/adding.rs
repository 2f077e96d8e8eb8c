//! Adding one animal.

pub(crate) const CATEGORY_OF_SPECIES: &str =
    "If it is empty, the category of the species is taken.";
pub(crate) const SPECIES_OR_CATEGORY: &str = "Choose a species, or a category.";
pub(crate) const OR_ABOUT: &str = "Or approximate age";
pub(crate) const ABOUT_HINT: &str =
    "For an age such as 2, or 8 months, the day of birth is written down that far back from today.";
pub(crate) const AGE_INVALID: &str =
    "Enter an age in years such as 2, or such as 8 months or 10 weeks.";
pub(crate) const BORN_OR_AGE: &str =
    "Enter the day of birth or the age, and leave the other one empty.";
