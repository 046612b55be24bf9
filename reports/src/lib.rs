//! Results of a run as HTML and PNG.
