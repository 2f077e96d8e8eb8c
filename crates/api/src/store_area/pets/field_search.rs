//! The parameters of `listStorePets` that search by the values of fields.

use std::collections::BTreeMap;

use petstore_domain::{
    Problem,
    store_area::{DateRange, FieldProblem, PetQuery, ValueFilter},
};
use petstore_web::edge::ApiError;

use crate::{query::PrefixedParameter, store_area::shared::StoreArea};

/// The prefix of parameters that search by the value of a field.
pub(super) const FIELD_PREFIX: &str = "field.";

/// A description of the parameters with this prefix, for error messages.
pub(super) const FIELD_PARAMETERS: &str =
    "field.NAME=VALUE, field.NAME.from=DATE, field.NAME.to=DATE";

/// The conditions of a search on the values of fields.
#[derive(Default)]
pub(super) struct FieldSearch {
    pub(super) values: Vec<ValueFilter>,
    pub(super) dates: Option<DateRange>,
}

/// The unparsed parameters of a search, by what they search for.
struct GroupedParameters<'q> {
    /// Names of fields, and the values that they must have.
    values: Vec<(&'q str, &'q str)>,
    /// The ranges of fields, by the name of the field.
    ranges: BTreeMap<&'q str, RangeParameters<'q>>,
}

/// The unparsed first and last day of a range.
#[derive(Default)]
struct RangeParameters<'q> {
    from: Option<&'q str>,
    to: Option<&'q str>,
}

/// Parses the parameters that search by fields. Reads the fields of the store only if there are any.
///
/// Example: `field.breed=Beagle` is a value, and `field.born.from=2024-01-01` is a range of dates.
pub(super) async fn parse(
    area: &StoreArea,
    parameters: &[PrefixedParameter<'_>],
) -> Result<FieldSearch, ApiError> {
    if parameters.is_empty() {
        return Ok(FieldSearch::default());
    }
    let grouped_parameters = group_parameters(parameters);
    check_limits(&grouped_parameters)?;
    let GroupedParameters { values, mut ranges } = grouped_parameters;

    let fields = area.app.store.fields().await?;
    let mut search = FieldSearch::default();
    for (name, value) in values {
        let filter = fields.parse_filter(name, value).map_err(field_error)?;
        search.values.push(filter);
    }
    // There is at most one range.
    if let Some((name, range)) = ranges.pop_first() {
        let dates = fields.parse_date_range(name, range.from, range.to);
        search.dates = Some(dates.map_err(field_error)?);
    }
    Ok(search)
}

/// Groups parameters into values and ranges.
fn group_parameters<'q>(parameters: &'q [PrefixedParameter<'_>]) -> GroupedParameters<'q> {
    let mut values = Vec::new();
    let mut ranges = BTreeMap::<&str, RangeParameters<'_>>::new();
    for PrefixedParameter { name, value } in parameters {
        if let Some(field) = name.strip_suffix(".from") {
            ranges.entry(field).or_default().from = Some(value);
        } else if let Some(field) = name.strip_suffix(".to") {
            ranges.entry(field).or_default().to = Some(value);
        } else {
            values.push((name.as_str(), &**value));
        }
    }
    GroupedParameters { values, ranges }
}

/// Checks the limits of a search: at most one range, no field with both a value and a range, and at most
/// [`PetQuery::MAX_VALUE_FILTERS`] fields.
fn check_limits(
    GroupedParameters { values, ranges }: &GroupedParameters<'_>,
) -> Result<(), ApiError> {
    if ranges.len() > 1 {
        return Err(invalid_parameter(format!(
            "Ranges of {} fields are given as field.NAME.from and field.NAME.to. A search has at most one.",
            ranges.len()
        )));
    }
    if let Some((name, _)) = values.iter().find(|(name, _)| ranges.contains_key(name)) {
        return Err(invalid_parameter(format!(
            "field.{name} is given with field.{name}.from or field.{name}.to. Give a value or a range."
        )));
    }
    let count = values.len() + ranges.len();
    let max = PetQuery::MAX_VALUE_FILTERS;
    if count > max {
        return Err(invalid_parameter(format!(
            "{count} fields are given as field.NAME. A search has at most {max}."
        )));
    }
    Ok(())
}

/// Returns the error for a search by a field that does not exist, or by a value that the field cannot have.
fn field_error(problem: FieldProblem) -> ApiError {
    match problem {
        FieldProblem::Unknown(message) => ApiError::new(Problem::UnknownField, message),
        FieldProblem::Invalid(message) => invalid_parameter(message),
    }
}

/// Returns the error for an invalid parameter.
fn invalid_parameter(message: String) -> ApiError {
    ApiError::new(Problem::InvalidParameter, message)
}
