// Renders a pattern file and prints how long and how loud it is: render FILE
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <temblor.h>

int main(int count, char **words) {
  static char content[1 << 20];
  FILE *file = count > 1 ? fopen(words[1], "rb") : NULL;
  if (!file) return 1;
  int32_t length = (int32_t)fread(content, 1, sizeof content, file);
  fclose(file);
  temblor *host = temblor_create();
  if (!temblor_open(host, 0, words[1], (int32_t)strlen(words[1]), content, length)) {
    fprintf(stderr, "%.*s\n", (int)temblor_output_length(host), temblor_output(host));
    return 2;
  }
  int32_t frames = temblor_render(host, 0, 0, 48000);
  const float *samples = temblor_samples(host);
  float peak = 0;
  for (int32_t frame = 0; frame < frames; frame++) peak = fmaxf(peak, fabsf(samples[frame]));
  printf("%.3f s, peak %.3f\n", frames / 48000.0, peak);
  temblor_release(host);
  return 0;
}
