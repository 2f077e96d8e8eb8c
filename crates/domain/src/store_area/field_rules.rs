//! The changes that a request about a field makes.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use super::{
    Act, ActType, Choices, FieldDefinition, FieldName, FieldSet, JournalSubject, Preconditions,
    SubjectKind,
};

/// A request of a client about a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldWish {
    /// That it is like this. The version does not count.
    Put(FieldDefinition),
    Delete(FieldName),
}

/// The act that follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldDecision {
    /// `None` if the field is already as it is wanted.
    pub change: Option<FieldChange>,
    /// For the audit trail.
    pub act: Option<Act>,
    /// Whether the field is new.
    pub is_new: bool,
    /// The field after the change; `None` if it is deleted.
    pub field: Option<FieldDefinition>,
}

/// A change of a field, which is valid while [`FieldSet::version`] is the one that was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldChange {
    pub seen_version: i64,
    pub name: FieldName,
    /// `None` if it is deleted.
    pub after: Option<FieldDefinition>,
    /// Whether it is only possible while no animal has a value: the field is deleted, or its kind or
    /// `unique` changes. Then `seen` is the version with which this was examined.
    pub must_be_unused: bool,
}

/// Why nothing is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldRefusal {
    NotFound,
    PreconditionRequired,
    /// The field has another version. `None` if it does not exist.
    PreconditionFailed(Option<Box<FieldDefinition>>),
    /// There are [`FieldDefinition::MAX`] fields.
    TooMany,
    /// An animal has a value.
    InUse(Box<FieldDefinition>),
}

/// Decides about a wish. The reason why nothing is changed is looked for in the order: not found,
/// precondition, state.
pub fn decide_field(
    wish: &FieldWish,
    preconditions: &Preconditions,
    present: &FieldSet,
) -> Result<FieldDecision, FieldRefusal> {
    let (FieldWish::Put(FieldDefinition { name, .. }) | FieldWish::Delete(name)) = wish;
    let before = present.find(name.as_str());
    if before.is_none() && matches!(wish, FieldWish::Delete(_)) {
        return Err(FieldRefusal::NotFound);
    }
    if !preconditions.are_given() {
        return Err(FieldRefusal::PreconditionRequired);
    }
    if !preconditions.hold_for(before.map(|field| field.version)) {
        return Err(FieldRefusal::PreconditionFailed(
            before.cloned().map(Box::new),
        ));
    }
    let after = match (wish, before) {
        (FieldWish::Put(wanted), Some(before)) => {
            let after = FieldDefinition {
                version: before.version,
                ..wanted.clone()
            };
            if after == *before {
                let field = Some(after);
                return Ok(FieldDecision {
                    change: None,
                    act: None,
                    is_new: false,
                    field,
                });
            }
            Some(FieldDefinition {
                version: before.version + 1,
                ..after
            })
        }
        (FieldWish::Put(_), None) if present.all().len() >= FieldDefinition::MAX => {
            return Err(FieldRefusal::TooMany);
        }
        (FieldWish::Put(wanted), None) => Some(FieldDefinition {
            version: 1,
            ..wanted.clone()
        }),
        (FieldWish::Delete(_), _) => None,
    };
    let act = match (before, &after) {
        (_, None) => before.map(|before| before.act(ActType::FieldDeleted)),
        (None, Some(after)) => Some(after.act(ActType::FieldAdded)),
        (Some(before), Some(after)) => Some(before.changed_to(after)),
    };
    let values_are_valid = |after: &FieldDefinition| {
        before.is_none_or(|before| (before.kind, before.is_unique) == (after.kind, after.is_unique))
    };
    let must_be_unused = !after.as_ref().is_some_and(values_are_valid);
    let change = FieldChange {
        seen_version: present.version,
        name: name.clone(),
        after: after.clone(),
        must_be_unused,
    };
    Ok(FieldDecision {
        change: Some(change),
        act,
        is_new: before.is_none(),
        field: after,
    })
}

impl FieldDefinition {
    /// Returns the change of it to another one: all that this is, and after `before.` what was
    /// different.
    fn changed_to(&self, after: &Self) -> Act {
        let [before, mut act] = [self, after].map(|field| field.act(ActType::FieldChanged));
        let is_known = |name: &str| before.details.iter().any(|(of, _)| of == name);
        let new = act.details.iter().filter(|(name, _)| !is_known(name));
        let new = new.map(|(name, _)| (name.clone(), String::new()));
        let different = before
            .details
            .iter()
            .filter(|one| !act.details.contains(one))
            .cloned();
        let old: Vec<_> = different.chain(new).collect();
        act.details.extend(
            old.into_iter()
                .map(|(name, old)| (format!("before.{name}").into(), old)),
        );
        act
    }

    /// Returns an act on it, with all that the audit trail shows.
    pub fn act(&self, kind: ActType) -> Act {
        let yes_or_no = |yes: bool| if yes { "true" } else { "false" }.to_owned();
        let mut details = vec![
            ("name".into(), self.name.as_str().to_owned()),
            ("label".into(), self.label.as_str().to_owned()),
            ("kind".into(), self.kind.as_str().to_owned()),
            ("public".into(), yes_or_no(self.is_public)),
            ("unique".into(), yes_or_no(self.is_unique)),
            ("position".into(), self.position.to_string()),
        ];
        let choices = self
            .choices
            .as_ref()
            .map(|choices| choices.values().join(", "));
        details.extend(choices.map(|choices| ("choices".into(), choices)));
        let labels = self.choices.iter().flat_map(Choices::labels);
        let labels: Vec<_> = labels
            .map(|(value, label)| format!("{value}: {label}"))
            .collect();
        if !labels.is_empty() {
            details.push(("choiceLabels".into(), labels.join(", ")));
        }
        let subject = JournalSubject {
            kind: SubjectKind::Field.into(),
            id: None,
        };
        Act {
            kind: kind.into(),
            subject,
            details,
        }
    }
}
