//! Phrases: the texts that a person types to find animals, by words of names and values, by numbers, and by unique
//! values.

#![expect(missing_docs, reason = "a comment says what a name does not")]

use super::{
    Choices, EverydayWord, FieldDefinition, FieldSet, FieldValue, FieldValues, NamePrefix,
    Property, RequestedValue, ValueFilter, name_keys, valid_text::is_text, value_keys,
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
    /// The words with a further meaning, in the order of the phrase.
    everyday_words: Vec<EverydayWord>,
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
    /// The properties that an animal must all have to match without the letters of the word. Empty if there are none.
    pub properties: Vec<Property>,
    /// The beginning of values that match without the ending of the word.
    pub stem: Option<NamePrefix>,
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
            everyday_words: Vec::new(),
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

    /// Whether the phrase finds only what everybody may see.
    pub fn is_public(&self) -> bool {
        self.is_public
    }

    /// Returns the words of the text, by whose positions [`EverydayWord`] names them.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.text.split_whitespace()
    }

    /// Returns the phrase with further meanings of its words.
    pub fn with_everyday_words(self, everyday_words: Vec<EverydayWord>) -> Self {
        Self {
            everyday_words,
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

        let mut phrase_words = self.words();
        for field in &searched_fields {
            add_labelled_choices(&mut phrase_words, field);
        }

        let word_fields = searched_fields
            .iter()
            .filter(|field| field.kind.has_words())
            .map(|field| field.name.as_str().to_owned())
            .collect();
        PhraseMeaning {
            words: phrase_words,
            unique: self.unique_values(&searched_fields),
            word_fields,
        }
    }

    /// Returns the different words, or the whole text as one word if it has no letters and digits.
    fn words(&self) -> Vec<PhraseWord> {
        let mut words: Vec<PhraseWord> = Vec::new();
        let mut numbered_texts = self.texts().enumerate();
        while let Some((position, first_text)) = numbered_texts.next() {
            let everyday_word = self
                .everyday_words
                .iter()
                .find(|word| word.first_word == position);
            let mut text = first_text.to_owned();
            let further_count = everyday_word.map_or(0, |word| word.word_count.saturating_sub(1));
            for (_, further_text) in numbered_texts.by_ref().take(further_count) {
                text.push_str(further_text);
            }
            let Some(mut word) = PhraseWord::new(&text) else {
                continue;
            };
            if let Some(everyday_word) = everyday_word {
                word.properties = everyday_word.properties.clone();
                word.stem = everyday_word.stem.clone();
            }
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
            for text in self.texts().chain([self.as_str()]) {
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
            if !word.is_of_signs && word.begins_any_of_values(&label_keys) {
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
            properties: Vec::new(),
            stem: None,
        })
    }

    /// Returns the word for a text without letters and digits, such as `:-)`.
    fn from_signs(text: &str) -> Self {
        Self {
            prefix: NamePrefix::from_beginning(text),
            is_of_signs: true,
            id: None,
            labelled: Vec::new(),
            properties: Vec::new(),
            stem: None,
        }
    }

    /// Whether a key of a value or a label begins with the word, or with its stem.
    fn begins_any_of_values(&self, keys: &[String]) -> bool {
        let has_stem = || self.stem.as_ref().is_some_and(|stem| stem.begins_any(keys));
        self.prefix.begins_any(keys) || has_stem()
    }

    /// Whether an animal in this category has all properties of the word.
    fn has_properties(&self, category_id: i64, values: &FieldValues) -> bool {
        !self.properties.is_empty()
            && self
                .properties
                .iter()
                .all(|property| property.matches(category_id, values))
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
    pub fn matches(
        &self,
        id: PetId,
        category_id: i64,
        name: &PetName,
        values: &FieldValues,
    ) -> bool {
        self.unique.iter().any(|filter| filter.matches(values))
            || self.words.iter().all(|word| {
                word.has_properties(category_id, values)
                    || self.word_matches(word, id, name, values)
            })
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
                word.begins_any_of_values(&value_keys(text))
            }
            _ => false,
        }
    }
}
