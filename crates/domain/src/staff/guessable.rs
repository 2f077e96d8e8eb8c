//! Detection of passwords that are easy to guess: common passwords, and known words with digits
//! around them.
//!
//! NIST SP 800-63B, section 3.1.1.2, requires a blocklist of common passwords, dictionary words and
//! words from the context. Published lists of passwords cover few of the console's languages, so
//! this module mostly lists words, and ignores the digits around them. A known word is a common
//! word or a word from the context: a part of the given names, or `petstore`.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// The most common passwords that have the minimum length, one per line.
pub(super) const COMMON_PASSWORDS: &str = include_str!("common-passwords.txt");

/// The words that occur most often in passwords, in English, German, French and Spanish: in lower
/// case, without accents, one per line.
const COMMON_WORDS: &str = include_str!("common-words.txt");

/// The minimum number of letters outside of known words that makes a password acceptable.
const MIN_OTHER_LETTERS: usize = 6;

/// The minimum length of a part of a name that counts as a known word.
const MIN_NAME_PART: usize = 4;

/// Digits and symbols, each with the letter for which people write them ("leet"). A `1` is not
/// among them, because it can stand for two letters: see [`letter_for`].
const LEET: [(char, char); 8] = [
    ('0', 'o'),
    ('3', 'e'),
    ('4', 'a'),
    ('5', 's'),
    ('7', 't'),
    ('@', 'a'),
    ('$', 's'),
    ('!', 'i'),
];

/// Whether a password is common, repeats one character, or consists mostly of known words.
///
/// For example, `Passwort12345` and `p4ssw0rd!2026` contain no letters besides a common word.
pub(super) fn is_easy_to_guess(password: &str, names: &[&str]) -> bool {
    let lower_case = password.to_lowercase();
    let mut characters = lower_case.chars();
    let first = characters.next();
    let is_one_character = characters.all(|character| Some(character) == first);

    is_one_character
        || COMMON_PASSWORDS.lines().any(|common| common == lower_case)
        || has_few_other_letters(&lower_case, names)
}

/// Whether a password contains a known word, and few letters besides known words.
fn has_few_other_letters(password: &str, names: &[&str]) -> bool {
    let plain_password: Vec<char> = without_accents(password).collect();
    let is_in_word = find_known_words(&plain_password, &known_words(names));

    let mut other_letters = 0;
    for (character, is_known) in plain_password.iter().zip(&is_in_word) {
        if character.is_alphabetic() && !is_known {
            other_letters += 1;
        }
    }
    is_in_word.contains(&true) && other_letters < MIN_OTHER_LETTERS
}

/// Returns the words that count as known: `petstore`, the common words, and the words of the names.
fn known_words(names: &[&str]) -> Vec<Vec<char>> {
    let mut words: Vec<Vec<char>> = vec!["petstore".chars().collect()];
    words.extend(COMMON_WORDS.lines().map(|word| word.chars().collect()));
    for name in names {
        words.extend(words_of_name(name));
    }
    words
}

/// Returns for each character of a password whether it belongs to one of the words, as written or
/// with digits and symbols in place of letters.
fn find_known_words(password: &[char], words: &[Vec<char>]) -> Vec<bool> {
    let mut is_in_word = vec![false; password.len()];
    // A `1` can stand for either letter, so both spellings are searched for words.
    for letter_for_one in ['i', 'l'] {
        let without_leet: Vec<char> = password
            .iter()
            .map(|&character| letter_for(character, letter_for_one))
            .collect();
        for word in words {
            mark_word(password, word, &mut is_in_word);
            mark_word(&without_leet, word, &mut is_in_word);
        }
    }
    is_in_word
}

/// Marks the characters of each occurrence of a word in a text.
fn mark_word(text: &[char], word: &[char], is_in_word: &mut [bool]) {
    // `windows` panics for the length 0. A name without letters yields an empty word, which matches
    // nothing.
    for (start, window) in text.windows(word.len().max(1)).enumerate() {
        if window == word {
            is_in_word[start..start + word.len()].fill(true);
        }
    }
}

/// Returns the known words from a name: the whole name, with and without spaces and punctuation,
/// and its longer parts. They are in lower case and without accents.
fn words_of_name(name: &str) -> Vec<Vec<char>> {
    let lower_case = name.to_lowercase();
    let plain_name: String = without_accents(&lower_case).collect();
    let letters_and_digits: Vec<char> = plain_name
        .chars()
        .filter(|character| character.is_alphanumeric())
        .collect();
    let mut words = vec![plain_name.chars().collect(), letters_and_digits];
    for part in plain_name.split(|character: char| !character.is_alphanumeric()) {
        if part.chars().count() >= MIN_NAME_PART {
            words.push(part.chars().collect());
        }
    }
    words
}

/// Removes the accents from a text: `contrasena` for `contraseña`.
fn without_accents(text: &str) -> impl Iterator<Item = char> {
    text.nfd()
        .filter(|character| !is_combining_mark(*character))
}

/// Returns the letter for which a digit or symbol stands. A `1` becomes `letter_for_one`. Other
/// characters are returned unchanged.
fn letter_for(character: char, letter_for_one: char) -> char {
    if character == '1' {
        return letter_for_one;
    }
    match LEET.iter().find(|(symbol, _)| *symbol == character) {
        Some((_, letter)) => *letter,
        None => character,
    }
}
