//! Phrases: the texts that a person types to find animals, by words of names and values, by numbers, and by unique
//! values.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use super::{
    Choices, FieldDefinition, FieldSet, FieldValue, FieldValues, NamePrefix, RequestedValue,
    ValueFilter, kind::is_text, name_keys, value_keys,
};
use crate::{PetId, PetName};

/// A search text of 1 to [`Phrase::MAX_LENGTH`] characters, one of them visible, without U+0000, and of at most
/// [`Phrase::MAX_WORDS`] words.
///
/// The fields of the store decide what the text means: see [`Phrase::meaning`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase {
    text: String,
    is_public: bool,
}

/// The meaning of a phrase among the fields of a store: an animal matches if it has all words, or one of the unique
/// values.
///
/// For example, `brown 981000000001` finds the animals that have both words, and also the animal with the unique
/// microchip `981000000001`.
#[derive(Debug)]
pub struct PhraseMeaning {
    pub words: Vec<PhraseWord>,
    pub unique: Vec<ValueFilter>,
    /// The names of the fields with values that can have the words.
    word_fields: Vec<String>,
}

/// A word of a phrase. An animal has the word in its name, in a value or in a label, or the word is its number.
#[derive(Debug)]
pub struct PhraseWord {
    pub prefix: NamePrefix,
    /// Whether it has no letters and digits. Such a word is only searched for in names.
    pub(crate) is_of_signs: bool,
    /// The animal whose number it is, written as `7` or `#7`.
    pub id: Option<PetId>,
    /// The choices with a label that has the word.
    pub labelled: Vec<ValueFilter>,
}

impl Phrase {
    /// The maximum length, in characters.
    pub const MAX_LENGTH: usize = 64;
    pub const MAX_WORDS: usize = 16;

    /// The rule for the text.
    pub const RULE: &str = "a text of 1 to 64 characters and at most 16 words, one of the characters \
                            visible, and without U+0000";

    /// Returns the phrase, without white space around it. `None` if the text does not follow [`Phrase::RULE`].
    pub fn new(text: &str) -> Option<Self> {
        let is_valid = is_text(text, Self::MAX_LENGTH)
            && text.split_whitespace().nth(Self::MAX_WORDS).is_none();
        is_valid.then(|| Self {
            text: text.trim().to_owned(),
            is_public: false,
        })
    }

    /// Returns the text as the person typed it, without white space around it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns a phrase that finds only what everybody may see: no value of a field that is not public.
    pub fn public(self) -> Self {
        Self {
            is_public: true,
            ..self
        }
    }

    /// Returns what the phrase means in a store with these fields.
    pub fn meaning(&self, fields: &FieldSet) -> PhraseMeaning {
        let searched_fields: Vec<&FieldDefinition> = fields
            .all()
            .iter()
            .filter(|field| field.is_public || !self.is_public)
            .collect();

        let mut words = self.words();
        for field in &searched_fields {
            add_labelled_choices(&mut words, field);
        }

        let word_fields = searched_fields
            .iter()
            .filter(|field| field.kind.has_words())
            .map(|field| field.name.as_str().to_owned())
            .collect();
        PhraseMeaning {
            words,
            unique: self.unique_values(&searched_fields),
            word_fields,
        }
    }

    /// Returns the different words, or the whole text as one word if it has no letters and digits.
    fn words(&self) -> Vec<PhraseWord> {
        let mut words: Vec<PhraseWord> = Vec::new();
        for text in self.text.split_whitespace() {
            let Some(word) = PhraseWord::new(text) else {
                continue;
            };
            // The same word twice finds nothing else, and costs as much again.
            let is_repeated = words
                .iter()
                .any(|earlier| earlier.prefix == word.prefix && earlier.id == word.id);
            if !is_repeated {
                words.push(word);
            }
        }
        if words.is_empty() {
            words.push(PhraseWord::from_signs(&self.text));
        }
        words
    }

    /// Returns the values of unique fields that a word, or the whole text, can be.
    fn unique_values(&self, searched_fields: &[&FieldDefinition]) -> Vec<ValueFilter> {
        let mut filters = Vec::new();
        for field in searched_fields {
            if !field.is_unique {
                continue;
            }
            for text in self.text.split_whitespace().chain([self.as_str()]) {
                if let RequestedValue::Set(value) = field.parse_cell(text) {
                    filters.extend(ValueFilter::new(field, &value));
                }
            }
        }
        filters.dedup();
        filters
    }
}

/// Adds to each word the choices of a field with a label that has the word.
///
/// If the choice `siamese_cat` has the label "Siamese", the word `siam` gets it.
fn add_labelled_choices(words: &mut [PhraseWord], field: &FieldDefinition) {
    for (value, label) in field.choices.iter().flat_map(Choices::labels) {
        let label_keys = name_keys(label);
        let value = FieldValue::Text(value.clone());
        for word in words.iter_mut() {
            if !word.is_of_signs && word.prefix.begins_any(&label_keys) {
                word.labelled.extend(ValueFilter::new(field, &value));
            }
        }
    }
}

impl PhraseWord {
    /// Returns the word; `None` if the text has no letters and digits.
    fn new(text: &str) -> Option<Self> {
        let prefix = NamePrefix::from_word(text)?;
        Some(Self {
            prefix,
            is_of_signs: false,
            id: parse_number(text),
            labelled: Vec::new(),
        })
    }

    /// Returns the word for a text without letters and digits, such as `:-)`.
    fn from_signs(text: &str) -> Self {
        Self {
            prefix: NamePrefix::from_beginning(text),
            is_of_signs: true,
            id: None,
            labelled: Vec::new(),
        }
    }
}

/// Returns the animal with the number in a text such as `7` or `#7`. A number has one spelling, so `07` is none.
fn parse_number(text: &str) -> Option<PetId> {
    let digits = text.strip_prefix('#').unwrap_or(text);
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    if !is_number {
        return None;
    }
    PetId::new(digits.parse().ok()?)
}

impl PhraseMeaning {
    /// Whether this word is searched for in the values of a field. An empty name stands for the names of animals.
    pub fn searches(&self, field: &str, word: &PhraseWord) -> bool {
        field.is_empty() || !word.is_of_signs && self.word_fields.iter().any(|name| name == field)
    }

    /// Whether an animal has all words, or one of the unique values.
    pub fn matches(&self, id: PetId, name: &PetName, values: &FieldValues) -> bool {
        self.unique.iter().any(|filter| filter.matches(values))
            || self
                .words
                .iter()
                .all(|word| self.word_matches(word, id, name, values))
    }

    /// Whether a word is the number of an animal, or is in its name, in one of its values or in a label of its choices.
    fn word_matches(
        &self,
        word: &PhraseWord,
        id: PetId,
        name: &PetName,
        values: &FieldValues,
    ) -> bool {
        word.id == Some(id)
            || word.prefix.finds(name.as_str())
            || word.labelled.iter().any(|filter| filter.matches(values))
            || values
                .iter()
                .any(|(field, value)| self.value_has_word(field, value, word))
    }

    fn value_has_word(&self, field: &str, value: &FieldValue, word: &PhraseWord) -> bool {
        match value {
            FieldValue::Text(text) if self.searches(field, word) => {
                word.prefix.begins_any(&value_keys(text))
            }
            _ => false,
        }
    }
}
