//! Passwords that somebody guesses first: common passwords, and common words with digits around them.
//!
//! NIST SP 800-63B, section 3.1.1.2, asks for a blocklist of common passwords, words of dictionaries and words of the
//! context. A list of passwords has few of the languages of the console, so the words are listed, and digits are not.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// The most common passwords that are long enough, one on each line.
pub(super) const COMMON_PASSWORDS: &str = include_str!("common-passwords.txt");

/// The words of which most common passwords consist, in English, German, French and Spanish: in lower case, without accents,
/// one on each line.
const COMMON_WORDS: &str = include_str!("common-words.txt");

/// The number of letters besides known words with which a password is hard to guess.
const MIN_OTHER_LETTERS: usize = 6;

/// The least length of a part of a name that counts as a known word.
const MIN_NAME_PART: usize = 4;

/// The letters that people write as digits and signs. A `1` is an `i` or an `l`.
const LEET: [(char, char); 9] = [
    ('0', 'o'),
    ('1', 'i'),
    ('3', 'e'),
    ('4', 'a'),
    ('5', 's'),
    ('7', 't'),
    ('@', 'a'),
    ('$', 's'),
    ('!', 'i'),
];

/// Whether a password is common, repeats one character, or is little more than common words, these names and `petstore`.
///
/// Example: `Passwort12345` and `p4ssw0rd!2026` have no letters besides a common word.
pub(super) fn is_easy_to_guess(password: &str, names: &[&str]) -> bool {
    let lower_case = password.to_lowercase();
    let mut characters = lower_case.chars();
    let first = characters.next();
    let is_one_character = characters.all(|character| Some(character) == first);

    is_one_character
        || COMMON_PASSWORDS.lines().any(|common| common == lower_case)
        || has_few_other_letters(&lower_case, names)
}

/// Whether a password has a known word, and few letters besides known words.
fn has_few_other_letters(password: &str, names: &[&str]) -> bool {
    let plain: Vec<char> = without_accents(password).collect();
    let mut words: Vec<Vec<char>> = vec!["petstore".chars().collect()];
    words.extend(COMMON_WORDS.lines().map(|word| word.chars().collect()));
    for name in names {
        words.extend(words_of_name(name));
    }
    // A long word comes before a word in it.
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));

    let mut is_in_word = vec![false; plain.len()];
    for ones in ['i', 'l'] {
        let spelled: Vec<char> = plain.iter().map(|&sign| letter_for(sign, ones)).collect();
        for word in &words {
            mark_word(&plain, word, &mut is_in_word);
            mark_word(&spelled, word, &mut is_in_word);
        }
    }

    let mut other_letters = 0;
    for (character, is_known) in plain.iter().zip(&is_in_word) {
        if character.is_alphabetic() && !is_known {
            other_letters += 1;
        }
    }
    is_in_word.contains(&true) && other_letters < MIN_OTHER_LETTERS
}

/// Marks the characters of each place at which a text has a word.
fn mark_word(text: &[char], word: &[char], is_in_word: &mut [bool]) {
    for (start, window) in text.windows(word.len().max(1)).enumerate() {
        if window == word {
            is_in_word[start..start + word.len()].fill(true);
        }
    }
}

/// Returns a name as a whole and its longer parts, in lower case and without accents.
fn words_of_name(name: &str) -> Vec<Vec<char>> {
    let lower_case = name.to_lowercase();
    let plain: String = without_accents(&lower_case).collect();
    let whole: Vec<char> = plain
        .chars()
        .filter(|sign| sign.is_alphanumeric())
        .collect();
    let mut words = vec![plain.chars().collect(), whole];
    for part in plain.split(|sign: char| !sign.is_alphanumeric()) {
        if part.chars().count() >= MIN_NAME_PART {
            words.push(part.chars().collect());
        }
    }
    words
}

/// Returns the characters of a text without their accents: `contrasena` for `contraseña`.
fn without_accents(text: &str) -> impl Iterator<Item = char> {
    text.nfd()
        .filter(|character| !is_combining_mark(*character))
}

/// Returns the letter that a digit or sign stands for, with `ones` for `1`. Other characters stay as they are.
fn letter_for(sign: char, ones: char) -> char {
    if sign == '1' {
        return ones;
    }
    let letter = LEET.iter().find(|(written, _)| *written == sign);
    letter.map_or(sign, |(_, letter)| *letter)
}
