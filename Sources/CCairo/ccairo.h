#pragma once
#include <cairo/cairo-pdf.h>
#include <cairo/cairo-svg.h>
#include <cairo/cairo.h>
#include <dlfcn.h>
#include <stddef.h>

// The functions that pictures need, without their "cairo_". The library is opened when the first picture is drawn:
// linking it would let every start of a program wait for it.
#define TEMBLOR_CAIRO_FUNCTIONS(each)                                                                                  \
  each(arc) each(clip) each(close_path) each(create) each(destroy) each(fill_preserve) each(image_surface_create)      \
  each(image_surface_get_data) each(image_surface_get_stride) each(line_to) each(mask_surface) each(move_to)           \
  each(new_path) each(pattern_add_color_stop_rgba) each(pattern_create_linear) each(pattern_destroy)                   \
  each(pdf_surface_create_for_stream) each(pdf_surface_set_metadata) each(rectangle) each(restore) each(save)          \
  each(scale) each(select_font_face) each(set_dash) each(set_font_size) each(set_line_cap) each(set_line_join)         \
  each(set_line_width) each(set_source) each(set_source_rgba) each(show_text) each(status) each(status_to_string)      \
  each(stroke_preserve) each(surface_destroy) each(surface_finish) each(surface_flush) each(surface_mark_dirty)        \
  each(surface_status) each(surface_write_to_png_stream) each(text_extents) each(translate)

typedef struct {
#define TEMBLOR_MEMBER(name) __typeof__(&cairo_##name) name;
  TEMBLOR_CAIRO_FUNCTIONS(TEMBLOR_MEMBER)
#undef TEMBLOR_MEMBER
} temblor_cairo_functions;

// Looks all functions up in an open library; returns the name of one that is missing, or NULL.
static inline const char *temblor_cairo_load(void *library, temblor_cairo_functions *functions) {
#define TEMBLOR_LOAD(name)                                                                                             \
  if (!(functions->name = (__typeof__(&cairo_##name))dlsym(library, "cairo_" #name))) return "cairo_" #name;
  TEMBLOR_CAIRO_FUNCTIONS(TEMBLOR_LOAD)
#undef TEMBLOR_LOAD
  return NULL;
}
