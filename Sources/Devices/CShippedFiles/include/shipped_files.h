// Patterns, profiles and the parts of pages as they stand in the checkout, in tables.
#pragma once

struct temblor_file {
  const char *name;  // as in its folder; null behind the last one
  const char *text;  // ends at its first zero byte where it has no size
  unsigned long size;
};

// In the order in which they are listed.
extern const struct temblor_file *const temblor_patterns;
extern const struct temblor_file *const temblor_profiles;
extern const struct temblor_file *const temblor_page;
