//! The query of the list: which animals, and where the page begins.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashSet},
    ops::RangeInclusive,
};

use jiff::civil::Date;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use petstore_domain::{
    Limit, PetId, Problem,
    store_area::{Age, DateRange, FieldDefinition, FieldKind, FieldSet, NamePrefix, Phrase},
    text::integer,
};
use petstore_web::edge::ApiError;

/// How many fields filter at once: a search reads the animals of each.
const MOST_FIELDS: usize = 8;

/// How many animals a page has.
const ON_A_PAGE: i64 = 24;

/// The most that a page elsewhere shows.
const EMBEDDED: RangeInclusive<i64> = 1..=48;

/// How many characters a value has at most, as a choice.
const LONGEST_VALUE: usize = 64;

/// Which animals a visitor wants to see.
#[derive(Debug, Clone, Default)]
pub(super) struct Filter {
    pub(super) category_id: Option<i64>,
    /// The values of public fields of a kind that the form offers, by the names of the fields.
    pub(super) fields: BTreeMap<String, String>,
    /// With the days of birth that animals of this age have.
    pub(super) age: Option<(Age, DateRange)>,
    /// As it was typed, and what it finds.
    pub(super) name: Option<(String, NamePrefix)>,
    /// It finds only what is public.
    pub(super) phrase: Option<Phrase>,
}

/// The name and the value of a parameter.
pub(super) type Parameter = (String, String);

/// A page of the list.
#[derive(Debug, Clone, Default)]
pub(super) struct Query {
    pub(super) filter: Filter,
    pub(super) limit: Limit,
    /// Only animals behind this one.
    pub(super) after: Option<PetId>,
    /// Those that wait longest first, instead of the newest.
    pub(super) longest_first: bool,
    /// Whether the request had empty parameters, as a form sends them.
    pub(super) has_empty: bool,
}

impl Filter {
    /// Whether every animal passes.
    pub(super) fn is_empty(&self) -> bool {
        self.parameters().is_empty()
    }

    /// The same species, or else the same category: without the rest of the filter, if it has one.
    pub(super) fn similar(&self) -> Option<Self> {
        let species = self.fields.get_key_value("species");
        let fields = species
            .map(|(name, value)| (name.clone(), value.clone()))
            .into_iter();
        let category_id = if species.is_none() {
            self.category_id
        } else {
            None
        };
        let similar = Self {
            category_id,
            fields: fields.collect(),
            ..Self::default()
        };
        (!similar.is_empty() && similar.parameters() != self.parameters()).then_some(similar)
    }

    /// The same without this parameter.
    pub(super) fn without(&self, parameter: &str) -> Self {
        let mut rest = self.clone();
        match parameter {
            "categoryId" => rest.category_id = None,
            "age" => rest.age = None,
            "name" => rest.name = None,
            "q" => rest.phrase = None,
            field => _ = rest.fields.remove(field.trim_start_matches("field.")),
        }
        rest
    }

    /// The same with this category or value of a field.
    pub(super) fn with(&self, (parameter, value): &Parameter) -> Self {
        let mut more = self.clone();
        match parameter.strip_prefix("field.") {
            Some(field) => _ = more.fields.insert(field.to_owned(), value.clone()),
            None => more.category_id = integer(value),
        }
        more
    }

    /// Whether a visitor has typed a part of it: there are any number of such filters.
    pub(super) fn is_typed(&self) -> bool {
        self.name.is_some() || self.phrase.is_some()
    }

    /// Its parameters in their only order.
    pub(super) fn parameters(&self) -> Vec<Parameter> {
        let category = self
            .category_id
            .map(|id| ("categoryId".to_owned(), id.to_string()));
        let age = self
            .age
            .as_ref()
            .map(|(age, _)| ("age".to_owned(), age.to_string()));
        let name = self
            .name
            .as_ref()
            .map(|(name, _)| ("name".to_owned(), name.clone()));
        let phrase = self
            .phrase
            .as_ref()
            .map(|phrase| ("q".to_owned(), phrase.as_str().to_owned()));
        let fields = self.fields.iter();
        let fields = fields.map(|(name, value)| (format!("field.{name}"), value.clone()));
        category
            .into_iter()
            .chain(fields)
            .chain(age)
            .chain(name)
            .chain(phrase)
            .collect()
    }
}

impl Query {
    /// Whether a search engine may show the page: it stays, and no visitor has typed a part of it.
    pub(super) fn is_indexed(&self) -> bool {
        self.after.is_none() && !self.longest_first && !self.filter.is_typed()
    }

    /// The first page of all animals.
    pub(super) fn first() -> Self {
        Self {
            limit: limit(ON_A_PAGE),
            ..Self::default()
        }
    }

    /// The newest animals of this filter.
    pub(super) fn first_page(self) -> Self {
        Self {
            filter: self.filter,
            ..Self::first()
        }
    }

    /// Parses the query of a request. Parameters that the window does not know, and empty ones, count
    /// as absent. `takes_limit`: whether the length of the page is one of the parameters. `today`: on which
    /// animals have their ages. Fails with 400.
    pub(super) fn parse(
        query: Option<&str>,
        fields: &FieldSet,
        takes_limit: bool,
        today: Date,
    ) -> Result<Self, ApiError> {
        let query = query.unwrap_or_default();
        let mut parsed = Self::first();
        let mut seen = HashSet::new();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let is_known = match &*name {
                "categoryId" | "name" | "q" | "cursor" | "sort" => true,
                "age" => birth(fields).is_some(),
                "limit" => takes_limit,
                other => offered(other, fields).is_some(),
            };
            let is_empty = value.is_empty() || name == "q" && value.trim().is_empty();
            parsed.has_empty |= is_empty && is_known;
            if is_empty || !is_known {
                continue;
            }
            // In place of bytes that are not UTF-8.
            if value.contains('\u{FFFD}') {
                return Err(invalid(
                    "The address must be UTF-8, with its bytes percent-encoded.",
                ));
            }
            if !seen.insert(name.clone().into_owned()) {
                return Err(invalid(format!("The address has {name} more than once.")));
            }
            if let Some(born) = birth(fields).filter(|_| name == "age") {
                let age: Option<Age> = value.parse().ok();
                let age = age.ok_or_else(|| invalid("age must be 0, under3, 1, 3 or 8."))?;
                parsed.filter.age = Some((age, age.range(&born.name, today)));
                continue;
            }
            let field = offered(&name, fields);
            if field.is_some_and(|field| field.kind == FieldKind::Boolean)
                && !["true", "false"].contains(&&*value)
            {
                return Err(invalid(format!("{name} must be true or false.")));
            }
            // In any case, it is the choice of the store.
            let choices = field.and_then(|field| field.choices.as_ref());
            let choice = choices.and_then(|choices| choices.find(&value));
            parsed.take(&name, choice.map_or(&*value, |choice| choice))?;
        }
        let chosen = parsed.filter.fields.len() + usize::from(parsed.filter.age.is_some());
        if chosen > MOST_FIELDS {
            return Err(invalid(format!(
                "At most {MOST_FIELDS} properties can be chosen at once, but these are {chosen}. Go back, and take \
                 some off."
            )));
        }
        Ok(parsed)
    }

    fn take(&mut self, name: &str, value: &str) -> Result<(), ApiError> {
        match name {
            "categoryId" => {
                let id = integer(value);
                let id = id.ok_or_else(|| {
                    invalid("This link is incomplete: categoryId must be the number of a category.")
                })?;
                self.filter.category_id = Some(id);
            }
            "name" => {
                let prefix = NamePrefix::new(value)
                    .ok_or_else(|| invalid("The name must not be longer than 64 characters."))?;
                self.filter.name = (!prefix.is_empty()).then(|| (value.to_owned(), prefix));
            }
            "q" => {
                let phrase = Phrase::new(value);
                let phrase = phrase.ok_or_else(|| {
                    invalid("A search must not be longer than 64 characters and 16 words.")
                })?;
                self.filter.phrase = Some(phrase.public());
            }
            "cursor" => {
                let id = integer(value).and_then(PetId::new);
                let message = "This link is incomplete or too old. Start from the first page.";
                self.after =
                    Some(id.ok_or_else(|| ApiError::new(Problem::InvalidCursor, message))?);
            }
            "sort" if ["longest", "newest"].contains(&value) => {
                self.longest_first = value == "longest";
            }
            "sort" => return Err(invalid("sort must be longest or newest.")),
            "limit" => {
                let wanted = integer(value).filter(|limit| EMBEDDED.contains(limit));
                let wanted = wanted.ok_or_else(|| invalid("limit must be from 1 to 48."))?;
                self.limit = limit(wanted);
            }
            field => {
                if value.chars().nth(LONGEST_VALUE).is_some() || value.contains('\0') {
                    return Err(invalid(format!("{field} must be one of the choices.")));
                }
                let field = field.trim_start_matches("field.").to_owned();
                self.filter.fields.insert(field, value.to_owned());
            }
        }
        Ok(())
    }

    /// The parameters in their only order, after a question mark. Empty without any.
    pub(super) fn canonical(&self) -> String {
        self.with_cursor(self.after)
    }

    /// The same, from another position on.
    pub(super) fn with_cursor(&self, after: Option<PetId>) -> String {
        let cursor = after.map(|after| ("cursor".to_owned(), after.to_string()));
        let parameters = self.filter.parameters().into_iter().chain(cursor);
        let sort = self
            .longest_first
            .then(|| ("sort".to_owned(), "longest".to_owned()));
        let encoded = |(name, value): Parameter| {
            format!("{name}={}", utf8_percent_encode(&value, NON_ALPHANUMERIC))
        };
        let parameters: Vec<String> = sort.into_iter().chain(parameters).map(encoded).collect();
        if parameters.is_empty() {
            String::new()
        } else {
            format!("?{}", parameters.join("&"))
        }
    }

    /// The path of the first page of the list with this filter, in the same order.
    pub(super) fn path_with(&self, filter: Filter) -> String {
        let first = Self {
            filter,
            longest_first: self.longest_first,
            ..Self::first()
        };
        format!("/{}", first.canonical())
    }
}

/// Whether a visitor can choose by a field.
pub(super) fn is_offered(field: &FieldDefinition) -> bool {
    field.is_public && matches!(field.kind, FieldKind::Choice | FieldKind::Boolean)
}

/// The days of birth, if everybody may see them.
pub(super) fn birth(fields: &FieldSet) -> Option<&FieldDefinition> {
    fields
        .all()
        .iter()
        .find(|field| field.is_public && field.is_birth())
}

/// The field that a parameter chooses by.
pub(super) fn offered<'f>(parameter: &str, fields: &'f FieldSet) -> Option<&'f FieldDefinition> {
    fields
        .find(parameter.strip_prefix("field.")?)
        .filter(|field| is_offered(field))
}

fn invalid(message: impl Into<Cow<'static, str>>) -> ApiError {
    ApiError::new(Problem::InvalidParameter, message)
}

fn limit(limit: i64) -> Limit {
    Limit::new(limit).unwrap_or_default()
}
