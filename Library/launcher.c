// The program `temblor`, where it is a part of the library.
#include <stdint.h>
#include <unistd.h>

int32_t temblor_program(int32_t count, char **words);

// At once: what libraries do at an exit may wait for a device that hangs.
int main(int count, char **words) { _exit(temblor_program(count, words)); }
