/// A game with force feedback: finds the gamepad, uploads effects, plays them, and exits while an effect plays.
#include <fcntl.h>
#include <linux/input.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int play(int gamepad, int id, int count) {
  struct input_event event = {.type = EV_FF, .code = id, .value = count};
  return write(gamepad, &event, sizeof event) == sizeof event ? 0 : -1;
}

int main(void) {
  int gamepad = -1;
  char name[80] = "";
  for (int index = 0; gamepad < 0 && index < 16; index++) {
    char path[40];
    snprintf(path, sizeof path, "/dev/input/event%d", index);
    gamepad = open(path, O_RDWR);
    if (gamepad >= 0 &&
        (ioctl(gamepad, EVIOCGNAME(sizeof name), name) < 0 || strcmp(name, "Temblor") != 0)) {
      close(gamepad);
      gamepad = -1;
    }
  }
  if (gamepad < 0) return printf("no gamepad\n"), 1;
  struct ff_effect rumble = {.type = FF_RUMBLE, .id = -1, .u.rumble = {0xffff, 0}, .replay = {.length = 300}};
  struct ff_effect spring = {.type = FF_SPRING, .id = -1};
  struct ff_effect sine = {.type = FF_PERIODIC, .id = -1};
  sine.u.periodic = (struct ff_periodic_effect){.waveform = FF_SINE, .period = 8, .magnitude = 0x7fff};
  int rumble_result = ioctl(gamepad, EVIOCSFF, &rumble);
  int spring_result = ioctl(gamepad, EVIOCSFF, &spring);
  printf("%s: rumble %d, spring %d\n", name, rumble_result, spring_result);
  play(gamepad, rumble.id, 1);
  usleep(700000);
  int sine_result = ioctl(gamepad, EVIOCSFF, &sine);
  printf("sine %d\n", sine_result);
  play(gamepad, sine.id, 1);
  usleep(500000);
  // The game exits without erasing its effects, so the kernel erases them.
  return rumble_result < 0 || spring_result == 0 || sine_result < 0;
}
