#include "cuinput.h"

#include <string.h>
#include <sys/ioctl.h>

#define BITS(count) (((count) + 8 * sizeof(long)) / (8 * sizeof(long)))

static int has(const unsigned long *bits, int bit) {
  return bits[bit / (8 * sizeof(long))] >> (bit % (8 * sizeof(long))) & 1;
}

/// Force feedback, the name and the ids; what all pads have.
static int finish(int descriptor, struct uinput_setup *setup) {
  static const int effects[] = {FF_RUMBLE, FF_PERIODIC, FF_SQUARE, FF_TRIANGLE, FF_SINE,
                                FF_SAW_UP, FF_SAW_DOWN, FF_CONSTANT, FF_RAMP, FF_GAIN};
  if (ioctl(descriptor, UI_SET_EVBIT, EV_FF) < 0) return -1;
  for (unsigned index = 0; index < sizeof effects / sizeof *effects; index++)
    if (ioctl(descriptor, UI_SET_FFBIT, effects[index]) < 0) return -1;
  setup->ff_effects_max = 16;
  if (ioctl(descriptor, UI_DEV_SETUP, setup) < 0) return -1;
  return ioctl(descriptor, UI_DEV_CREATE);
}

static int add_axis(int descriptor, unsigned short code, const struct input_absinfo *range) {
  struct uinput_abs_setup axis = {.code = code, .absinfo = *range};
  return ioctl(descriptor, UI_ABS_SETUP, &axis);
}

int cuinput_make_pad(int descriptor, const char *name, unsigned short vendor, unsigned short product) {
  static const int buttons[] = {BTN_A, BTN_B, BTN_X, BTN_Y, BTN_TL, BTN_TR, BTN_SELECT, BTN_START, BTN_MODE,
                                BTN_THUMBL, BTN_THUMBR};
  static const int axes[] = {ABS_X, ABS_Y, ABS_RX, ABS_RY, ABS_Z, ABS_RZ, ABS_HAT0X, ABS_HAT0Y};
  struct uinput_setup setup = {.id = {.bustype = BUS_USB, .vendor = vendor, .product = product, .version = 0x110}};
  strncpy(setup.name, name, sizeof setup.name - 1);
  if (ioctl(descriptor, UI_SET_EVBIT, EV_KEY) < 0 || ioctl(descriptor, UI_SET_EVBIT, EV_ABS) < 0) return -1;
  for (unsigned index = 0; index < sizeof buttons / sizeof *buttons; index++)
    if (ioctl(descriptor, UI_SET_KEYBIT, buttons[index]) < 0) return -1;
  for (unsigned index = 0; index < sizeof axes / sizeof *axes; index++) {
    // Sticks, triggers, and a cross.
    const struct input_absinfo range = index < 4   ? (struct input_absinfo){.minimum = -32768, .maximum = 32767}
                                       : index < 6 ? (struct input_absinfo){.maximum = 255}
                                                   : (struct input_absinfo){.minimum = -1, .maximum = 1};
    if (add_axis(descriptor, axes[index], &range) < 0) return -1;
  }
  return finish(descriptor, &setup);
}

int cuinput_copy_pad(int descriptor, int original) {
  unsigned long keys[BITS(KEY_MAX)] = {0}, axes[BITS(ABS_MAX)] = {0};
  struct uinput_setup setup = {0};
  if (ioctl(original, EVIOCGID, &setup.id) < 0) return -1;
  if (ioctl(original, EVIOCGNAME(sizeof setup.name - 1), setup.name) < 0) return -1;
  if (ioctl(original, EVIOCGBIT(EV_KEY, sizeof keys), keys) < 0) return -1;
  if (ioctl(original, EVIOCGBIT(EV_ABS, sizeof axes), axes) < 0) return -1;
  if (ioctl(descriptor, UI_SET_EVBIT, EV_KEY) < 0 || ioctl(descriptor, UI_SET_EVBIT, EV_ABS) < 0) return -1;
  for (int key = 0; key <= KEY_MAX; key++)
    if (has(keys, key) && ioctl(descriptor, UI_SET_KEYBIT, key) < 0) return -1;
  for (int code = 0; code <= ABS_MAX; code++) {
    struct input_absinfo range;
    if (!has(axes, code)) continue;
    if (ioctl(original, EVIOCGABS(code), &range) < 0 || add_axis(descriptor, code, &range) < 0) return -1;
  }
  if (finish(descriptor, &setup) < 0) return -1;
  return ioctl(original, EVIOCGRAB, 1);
}

int cuinput_begin_upload(int descriptor, unsigned request, struct cuinput_effect *effect) {
  struct uinput_ff_upload upload = {.request_id = request};
  if (ioctl(descriptor, UI_BEGIN_FF_UPLOAD, &upload) < 0) return -1;
  const struct ff_effect *given = &upload.effect;
  struct ff_envelope envelope = {0};
  *effect = (struct cuinput_effect){
      .type = given->type, .id = given->id, .length = given->replay.length, .delay = given->replay.delay};
  switch (given->type) {
  case FF_RUMBLE:
    effect->first = given->u.rumble.strong_magnitude;
    effect->second = given->u.rumble.weak_magnitude;
    break;
  case FF_PERIODIC:
    effect->first = given->u.periodic.magnitude;
    effect->period = given->u.periodic.period;
    envelope = given->u.periodic.envelope;
    break;
  case FF_CONSTANT:
    effect->first = given->u.constant.level;
    envelope = given->u.constant.envelope;
    break;
  case FF_RAMP:
    effect->first = given->u.ramp.start_level;
    effect->second = given->u.ramp.end_level;
    envelope = given->u.ramp.envelope;
    break;
  }
  effect->attack_length = envelope.attack_length;
  effect->attack_level = envelope.attack_level;
  effect->fade_length = envelope.fade_length;
  effect->fade_level = envelope.fade_level;
  return 0;
}

int cuinput_end_upload(int descriptor, unsigned request, int result) {
  struct uinput_ff_upload upload = {.request_id = request, .retval = result};
  return ioctl(descriptor, UI_END_FF_UPLOAD, &upload);
}

int cuinput_erase(int descriptor, unsigned request) {
  struct uinput_ff_erase erase = {.request_id = request};
  if (ioctl(descriptor, UI_BEGIN_FF_ERASE, &erase) < 0) return -1;
  erase.retval = 0;
  return ioctl(descriptor, UI_END_FF_ERASE, &erase) < 0 ? -1 : (int)erase.effect_id;
}
