#pragma once
#include <dlfcn.h>
#include <stddef.h>

// What pictures need of Cairo 1.16, declared here, since Cairo's own headers bring those of X11 and GLib. The library is
// opened when the first picture is drawn: linking it would let every start of a program wait for it.

// Objects of the library.
typedef struct temblor_cairo_context cairo_t;
typedef struct temblor_cairo_pattern cairo_pattern_t;
typedef struct temblor_cairo_surface cairo_surface_t;

// Constants have the numbers of the library's binary interface; its other functions return further ones.
typedef enum {
  CAIRO_STATUS_SUCCESS = 0,
  CAIRO_STATUS_NO_MEMORY = 1,
  CAIRO_STATUS_WRITE_ERROR = 11,
  CAIRO_STATUS_INVALID_SIZE = 32,
} cairo_status_t;
typedef enum { CAIRO_FORMAT_RGB24 = 1, CAIRO_FORMAT_A8 = 2 } cairo_format_t;
typedef enum { CAIRO_LINE_CAP_BUTT = 0 } cairo_line_cap_t;
typedef enum { CAIRO_LINE_JOIN_ROUND = 1 } cairo_line_join_t;
typedef enum { CAIRO_FONT_SLANT_NORMAL = 0 } cairo_font_slant_t;
typedef enum { CAIRO_FONT_WEIGHT_NORMAL = 0, CAIRO_FONT_WEIGHT_BOLD = 1 } cairo_font_weight_t;
typedef enum { CAIRO_PDF_METADATA_TITLE = 0, CAIRO_PDF_METADATA_CREATE_DATE = 5 } cairo_pdf_metadata_t;

// In the units of the user's space.
typedef struct { double x_bearing, y_bearing, width, height, x_advance, y_advance; } cairo_text_extents_t;

typedef cairo_status_t (*cairo_write_func_t)(void *closure, const unsigned char *data, unsigned int length);

// The functions, without their "cairo_": result, name, parameters.
#define TEMBLOR_CAIRO_FUNCTIONS(F)                                                                                     \
  F(void, arc, (cairo_t *, double x, double y, double radius, double from, double to))                                 \
  F(void, clip, (cairo_t *))                                                                                           \
  F(void, close_path, (cairo_t *))                                                                                     \
  F(cairo_t *, create, (cairo_surface_t *))                                                                            \
  F(void, destroy, (cairo_t *))                                                                                        \
  F(void, fill_preserve, (cairo_t *))                                                                                  \
  F(cairo_surface_t *, image_surface_create, (cairo_format_t, int width, int height))                                  \
  F(unsigned char *, image_surface_get_data, (cairo_surface_t *))                                                      \
  F(int, image_surface_get_stride, (cairo_surface_t *))                                                                \
  F(void, line_to, (cairo_t *, double x, double y))                                                                    \
  F(void, mask_surface, (cairo_t *, cairo_surface_t *, double x, double y))                                            \
  F(void, move_to, (cairo_t *, double x, double y))                                                                    \
  F(void, new_path, (cairo_t *))                                                                                       \
  F(void, pattern_add_color_stop_rgba, (cairo_pattern_t *, double, double red, double green, double blue, double))     \
  F(cairo_pattern_t *, pattern_create_linear, (double x0, double y0, double x1, double y1))                            \
  F(void, pattern_destroy, (cairo_pattern_t *))                                                                        \
  F(cairo_surface_t *, pdf_surface_create_for_stream, (cairo_write_func_t, void *closure, double width, double height))\
  F(void, pdf_surface_set_metadata, (cairo_surface_t *, cairo_pdf_metadata_t, const char *text))                       \
  F(void, rectangle, (cairo_t *, double x, double y, double width, double height))                                     \
  F(void, restore, (cairo_t *))                                                                                        \
  F(void, save, (cairo_t *))                                                                                           \
  F(void, scale, (cairo_t *, double x, double y))                                                                      \
  F(void, select_font_face, (cairo_t *, const char *family, cairo_font_slant_t, cairo_font_weight_t))                  \
  F(void, set_dash, (cairo_t *, const double *lengths, int count, double offset))                                      \
  F(void, set_font_size, (cairo_t *, double size))                                                                     \
  F(void, set_line_cap, (cairo_t *, cairo_line_cap_t))                                                                 \
  F(void, set_line_join, (cairo_t *, cairo_line_join_t))                                                               \
  F(void, set_line_width, (cairo_t *, double width))                                                                   \
  F(void, set_source, (cairo_t *, cairo_pattern_t *))                                                                  \
  F(void, set_source_rgba, (cairo_t *, double red, double green, double blue, double opacity))                         \
  F(void, show_text, (cairo_t *, const char *utf8))                                                                    \
  F(cairo_status_t, status, (cairo_t *))                                                                               \
  F(const char *, status_to_string, (cairo_status_t))                                                                  \
  F(void, stroke_preserve, (cairo_t *))                                                                                \
  F(void, surface_destroy, (cairo_surface_t *))                                                                        \
  F(void, surface_finish, (cairo_surface_t *))                                                                         \
  F(void, surface_flush, (cairo_surface_t *))                                                                          \
  F(void, surface_mark_dirty, (cairo_surface_t *))                                                                     \
  F(cairo_status_t, surface_status, (cairo_surface_t *))                                                               \
  F(cairo_status_t, surface_write_to_png_stream, (cairo_surface_t *, cairo_write_func_t, void *closure))               \
  F(void, text_extents, (cairo_t *, const char *utf8, cairo_text_extents_t *extents))                                  \
  F(void, translate, (cairo_t *, double x, double y))

typedef struct {
#define TEMBLOR_MEMBER(result, name, parameters) result (*name) parameters;
  TEMBLOR_CAIRO_FUNCTIONS(TEMBLOR_MEMBER)
#undef TEMBLOR_MEMBER
} temblor_cairo_functions;

// Looks all functions up in an open library; returns the name of one that is missing, or NULL.
static inline const char *temblor_cairo_load(void *library, temblor_cairo_functions *functions) {
#define TEMBLOR_LOAD(result, name, parameters)                                                                         \
  if (!(functions->name = (result (*) parameters)dlsym(library, "cairo_" #name))) return "cairo_" #name;
  TEMBLOR_CAIRO_FUNCTIONS(TEMBLOR_LOAD)
#undef TEMBLOR_LOAD
  return NULL;
}
