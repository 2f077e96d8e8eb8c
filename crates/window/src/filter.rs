//! The filter of the list: which animals a visitor wants to see.

use std::collections::BTreeMap;

use petstore_domain::{
    store_area::{Age, DateRange, FieldDefinition, FieldKind, FieldSet, NamePrefix, Phrase},
    text::parse_integer,
};
use petstore_languages::everyday::UnderstoodWord;

/// The animals that a visitor wants to see. Without any part, it is all animals.
#[derive(Debug, Clone, Default)]
pub(super) struct Filter {
    pub(super) category_id: Option<i64>,
    /// The values of public fields of a kind that the form offers, by the names of the fields.
    pub(super) fields: BTreeMap<String, String>,
    pub(super) age: Option<AgeFilter>,
    pub(super) name: Option<NameFilter>,
    /// A search, which finds only what is public.
    pub(super) phrase: Option<Phrase>,
    /// The words of the search that mean properties.
    pub(super) understood_words: Vec<UnderstoodWord>,
}

/// A filter by age.
#[derive(Debug, Clone)]
pub(super) struct AgeFilter {
    pub(super) age: Age,
    /// The days of birth of the animals that have this age today.
    pub(super) births: DateRange,
}

/// A filter by the beginning of the name.
#[derive(Debug, Clone)]
pub(super) struct NameFilter {
    /// The text that a visitor typed.
    pub(super) text: String,
    pub(super) prefix: NamePrefix,
}

/// A parameter of a query.
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
    /// Whether every animal passes.
    pub(super) fn is_empty(&self) -> bool {
        self.parameters().is_empty()
    }

    /// Returns a wider filter that keeps only the species, or else only the category. Returns `None` if the filter has
    /// neither, or has nothing else.
    pub(super) fn similar(&self) -> Option<Self> {
        let mut similar = Self::default();
        if let Some(species) = self.fields.get("species") {
            similar.fields.insert("species".to_owned(), species.clone());
        } else {
            similar.category_id = self.category_id;
        }

        if similar.is_empty() || similar.parameters() == self.parameters() {
            return None;
        }
        Some(similar)
    }

    /// Returns the filter without the parameter of this name.
    pub(super) fn without_parameter(&self, name: &str) -> Self {
        let mut filter = self.clone();
        match name {
            "categoryId" => filter.category_id = None,
            "age" => filter.age = None,
            "name" => filter.name = None,
            "q" => filter = filter.with_search(""),
            field => {
                filter.fields.remove(field.trim_start_matches("field."));
            }
        }
        filter
    }

    /// Returns the filter with this text of a search; without a search if nothing of the text is visible.
    pub(super) fn with_search(&self, text: &str) -> Self {
        Self {
            phrase: Phrase::new(text).map(Phrase::public),
            understood_words: Vec::new(),
            ..self.clone()
        }
    }

    /// Returns the filter with this category or value of a field.
    pub(super) fn with_parameter(&self, parameter: &Parameter) -> Self {
        let mut filter = self.clone();
        match parameter.name.strip_prefix("field.") {
            Some(field) => {
                filter
                    .fields
                    .insert(field.to_owned(), parameter.value.clone());
            }
            None => filter.category_id = parse_integer(&parameter.value),
        }
        filter
    }

    /// Whether a visitor has typed a part of it. The number of such filters has no limit.
    pub(super) fn is_typed(&self) -> bool {
        self.name.is_some() || self.phrase.is_some()
    }

    /// Returns the parameters of the filter, always in the same order.
    ///
    /// Example: a filter by a species and a name has the parameters `field.species` and `name`.
    pub(super) fn parameters(&self) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        if let Some(id) = self.category_id {
            parameters.push(Parameter::new("categoryId", id.to_string()));
        }
        for (name, value) in &self.fields {
            parameters.push(Parameter::new(format!("field.{name}"), value));
        }
        if let Some(AgeFilter { age, .. }) = &self.age {
            parameters.push(Parameter::new("age", age.to_string()));
        }
        if let Some(name) = &self.name {
            parameters.push(Parameter::new("name", &name.text));
        }
        if let Some(phrase) = &self.phrase {
            parameters.push(Parameter::new("q", phrase.as_str()));
        }
        parameters
    }
}

/// Whether a visitor can choose by a field.
pub(super) fn is_offered(field: &FieldDefinition) -> bool {
    let is_of_kind = matches!(field.kind, FieldKind::Choice | FieldKind::Boolean);
    // Nobody looks for animals whose birth is estimated.
    field.is_public && is_of_kind && !field.is_birth_estimate()
}

/// Returns the field with the days of birth, if everybody may see them.
pub(super) fn birth_field(fields: &FieldSet) -> Option<&FieldDefinition> {
    fields
        .all()
        .iter()
        .find(|field| field.is_public && field.is_birth())
}

/// Returns the field that a parameter chooses by, if a visitor can choose by it.
///
/// Example: the parameter `field.species` chooses by the field `species`.
pub(super) fn offered_field<'f>(
    parameter_name: &str,
    fields: &'f FieldSet,
) -> Option<&'f FieldDefinition> {
    let field = fields.find(parameter_name.strip_prefix("field.")?)?;
    if is_offered(field) { Some(field) } else { None }
}
