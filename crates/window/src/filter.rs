//! The filter of the list: the criteria by which a visitor narrows down the animals.

use std::collections::BTreeMap;

use petstore_domain::{
    store_area::{Age, DateRange, FieldDefinition, FieldKind, FieldSet, NamePrefix, Phrase},
    text::parse_integer,
};
use petstore_languages::everyday::UnderstoodWord;

/// The query parameter with the id of a category.
pub(super) const CATEGORY_PARAMETER: &str = "categoryId";

/// The query parameter with an age, such as `under3`.
pub(super) const AGE_PARAMETER: &str = "age";

/// The query parameter with the beginning of a name.
pub(super) const NAME_PARAMETER: &str = "name";

/// The query parameter with the search text.
pub(super) const SEARCH_PARAMETER: &str = "q";

/// The name of the field with the species of an animal.
pub(super) const SPECIES_FIELD: &str = "species";

/// The prefix of the query parameters that filter by a field, such as `field.species`.
pub(super) const FIELD_PREFIX: &str = "field.";

/// The criteria for animals in a list. An animal must meet all of them. An empty filter matches
/// every animal.
#[derive(Debug, Clone, Default)]
pub(super) struct Filter {
    pub(super) category_id: Option<i64>,
    /// The required values of filterable fields, by field name.
    pub(super) fields: BTreeMap<String, String>,
    pub(super) age: Option<AgeFilter>,
    pub(super) name: Option<NameFilter>,
    /// The search text, which is only compared with public data.
    pub(super) phrase: Option<Phrase>,
    /// The words of the search text that were recognized as properties, such as `puppy` for a young
    /// dog. They are not criteria of their own: `phrase` knows their meaning.
    pub(super) understood_words: Vec<UnderstoodWord>,
}

/// A filter by age.
#[derive(Debug, Clone)]
pub(super) struct AgeFilter {
    pub(super) age: Age,
    /// The dates of birth that correspond to this age today.
    pub(super) birth_range: DateRange,
}

/// A filter by the beginning of the animal's name.
#[derive(Debug, Clone)]
pub(super) struct NameFilter {
    /// The text as the visitor typed it.
    pub(super) text: String,
    pub(super) prefix: NamePrefix,
}

/// A query parameter of the list, such as `field.species=Dog`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) value: String,
}

impl Parameter {
    /// Returns the parameter with this name and value.
    pub(super) fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
        }
    }
}

impl Filter {
    /// Returns the filter for the animals of a species.
    pub(super) fn for_species(species: &str) -> Self {
        let species_value = (SPECIES_FIELD.to_owned(), species.to_owned());
        Self {
            fields: BTreeMap::from([species_value]),
            ..Self::default()
        }
    }

    /// Returns the filter for the animals of a category.
    pub(super) fn for_category(id: i64) -> Self {
        Self {
            category_id: Some(id),
            ..Self::default()
        }
    }

    /// Whether the filter has no criteria, so that every animal matches.
    pub(super) fn is_empty(&self) -> bool {
        let has_choices =
            self.category_id.is_some() || !self.fields.is_empty() || self.age.is_some();
        !has_choices && !self.has_free_text()
    }

    /// Returns a wider filter for similar animals. It has only the species of this filter or,
    /// without a species, only its category.
    ///
    /// Returns `None` if this filter has neither of them. The result is `None` too if this filter has
    /// no other criteria, because the wider filter would be the same.
    pub(super) fn widen_to_similar_animals(&self) -> Option<Self> {
        let wider_filter = match (self.fields.get(SPECIES_FIELD), self.category_id) {
            (Some(species), _) => Self::for_species(species),
            (None, Some(id)) => Self::for_category(id),
            (None, None) => return None,
        };
        if wider_filter.parameters() == self.parameters() {
            return None;
        }
        Some(wider_filter)
    }

    /// Returns the filter without the criterion of the query parameter `name`, such as `age` or
    /// `field.species`.
    pub(super) fn without_parameter(&self, name: &str) -> Self {
        let mut filter = self.clone();
        match name {
            CATEGORY_PARAMETER => filter.category_id = None,
            AGE_PARAMETER => filter.age = None,
            NAME_PARAMETER => filter.name = None,
            SEARCH_PARAMETER => filter = filter.with_search(""),
            _ => {
                if let Some(field) = name.strip_prefix(FIELD_PREFIX) {
                    filter.fields.remove(field);
                }
            }
        }
        filter
    }

    /// Returns the filter with this search text in place of its own. If the text is empty, blank or
    /// not a valid phrase, the result has no search text.
    pub(super) fn with_search(&self, text: &str) -> Self {
        Self {
            phrase: Phrase::new(text).map(Phrase::public),
            // The understood words belong to the text that is replaced.
            understood_words: Vec::new(),
            ..self.clone()
        }
    }

    /// Returns the filter narrowed down to a kind of animals: a species or a category. `parameter`
    /// is the parameter of the kind, such as `field.species=Dog` or `categoryId=3`.
    pub(super) fn with_kind(&self, parameter: &Parameter) -> Self {
        let mut filter = self.clone();
        if parameter.name == CATEGORY_PARAMETER {
            // The value is always a number, because the parameter was made from an id.
            filter.category_id = parse_integer(&parameter.value);
        } else if let Some(field) = parameter.name.strip_prefix(FIELD_PREFIX) {
            let value = parameter.value.clone();
            filter.fields.insert(field.to_owned(), value);
        }
        filter
    }

    /// Whether the filter contains text that a visitor typed. There is no limit to the number of such
    /// filters, so their pages are cached separately, and search engines do not index them.
    pub(super) fn has_free_text(&self) -> bool {
        self.name.is_some() || self.phrase.is_some()
    }

    /// Returns the query parameters of the filter in a fixed order, so that equal filters have
    /// equal URLs and cache keys.
    ///
    /// Example: a filter by species and name returns `field.species` and then `name`.
    pub(super) fn parameters(&self) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        if let Some(id) = self.category_id {
            parameters.push(Parameter::new(CATEGORY_PARAMETER, id.to_string()));
        }
        for (name, value) in &self.fields {
            parameters.push(Parameter::new(format!("{FIELD_PREFIX}{name}"), value));
        }
        if let Some(AgeFilter { age, .. }) = &self.age {
            parameters.push(Parameter::new(AGE_PARAMETER, age.to_string()));
        }
        if let Some(name) = &self.name {
            parameters.push(Parameter::new(NAME_PARAMETER, &name.text));
        }
        if let Some(phrase) = &self.phrase {
            parameters.push(Parameter::new(SEARCH_PARAMETER, phrase.as_str()));
        }
        parameters
    }
}

/// Whether visitors can filter by a field: it is public, and it has a fixed set of values.
pub(super) fn is_filterable(field: &FieldDefinition) -> bool {
    let has_fixed_values = matches!(field.kind, FieldKind::Choice | FieldKind::Boolean);
    // Whether the date of birth is an estimate is not a useful criterion.
    field.is_public && has_fixed_values && !field.is_birth_estimate()
}

/// Returns the field with the date of birth, if there is a public one. Without it, visitors cannot
/// filter by age.
pub(super) fn find_birth_field(fields: &FieldSet) -> Option<&FieldDefinition> {
    fields
        .all()
        .iter()
        .find(|field| field.is_public && field.is_birth())
}

/// Returns the field that a query parameter filters by. Returns `None` for other parameters,
/// unknown fields, and fields that visitors cannot filter by.
///
/// Example: the parameter `field.species` filters by the field `species`.
pub(super) fn find_filterable_field<'f>(
    parameter_name: &str,
    fields: &'f FieldSet,
) -> Option<&'f FieldDefinition> {
    let field_name = parameter_name.strip_prefix(FIELD_PREFIX)?;
    fields.find(field_name).filter(|field| is_filterable(field))
}
