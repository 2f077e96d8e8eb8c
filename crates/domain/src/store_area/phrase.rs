//! Free-text search for animals: by words in names and values, by number, and by the values of
//! unique fields.
//!
//! A [`Phrase`] is the text that somebody enters. For the fields of a store, it is interpreted as a
//! [`PhraseMeaning`], which decides which animals match.

use super::{
    EverydayWord, FieldDefinition, FieldSet, FieldValue, FieldValues, NamePrefix, Property,
    RequestedValue, ValueFilter, name_keys, valid_text::is_text, value_keys,
};
use crate::{PetId, PetName};

/// A search text of 1 to [`Phrase::MAX_LENGTH`] characters and at most [`Phrase::MAX_WORDS`] words,
/// with at least one visible character and without U+0000.
///
/// What the text matches depends on the fields of the store: see [`Phrase::interpret`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase {
    text: String,
    /// Whether only values that the public may see are searched.
    only_public: bool,
    /// The words that have a meaning beyond their literal text, in the order of the phrase.
    everyday_words: Vec<EverydayWord>,
}

/// A phrase, interpreted for the fields of a store. An animal matches if it has all words, or one
/// of the unique values.
///
/// For example, `brown 981000000001` finds the animals that have both words, and also the animal
/// whose unique microchip number is `981000000001`.
#[derive(Debug)]
pub struct PhraseMeaning {
    /// The words, all of which an animal must have.
    pub words: Vec<PhraseWord>,
    /// The values of unique fields, one of which is enough.
    pub unique_values: Vec<ValueFilter>,
    /// The names of the fields whose values are searched for words.
    word_fields: Vec<String>,
}

/// A word of a phrase. It matches an animal if it occurs in the name, in a value or in the label of
/// a choice. It also matches the animal whose number it is.
#[derive(Debug)]
pub struct PhraseWord {
    /// The text with which a word of a name or value must begin.
    pub prefix: NamePrefix,
    /// Whether the word consists only of symbols, without letters and digits. Such a word is
    /// searched for only in names.
    pub(crate) is_symbols_only: bool,
    /// The animal with this number, if the word is a number such as `7` or `#7`.
    pub id: Option<PetId>,
    /// The choices whose labels contain the word.
    pub labelled_choices: Vec<ValueFilter>,
    /// The properties that the word describes. An animal that has all of them matches, even if the
    /// word itself does not occur. Empty if the word describes no property.
    pub properties: Vec<Property>,
    /// The stem of an inflected word: values that begin with it match, too.
    pub stem: Option<NamePrefix>,
}

impl Phrase {
    /// The maximum length, in characters.
    pub const MAX_LENGTH: usize = 64;
    /// The maximum number of words.
    pub const MAX_WORDS: usize = 16;

    /// The rule for the text, as error messages state it.
    pub const RULE: &str = "a text of 1 to 64 characters and at most 16 words, one of the characters \
                            visible, and without U+0000";

    /// Validates and trims a search text; `None` if it does not follow [`Phrase::RULE`].
    pub fn new(text: &str) -> Option<Self> {
        let is_valid = is_text(text, Self::MAX_LENGTH)
            && text.split_whitespace().nth(Self::MAX_WORDS).is_none();
        is_valid.then(|| Self {
            text: text.trim().to_owned(),
            only_public: false,
            everyday_words: Vec::new(),
        })
    }

    /// Returns the text as it was entered, but trimmed.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Restricts the phrase to the values that the public may see: the values of public fields.
    pub fn public(self) -> Self {
        Self {
            only_public: true,
            ..self
        }
    }

    /// Whether the phrase searches only values that the public may see.
    pub fn is_public(&self) -> bool {
        self.only_public
    }

    /// Returns the words of the text, separated by whitespace. [`EverydayWord::first_word`] is an
    /// index into them.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.text.split_whitespace()
    }

    /// Adds the meanings of everyday words.
    pub fn with_everyday_words(self, everyday_words: Vec<EverydayWord>) -> Self {
        Self {
            everyday_words,
            ..self
        }
    }

    /// Returns which animals the phrase finds in a store with these fields.
    pub fn interpret(&self, fields: &FieldSet) -> PhraseMeaning {
        let mut searched_fields: Vec<&FieldDefinition> = fields.all().iter().collect();
        if self.only_public {
            searched_fields.retain(|field| field.is_public);
        }

        let mut words = self.distinct_words();
        let mut word_fields = Vec::new();
        for field in &searched_fields {
            // A word also finds the choices that have it in their labels.
            add_labelled_choices(&mut words, field);
            if field.kind.has_words() {
                word_fields.push(field.name.as_str().to_owned());
            }
        }
        PhraseMeaning {
            words,
            unique_values: self.unique_value_filters(&searched_fields),
            word_fields,
        }
    }

    /// Returns the distinct words of the phrase. The words that belong to one [`EverydayWord`] are
    /// joined. If no word has letters or digits, the whole phrase is one word.
    fn distinct_words(&self) -> Vec<PhraseWord> {
        let texts: Vec<&str> = self.words().collect();
        let mut words: Vec<PhraseWord> = Vec::new();
        let mut position = 0;
        while position < texts.len() {
            let everyday_word = self.everyday_word_at(position);
            let text_count = everyday_word.map_or(1, |word| word.word_count.max(1));
            let end = texts.len().min(position + text_count);
            let joined_text = texts[position..end].concat();
            position = end;

            let Some(mut word) = PhraseWord::new(&joined_text) else {
                continue;
            };
            if let Some(everyday_word) = everyday_word {
                word.properties = everyday_word.properties.clone();
                word.stem = everyday_word.stem.clone();
            }
            // A repeated word would double the cost without changing the result.
            let is_repeated = words
                .iter()
                .any(|earlier| earlier.prefix == word.prefix && earlier.id == word.id);
            if !is_repeated {
                words.push(word);
            }
        }

        if words.is_empty() {
            words.push(PhraseWord::from_symbols(&self.text));
        }
        words
    }

    /// Returns the everyday word that begins at this position in the phrase.
    fn everyday_word_at(&self, position: usize) -> Option<&EverydayWord> {
        self.everyday_words
            .iter()
            .find(|word| word.first_word == position)
    }

    /// Returns filters for the values of unique fields, for each word and for the whole text.
    fn unique_value_filters(&self, searched_fields: &[&FieldDefinition]) -> Vec<ValueFilter> {
        let mut filters = Vec::new();
        for field in searched_fields {
            if !field.is_unique {
                continue;
            }
            for text in self.words().chain([self.as_str()]) {
                if let RequestedValue::Set(value) = field.parse_cell(text) {
                    filters.extend(ValueFilter::new(field, &value));
                }
            }
        }
        // If the phrase is a single word, the word and the whole text give the same filter.
        filters.dedup();
        filters
    }
}

/// Adds to each word the choices of a field whose labels contain the word.
///
/// For example, the word `siam` gets the choice `siamese_cat` with the label "Siamese".
fn add_labelled_choices(words: &mut [PhraseWord], field: &FieldDefinition) {
    let Some(choices) = &field.choices else {
        return;
    };
    for (value, label) in choices.labels() {
        let label_keys = name_keys(label);
        let value = FieldValue::Text(value.clone());
        for word in words.iter_mut() {
            if !word.is_symbols_only && word.matches_any_key(&label_keys) {
                word.labelled_choices
                    .extend(ValueFilter::new(field, &value));
            }
        }
    }
}

impl PhraseWord {
    /// Creates a word; `None` if the text has no letters or digits.
    fn new(text: &str) -> Option<Self> {
        let prefix = NamePrefix::from_word(text)?;
        Some(Self {
            prefix,
            is_symbols_only: false,
            id: parse_number(text),
            labelled_choices: Vec::new(),
            properties: Vec::new(),
            stem: None,
        })
    }

    /// Creates a word from a text without letters and digits, such as `:-)`.
    fn from_symbols(text: &str) -> Self {
        Self {
            prefix: NamePrefix::from_beginning(text),
            is_symbols_only: true,
            id: None,
            labelled_choices: Vec::new(),
            properties: Vec::new(),
            stem: None,
        }
    }

    /// Whether one of the keys of a value or a label begins with the word or its stem.
    fn matches_any_key(&self, keys: &[String]) -> bool {
        let has_stem = self
            .stem
            .as_ref()
            .is_some_and(|stem| stem.is_prefix_of_any(keys));
        has_stem || self.prefix.is_prefix_of_any(keys)
    }

    /// Whether the word describes properties, and an animal in this category, with these values,
    /// has all of them.
    fn has_properties(&self, category_id: i64, values: &FieldValues) -> bool {
        !self.properties.is_empty()
            && self
                .properties
                .iter()
                .all(|property| property.matches(category_id, values))
    }
}

/// Parses the number of an animal, such as `7` or `#7`; `None` for any other text. Leading zeros
/// are rejected, so `07` is not a number.
fn parse_number(text: &str) -> Option<PetId> {
    let digits = text.strip_prefix('#').unwrap_or(text);
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    if !is_number {
        return None;
    }
    PetId::new(digits.parse().ok()?)
}

impl PhraseMeaning {
    /// Whether this word is searched for in the values of a field. The search index has the names
    /// of animals under an empty field name, which no field has.
    pub fn searches(&self, field: &str, word: &PhraseWord) -> bool {
        if field.is_empty() {
            return true;
        }
        !word.is_symbols_only && self.word_fields.iter().any(|name| name == field)
    }

    /// Whether an animal matches all words, or has one of the unique values.
    pub fn matches(
        &self,
        id: PetId,
        category_id: i64,
        name: &PetName,
        values: &FieldValues,
    ) -> bool {
        if self
            .unique_values
            .iter()
            .any(|filter| filter.matches(values))
        {
            return true;
        }
        self.words.iter().all(|word| {
            word.has_properties(category_id, values) || self.word_matches(word, id, name, values)
        })
    }

    /// Whether a word is the animal's number, or occurs in its name, in one of its values, or in
    /// the label of one of its choices.
    fn word_matches(
        &self,
        word: &PhraseWord,
        id: PetId,
        name: &PetName,
        values: &FieldValues,
    ) -> bool {
        word.id == Some(id)
            || word.prefix.finds(name.as_str())
            || word
                .labelled_choices
                .iter()
                .any(|filter| filter.matches(values))
            || values
                .iter()
                .any(|(field, value)| self.value_has_word(field, value, word))
    }

    /// Whether a word occurs in the value of a field that is searched for words.
    fn value_has_word(&self, field: &str, value: &FieldValue, word: &PhraseWord) -> bool {
        match value {
            FieldValue::Text(text) if self.searches(field, word) => {
                word.matches_any_key(&value_keys(text))
            }
            _ => false,
        }
    }
}
