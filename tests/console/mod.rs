//! The console, through the handler that its listener serves: who gets in, and what keeps others out.

mod account;
mod browser;
mod categories;
mod counter;
mod field_values;
mod fields;
mod forms;
mod frame;
mod guessing;
mod merging;
mod one_step;
mod origin;
mod pages;
mod paste;
mod photos;
mod putting_right;
mod reads;
mod second_factor;
mod session;
mod settings;
mod several;
mod sign_in_again;
