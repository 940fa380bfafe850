/// A game as the kernel knows it: finds the pad, uploads effects, plays them, and dies with one of them playing.
#include <fcntl.h>
#include <linux/input.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int play(int pad, int id, int count) {
  struct input_event event = {.type = EV_FF, .code = id, .value = count};
  return write(pad, &event, sizeof event) == sizeof event ? 0 : -1;
}

int main(void) {
  int pad = -1;
  char name[80] = "";
  for (int index = 0; pad < 0 && index < 16; index++) {
    char path[40];
    snprintf(path, sizeof path, "/dev/input/event%d", index);
    pad = open(path, O_RDWR);
    if (pad >= 0 && (ioctl(pad, EVIOCGNAME(sizeof name), name) < 0 || strcmp(name, "Temblor") != 0)) {
      close(pad);
      pad = -1;
    }
  }
  if (pad < 0) return printf("no pad\n"), 1;
  struct ff_effect rumble = {.type = FF_RUMBLE, .id = -1, .u.rumble = {0xffff, 0}, .replay = {.length = 300}};
  struct ff_effect spring = {.type = FF_SPRING, .id = -1};
  struct ff_effect sine = {.type = FF_PERIODIC, .id = -1};
  sine.u.periodic = (struct ff_periodic_effect){.waveform = FF_SINE, .period = 8, .magnitude = 0x7fff};
  int uploaded = ioctl(pad, EVIOCSFF, &rumble), refused = ioctl(pad, EVIOCSFF, &spring);
  printf("%s: rumble %d, spring %d\n", name, uploaded, refused);
  play(pad, rumble.id, 1);
  usleep(700000);
  int endless = ioctl(pad, EVIOCSFF, &sine);
  printf("sine %d\n", endless);
  play(pad, sine.id, 1);
  usleep(500000);
  // It ends without a word; the kernel takes the effects back.
  return uploaded < 0 || refused == 0 || endless < 0;
}
