//! One campaign of the parts that several machines ran.
//!
//! [`parts`] reads parts and refuses those that do not belong together, [`folder`] makes the folder of the whole with
//! all their runs, and [`gaps`] states what of the whole is missing. What came of the whole is reported by what reports
//! a campaign that one machine ran.

pub mod folder;
pub mod gaps;
pub mod parts;
