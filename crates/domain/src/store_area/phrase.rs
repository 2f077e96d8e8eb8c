//! What a person types to find animals: words of names and values, numbers, and unique values.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use super::{
    Choices, FieldSet, FieldValue, FieldValues, NamePrefix, RequestedValue, ValueFilter,
    kind::is_text, name_keys, value_keys,
};
use crate::{PetId, PetName};

/// A text of 1 to [`Phrase::LENGTH`] characters, one of them visible, without U+0000, and of at most
/// [`Phrase::MOST_WORDS`] words. Its meaning depends on the fields: see [`Phrase::among`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase {
    text: String,
    is_public: bool,
}

/// What a phrase means among fields. An animal has it if it has all words, or one of the unique values.
#[derive(Debug)]
pub struct PhraseMeaning {
    pub words: Vec<PhraseWord>,
    pub unique: Vec<ValueFilter>,
    /// The names of the fields whose words count.
    fields: Vec<String>,
}

/// A word of a phrase.
#[derive(Debug)]
pub struct PhraseWord {
    pub prefix: NamePrefix,
    /// Whether it has no letters and digits. Such a word is only searched for in names.
    pub(crate) is_of_signs: bool,
    /// The animal whose number it is.
    pub id: Option<PetId>,
    /// The choices whose label it finds.
    pub labelled: Vec<ValueFilter>,
}

impl Phrase {
    pub const MAX_LENGTH: usize = 64;
    pub const MAX_WORDS: usize = 16;

    /// The rule for the text.
    pub const RULE: &str = "a text of 1 to 64 characters and at most 16 words, one of the characters \
                          visible, and without U+0000";

    /// `None` if the text is not a phrase.
    pub fn new(text: &str) -> Option<Self> {
        let is_valid = is_text(text, Self::MAX_LENGTH)
            && text.split_whitespace().nth(Self::MAX_WORDS).is_none();
        is_valid.then(|| Self {
            text: text.trim().to_owned(),
            is_public: false,
        })
    }

    /// As it was typed, without white space around it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the same, but it finds only what everybody may see.
    pub fn public(self) -> Self {
        Self {
            is_public: true,
            ..self
        }
    }

    /// Its meaning among these fields.
    pub fn meaning(&self, fields: &FieldSet) -> PhraseMeaning {
        let seen = || {
            fields
                .all()
                .iter()
                .filter(|field| field.is_public || !self.is_public)
        };
        let parts = self.text.split_whitespace();
        let mut words: Vec<PhraseWord> = Vec::new();
        for word in parts.clone().filter_map(PhraseWord::new) {
            // The same word twice finds nothing else, and costs as much again.
            if !words
                .iter()
                .any(|known| known.prefix == word.prefix && known.id == word.id)
            {
                words.push(word);
            }
        }
        if words.is_empty() {
            let prefix = NamePrefix::from_beginning(&self.text);
            words.push(PhraseWord {
                prefix,
                is_of_signs: true,
                id: None,
                labelled: Vec::new(),
            });
        }
        for field in seen() {
            let labels = field.choices.iter().flat_map(Choices::labels);
            for (value, label) in labels {
                let keys = name_keys(label);
                let value = FieldValue::Text(value.clone());
                let finds =
                    |word: &&mut PhraseWord| !word.is_of_signs && word.prefix.begins_one(&keys);
                for word in words.iter_mut().filter(finds) {
                    word.labelled.extend(ValueFilter::new(field, &value));
                }
            }
        }
        let mut unique = Vec::new();
        for field in seen().filter(|field| field.is_unique) {
            for text in parts.clone().chain([self.as_str()]) {
                if let RequestedValue::Set(value) = field.parse_cell(text) {
                    unique.extend(ValueFilter::new(field, &value));
                }
            }
        }
        unique.dedup();
        let fields = seen().filter(|field| field.kind.has_words());
        let fields = fields.map(|field| field.name.as_str().to_owned()).collect();
        PhraseMeaning {
            words,
            unique,
            fields,
        }
    }
}

impl PhraseWord {
    /// `None` if the text has no letters and digits.
    fn new(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#').unwrap_or(text);
        // In one spelling.
        let is_number =
            digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
        let id = if is_number {
            digits.parse().ok().and_then(PetId::new)
        } else {
            None
        };
        let prefix = NamePrefix::from_word(text)?;
        Some(Self {
            prefix,
            is_of_signs: false,
            id,
            labelled: Vec::new(),
        })
    }
}

impl PhraseMeaning {
    /// Whether words of values of this field count. An empty name stands for the names of animals.
    pub fn searches(&self, field: &str, word: &PhraseWord) -> bool {
        field.is_empty() || !word.is_of_signs && self.fields.iter().any(|seen| seen == field)
    }

    /// Whether an animal has what is sought.
    pub fn matches(&self, id: PetId, name: &PetName, values: &FieldValues) -> bool {
        let has_word = |word: &PhraseWord| {
            let in_value = |(field, value): (&str, &FieldValue)| match value {
                FieldValue::Text(text) if self.searches(field, word) => {
                    word.prefix.begins_one(&value_keys(text))
                }
                _ => false,
            };
            word.id == Some(id)
                || word.prefix.finds(name.as_str())
                || word.labelled.iter().any(|value| value.matches(values))
                || values.iter().any(in_value)
        };
        self.unique.iter().any(|value| value.matches(values)) || self.words.iter().all(has_word)
    }
}
