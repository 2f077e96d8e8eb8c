//! The effects that a change of a field has on existing animals. A manager must confirm them before
//! the change is made.

use petstore_domain::store_area::{FieldDefinition, FieldSet, PetQuery};

use super::{category_names::largest_page_limit, field_form::choice_values, values::label_of};
use crate::prelude::*;

/// The number up to which affected animals are counted. Counting more would be slow, because it
/// reads each of them.
const MAX_COUNT: usize = 1_000;

/// The result of counting the values of a field that animals on offer have.
struct ValuesOnOffer {
    /// The number of checked animals that have a value.
    count: usize,
    /// Whether there are further animals on offer, which were not checked.
    has_more: bool,
}

/// An effect of a change of a field on existing animals.
pub(super) struct Effect {
    /// The question to ask if this is the only effect of the change.
    pub(super) question: String,
    /// The effect as a sentence.
    pub(super) sentence: String,
}

/// Finds the effects of changing `field` to `changed_field`: one for each removed choice that
/// animals still have, and one if the values of animals on offer become public.
pub(super) async fn find_effects(
    desk: &Desk<'_>,
    field: &FieldDefinition,
    changed_field: &FieldDefinition,
) -> Result<Vec<Effect>, ApiError> {
    let fields = desk.store().fields().await?;
    let mut effects = Vec::new();
    for choice in choice_values(field) {
        if choice_values(changed_field).contains(choice) {
            continue;
        }
        let count = count_pets_with_value(desk, &fields, field, choice).await?;
        if count > 0 {
            let choice_text = markup::readable(field.display_text(choice), SHORT_LENGTH);
            effects.push(Effect {
                question: texts().delete_choice(&choice_text),
                sentence: texts().choice_in_use(count, MAX_COUNT, &choice_text),
            });
        }
    }
    if changed_field.is_public && !field.is_public {
        let exposed = count_values_on_offer(desk, field).await?;
        // An animal that was not checked may have a value, too.
        let exposes_values = exposed.count > 0 || exposed.has_more;
        if exposes_values {
            effects.push(Effect {
                question: texts().show_field(&label_of(field)),
                sentence: texts().becomes_public(exposed.count, exposed.has_more),
            });
        }
    }
    Ok(effects)
}

/// Counts the animals with this value of a field. Stops after the page on which the count exceeds
/// [`MAX_COUNT`], so that a larger count is only a lower bound.
async fn count_pets_with_value(
    desk: &Desk<'_>,
    fields: &FieldSet,
    field: &FieldDefinition,
    value: &str,
) -> Result<usize, ApiError> {
    let Ok(value_filter) = fields.parse_filter(field.name.as_str(), value) else {
        // Somebody has deleted the field, so no animal has a value of it.
        return Ok(0);
    };
    let mut query = PetQuery {
        values: vec![value_filter],
        limit: largest_page_limit(),
        ..PetQuery::default()
    };
    let mut count = 0;
    while count <= MAX_COUNT {
        let (pets, next_position) = desk.store().list_store_pets(&query).await?;
        count += pets.len();
        query.after = next_position;
        if query.after.is_none() {
            break;
        }
    }
    Ok(count)
}

/// Counts the animals with a value of this field among the first animals on offer. Stops after the
/// page with the animal at position [`MAX_COUNT`].
async fn count_values_on_offer(
    desk: &Desk<'_>,
    field: &FieldDefinition,
) -> Result<ValuesOnOffer, ApiError> {
    let oldest_first = false;
    let mut count = 0;
    let mut checked_count = 0;
    let mut after = None;
    loop {
        let (pets, next_position) = desk
            .store()
            .list_on_offer(after, largest_page_limit(), oldest_first)
            .await?;
        checked_count += pets.len();
        for pet in &pets {
            if pet.fields.get(field.name.as_str()).is_some() {
                count += 1;
            }
        }
        after = next_position;
        if after.is_none() || checked_count >= MAX_COUNT {
            return Ok(ValuesOnOffer {
                count,
                has_more: after.is_some(),
            });
        }
    }
}
